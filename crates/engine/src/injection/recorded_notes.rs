//! Notes that the siblings of a session recorded moments ago. A note becomes a memory only when its
//! session is learned from; until then it is an event in the journal of its session, a file with one
//! event per line. `step_context` reads them here, so that a subagent knows at once what another
//! subagent of the same parent has found out.
//!
//! A note that no one has checked yet stays inside its family of sessions: an unrelated session never
//! gets it, and neither does its author. A note that is tainted or reads like an instruction is returned
//! with the reason to withhold it.

use model::{SessionId, Timestamp};
use observe::JournalNote;
use recall::step_decision::WithholdReason;
use store::{JournalPart, read_journal};

use crate::ProjectReader;
use crate::learn::{journal_parent, sibling_note_objection};

/// Journals that are read, the latest first.
const MAX_JOURNALS: usize = 16;
/// Milliseconds by which file times may lag behind the clock.
const FILE_TIME_SLACK_MS: i64 = 2_000;

/// A note of a sibling.
pub(super) struct RecordedSiblingNote {
    pub(super) session: SessionId,
    pub(super) note: JournalNote,
    /// The reason why no agent may read it, if there is one.
    pub(super) objection: Option<WithholdReason>,
}

/// The notes that siblings of a session recorded since a time, those of the latest journal first. A
/// journal that cannot be read is skipped.
pub(super) fn sibling_notes_since(
    reader: &ProjectReader,
    session: SessionId,
    since: Timestamp,
) -> Vec<RecordedSiblingNote> {
    let Some(store) = reader.project_store_reader() else { return Vec::new() };
    let journals = store.journals().with_notes_since(since.0.saturating_sub(FILE_TIME_SLACK_MS));
    // Usually there is no new note, and then no journal is opened.
    if journals.is_empty() {
        return Vec::new();
    }
    // A session without a parent has no siblings.
    let key = reader.config.key.as_ref();
    let Some(parent) = journal_parent(&store.journals().path_of(session), key) else {
        return Vec::new();
    };

    let mut recorded = Vec::new();
    let siblings = journals.iter().filter(|it| journal_parent(it, key) == Some(parent));
    for journal in siblings.take(MAX_JOURNALS) {
        let fold = || {
            let text = read_journal(journal, key, JournalPart::Whole).ok()?;
            Some(observe::fold_journal_notes(text.as_bytes()))
        };
        // A journal that did not grow since the last step is not folded again.
        let Some(folded) = reader.file_caches.notes.get_or_compute(journal, fold) else { continue };
        let Some(author) = folded.session.filter(|it| *it != session) else { continue };
        for note in &folded.notes {
            if note.at >= since && note.at <= reader.now {
                let objection = sibling_note_objection(&note.note, note.tainted);
                recorded.push(RecordedSiblingNote {
                    session: author,
                    note: note.clone(),
                    objection,
                });
            }
        }
    }
    recorded
}
