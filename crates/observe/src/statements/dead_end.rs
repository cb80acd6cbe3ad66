//! Dead ends: sentences in which the agent gives up an approach.
//!
//! A cue may begin at any word in the opening of the sentence: "So this approach won't work because …". The
//! sentences before and after are returned with it, because they often name what was tried and what is done
//! instead.

use super::mark_first_bytes;
use crate::sentences::{lowercase_opening, split_sentences};

/// Phrases that give up an approach, in lower case.
#[rustfmt::skip]
const GIVE_UP_CUES: &[&str] = &[
    "this approach won't work", "this approach will not work", "this approach doesn't work", "this approach isn't working", "this approach is not working", "that approach won't work", "this won't work because",
    "that won't work because", "abandon this", "abandoning this", "try a different approach", "take a different approach", "need a different approach",
    "is a dead end", "hit a dead end", "dead end:", "not available in this environment", "unavailable in ci", "not available in ci", "isn't available in this environment",
    "doesn't work in this environment", "can't be done this way", "give up on", "giving up on", "i'll abandon", "isn't going to work", "is not going to work",
];

/// Bytes that a cue can begin with.
const IS_FIRST_BYTE: [bool; 256] = mark_first_bytes([false; 256], GIVE_UP_CUES);
/// The shortest cue, in bytes.
const MIN_CUE_BYTES: usize = 9;

/// The sentences that give up an approach, each between its neighbours; a missing neighbour is empty.
pub fn dead_ends(text: &str) -> Vec<[&str; 3]> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT_BYTES)];
    let sentences = split_sentences(text);
    let mut acc = Vec::new();
    for (nth, sentence) in sentences.iter().enumerate() {
        if is_dead_end(sentence) {
            let before = if nth > 0 { sentences[nth - 1] } else { "" };
            let after = sentences.get(nth + 1).copied().unwrap_or_default();
            acc.push([before, sentence, after]);
        }
    }
    acc
}

/// Returns whether a sentence gives up an approach.
pub fn is_dead_end(sentence: &str) -> bool {
    if sentence.len() < MIN_CUE_BYTES {
        return false;
    }
    let lower = lowercase_opening(sentence);
    // A condition or a question does not give up anything yet.
    if lower.starts_with("if ") || sentence.ends_with('?') {
        return false;
    }
    // Cues are compared only where a word begins with one of their first bytes: linear in the sentence.
    let bytes = lower.as_bytes();
    let may_begin_cue = |position: &usize| {
        let begins_word = *position == 0 || !bytes[position - 1].is_ascii_alphanumeric();
        begins_word && IS_FIRST_BYTE[usize::from(bytes[*position])]
    };
    let begins_cue = |position: usize| {
        GIVE_UP_CUES.iter().any(|it| bytes[position..].starts_with(it.as_bytes()))
    };
    (0..bytes.len()).filter(may_begin_cue).any(begins_cue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_up_is_recognised() {
        assert!(is_dead_end("This approach won't work because `sed -i` differs on macOS."));
        assert!(is_dead_end("Let me try a different approach."));
        assert!(is_dead_end("Docker is not available in this environment."));
        assert!(!is_dead_end("If this approach won't work, we can use X."));
        assert!(!is_dead_end("The dead-end detector works."));
        assert!(!is_dead_end("Should I try a different approach?"));
        assert!(
            GIVE_UP_CUES
                .iter()
                .all(|it| it.len() >= MIN_CUE_BYTES && is_dead_end(&format!("So “{it}”")))
        );
    }

    #[test]
    fn a_dead_end_comes_with_its_neighbours() {
        let text = "I tried `a`. This approach won't work. Instead use `b`. Fine.";
        assert_eq!(
            dead_ends(text),
            [["I tried `a`.", "This approach won't work.", "Instead use `b`."]]
        );
    }
}
