//! Whether a sentence states a fact about the code that stands without its neighbours.

use crate::sentence::{MAX_SENTENCE, names_code, opening};

/// What a correction begins with; the fact comes after it.
#[rustfmt::skip]
const CUES: &[&str] = &[
    "but ", "hmm, ", "no, ", "oh, ", "wait, ", "wait - ", "wait — ", "wait: ", "actually, ", "actually ", "actually - ", "i just realized that ",
    "i just realized ", "i realize now that ", "i see now that ", "correction: ", "looking again, ", "turns out ", "it turns out ",
    "i was wrong: ", "i was wrong - ", "i was wrong — ", "oops, ", "oops - ", "i misread: ", "my mistake - ", "my mistake: ", "i see - ", "i see, ", "i see the issue - ", "i see the issue. ", "ah, ", "ah - ", "so ",
];

/// Verbs that say how something is.
#[rustfmt::skip]
const STATES: &[&str] = &[
    "is", "isn't", "are", "aren't", "uses", "needs", "requires", "returns", "expects", "must", "doesn't", "don't", "can't", "cannot",
    "only", "never", "always", "contains", "means", "belongs", "lives", "points", "has", "won't", "ignores", "calls", "runs", "does",
    "wraps", "takes", "stores", "holds", "writes", "reads", "creates", "accepts", "supports", "skips", "fails", "should", "depends",
];

/// Beginnings that are plans, questions, reports, or need the sentence before.
#[rustfmt::skip]
const NOT_FACTS: &[&str] = &[
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

/// Words that make a statement uncertain or bound to the moment.
#[rustfmt::skip]
const DOUBTS: &[&str] = &[
    "maybe", "perhaps", "might", "probably", "i think", "seems", "seem", "let me", "i'll", "should i", "we should", "i should", "could be", "not sure", "todo", "currently on",
    "this session", "the user", "now ", "i need", "i can", "i'd", "we need", "we can", "earlier", "previously", "just ", "right now", "i've", "i was", "we're", "i'm", "line ",
    "lines ", "would", "should", "wonder", "issue", "approach", "fix is", "session 1", "session 2", "session a", "session b", "checkpoint 1", "checkpoint 2", "no longer", "tricky", "harder", "the test ", "already exists", "complains",
    "diagnostic", "this ", "here", "my ", "...", "above", "below", "these ", "those ", " he ", " she ",
];

/// Words of a contrast: what is so, against what one would think. A correction without one is a plain
/// description, of which the code itself is the better source.
#[rustfmt::skip]
const CONTRASTS: &[&str] = &[
    "not", "n't", "never", "only", "instead", "rather", "already", "always", "must", "requires", "except", "even", "ignores", "unless", "cannot", "without", "both", "are reported",
];

/// The fact in a sentence, as a sentence of its own: cue taken off, first letter capital.
pub fn fact_in(sentence: &str) -> Option<String> {
    let mut rest = sentence.trim();
    if rest.len() > MAX_SENTENCE || rest.ends_with(['?', ':']) {
        return None;
    }
    while let Some(cue) = CUES.iter().find(|it| opening(rest).starts_with(*it)) {
        rest = rest[cue.len().min(rest.len())..].trim_start();
        if !rest.is_char_boundary(0) || rest.is_empty() {
            return None;
        }
    }
    let lower: String = sentence_lower(rest);
    let plan = NOT_FACTS.iter().any(|it| lower.starts_with(it));
    let doubt = DOUBTS.iter().any(|it| lower.contains(it));
    let stated = lower.split([' ', ',']).take(24).any(|it| STATES.contains(&it));
    let contrasts =
        lower.split([' ', ',']).any(|it| CONTRASTS.contains(&it) || it.ends_with("n't"));
    let of_code =
        rest.split_whitespace().take(4).any(|it| it.contains('`') || crate::sentence::is_code(it));
    let fleeting = rest.split(|it: char| !it.is_alphanumeric()).any(is_hash);
    let long_enough = rest.split_whitespace().count() >= 6;
    if plan
        || doubt
        || !stated
        || !contrasts
        || !of_code
        || fleeting
        || !long_enough
        || !names_code(rest)
        || !is_balanced(rest)
    {
        return None;
    }
    let mut chars = rest.chars();
    let first = chars.next()?;
    let res: String = if rest.starts_with('`') || crate::sentence::is_code(rest.split(' ').next()?)
    {
        rest.to_owned()
    } else {
        first.to_uppercase().chain(chars).collect()
    };
    Some(if res.ends_with(['.', '!']) {
        res
    } else {
        format!("{}.", res.trim_end_matches([';', ',']))
    })
}

fn sentence_lower(text: &str) -> String {
    text.chars().map(|it| if it == '’' { '\'' } else { it.to_ascii_lowercase() }).collect()
}

/// A commit or an id: true of one moment only.
fn is_hash(word: &str) -> bool {
    word.len() >= 6
        && word.bytes().all(|it| it.is_ascii_hexdigit())
        && word.bytes().any(|it| it.is_ascii_digit())
        && word.bytes().any(|it| it.is_ascii_alphabetic())
}

/// Backticks and brackets that are opened are closed: half a thought is no fact.
fn is_balanced(text: &str) -> bool {
    let count = |it: char| text.matches(it).count();
    count('`') % 2 == 0 && count('(') == count(')') && count('"') % 2 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(sentence: &str, expect: Expect) {
        expect.assert_eq(&fact_in(sentence).unwrap_or_else(|| "–".to_owned()));
    }

    #[test]
    fn facts_stand_alone() {
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
