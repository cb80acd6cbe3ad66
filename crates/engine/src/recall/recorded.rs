//! Notes that agents recorded a moment ago, in whichever session: they stand in journals and are no
//! memories yet.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use model::{Envelope, Event, RecordedNote, SessionId, Timestamp};

use crate::Engine;

/// How many journals are looked into for notes, and how much of the end of each.
const JOURNALS: usize = 16;
const TAIL: u64 = 64 << 10;
/// Milliseconds by which the clock of a disk may be behind.
const SLACK: i64 = 2_000;
/// What every line with a note holds.
const RECORD: &str = "\"record\"";

/// A note, the session it was recorded in, and its name there.
pub(super) struct Recorded {
    pub(super) id: String,
    pub(super) session: SessionId,
    pub(super) note: RecordedNote,
}

impl Engine {
    /// The notes that were recorded since, those of the journal that was last written to first. A session
    /// that is gone is no reason to fail.
    pub(super) fn recorded_since(&self, since: Timestamp) -> Vec<Recorded> {
        let Some(store) = self.project_store() else { return Vec::new() };
        let journals = store.noted_since(since.0.saturating_sub(SLACK));
        let mut res = Vec::new();
        for journal in journals.iter().take(JOURNALS) {
            let notes = self.kept.notes.of(journal, || notes_in(journal).ok());
            for it in notes.iter().flat_map(|it| it.iter()) {
                let Event::Record(note) = &it.event else { continue };
                if it.at >= since && it.at <= self.now {
                    let (id, session, note) = (it.id.clone(), it.session, note.clone());
                    res.push(Recorded { id, session, note });
                }
            }
        }
        res
    }
}

/// The notes at the end of a journal.
fn notes_in(journal: &Path) -> std::io::Result<Vec<Envelope>> {
    let mut file = fs::File::open(journal)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let lines = tail.lines().filter(|it| it.contains(RECORD));
    let is_note = |it: &Envelope| matches!(it.event, Event::Record(_));
    Ok(lines.filter_map(|it| Envelope::read(it).ok()).filter(is_note).collect())
}
