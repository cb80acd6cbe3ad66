//! Savings: the tool calls that a session needed after it was shown the fix of an error.
//!
//! Only what the events show counts. An error that came back, or whose fix is not seen, saved nothing.

use model::{Memory, Timestamp};

use crate::Scratchpad;
use crate::memory_use::was_followed;
use crate::signal::calls_until_fixed;

/// Calls from an error to its fix in a session that was shown the fix at `at`. `None` if the error did
/// not occur before that, occurs again, or is never fixed.
pub fn calls_to_fix(pad: &Scratchpad, fingerprint: &str, at: Timestamp) -> Option<u32> {
    let same = pad.errors.iter().filter(|it| it.fingerprint == fingerprint);
    let (before, after): (Vec<_>, Vec<_>) =
        same.partition(|it| pad.calls[it.call as usize].at <= at);
    // The last occurrence before the fix was shown is the one that it helped with.
    let error = before.last().filter(|_| after.is_empty())?;
    calls_until_fixed(pad, error.call)
}

/// Returns whether a session that was shown a fix at `at` followed it and never had the error.
pub fn avoided_error(pad: &Scratchpad, memory: &Memory, fingerprint: &str, at: Timestamp) -> bool {
    let has_occurred = pad.errors.iter().any(|it| it.fingerprint == fingerprint);
    !has_occurred && was_followed(pad, memory, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script;

    const MISTAKE: &str = "fail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\n";

    fn n_calls(shown_after: usize, lines: &str) -> Option<u32> {
        let pad = test_script::pad_from_script(lines);
        let fingerprint = pad.errors[0].fingerprint.clone();
        calls_to_fix(&pad, &fingerprint, pad.calls[shown_after].at)
    }

    #[test]
    fn calls_are_counted_from_the_error_to_its_fix() {
        let short = format!("{MISTAKE}run git show --stat HEAD\n");
        assert_eq!(n_calls(0, &short), Some(1));
        let long = format!("{MISTAKE}run git help show\nread a.rs\nrun git show --stat HEAD\n");
        assert_eq!(n_calls(0, &long), Some(3));
    }

    #[test]
    fn an_error_that_came_back_or_stayed_saved_nothing() {
        assert_eq!(
            n_calls(0, &format!("{MISTAKE}read a.rs\n{MISTAKE}run git show --stat HEAD\n")),
            None
        );
        assert_eq!(n_calls(0, &format!("{MISTAKE}read a.rs\n")), None);
    }
}
