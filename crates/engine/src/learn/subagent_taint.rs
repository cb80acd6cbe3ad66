//! Traces external text between a session and its subagents: the report of a subagent that read a page
//! taints its parent, and a parent that read one taints the subagents that it starts afterwards.
//!
//! `transcript` calls [`trace_taint`] for each session that it reads. The subagents are found beside the
//! host's record of the parent, in the same database, or among the journals. A subagent without a record
//! counts as one that read external text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::SessionId;
use observe::{Scratchpad, SubagentRecord};
use source::Transcript;

use super::journal_transcripts;
use super::transcript::read_untraced;
use crate::ProjectReader;

/// Taints a session that was read from `place` by what its subagents and its parent read.
pub(super) fn trace_taint(reader: &ProjectReader, place: &Transcript, pad: &mut Scratchpad) {
    if pad.starts_subagents() {
        let subagents = find_subagents(reader, place, pad);
        pad.add_subagents(&to_records(&subagents, None));
    }
    if let (Some(_), Some(started)) = (pad.parent, pad.started)
        && let Some((parent_place, mut parent)) = find_parent(reader, place, pad)
    {
        let subagents = find_subagents(reader, &parent_place, &parent);
        // This session must not taint itself through its parent.
        parent.add_subagents(&to_records(&subagents, pad.session));
        if let Some(external) = parent.external.filter(|it| it.at <= started) {
            pad.inherit_taint(&external.source);
        }
    }
}

/// The records of subagents; that of `itself` counts as one without external text.
fn to_records(subagents: &[Scratchpad], itself: Option<SessionId>) -> Vec<SubagentRecord> {
    let record = |it: &Scratchpad| SubagentRecord {
        started: it.started.unwrap_or_default(),
        external: it
            .external
            .as_ref()
            .filter(|_| itself.is_none() || it.session != itself)
            .map(|it| it.source.clone()),
    };
    subagents.iter().map(record).collect()
}

/// The subagents of a session whose records are known.
fn find_subagents(
    reader: &ProjectReader,
    place: &Transcript,
    parent: &Scratchpad,
) -> Vec<Scratchpad> {
    let mut places = subagent_places(place);
    places.extend(journal_transcripts(reader));
    let mut acc: BTreeMap<SessionId, Scratchpad> = BTreeMap::new();
    for place in places {
        // An unreadable record is an unknown subagent.
        let Ok(Some(parsed)) = read_untraced(reader, &place) else { continue };
        let mut pad = parsed.pad;
        if let Some(session) = pad.session.filter(|_| pad.parent == parent.session) {
            // Subagents of a subagent are not looked for: they count as unknown.
            pad.add_subagents(&[]);
            acc.entry(session).or_insert(pad);
        }
    }
    acc.into_values().collect()
}

/// The places where a host stores the subagents of a session: rows of the same database, or files in a
/// folder with the name of the session.
fn subagent_places(place: &Transcript) -> Vec<Transcript> {
    if let Some(session) = &place.session {
        let rows = store::read_host_sessions(&place.path).unwrap_or_default();
        let children = rows.into_iter().filter(|it| it.parent.as_ref() == Some(session));
        return children.map(|it| session_of_database(&place.path, it.id)).collect();
    }
    let folder = place.path.with_extension("");
    if folder.is_dir() { source::transcripts_at(&folder).unwrap_or_default() } else { Vec::new() }
}

/// The session that started a subagent, and where its record is.
fn find_parent(
    reader: &ProjectReader,
    place: &Transcript,
    child: &Scratchpad,
) -> Option<(Transcript, Scratchpad)> {
    let parent_place = if let Some(session) = &place.session {
        let rows = store::read_host_sessions(&place.path).ok()?;
        let row = rows.into_iter().find(|it| it.id == *session)?;
        session_of_database(&place.path, row.parent?)
    } else {
        // `S/subagents/agent-A.jsonl` belongs to `S.jsonl`.
        let folder: PathBuf = place.path.parent()?.parent()?.to_owned();
        let mut name = folder.file_name()?.to_owned();
        name.push(".jsonl");
        Transcript::of_file(folder.with_file_name(name))
    };
    let parsed = read_untraced(reader, &parent_place).ok()??;
    (parsed.pad.session == child.parent).then_some((parent_place, parsed.pad))
}

fn session_of_database(path: &Path, session: String) -> Transcript {
    Transcript { session: Some(session), ..Transcript::of_file(path.to_owned()) }
}
