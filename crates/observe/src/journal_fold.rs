//! Folds the journal of a session, a file with one event per line, into a scratchpad (the log of the session
//! on which all analysis works).
//!
//! The journal is the only state that survives the daemon, so that a session continues after a crash
//! exactly as after a pause. A journal that was cut at any byte gives the state before the cut.

use model::{Event, EventEnvelope, RecordedNote, SessionId, Timestamp};

use crate::Scratchpad;

/// The content of a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedJournal {
    pub pad: Scratchpad,
    /// Lines that are not events; the others are intact.
    pub damaged_lines: u32,
    /// The last line has no line end: the process died while writing it.
    pub is_truncated: bool,
}

/// The notes of a journal, for readers that need no other result of the fold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalNotes {
    pub session: Option<SessionId>,
    pub parent: Option<SessionId>,
    pub notes: Vec<JournalNote>,
}

/// A note that the agent of a journalled session recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalNote {
    pub event_id: String,
    pub at: Timestamp,
    pub note: RecordedNote,
    /// Recorded after the session had read external text.
    pub tainted: bool,
}

/// Folds a journal and returns its notes. The whole journal is folded, because an early event decides
/// if a late note is tainted.
pub fn fold_journal_notes(journal: &[u8]) -> JournalNotes {
    let mut recorded = Vec::new();
    let FoldedJournal { pad, .. } = fold_lines(journal, |pad, envelope| {
        // A repeated event, or a note beyond the limit, is not in the scratchpad.
        let n_known = recorded.len();
        if matches!(envelope.event, Event::Record(_)) && pad.notes.len() > n_known {
            recorded.push((envelope.id.clone(), envelope.at));
        }
    });
    let with_origin = recorded.into_iter().zip(&pad.notes);
    let notes = with_origin.map(|((event_id, at), (order, note))| JournalNote {
        event_id,
        at,
        note: note.clone(),
        tainted: pad.is_tainted(*order),
    });
    JournalNotes { session: pad.session, parent: pad.parent, notes: notes.collect() }
}

/// Folds the bytes of a journal, which may be cut anywhere.
pub fn fold_journal(journal: &[u8]) -> FoldedJournal {
    fold_lines(journal, |_, _| {})
}

/// Folds a journal and calls `after_event` after each event.
fn fold_lines(
    journal: &[u8],
    mut after_event: impl FnMut(&Scratchpad, &EventEnvelope),
) -> FoldedJournal {
    let mut acc = FoldedJournal::default();
    for line in journal.split_inclusive(|it| *it == b'\n') {
        // A line without its end may be half an event, even if it parses.
        let Some(line) = line.strip_suffix(b"\n") else {
            acc.is_truncated = true;
            break;
        };
        match EventEnvelope::parse_line(&String::from_utf8_lossy(line)) {
            Ok(envelope) => {
                acc.pad.observe(&envelope);
                after_event(&acc.pad, &envelope);
            }
            // An empty line is no damage.
            Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
            Err(_) => acc.damaged_lines += 1,
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script::events_from_script;

    const SCRIPT: &str = "user fix the total\nread a.rs\nedit a.rs\nfail make: error: missing `x`\nsay I was wrong about `a.rs`: it is generated, not written.\nrun make test\ncommit";

    #[test]
    fn a_journal_cut_at_any_byte_is_the_state_before() {
        let events = events_from_script(SCRIPT);
        let bytes = events.iter().map(|it| it.to_line() + "\n").collect::<String>().into_bytes();
        // `expected` is folded event by event, one whenever a line is complete.
        let (mut expected, mut n_complete) = (Scratchpad::new(), 0);
        for cut in 0..=bytes.len() {
            if cut > 0 && bytes[cut - 1] == b'\n' {
                expected.observe(&events[n_complete]);
                n_complete += 1;
            }
            let folded = fold_journal(&bytes[..cut]);
            assert_eq!((folded.damaged_lines, &folded.pad), (0, &expected), "cut at {cut}");
        }
        assert_eq!(n_complete, events.len());
    }

    #[test]
    fn damaged_and_repeated_lines_change_nothing() {
        let lines: Vec<String> =
            events_from_script(SCRIPT).iter().map(|it| it.to_line() + "\n").collect();
        let clean = fold_journal(lines.concat().as_bytes()).pad;
        // Every line twice, with a damaged line between the two.
        let doubled: String =
            lines.iter().flat_map(|it| [it.as_str(), "\0rubbish\n", it]).collect();
        let folded = fold_journal(doubled.as_bytes());
        assert_eq!(folded.damaged_lines as usize, lines.len());
        assert_eq!((folded.pad.calls, folded.pad.statements), (clean.calls, clean.statements));
    }
}
