//! Subagents: sessions that one parent session starts, often several at the same time (siblings).
//!
//! Siblings work on the same task, so a parent and its subagents count as one session of evidence.
//! This file also detects files that siblings edited in parallel, and shares the notes of running
//! siblings with one another.
//!
//! Words: a *sighting* is one occurrence of a pattern in one session. Two siblings that show the same
//! pattern are a *quorum*. The *journal* of a session is the file of its events, a *scratchpad* the
//! state that is folded from them.

use std::collections::{BTreeMap, HashSet};

use model::{ProjectPath, RecordedNote, SessionId};
use observe::{Scratchpad, SessionOverview, Sighting};
use recall::step_decision::WithholdReason;
use store::SessionRow;

use super::session_index::SessionIndex;
use super::{journal_transcripts, read_transcript};
use crate::model_text::{self, TextOrigin};
use crate::{Error, ProjectReader};

/// A note that a sibling recorded and that is not a memory yet.
#[derive(Clone, Debug, PartialEq)]
pub struct SiblingNote {
    pub session: SessionId,
    pub note: RecordedNote,
}

/// The notes of all siblings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiblingNotes {
    pub notes: Vec<SiblingNote>,
    /// Notes that are tainted or read like an instruction: they wait for the user.
    pub n_withheld: usize,
}

/// The number of independent sessions that saw a pattern.
pub(super) struct SessionGroups {
    /// Groups of sessions that do not repeat one another (see `session_index`), that of this session included.
    pub(super) n_groups: u32,
    /// Several subagents of this session's parent saw the pattern independently.
    pub(super) has_quorum: bool,
}

impl SessionGroups {
    /// Counts this session and the others that are evidence of a pattern.
    pub(super) fn count(
        session: &SessionOverview,
        others: &[&SessionRow],
        sessions: &SessionIndex,
    ) -> Self {
        let mut groups: HashSet<SessionId> =
            others.iter().map(|it| sessions.group_of_row(it.id)).collect();
        groups.insert(sessions.group_of(session));
        // Subagents do not see one another's transcripts, so their agreement is independent.
        let has_quorum =
            session.parent.is_some() && others.iter().any(|it| it.parent == session.parent);
        Self { n_groups: u32::try_from(groups.len()).unwrap_or(u32::MAX), has_quorum }
    }
}

/// Returns a sighting for each file that a sibling edited as well. `edited` lists the edits of all
/// children of the parent.
pub(super) fn find_conflicts(
    session: &SessionOverview,
    edited: Vec<(SessionId, ProjectPath)>,
) -> Vec<Sighting> {
    let mut siblings: BTreeMap<SessionId, Vec<ProjectPath>> = BTreeMap::new();
    for (sibling, path) in edited {
        if sibling != session.id {
            siblings.entry(sibling).or_default().push(path);
        }
    }
    let siblings: Vec<Vec<ProjectPath>> = siblings.into_values().collect();
    observe::parallel_conflicts(session, &siblings)
}

/// Returns whether another session has the same parent as this one.
pub(super) fn is_sibling(
    session: &SessionOverview,
    other: Option<SessionId>,
    sessions: &SessionIndex,
) -> bool {
    let other = other.filter(|it| *it != session.id).and_then(|it| sessions.get(it));
    session.parent.is_some() && other.is_some_and(|it| it.parent == session.parent)
}

/// The reason why a note must not be told to siblings of its author, if there is one. The note has not
/// been reviewed, so nothing else stands between its text and another agent.
pub(crate) fn sibling_note_objection(
    note: &RecordedNote,
    is_tainted: bool,
) -> Option<WithholdReason> {
    if is_tainted {
        Some(WithholdReason::Tainted)
    } else if model_text::is_withheld(&note.content, TextOrigin::Unconfirmed) {
        Some(WithholdReason::Instruction)
    } else {
        None
    }
}

/// Formats the notes for a model: framed as data, each with the session that recorded it.
pub fn frame_sibling_notes(notes: &[SiblingNote]) -> String {
    let line = |it: &SiblingNote| {
        let label = it.note.kind.core_kind().map_or("NOTE", |it| it.row().label);
        let note = model_text::FramedNote {
            label,
            text: &it.note.content,
            id: &it.session.short(),
            remarks: &["a sibling's, not yet checked".to_owned()],
        };
        model_text::format_note(&note, TextOrigin::Unconfirmed)
    };
    let lines: Vec<String> = notes.iter().map(line).collect();
    format!("{}\n{}\n{}", model_text::NOTES_HEADER, lines.join("\n"), model_text::NOTES_FOOTER)
}

/// Returns the notes that the siblings of a running session have recorded so far, oldest session
/// first. Fails if the session has no journal.
pub(crate) fn sibling_notes(
    reader: &ProjectReader,
    session: SessionId,
) -> Result<SiblingNotes, Error> {
    let mut pads = Vec::new();
    for transcript in journal_transcripts(reader) {
        // Unreadable journals are skipped: another process may learn from one and remove it
        // meanwhile.
        if let Ok(Some(parsed)) = read_transcript(reader, &transcript) {
            pads.push(parsed.pad);
        }
    }
    let Some(own) = pads.iter().find(|it| it.session == Some(session)) else {
        return Err(Error::NotFound { id: session.to_string() });
    };
    let parent = own.parent;
    // A session without a parent has no siblings.
    let is_running_sibling =
        |it: &&Scratchpad| parent.is_some() && it.parent == parent && it.session != Some(session);
    let mut siblings: Vec<&Scratchpad> = pads.iter().filter(is_running_sibling).collect();
    siblings.sort_by_key(|it| (it.started, it.session));
    let mut acc = SiblingNotes::default();
    for pad in siblings {
        // Never `None`: a journal with a note has events.
        let Some(session) = pad.session else { continue };
        for (order, note) in &pad.notes {
            match sibling_note_objection(note, pad.is_tainted(*order)) {
                Some(_) => acc.n_withheld += 1,
                None => acc.notes.push(SiblingNote { session, note: note.clone() }),
            }
        }
    }
    Ok(acc)
}
