//! Measures what a note saved: the tool calls that a session needed after it was shown the fix of an
//! error.
//!
//! The input is the scratchpad, the log of one session. An error is identified by its fingerprint, a hash of
//! its message without paths and numbers. Example: `git show --no-stat` fails, the fix is shown, the third
//! call after the error is `git show --stat` with success → three calls.
//!
//! The engine compares the number with the fewest calls that any session without the note needed. Only
//! what the events show counts: an error that came back, or whose fix was not seen, saved nothing.

use model::{Memory, Timestamp};

use crate::Scratchpad;
use crate::episode::calls_until_fixed;
use crate::memory_use::was_followed;

/// Calls from an error to its fix in a session that was shown the fix at `shown_at`. `None` if the error
/// did not occur before that, occurs again, or is never fixed.
pub fn calls_to_fix(pad: &Scratchpad, fingerprint: &str, shown_at: Timestamp) -> Option<u32> {
    let occurrences = pad.errors.iter().filter(|it| it.fingerprint == fingerprint);
    let (before, after): (Vec<_>, Vec<_>) =
        occurrences.partition(|it| pad.calls[it.call as usize].at <= shown_at);
    // The error came back although the fix was shown.
    if !after.is_empty() {
        return None;
    }
    // The last occurrence before the fix was shown is the one that it helped with.
    let error = before.last()?;
    calls_until_fixed(pad, error)
}

/// Returns whether a session that was shown a fix at `shown_at` followed it and never had the error.
pub fn avoided_error(
    pad: &Scratchpad,
    memory: &Memory,
    fingerprint: &str,
    shown_at: Timestamp,
) -> bool {
    let has_occurred = pad.errors.iter().any(|it| it.fingerprint == fingerprint);
    !has_occurred && was_followed(pad, memory, shown_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script;

    const MISTAKE: &str = "fail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\n";

    /// The calls to the fix, if the fix was shown right after the first call.
    fn n_calls(script: &str) -> Option<u32> {
        let pad = test_script::pad_from_script(script);
        let fingerprint = pad.errors[0].fingerprint.clone();
        calls_to_fix(&pad, &fingerprint, pad.calls[0].at)
    }

    #[test]
    fn calls_are_counted_from_the_error_to_its_fix() {
        let short = format!("{MISTAKE}run git show --stat HEAD\n");
        assert_eq!(n_calls(&short), Some(1));
        let long = format!("{MISTAKE}run git help show\nread a.rs\nrun git show --stat HEAD\n");
        assert_eq!(n_calls(&long), Some(3));
    }

    #[test]
    fn an_error_that_came_back_or_stayed_saved_nothing() {
        assert_eq!(
            n_calls(&format!("{MISTAKE}read a.rs\n{MISTAKE}run git show --stat HEAD\n")),
            None
        );
        assert_eq!(n_calls(&format!("{MISTAKE}read a.rs\n")), None);
    }
}
