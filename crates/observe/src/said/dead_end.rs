//! Dead-end language: an approach is given up, in so many words.

use crate::sentence::{opening, sentences};

#[rustfmt::skip]
const GIVES_UP: &[&str] = &[
    "this approach won't work", "this approach will not work", "this approach doesn't work", "this approach isn't working", "this approach is not working", "that approach won't work", "this won't work because",
    "that won't work because", "abandon this", "abandoning this", "try a different approach", "take a different approach", "need a different approach",
    "is a dead end", "hit a dead end", "dead end:", "not available in this environment", "unavailable in ci", "not available in ci", "isn't available in this environment",
    "doesn't work in this environment", "can't be done this way", "give up on", "giving up on", "i'll abandon", "isn't going to work", "is not going to work",
];

/// What the first byte of a cue may be; the shortest cue, in bytes.
const OPENS: [bool; 256] = {
    let mut res = [false; 256];
    let mut at = 0;
    while at < GIVES_UP.len() {
        res[GIVES_UP[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    res
};
const SHORTEST: usize = 9;

/// Sentences that say an approach is given up, with the one before and the one after.
pub fn gives_up(text: &str) -> Vec<[&str; 3]> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT)];
    let all = sentences(text);
    let around = |nth: usize| {
        let before = nth.checked_sub(1).map_or("", |it| all[it]);
        [before, all[nth], all.get(nth + 1).copied().unwrap_or_default()]
    };
    (0..all.len()).filter(|nth| abandons(all[*nth])).map(around).collect()
}

/// Whether a sentence gives up an approach.
pub fn abandons(sentence: &str) -> bool {
    if sentence.len() < SHORTEST {
        return false;
    }
    let lower = opening(sentence);
    // A condition or a question gives nothing up yet.
    if lower.starts_with("if ") || sentence.ends_with('?') {
        return false;
    }
    let bytes = lower.as_bytes();
    let begins_word = |at: &usize| {
        OPENS[usize::from(bytes[*at])] && (*at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
    };
    let says = |at: usize| GIVES_UP.iter().any(|it| bytes[at..].starts_with(it.as_bytes()));
    (0..bytes.len()).filter(begins_word).any(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_up_is_heard() {
        assert!(abandons("This approach won't work because `sed -i` differs on macOS."));
        assert!(abandons("Let me try a different approach."));
        assert!(abandons("Docker is not available in this environment."));
        assert!(!abandons("If this approach won't work, we can use X."));
        assert!(!abandons("The dead-end detector works."));
        assert!(!abandons("Should I try a different approach?"));
        assert!(GIVES_UP.iter().all(|it| it.len() >= SHORTEST && abandons(&format!("So “{it}”"))));
        let text = "I tried `a`. This approach won't work. Instead use `b`. Fine.";
        assert_eq!(
            gives_up(text),
            [["I tried `a`.", "This approach won't work.", "Instead use `b`."]]
        );
    }
}
