//! Notes that agents recorded moments ago, in any session. They become memories only when their session
//! is learned from; until then they are events in its journal. `step_context` reads them here, so that
//! one agent learns at once what another has just found out. A journal is a file per session with one
//! event per line.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use model::{Event, EventEnvelope, RecordedNote, SessionId, Timestamp};

use crate::ProjectReader;

/// Journals that are read, the latest first.
const MAX_JOURNALS: usize = 16;
/// Bytes at the end of a journal that are read.
const TAIL_BYTES: u64 = 64 * 1024;
/// Milliseconds by which file times may lag behind the clock.
const FILE_TIME_SLACK_MS: i64 = 2_000;
/// Text that every journal line with a note holds. Lines without it need not be parsed; lines with it
/// may still be other events.
const NOTE_MARKER: &str = "\"record\"";

/// A note with its session and the id of its event.
pub(super) struct JournalNote {
    pub(super) event_id: String,
    pub(super) session: SessionId,
    pub(super) note: RecordedNote,
}

/// The notes recorded since a time, those of the latest journal first. A journal that cannot be read
/// is skipped.
pub(super) fn notes_since(reader: &ProjectReader, since: Timestamp) -> Vec<JournalNote> {
    let Some(store) = reader.project_store_reader() else { return Vec::new() };
    let journals = store.journals().with_notes_since(since.0.saturating_sub(FILE_TIME_SLACK_MS));
    let mut recorded = Vec::new();
    for journal in journals.iter().take(MAX_JOURNALS) {
        // A journal that did not grow since the last step is not read again.
        let notes = reader.file_caches.notes.get_or_compute(journal, || read_notes(journal).ok());
        for envelope in notes.iter().flat_map(|it| it.iter()) {
            // `read_notes` keeps no other events.
            let Event::Record(note) = &envelope.event else { continue };
            if envelope.at >= since && envelope.at <= reader.now {
                let (event_id, session) = (envelope.id.clone(), envelope.session);
                recorded.push(JournalNote { event_id, session, note: note.clone() });
            }
        }
    }
    recorded
}

/// The notes at the end of a journal.
fn read_notes(journal: &Path) -> std::io::Result<Vec<EventEnvelope>> {
    let mut file = fs::File::open(journal)?;
    let length = file.metadata()?.len();
    // The cut may be inside a line or a character; such a line does not parse and is skipped.
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let lines = tail.lines().filter(|it| it.contains(NOTE_MARKER));
    let is_note = |it: &EventEnvelope| matches!(it.event, Event::Record(_));
    Ok(lines.filter_map(|it| EventEnvelope::parse_line(it).ok()).filter(is_note).collect())
}
