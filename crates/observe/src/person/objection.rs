//! Objections: messages that reject what the agent did just before.
//!
//! Marks a message in the log of the session; it keeps nothing. A message that carries more than the rejection
//! is weighed as a correction (`person.rs`).

use crate::sentences::lowercase_opening;

/// Beginnings of a message that objects to what the agent did.
#[rustfmt::skip]
const OBJECTION_OPENINGS: &[&str] = &[
    "no,", "no ", "nope", "stop", "wait,", "wait ", "don't", "do not", "that's not", "thats not", "that is not", "this is not", "that's wrong", "this is wrong",
    "wrong", "not that", "not what", "undo", "revert", "you forgot", "you missed", "you broke", "actually", "instead", "why did you", "why are you", "i said", "i meant",
    "i didn't", "i did not", "never mind", "hmm no", "hm no", "please don't", "please revert", "rather", "we removed", "it should", "it shouldn't", "you should", "you shouldn't",
    "hmm, no", "but that", "but this", "still ", "it still", "that doesn't", "that didn't", "this doesn't", "this didn't", "that won't",
];

/// The longest message that is compared with objections, in bytes.
const MAX_OBJECTION_BYTES: usize = 2_000;

/// Returns whether a message objects to what the agent did just before.
pub fn is_objection(message: &str) -> bool {
    let message = message.trim();
    if message.len() > MAX_OBJECTION_BYTES {
        return false;
    }
    let lower = lowercase_opening(message);
    OBJECTION_OPENINGS.iter().any(|it| lower.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objections_are_recognised() {
        assert!(is_objection("no, we removed the session commands on purpose"));
        assert!(is_objection("Instead of \"X\" we should do Y"));
        assert!(is_objection("thats not the branch I was looking for"));
        assert!(!is_objection("yes, go on"));
        assert!(!is_objection("note the new file"));
        assert!(!is_objection("now add a test"));
    }
}
