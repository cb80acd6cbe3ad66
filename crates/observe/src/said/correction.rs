//! Self-corrections: the agent revises a belief, a plan or an edit of its own.

use super::fact::fact_in;
use crate::sentence::{opening, sentences};

/// Words that may come before a cue.
const PRELUDES: &[&str] =
    &["but ", "hmm, ", "hmm. ", "oh, ", "oh ", "no, ", "ah, ", "however, ", "and ", "so "];

/// Beginnings that revise something by themselves.
#[rustfmt::skip]
const REVISES: &[&str] = &[
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

/// After "actually, let me": another way, not another look.
const OTHER_WAYS: &[&str] = &[
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

/// After "actually, the …": what is said to be so, not what was said.
const STATES: &[&str] = &[
    "is", "are", "isn't", "aren't", "was", "should", "doesn't", "does", "needs", "must", "can't",
    "won't", "already", "has", "have", "only",
];

/// What a sentence that revises something may begin with; others are left at once.
const OPENS: [bool; 256] = {
    let mut res = [false; 256];
    let mut at = 0;
    while at < PRELUDES.len() {
        res[PRELUDES[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    at = 0;
    while at < REVISES.len() {
        res[REVISES[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    res
};
/// The shortest cue, in bytes.
const SHORTEST: usize = 4;

/// Sentences in which the speaker revises something, as they stand.
pub fn corrections(text: &str) -> Vec<&str> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT)];
    sentences(text).into_iter().filter(|it| revises(it)).collect()
}

/// Whether a sentence revises something its speaker believed, planned or did.
pub fn revises(sentence: &str) -> bool {
    let first = sentence.bytes().next().unwrap_or_default().to_ascii_lowercase();
    if sentence.len() < SHORTEST || !OPENS[usize::from(first)] {
        return false;
    }
    let lower = opening(sentence);
    let mut rest = lower.as_str();
    let mut after_but = false;
    while let Some(more) = PRELUDES.iter().find_map(|it| rest.strip_prefix(it)) {
        after_but |= rest.starts_with("but ");
        rest = more;
    }
    let first = rest.bytes().next().unwrap_or_default();
    let may = |it: &&&str| it.as_bytes()[0] == first;
    if REVISES.iter().filter(may).any(|it| rest.strip_prefix(it).is_some_and(at_word_end)) {
        return true;
    }
    // "But wait, looking at the flow again": an objection to what was just said.
    if after_but && (rest.starts_with("wait,") || rest.starts_with("wait -")) && !looks_again(rest)
    {
        return true;
    }
    if let Some(plan) = rest.strip_prefix("actually, let me ") {
        return OTHER_WAYS.contains(&plan.split([' ', '.', ',']).next().unwrap_or_default());
    }
    let claim = rest.strip_prefix("actually, ").or_else(|| rest.strip_prefix("actually "));
    let of_the = claim.and_then(|it| it.strip_prefix("the "));
    if of_the.is_some_and(|it| it.split([' ', ',']).take(8).any(|it| STATES.contains(&it))) {
        return true;
    }
    // "Actually, `total()` returns cents, not euros": what is so, in place of what was believed.
    claim.is_some() && fact_in(sentence).is_some()
}

fn at_word_end(rest: &str) -> bool {
    rest.chars().next().is_none_or(|it| !it.is_alphanumeric())
}

/// Only another look: nothing has been revised yet.
fn looks_again(rest: &str) -> bool {
    ["let me", "the ", "where", "what", "why", "how", "did ", "is "]
        .iter()
        .any(|it| rest.strip_prefix("wait, ").is_some_and(|rest| rest.starts_with(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cue_is_heard_at_the_beginning() {
        assert!(REVISES.iter().all(|it| it.len() >= SHORTEST && revises(it)));
        assert!(PRELUDES.iter().all(|it| revises(&format!("{it}I was wrong."))));
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
            assert!(revises(it), "{it}");
        }
    }

    #[test]
    fn plans_and_looks_are_not() {
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
            assert!(!revises(it), "{it}");
        }
    }
}
