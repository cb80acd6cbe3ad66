//! The fix of an error that the agent has just met.
//!
//! An error is recognised by its *fingerprint*, a hash of the message without its variable parts.
//! Learning keeps the *sightings* of each fingerprint: how earlier sessions met this error and got past
//! it. If the sightings became a memory, the memory is the fix. If not, because too few sessions have
//! seen the error, the fix is worded from the sightings and marked as seen once. A fix is told only to the
//! same intent (`pytest` and `python -m pytest` have one, see `observe::recognise_failure`), and not if it is
//! what has just failed.
//! `hook_injection` calls [`select_fix`] at every failed call. The *shown log* lists what a session was shown; no fix is shown
//! to a session twice.

use std::collections::HashSet;

use model::{MemoryId, MemoryKind, MemoryStatus, SessionOutcome};
use observe::{CommandIntent, EndingKind, Evidence, ModuleLookup, PatternKey, SessionSighting};
use recall::SilenceReason;
use store::{SessionRow, ShownEntry, SightingRow, StoreReader};

use super::hook_injection::Injection;
use super::missing_references::reject_missing_references;
use super::note_format::format_capped;
use super::shown_notes::memory_entries;
use crate::finding::{finding_id, is_dismissed};
use crate::model_text::{self, TextOrigin, is_memory_withheld};
use crate::{Error, ProjectReader};

/// Remark of a fix that is not a memory yet.
const UNCONFIRMED_REMARK: &str = "seen once";

/// A tool call that failed, or may have failed.
#[derive(Clone, Copy)]
pub(super) struct ToolFailure<'a> {
    pub(super) tool: &'a str,
    /// The command line of a shell tool.
    pub(super) command: Option<&'a str>,
    pub(super) output: &'a str,
}

impl ToolFailure<'_> {
    /// Returns whether what an earlier session found out applies to this failure: its fix is not what has just
    /// failed. The fingerprint has told that both mean the same error of the same intent.
    fn is_answered_by(&self, evidence: &Evidence) -> bool {
        let Some(line) = self.command else { return true };
        let Evidence::ErrorRetry { fix, .. } = evidence else { return true };
        let run = CommandIntent::of_line(line);
        let has_run = |text: &String| run.iter().any(|it| it.text == *text);
        let is_applied = fix.as_ref().is_some_and(|it| {
            let is_other_command = it.kind == Some(EndingKind::OtherCommand);
            (is_other_command && has_run(&it.command))
                || (!it.steps.is_empty() && it.steps.iter().all(has_run))
        });
        !is_applied
    }
}

/// Selects the fix of the error in a tool's output, if the output names an error that is known.
pub(super) async fn select_fix(
    reader: &ProjectReader,
    failed: ToolFailure<'_>,
    shown: &HashSet<ShownEntry>,
) -> Result<Injection, Error> {
    let error = observe::recognise_failure(failed.tool, failed.command, failed.output);
    let store = reader.project_store_reader().filter(StoreReader::exists);
    let (Some(error), Some(store)) = (error, store) else {
        return Ok(Injection::silent_because(SilenceReason::NoRelevantMemory));
    };
    let fingerprint = error.fingerprint;
    let key = PatternKey::error(&fingerprint);
    let pattern = key.clone().into_stored();
    let all = store.learning().sightings_of_patterns(vec![pattern]).await?;
    let evidence: Vec<Evidence> =
        all.iter().map(|it| Evidence::parse(&key, &it.evidence)).collect();
    let mut sightings = Vec::new();
    for (nth, row) in all.into_iter().enumerate() {
        // A fix that did not help a later session is not told, even if it became a memory.
        let is_refuted = evidence[nth + 1..].iter().any(|it| it.refutes_fix_of(&evidence[nth]));
        if evidence[nth].has_fix() && !is_refuted && failed.is_answered_by(&evidence[nth]) {
            sightings.push(row);
        }
    }
    // The latest sighting that became a memory, those that are not tainted first.
    let latest_memory = |tainted: bool| {
        sightings.iter().rev().filter(|it| it.tainted == tainted).find_map(|it| it.memory)
    };
    match latest_memory(false).or_else(|| latest_memory(true)) {
        Some(id) => confirmed_fix(reader, &store, id, fingerprint, shown).await,
        None => unconfirmed_fix(reader, &store, sightings, fingerprint, shown).await,
    }
}

/// The fix that a memory holds.
async fn confirmed_fix(
    reader: &ProjectReader,
    store: &StoreReader,
    id: MemoryId,
    fingerprint: String,
    shown: &HashSet<ShownEntry>,
) -> Result<Injection, Error> {
    let silent = Injection::silent_because(SilenceReason::NoRelevantMemory);
    if shown.contains(&ShownEntry::Memory(id)) {
        return Ok(silent);
    }
    let memory = store.memories().get(id).await?;
    // The user may have removed or deprecated it. The sightings behind it do not count then either.
    let Some(memory) =
        memory.filter(|it| it.status() == MemoryStatus::Live && !is_memory_withheld(it))
    else {
        return Ok(silent);
    };
    if let Some(reason) = reject_missing_references(reader, &memory).await {
        return Ok(Injection { withheld_fix: Some((id, reason)), ..silent });
    }
    let mut entries = memory_entries(reader, id).to_vec();
    // The time lets learning count the tool calls that the fix saved.
    entries.push(ShownEntry::FixAt { fingerprint, at: reader.now });
    Ok(Injection::from_lines(&[format_capped(reader, &memory)], entries))
}

/// The fix that sessions found before it is a memory.
async fn unconfirmed_fix(
    reader: &ProjectReader,
    store: &StoreReader,
    sightings: Vec<SightingRow>,
    fingerprint: String,
    shown: &HashSet<ShownEntry>,
) -> Result<Injection, Error> {
    let entry = ShownEntry::UnconfirmedFix { fingerprint: fingerprint.clone() };
    if shown.contains(&entry) || is_dismissed(store, &fingerprint).await? {
        return Ok(Injection::silent_because(SilenceReason::NoRelevantMemory));
    }
    // No line makes a silent injection below.
    let line = format_unconfirmed_fix(store, &fingerprint, sightings).await?;
    let entries = vec![entry, ShownEntry::FixAt { fingerprint, at: reader.now }];
    Ok(Injection::from_lines(line.as_slice(), entries))
}

/// Words the fix from the sightings of an error; `None` if they show none. Only sessions whose work
/// holds count, and no sighting that text from outside the project may have influenced.
async fn format_unconfirmed_fix(
    store: &StoreReader,
    fingerprint: &str,
    sightings: Vec<SightingRow>,
) -> Result<Option<String>, Error> {
    let key = PatternKey::error(fingerprint);
    let mut counted = Vec::new();
    for row in sightings.into_iter().filter(|it| !it.tainted) {
        let session = store.learning().get_session(row.session).await?;
        if let Some(session) = session.filter(is_validated) {
            counted.push(SessionSighting {
                session: row.session,
                at: session.ended,
                occurrences: row.times,
                evidence: Evidence::parse(&key, &row.evidence),
            });
        }
    }
    // The same wording as the memory will have once it is learned. The draft of an error does not depend
    // on modules.
    let draft = observe::compose_draft(&key, &counted, &ModuleLookup::default());
    let Some(draft) = draft else { return Ok(None) };
    let label = MemoryKind::ErrorPattern.row().label;
    // There is no memory yet, so the note carries the id of the finding.
    let (remarks, id) = ([UNCONFIRMED_REMARK.to_owned()], finding_id(fingerprint));
    let note = model_text::FramedNote { label, text: &draft.content, id: &id, remarks: &remarks };
    // An error message may quote anything, so a fix that reads like an instruction is not told.
    if model_text::is_withheld(note.text, TextOrigin::Unconfirmed) {
        return Ok(None);
    }
    Ok(Some(model_text::format_note(&note, TextOrigin::Unconfirmed)))
}

fn is_validated(session: &SessionRow) -> bool {
    session.validation_basis.is_some() && session.outcome != SessionOutcome::Failure
}
