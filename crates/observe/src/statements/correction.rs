//! Self-corrections: sentences in which the agent revises its own belief, plan or edit.
//!
//! A correction begins with a cue, possibly after words such as "but" or "hmm": "Hmm, I misread the test."
//! Only the beginning is compared: a cue in the middle of a sentence is ordinary prose. A sentence that only
//! looks again ("wait, let me re-read") has not revised anything yet and does not count.

use super::fact::extract_fact;
use super::mark_first_bytes;
use crate::sentences::{lowercase_opening, split_sentences};

/// Words that may precede a cue.
const PRELUDE_WORDS: &[&str] =
    &["but ", "hmm, ", "hmm. ", "oh, ", "oh ", "no, ", "ah, ", "however, ", "and ", "so "];

/// Beginnings that are a correction by themselves.
#[rustfmt::skip]
const CORRECTION_CUES: &[&str] = &[
    "actually, wait", "actually wait", "actually - wait", "wait, actually", "wait - actually", "wait, no", "no wait", "wait no",
    "actually, no", "actually no,", "i was wrong", "i made a mistake", "i made an error", "my mistake", "i misread", "i misunderstood",
    "i initially thought", "i had assumed", "i mistakenly", "i was mistaken", "i just realized", "i just realised", "i realize now",
    "correction:", "on second thought", "scratch that", "let me reconsider", "oops", "that was wrong", "that's wrong",
    "my earlier", "my previous assumption", "i got that wrong", "i forgot to", "i forgot that", "i overlooked",
    "let me fix my", "let me revert my", "let me undo my", "let me fix that", "let me correct that", "let me correct my",
    "actually, i just realized", "actually, i was", "actually, i made", "actually, i misread", "actually, i don't need",
    "actually, i need to", "actually, i should", "actually, that's not", "actually, that won't", "actually, that doesn't",
    "actually, this isn't", "actually, this won't", "actually, this doesn't", "actually, looking",
    "wait, i made", "wait, i thought", "wait, i was", "wait, i need", "wait, i should", "wait, i forgot", "wait, i misread",
    "wait, this will", "wait, this would", "wait, this won't", "wait, this isn't", "wait, this doesn't", "wait, this means",
    "wait, that's not", "wait, that won't", "wait, that doesn't", "wait, that's wrong", "wait - that", "wait, looking", "wait, actually looking",
    "wait, but", "wait, there's",
];

/// Verbs after "actually, let me" that change the plan. Other verbs only look again.
const NEW_PLAN_VERBS: &[&str] = &[
    "just",
    "reconsider",
    "think",
    "rethink",
    "add",
    "use",
    "do",
    "not",
    "simplify",
    "take",
    "change",
    "keep",
    "try",
    "revert",
    "undo",
    "go",
    "make",
    "put",
    "write",
];

/// Words after "actually, the" that are searched for a verb of [`CLAIM_VERBS`].
const MAX_CLAIM_WORDS: usize = 8;
/// Verbs after "actually, the …" that claim how something is.
const CLAIM_VERBS: &[&str] = &[
    "is", "are", "isn't", "aren't", "was", "should", "doesn't", "does", "needs", "must", "can't",
    "won't", "already", "has", "have", "only",
];

/// Bytes that a correction can begin with. Other sentences are rejected by their first byte.
const IS_FIRST_BYTE: [bool; 256] =
    mark_first_bytes(mark_first_bytes([false; 256], PRELUDE_WORDS), CORRECTION_CUES);
/// The shortest cue, in bytes.
const MIN_CUE_BYTES: usize = 4;

/// The sentences that are self-corrections, word for word.
pub fn corrections(text: &str) -> Vec<&str> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT_BYTES)];
    split_sentences(text).into_iter().filter(|it| is_correction(it)).collect()
}

/// Returns whether a sentence revises something that its speaker believed, planned or did.
pub fn is_correction(sentence: &str) -> bool {
    let first = sentence.bytes().next().unwrap_or_default().to_ascii_lowercase();
    if sentence.len() < MIN_CUE_BYTES || !IS_FIRST_BYTE[usize::from(first)] {
        return false;
    }
    // Skip the words before the cue: "But hmm, …".
    let lower = lowercase_opening(sentence);
    let mut opening = lower.as_str();
    let mut is_after_but = false;
    while let Some(remaining) = PRELUDE_WORDS.iter().find_map(|it| opening.strip_prefix(it)) {
        is_after_but |= opening.starts_with("but ");
        opening = remaining;
    }
    if starts_with_cue(opening) {
        return true;
    }
    // "But wait, `paths` is imported there": an objection to the sentence before.
    let is_wait = opening.starts_with("wait,") || opening.starts_with("wait -");
    if is_after_but && is_wait && !is_second_look(opening) {
        return true;
    }
    // "Actually, let me use …": a new plan, or only a second look.
    if let Some(plan) = opening.strip_prefix("actually, let me ") {
        let verb = plan.split([' ', '.', ',']).next().unwrap_or_default();
        return NEW_PLAN_VERBS.contains(&verb);
    }
    // The remaining corrections begin with "actually".
    let claim = opening.strip_prefix("actually, ").or_else(|| opening.strip_prefix("actually "));
    let Some(claim) = claim else { return false };
    // "Actually, the limit is 5": a claim in place of a belief.
    if let Some(subject_and_verb) = claim.strip_prefix("the ") {
        let mut words = subject_and_verb.split([' ', ',']).take(MAX_CLAIM_WORDS);
        if words.any(|it| CLAIM_VERBS.contains(&it)) {
            return true;
        }
    }
    // "Actually, `total()` returns cents, not euros": a fact in place of a belief.
    extract_fact(sentence).is_some()
}

fn starts_with_cue(opening: &str) -> bool {
    // Most cues differ in the first byte, which is cheaper than comparing all of them.
    let first = opening.bytes().next().unwrap_or_default();
    let mut possible = CORRECTION_CUES.iter().filter(|it| it.as_bytes()[0] == first);
    possible.any(|cue| opening.strip_prefix(cue).is_some_and(starts_at_word_end))
}

/// Returns whether the text after a cue begins outside of a word, so that the cue ended with a word.
fn starts_at_word_end(after_cue: &str) -> bool {
    after_cue.chars().next().is_none_or(|it| !it.is_alphanumeric())
}

/// Returns whether the speaker only looks again and has not revised anything yet.
fn is_second_look(opening: &str) -> bool {
    const SECOND_LOOKS: &[&str] = &["let me", "the ", "where", "what", "why", "how", "did ", "is "];
    let after_wait = opening.strip_prefix("wait, ");
    after_wait.is_some_and(|rest| SECOND_LOOKS.iter().any(|it| rest.starts_with(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cue_is_recognised_at_the_beginning() {
        assert!(CORRECTION_CUES.iter().all(|it| it.len() >= MIN_CUE_BYTES && is_correction(it)));
        assert!(PRELUDE_WORDS.iter().all(|it| is_correction(&format!("{it}I was wrong."))));
    }

    #[test]
    fn a_revised_belief_is_a_correction() {
        for it in [
            "Wait, I made a mistake.",
            "Actually wait, looking back at the design: `paths` needs `session`.",
            "I was wrong about the rounding: it happens per line.",
            "Actually, let me reconsider.",
            "Hmm, I misread the test.",
            "But wait, looking at the test flow again, the user makes a commit.",
            "Actually, the sync failure is probably the known 502.",
            "Let me fix my edit.",
            "Correction: the limit is 5.",
            "Wait, this will change the working directory.",
        ] {
            assert!(is_correction(it), "{it}");
        }
    }

    #[test]
    fn plans_and_second_looks_are_not_corrections() {
        for it in [
            "await the promise, actually.",
            "Wait for the build to finish.",
            "No completion yet; continuing to wait.",
            "Wait, let me re-read the flow.",
            "Actually, let me see if I can find evidence.",
            "Let me fix this by returning all files.",
            "They are actually the same.",
            "0 errors, 12 passed.",
            "Wait, STATE.md says 4 pending todos.",
            "Actually, the summary mentioned that.",
            "I waited, actually.",
            "Oopsie-daisy is the name of the module.",
        ] {
            assert!(!is_correction(it), "{it}");
        }
    }
}
