//! The fix of an error that the agent just met: a memory about this error, or what a single session
//! found.

use std::collections::HashSet;

use model::{MemoryKind, MemoryStatus, SessionOutcome};
use observe::{Evidence, ModuleLookup, PatternKey, SessionSighting, SupportCounts};
use recall::{SilenceReason, frame};
use store::{SessionRow, ShownEntry, SightingRow, StoreReader};

use super::file_warnings::WarningSelection;
use super::injection::Injection;
use super::missing_references::find_missing_references;
use super::note_format::format_capped;
use super::shown_log::memory_entries;
use crate::{Error, NotebookScope, ProjectReader, RatedMemory};

/// Remark of a fix that only one session found.
const SINGLE_SESSION_REMARK: &str = "seen once";

/// Selects the fix of an error. `class` is the command or tool that failed.
pub(super) async fn select_fix(
    reader: &ProjectReader,
    class: &str,
    output: &str,
    shown: &HashSet<ShownEntry>,
) -> Result<Injection, Error> {
    let silent = Injection::silent_because(SilenceReason::NoRelevantMemory);
    let store = reader.project_store().filter(store::StoreReader::exists);
    let (Some(failure), Some(store)) = (observe::recognise_error(class, output), store) else {
        return Ok(silent);
    };
    let fingerprint = failure.fingerprint;
    let pattern = PatternKey::error(&fingerprint).into_parts();
    let sightings = store.learning().sightings_of_patterns(vec![pattern]).await?;
    let fix_entry = ShownEntry::FixAt { fingerprint: fingerprint.clone(), at: reader.now };
    // The latest sighting that became a memory.
    if let Some(id) = sightings.iter().rev().find_map(|it| it.memory) {
        if shown.contains(&ShownEntry::Memory(id)) {
            return Ok(silent);
        }
        let memory = store.memories().get(id).await?;
        let Some(memory) = memory.filter(|it| it.status() == MemoryStatus::Live) else {
            return Ok(silent);
        };
        if let Some(reason) = find_missing_references(reader, &memory).await {
            let (scope, current_confidence) = (NotebookScope::Project, memory.confidence);
            let rated = RatedMemory { memory, scope, current_confidence };
            // Reported as excluded, so that the memory is flagged for review.
            let excluded = vec![(rated, reason)];
            let warnings = Some(WarningSelection { selected: Vec::new(), excluded });
            return Ok(Injection { warnings, ..silent });
        }
        let mut entries = memory_entries(reader, id).to_vec();
        entries.push(fix_entry);
        return Ok(Injection::from_lines(&[format_capped(reader, &memory)], entries));
    }
    let entry = ShownEntry::UnconfirmedFix { fingerprint: fingerprint.clone() };
    if shown.contains(&entry) {
        return Ok(silent);
    }
    let line = format_single_session_fix(&store, &fingerprint, sightings).await?;
    Ok(Injection::from_lines(line.as_slice(), vec![entry, fix_entry]))
}

/// Formats the fix that validated sessions found, before it is a memory. Sightings that text from
/// outside may have influenced do not count.
async fn format_single_session_fix(
    store: &StoreReader,
    fingerprint: &str,
    sightings: Vec<SightingRow>,
) -> Result<Option<String>, Error> {
    let key = PatternKey::error(fingerprint);
    let mut seen = Vec::new();
    for row in sightings.into_iter().filter(|it| !it.tainted) {
        let session = store.learning().get_session(row.session).await?;
        let Some(session) = session.filter(is_validated) else { continue };
        let evidence = Evidence::parse(&key, &row.evidence);
        seen.push(SessionSighting {
            session: row.session,
            at: session.ended,
            occurrences: row.times,
            evidence,
        });
    }
    // The same wording as the memory will have once it is learned.
    let (support, modules) = (SupportCounts::default(), ModuleLookup::default());
    let draft = observe::compose_draft(&key, &seen, support, &modules);
    let (Some(draft), Some(last)) = (draft, seen.last()) else { return Ok(None) };
    let label = MemoryKind::ErrorPattern.row().label;
    let (remarks, id) = ([SINGLE_SESSION_REMARK.to_owned()], last.session.short());
    let note = frame::FramedNote { label, text: &draft.content, id: &id, remarks: &remarks };
    Ok(Some(frame::format_note(&note)))
}

fn is_validated(session: &SessionRow) -> bool {
    session.validation_basis.is_some() && session.outcome != SessionOutcome::Failure
}
