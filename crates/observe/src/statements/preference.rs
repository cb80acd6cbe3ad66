//! User messages: objections to what the agent did, and preferences that hold from now on.
//!
//! A preference must hold beyond the current task ("always", "we don't"), be an instruction or a
//! statement about "we", and be clear without the conversation around it: "Please always run `mise run fmt`
//! before committing." Long messages are ignored, because they are pasted and written by others.

use std::ops::RangeInclusive;

use super::MAX_SENTENCE_BYTES;
use crate::sentences::{lowercase_opening, lowercase_plain_quotes, split_sentences};

/// Beginnings of a message that objects to what the agent did.
#[rustfmt::skip]
const OBJECTION_OPENINGS: &[&str] = &[
    "no,", "no ", "nope", "stop", "wait,", "wait ", "don't", "do not", "that's not", "thats not", "that is not", "this is not", "that's wrong", "this is wrong",
    "wrong", "not that", "not what", "undo", "revert", "you forgot", "you missed", "you broke", "actually", "instead", "why did you", "why are you", "i said", "i meant",
    "i didn't", "i did not", "never mind", "hmm no", "hm no", "please don't", "please revert", "rather", "we removed", "it should", "it shouldn't", "you should", "you shouldn't",
    "hmm, no", "but that", "but this", "still ", "it still", "that doesn't", "that didn't", "this doesn't", "this didn't", "that won't",
];

/// Phrases by which a preference holds beyond the current task.
#[rustfmt::skip]
const LASTING_PHRASES: &[&str] = &[
    "always ", "never ", "from now on", "in the future", "in general", "as a rule", "we don't ", "we do not ", "we use ", "we prefer", "we want to keep", "we never", "we always",
    "prefer ", "make sure to ", "make sure you ", "make sure we ", "remember to ", "every time ", "convention", "in this repo", "in this project", "in this codebase", "don't ever", "should never", "should always", "must never", "must always",
    "only use ", "don't use ", "do not use ", "avoid ", "stop using", "please use ", "not supported", "on purpose", "intentionally",
];

/// Phrases that tie a sentence to the current conversation.
#[rustfmt::skip]
const DEICTIC_PHRASES: &[&str] = &[
    "this ", "that ", "these ", "those ", " it ", " it.", " it,", "it's", "it ", "above", "below", "here", "there", "just now", "your last", "the last", "you did", "you just",
    "again", "can you", "could you", "let's", "lets ", "i think", "i guess", "maybe", "for now", "i'm ", "now ", "now,", "next", "one more", "the first", "the second", "the other", " them",
    "they ", "plan", "pr ", "please fix", "i see", "?", "screenshot", "<", "http", "image", "review", "commit message", "issue", "linear", "option", "current",
];

/// The longest message that counts as typed by the user, in bytes and in lines. Longer ones are pasted:
/// reviews, logs and diffs that others wrote.
const MAX_TYPED_BYTES: usize = 600;
const MAX_TYPED_LINES: usize = 8;
/// The longest message that is compared with objections, in bytes.
const MAX_OBJECTION_BYTES: usize = 2_000;

/// Words of a preference: shorter sentences say too little, longer ones are explanations.
const PREFERENCE_WORDS: RangeInclusive<usize> = 5..=45;

/// Beginnings that answer, ask or continue. Such a sentence needs the one before.
const REPLY_OPENINGS: &[&str] = &[
    "yes",
    "but ",
    "and ",
    "still",
    "can we",
    "should we",
    "+",
    "-",
    "so ",
    "or ",
    "ok",
    "also",
    "alternatively",
    "while ",
    "the function",
    "sure",
    "thanks",
];

/// Beginnings of instructions.
#[rustfmt::skip]
const IMPERATIVE_OPENINGS: &[&str] = &[
    "always", "never", "use ", "don't", "do not", "please", "keep ", "prefer", "avoid", "make sure", "remember", "run ", "only ", "stop ", "no ", "in this repo", "in this project", "from now on",
    "write ", "add ", "put ", "follow ", "from now",
];

/// Returns whether a message objects to what the agent did just before.
pub fn is_objection(message: &str) -> bool {
    let message = message.trim();
    if message.len() > MAX_OBJECTION_BYTES {
        return false;
    }
    let lower = lowercase_opening(message);
    OBJECTION_OPENINGS.iter().any(|it| lower.starts_with(it))
}

/// The sentences in which the user says how things are done from now on.
pub fn standing_preferences(message: &str) -> Vec<&str> {
    if message.len() > MAX_TYPED_BYTES || message.lines().count() > MAX_TYPED_LINES {
        return Vec::new();
    }
    split_sentences(message).into_iter().filter(|it| is_standing_preference(it)).collect()
}

fn is_standing_preference(sentence: &str) -> bool {
    let n_words = sentence.split_whitespace().count();
    if !PREFERENCE_WORDS.contains(&n_words) || sentence.len() > MAX_SENTENCE_BYTES {
        return false;
    }
    // A question, or the introduction of a list.
    if sentence.ends_with([':', '?']) {
        return false;
    }
    let lower = lowercase_plain_quotes(sentence);
    // Padded, so that a phrase is found at both ends of the sentence, but only where a word begins.
    let padded = format!(" {lower} ");
    let has_phrase = |it: &str| padded.contains(&format!(" {}", it.trim_start()));
    // "run the tests": once, now.
    if !LASTING_PHRASES.iter().any(|it| has_phrase(it)) {
        return false;
    }
    // "the tests always fail": a report. Instructions begin with a verb, or are about "we".
    let is_imperative = IMPERATIVE_OPENINGS.iter().any(|it| lower.starts_with(it));
    if !is_imperative && !padded.contains(" we ") {
        return false;
    }
    // "but we always do": needs the sentence before.
    if REPLY_OPENINGS.iter().any(|it| lower.starts_with(it)) {
        return false;
    }
    // "never do that again": needs to know what "that" is.
    !DEICTIC_PHRASES.iter().any(|it| has_phrase(it))
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

    #[test]
    fn a_preference_holds_beyond_the_current_task() {
        assert_eq!(
            standing_preferences("Please always run `mise run fmt` before committing. Thanks!"),
            ["Please always run `mise run fmt` before committing."]
        );
        assert_eq!(
            standing_preferences("We don't use mocks in integration tests, only real repos."),
            ["We don't use mocks in integration tests, only real repos."]
        );
        assert!(standing_preferences("never do that again here").is_empty());
        assert!(standing_preferences("can you always show it?").is_empty());
        assert!(standing_preferences("fix the build").is_empty());
    }
}
