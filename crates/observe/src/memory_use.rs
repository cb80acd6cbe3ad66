//! Detects the use of memories: a session cited a memory, or acted on one that it was shown. The engine
//! counts these uses.
//!
//! The input is the scratchpad, the log of one session. Examples: the agent writes "as #0badcafe says" → it
//! cited the memory whose id ends so; it was shown "run `mise run fmt` before a commit" and runs that within
//! ten calls → it followed the memory.

use model::{Memory, Payload, Timestamp};

use crate::Scratchpad;
use crate::sentences::code_words;

/// Calls after a memory was shown within which it must be followed.
const FOLLOW_WINDOW_CALLS: usize = 10;
/// Citations recorded per session.
pub(crate) const MAX_CITED_IDS: usize = 200;
/// A memory is cited by the last eight characters of its id.
const SHORT_ID_CHARS: usize = 8;

/// The short ids that a text cites, such as `0badcafe` of `#0badcafe`.
pub(crate) fn cited_short_ids(text: &str) -> impl Iterator<Item = &str> {
    text.split('#').skip(1).filter_map(|rest| {
        // Shorter, or cut inside a character.
        let id = rest.get(..SHORT_ID_CHARS)?;
        let is_whole = !rest[SHORT_ID_CHARS..].starts_with(|it: char| it.is_ascii_alphanumeric());
        let is_hex = |it: u8| it.is_ascii_digit() || matches!(it, b'a'..=b'f');
        (is_whole && id.bytes().all(is_hex)).then_some(id)
    })
}

/// Returns whether the session cited a memory, however it was shown.
pub fn is_cited(pad: &Scratchpad, memory: &Memory) -> bool {
    pad.cited_ids.contains(&memory.id.short())
}

/// Returns whether the session followed a memory soon after it was shown at `shown_at`: ran one of its
/// commands with success, or touched one of its files for the first time. Files touched before prove
/// nothing.
pub fn was_followed(pad: &Scratchpad, memory: &Memory, shown_at: Timestamp) -> bool {
    // Nothing was done after it was shown.
    let first_call = pad.calls.iter().position(|it| it.at > shown_at);
    let Some(first_call) = first_call else { return false };
    let soon = pad.calls.iter().enumerate().skip(first_call).take(FOLLOW_WINDOW_CALLS);
    let commands = recommended_commands(memory);
    for (number, call) in soon {
        // A command that failed was tried, but did not help.
        if !call.has_succeeded() {
            continue;
        }
        let command = call.command.map(|it| pad.strings.text(it)).unwrap_or_default();
        if commands.iter().any(|it| command.contains(it)) {
            return true;
        }
        for touch in pad.touches_of_call(call) {
            let path = pad.strings.text(touch.file);
            // Touches are in the order of their calls.
            let mut earlier = pad.touches.iter().take_while(|it| (it.call as usize) < number);
            let is_known = earlier.any(|it| it.file == touch.file);
            if !is_known && memory.files.iter().any(|it| it.as_str() == path) {
                return true;
            }
        }
    }
    false
}

/// The commands that a memory recommends; of an error, only those of its fix.
fn recommended_commands(memory: &Memory) -> Vec<&str> {
    let text = match &memory.payload {
        Some(Payload::ErrorPattern(it)) => it.resolution.as_deref().unwrap_or_default(),
        _ => &memory.content,
    };
    // Code with a blank in it is a command; without one it is a name.
    code_words(text).into_iter().filter(|it| it.trim().contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_ids_are_citations() {
        let ids = |text| cited_short_ids(text).collect::<Vec<_>>();
        assert_eq!(ids("as #0badcafe says, and [#12345678]."), ["0badcafe", "12345678"]);
        assert!(ids("#0badcafe1 #BADCAFE0 #123 issue #12 # 12345678 #日本語日本語").is_empty());
    }
}
