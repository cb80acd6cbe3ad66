//! What a session was spared by being told what ends an error: counted, never supposed.
//!
//! An error that came again after all, or that nobody is seen to have ended, spared nothing.

use model::{Memory, Timestamp};

use crate::Scratchpad;
use crate::signal::calls_until_ended;
use crate::used::followed;

/// Calls that a session made from an error until what ended it, having been told of it at `at`; `None`
/// when it did not meet the error before that, meets it again, or is not seen to end it.
pub fn ended_after(pad: &Scratchpad, fingerprint: &str, at: Timestamp) -> Option<u32> {
    let of = pad.failures.iter().filter(|it| it.fingerprint == fingerprint);
    let (before, after): (Vec<_>, Vec<_>) = of.partition(|it| pad.calls[it.call as usize].at <= at);
    let failure = before.last().filter(|_| after.is_empty())?;
    calls_until_ended(pad, failure.call)
}

/// Whether a session that was told of an error at `at` did what ends it, and never met it.
pub fn avoided(pad: &Scratchpad, memory: &Memory, fingerprint: &str, at: Timestamp) -> bool {
    let met = pad.failures.iter().any(|it| it.fingerprint == fingerprint);
    !met && followed(pad, memory, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    const MISTAKE: &str = "fail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\n";

    fn ended(told_after: usize, lines: &str) -> Option<u32> {
        let pad = script::pad(lines);
        let fingerprint = pad.failures[0].fingerprint.clone();
        ended_after(&pad, &fingerprint, pad.calls[told_after].at)
    }

    #[test]
    fn calls_are_counted_from_the_error_to_its_end() {
        let short = format!("{MISTAKE}run git show --stat HEAD\n");
        assert_eq!(ended(0, &short), Some(1));
        let long = format!("{MISTAKE}run git help show\nread a.rs\nrun git show --stat HEAD\n");
        assert_eq!(ended(0, &long), Some(3));
    }

    #[test]
    fn an_error_that_came_again_or_stayed_spared_nothing() {
        assert_eq!(
            ended(0, &format!("{MISTAKE}read a.rs\n{MISTAKE}run git show --stat HEAD\n")),
            None
        );
        assert_eq!(ended(0, &format!("{MISTAKE}read a.rs\n")), None);
    }
}
