//! What a person says against what the agent did, and what they want done from now on.

use crate::sentence::{MAX_SENTENCE, opening, sentences};

/// Beginnings of a message that sets the agent right.
#[rustfmt::skip]
const CORRECTS: &[&str] = &[
    "no,", "no ", "nope", "stop", "wait,", "wait ", "don't", "do not", "that's not", "thats not", "that is not", "this is not", "that's wrong", "this is wrong",
    "wrong", "not that", "not what", "undo", "revert", "you forgot", "you missed", "you broke", "actually", "instead", "why did you", "why are you", "i said", "i meant",
    "i didn't", "i did not", "never mind", "hmm no", "hm no", "please don't", "please revert", "rather", "we removed", "it should", "it shouldn't", "you should", "you shouldn't",
    "hmm, no", "but that", "but this", "still ", "it still", "that doesn't", "that didn't", "this doesn't", "this didn't", "that won't",
];

/// Words by which a wish holds beyond the moment.
#[rustfmt::skip]
const STANDING: &[&str] = &[
    "always ", "never ", "from now on", "in the future", "in general", "as a rule", "we don't ", "we do not ", "we use ", "we prefer", "we want to keep", "we never", "we always",
    "prefer ", "make sure to ", "make sure you ", "make sure we ", "remember to ", "every time ", "convention", "in this repo", "in this project", "in this codebase", "don't ever", "should never", "should always", "must never", "must always",
    "only use ", "don't use ", "do not use ", "avoid ", "stop using", "please use ", "not supported", "on purpose", "intentionally",
];

/// Words that tie a sentence to what was just on the screen.
#[rustfmt::skip]
const DEICTIC: &[&str] = &[
    "this ", "that ", "these ", "those ", " it ", " it.", " it,", "it's", "it ", "above", "below", "here", "there", "just now", "your last", "the last", "you did", "you just",
    "again", "can you", "could you", "let's", "lets ", "i think", "i guess", "maybe", "for now", "i'm ", "now ", "now,", "next", "one more", "the first", "the second", "the other", " them",
    "they ", "plan", "pr ", "please fix", "i see", "?", "screenshot", "<", "http", "image", "review", "commit message", "issue", "linear", "option", "current",
];

/// The longest message that a person is taken to have typed, in bytes.
const MAX_TYPED: usize = 600;

/// Beginnings that answer, ask or go on; such a sentence needs the one before.
const ANSWERS: &[&str] = &[
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

/// Beginnings of sentences that say what to do.
#[rustfmt::skip]
const IMPERATIVES: &[&str] = &[
    "always", "never", "use ", "don't", "do not", "please", "keep ", "prefer", "avoid", "make sure", "remember", "run ", "only ", "stop ", "no ", "in this repo", "in this project", "from now on",
    "write ", "add ", "put ", "follow ", "from now",
];

/// Whether a message sets right what the agent did just before.
pub fn corrects(message: &str) -> bool {
    let message = message.trim();
    if message.len() > 2_000 {
        return false;
    }
    let lower = opening(message);
    CORRECTS.iter().any(|it| lower.starts_with(it))
}

/// Sentences in which a person says how things are done, beyond this moment.
pub fn wish(message: &str) -> Vec<&str> {
    // Longer messages are pasted: reviews, logs, diffs; others wrote them.
    if message.len() > MAX_TYPED || message.lines().count() > 8 {
        return Vec::new();
    }
    let message = &message[..message.floor_char_boundary(4096)];
    sentences(message).into_iter().filter(|it| is_wish(it)).collect()
}

fn is_wish(sentence: &str) -> bool {
    let n_words = sentence.split_whitespace().take(60).count();
    if !(5..=45).contains(&n_words)
        || sentence.len() > MAX_SENTENCE
        || sentence.ends_with([':', '?'])
    {
        return false;
    }
    let lower: String =
        sentence.chars().map(|it| if it == '’' { '\'' } else { it.to_ascii_lowercase() }).collect();
    let padded = format!(" {lower} ");
    let padded_has = |it: &str| padded.contains(&format!(" {}", it.trim_start()));
    let standing = STANDING.iter().any(|it| padded_has(it));
    let answers = ANSWERS.iter().any(|it| lower.starts_with(it));
    let directs = lower.starts_with("we ")
        || padded.contains(" we ")
        || IMPERATIVES.iter().any(|it| lower.starts_with(it));
    standing && directs && !answers && !DEICTIC.iter().any(|it| padded_has(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sets_right() {
        assert!(corrects("no, we removed the session commands on purpose"));
        assert!(corrects("Instead of \"X\" we should do Y"));
        assert!(corrects("thats not the branch I was looking for"));
        assert!(!corrects("yes, go on"));
        assert!(!corrects("note the new file"));
        assert!(!corrects("now add a test"));
    }

    #[test]
    fn a_wish_holds_beyond_the_moment() {
        assert_eq!(
            wish("Please always run `mise run fmt` before committing. Thanks!"),
            ["Please always run `mise run fmt` before committing."]
        );
        assert_eq!(
            wish("We don't use mocks in integration tests, only real repos."),
            ["We don't use mocks in integration tests, only real repos."]
        );
        assert!(wish("never do that again here").is_empty());
        assert!(wish("can you always show it?").is_empty());
        assert!(wish("fix the build").is_empty());
    }
}
