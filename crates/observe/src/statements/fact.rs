//! Extracts the fact from a sentence, if it states one about the code that is clear without its
//! neighbours: "Wait, rounding in `total.ts` happens per line, it is not done on the sum" → "Rounding in
//! `total.ts` happens per line, it is not done on the sum."
//!
//! Used for corrections, explanations of errors and reasons for reverted edits. A fact must name code
//! near its beginning, have a verb of state, and contrast with an expectation ("not", "only",
//! "instead"). Plans, guesses, and sentences with "this" or "it" as subject are rejected. A sentence that
//! matches a list by accident is lost, which is better than a false fact.

use super::MAX_SENTENCE_BYTES;
use crate::sentences::{is_code_word, lowercase_opening, lowercase_plain_quotes, names_code};

/// Beginnings of a correction; the fact follows.
#[rustfmt::skip]
const LEADING_CUES: &[&str] = &[
    "but ", "hmm, ", "no, ", "oh, ", "wait, ", "wait - ", "wait — ", "wait: ", "actually, ", "actually ", "actually - ", "i just realized that ",
    "i just realized ", "i realize now that ", "i see now that ", "correction: ", "looking again, ", "turns out ", "it turns out ",
    "i was wrong: ", "i was wrong - ", "i was wrong — ", "oops, ", "oops - ", "i misread: ", "my mistake - ", "my mistake: ", "i see - ", "i see, ", "i see the issue - ", "i see the issue. ", "ah, ", "ah - ", "so ",
];

/// Verbs of a statement about how something is.
#[rustfmt::skip]
const STATE_VERBS: &[&str] = &[
    "is", "isn't", "are", "aren't", "uses", "needs", "requires", "returns", "expects", "must", "doesn't", "don't", "can't", "cannot",
    "only", "never", "always", "contains", "means", "belongs", "lives", "points", "has", "won't", "ignores", "calls", "runs", "does",
    "wraps", "takes", "stores", "holds", "writes", "reads", "creates", "accepts", "supports", "skips", "fails", "should", "depends",
];

/// Beginnings of plans, questions, reports, and of sentences that need the one before.
#[rustfmt::skip]
const NON_FACT_OPENINGS: &[&str] = &[
    "let me", "let's", "i'll", "i will", "i need", "i should", "i can", "i could", "i'm", "i am", "i'd", "i have", "i've", "i see", "i think", "i want", "i don't",
    "i just", "i also", "i already", "i missed", "i made", "i forgot", "i was", "i used", "i added", "i thought", "i notice", "i realize", "i understand", "i found",
    "we need", "we should", "we can", "we could", "we have", "we want", "we'll", "now ", "next", "then ", "first", "this ", "that ", "that's", "these ", "those ",
    "it ", "it's", "its ", "they ", "he ", "she ", "there ", "there's", "here", "maybe", "perhaps", "probably", "what ", "why ", "how ", "where ",
    "which ", "who ", "if ", "looking", "good", "great", "ok", "yes", "no ", "done", "all ", "and ", "or ", "not ", "you ", "you're", "your ", "looks", "seems",
    "the best", "the easiest", "the simplest", "a cleaner", "a simpler", "the core", "the main", "the path", "the branch", "the function", "the method", "the common", "i wonder",
    "reading", "thinking", "from what", "at the time", "each session", "session ", "by removing", "testing", "the message", "the git", "the diagnostics", "the comparison", "the hook", "we ",
    "my ", "our ", "so ", "since", "because", "wait", "actually", "hmm", "the user", "the issue", "the problem", "the test", "the error", "the fix", "the change", "the current",
    "the linter", "the plan", "the summary", "the output", "the remaining", "the other", "the new", "the old", "the same", "the first", "the second", "the last", "the tests",
    "the failing", "the failure", "the existing", "the latest", "the correct", "the right", "the question", "the file", "the code", "the build", "step", "option", "both ", "another", "one ",
    "tests", "for now", "also", "however", "instead", "before", "after", "when i", "once", "still", "only ", "let", "in this", "in that", "in our", "from the", "based on", "but", "given",
];

/// Words that make a statement uncertain, or true only at the time it was made.
#[rustfmt::skip]
const DOUBT_PHRASES: &[&str] = &[
    "maybe", "perhaps", "might", "probably", "i think", "seems", "seem", "let me", "i'll", "should i", "we should", "i should", "could be", "not sure", "todo", "currently on",
    "this session", "the user", "now ", "i need", "i can", "i'd", "we need", "we can", "earlier", "previously", "just ", "right now", "i've", "i was", "we're", "i'm", "line ",
    "lines ", "would", "should", "wonder", "issue", "approach", "fix is", "session 1", "session 2", "session a", "session b", "checkpoint 1", "checkpoint 2", "no longer", "tricky", "harder", "the test ", "already exists", "complains",
    "diagnostic", "this ", "here", "my ", "...", "above", "below", "these ", "those ", " he ", " she ",
];

/// Words that contrast a fact with an expectation. A correction without one is a plain description, for
/// which the code itself is the better source.
#[rustfmt::skip]
const CONTRAST_WORDS: &[&str] = &[
    "not", "n't", "never", "only", "instead", "rather", "already", "always", "must", "requires", "except", "even", "ignores", "unless", "cannot", "without", "both", "are reported",
];

/// The shortest fact, in words.
const MIN_FACT_WORDS: usize = 6;
/// Words at the beginning that are searched for the subject, and for the verb.
const SUBJECT_WORDS: usize = 4;
const VERB_WORDS: usize = 24;
/// The shortest abbreviated commit id, in bytes.
const MIN_HASH_BYTES: usize = 6;

/// The fact in a sentence as a sentence of its own: without the cue, with a capital first letter and a
/// full stop. `None` if the sentence does not state a fact.
pub fn extract_fact(sentence: &str) -> Option<String> {
    let mut statement = sentence.trim();
    if statement.len() > MAX_SENTENCE_BYTES || statement.ends_with(['?', ':']) {
        return None;
    }
    // Remove the cues. They can follow one another: "But wait, actually, …".
    let starts_with_cue = |text: &str, cue: &str| lowercase_opening(text).starts_with(cue);
    while let Some(cue) = LEADING_CUES.iter().find(|it| starts_with_cue(statement, it)) {
        statement = statement[cue.len().min(statement.len())..].trim_start();
        if statement.is_empty() {
            return None;
        }
    }
    if !is_lasting_fact(statement) {
        return None;
    }
    // Make it a sentence: a capital letter and a full stop.
    let mut chars = statement.chars();
    let first = chars.next()?;
    // An identifier keeps its case.
    let starts_with_code = statement.starts_with('`') || is_code_word(statement.split(' ').next()?);
    let fact: String = if starts_with_code {
        statement.to_owned()
    } else {
        first.to_uppercase().chain(chars).collect()
    };
    Some(if fact.ends_with(['.', '!']) {
        fact
    } else {
        format!("{}.", fact.trim_end_matches([';', ',']))
    })
}

/// Returns whether a sentence without its cue states a lasting fact about named code.
fn is_lasting_fact(sentence: &str) -> bool {
    let lower = lowercase_plain_quotes(sentence);
    // "Let me use `git add`", "This is `a.rs`": a plan, or a sentence that needs the one before.
    if NON_FACT_OPENINGS.iter().any(|it| lower.starts_with(it)) {
        return false;
    }
    // "`a.rs` might not be used": a guess.
    if DOUBT_PHRASES.iter().any(|it| lower.contains(it)) {
        return false;
    }
    // "`a.rs` and `b.rs`, but not `c.rs`": no verb.
    let words = || lower.split([' ', ',']);
    if !words().take(VERB_WORDS).any(|it| STATE_VERBS.contains(&it)) {
        return false;
    }
    // "`total()` returns the sum of all lines": the code itself says so.
    if !words().any(|it| CONTRAST_WORDS.contains(&it) || it.ends_with("n't")) {
        return false;
    }
    // "Rounding is not done in the loop of `total.ts`": the subject, at the beginning, must be code.
    let mut subject_words = sentence.split_whitespace().take(SUBJECT_WORDS);
    if !subject_words.any(|it| it.contains('`') || is_code_word(it)) {
        return false;
    }
    // "`a.rs` is not in 4f2a9c1": true of one commit.
    if sentence.split(|it: char| !it.is_alphanumeric()).any(is_hash) {
        return false;
    }
    // "`a.rs` is not used": too short to be clear alone.
    if sentence.split_whitespace().count() < MIN_FACT_WORDS {
        return false;
    }
    names_code(sentence) && is_balanced(sentence)
}

/// Returns whether a word is a commit or an id: facts about those do not last.
fn is_hash(word: &str) -> bool {
    word.len() >= MIN_HASH_BYTES
        && word.bytes().all(|it| it.is_ascii_hexdigit())
        && word.bytes().any(|it| it.is_ascii_digit())
        && word.bytes().any(|it| it.is_ascii_alphabetic())
}

/// Returns whether all backticks, brackets and quotes are closed. A sentence with an open one is a
/// fragment.
fn is_balanced(text: &str) -> bool {
    let count = |it: char| text.matches(it).count();
    count('`') % 2 == 0 && count('(') == count(')') && count('"') % 2 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the fact of a sentence; `–` if there is none.
    fn check(sentence: &str, expect: Expect) {
        expect.assert_eq(&extract_fact(sentence).unwrap_or_else(|| "–".to_owned()));
    }

    #[test]
    fn only_facts_that_are_clear_alone_are_extracted() {
        check(
            "Actually, `os.Getwd()` is not the root, the hook runs in a subfolder",
            expect!["`os.Getwd()` is not the root, the hook runs in a subfolder."],
        );
        check(
            "Wait, rounding in `total.ts` happens per line, it is not done on the sum.",
            expect!["Rounding in `total.ts` happens per line, it is not done on the sum."],
        );
        check("Wait, I made a mistake in `a.rs`, it is wrong.", expect!["–"]);
        check("Actually, let me use `git add` which is better.", expect!["–"]);
        check("That means `a.rs` is the right file to edit.", expect!["–"]);
        check("Is `a.rs` really the file that is used here?", expect!["–"]);
        check("Actually everything is fine and done here.", expect!["–"]);
    }
}
