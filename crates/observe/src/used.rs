//! Whether a session acted on a memory that it was shown.

use model::{Memory, Payload, Timestamp};

use crate::Scratchpad;
use crate::sentence::code_words;

/// Calls within which what was shown must be followed.
const SOON: usize = 10;
/// Citations kept of one session.
pub(crate) const MAX_CITED: usize = 200;
/// A note is cited by the last eight signs of its id.
const ID: usize = 8;

/// The ids of notes that a text names: `#0badcafe`.
pub(crate) fn citations(text: &str) -> impl Iterator<Item = &str> {
    text.split('#').skip(1).filter_map(|rest| {
        let id = rest.get(..ID)?;
        let ends = !rest[ID..].starts_with(|it: char| it.is_ascii_alphanumeric());
        let is_hex = |it: u8| it.is_ascii_digit() || matches!(it, b'a'..=b'f');
        (ends && id.bytes().all(is_hex)).then_some(id)
    })
}

/// Whether the session cited a memory, whoever showed it.
pub fn cited(pad: &Scratchpad, memory: &Memory) -> bool {
    pad.cited.contains(&memory.id.short())
}

/// Whether soon after `at`, when a memory was shown, a command of it was run with success, or a file of
/// it was touched that had not been touched before: what was at hand anyway proves nothing.
pub fn followed(pad: &Scratchpad, memory: &Memory, at: Timestamp) -> bool {
    let Some(first) = pad.calls.iter().position(|it| it.at > at) else { return false };
    let soon = pad.calls.iter().enumerate().skip(first).take(SOON);
    let commands = commands(memory);
    for (number, call) in soon.filter(|it| it.1.is_good()) {
        let run = call.command.map(|it| pad.names.text(it)).unwrap_or_default();
        if commands.iter().any(|it| run.contains(it)) {
            return true;
        }
        for touch in pad.touches_of(call) {
            let path = pad.names.text(touch.file);
            let before = pad.touches.iter().take_while(|it| (it.call as usize) < number);
            let known = before.filter(|it| it.file == touch.file).count() > 0;
            if !known && memory.files.iter().any(|it| it.as_str() == path) {
                return true;
            }
        }
    }
    false
}

/// The commands that a memory recommends: of an error, only what ended it.
fn commands(memory: &Memory) -> Vec<&str> {
    let text = match &memory.payload {
        Some(Payload::ErrorPattern(it)) => it.resolution.as_deref().unwrap_or_default(),
        _ => &memory.content,
    };
    code_words(text).into_iter().filter(|it| it.trim().contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_ids_are_citations() {
        let of = |text| citations(text).collect::<Vec<_>>();
        assert_eq!(of("as #0badcafe says, and [#12345678]."), ["0badcafe", "12345678"]);
        assert!(of("#0badcafe1 #BADCAFE0 #123 issue #12 # 12345678 #日本語日本語").is_empty());
    }
}
