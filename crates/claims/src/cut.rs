//! The cut: the shortest text of a sentence that stands alone.
//!
//! "Ah, I see — the hooks need a real repository, so let me add one." becomes "The hooks need a real
//! repository." A sentence that points back ("It runs git") gets the sentence before it, or its place as a
//! heading, or is refused.

use observe::{code_words, pad_words};

/// Lengths of a claim, in bytes.
const MIN_CUT_BYTES: usize = 25;
const MAX_CUT_BYTES: usize = 420;
/// The fewest words of a claim.
const MIN_CUT_WORDS: usize = 5;
/// Lengths of a sentence that can lend its subject to the next, in bytes.
const MIN_SUBJECT_BYTES: usize = 20;
const MAX_SUBJECT_BYTES: usize = 220;
/// Bytes between an opening word and the mark that ends a lead-in: "Looking at the test, …".
const MAX_LEAD_IN_BYTES: usize = 60;

/// Openings that say nothing, in lower case; the punctuation after them is removed as well. Longer ones
/// come first where one begins another.
#[rustfmt::skip]
const LEAD_INS: &[&str] = &[
    "now i see the issue", "now i see the problem", "now i understand the issue", "now i understand the problem", "now i understand", "now i see", "i see the issue", "i see the problem", "i see", "i understand",
    "got it", "found the root cause", "found the issue", "found the bug", "found the problem", "found it", "you're absolutely right", "you're right", "you are right", "good catch", "good point", "good question",
    "great question", "great point", "valid point", "fair point", "the real issue is that", "the real issue is", "the actual issue is", "the issue is that", "the issue is", "the issue was", "the problem is that",
    "the problem is", "the problem was", "the root cause is that", "the root cause is", "the root cause was", "the bug is that", "the bug is", "the cause is", "root cause", "key insight", "key finding", "interesting",
    "excellent", "perfect", "great", "however", "actually", "important", "problem", "okay", "good", "right", "yeah", "sure", "issue", "also", "well", "wait", "note", "yes", "now", "and", "but", "hmm", "fix", "ok", "oh", "ah", "so", "no",
];

/// Words with which a sentence points back to another one, in lower case.
#[rustfmt::skip]
const BACK_POINTERS: &[&str] = &[
    "it", "it's", "its", "this", "that", "that's", "these", "those", "they", "they're", "he", "she", "here", "there", "both", "same", "which", "then", "otherwise", "the same", "the above", "the former", "the latter",
    "the first", "the second", "the other", "the fix", "the issue", "the problem", "the error", "the test", "the tests", "the code", "the change", "the changes", "the function", "the user", "the linter",
];

/// Beginnings of a clause about what the agent does next.
const NEXT_STEPS: &[&str] =
    &["let me", "i'll", "i will", "i'm going", "i am going", "i need to", "i should"];

/// The text of a sentence that stands alone; `None` if there is none.
pub(crate) fn cut_claim(sentence: &str, previous: &str, place: Option<&str>) -> Option<String> {
    let body = strip_next_step(strip_lead_in(sentence))?;
    let n_words = body.split_whitespace().count();
    if !(MIN_CUT_BYTES..=MAX_CUT_BYTES).contains(&body.len())
        || n_words < MIN_CUT_WORDS
        || body.ends_with(':')
    {
        return None;
    }
    if !points_back(&body) {
        return Some(capitalise(&body));
    }
    let subject = strip_lead_in(previous);
    let lends_subject = (MIN_SUBJECT_BYTES..=MAX_SUBJECT_BYTES).contains(&subject.len())
        && !points_back(subject)
        && !subject.ends_with([':', '?'])
        && !code_words(subject).is_empty()
        && !has_next_step(subject);
    if lends_subject {
        return Some(format!("{} {}", capitalise(subject), capitalise(&body)));
    }
    place.map(|it| format!("{it}: {body}"))
}

/// The sentence without openings that say nothing.
pub(crate) fn strip_lead_in(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        let Some(after) = strip_one_lead_in(rest) else { return rest };
        rest = after;
    }
}

fn strip_one_lead_in(text: &str) -> Option<&str> {
    let window = &text[..text.floor_char_boundary(MAX_LEAD_IN_BYTES)];
    let lower: String =
        window.chars().map(|it| if it == '’' { '\'' } else { it.to_ascii_lowercase() }).collect();
    let opening = LEAD_INS.iter().find(|it| {
        lower.strip_prefix(**it).is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    })?;
    // A curly quote has three bytes and its plain form one: count characters instead.
    let n_chars = opening.chars().count();
    let end = text.char_indices().nth(n_chars).map_or(text.len(), |it| it.0);
    let rest = text[end..].trim_start_matches(|it: char| {
        it.is_whitespace() || matches!(it, '!' | '.' | ',' | ':' | ';' | '—' | '–' | '-' | '*')
    });
    (!rest.is_empty()).then_some(rest)
}

/// Returns whether a sentence needs another one to be understood.
pub(crate) fn points_back(sentence: &str) -> bool {
    let words = pad_words(&sentence[..sentence.floor_char_boundary(MAX_LEAD_IN_BYTES)]);
    BACK_POINTERS
        .iter()
        .any(|it| words[1..].strip_prefix(it).is_some_and(|rest| rest.starts_with(' ')))
}

/// Removes a clause at the end about what the agent does next; `None` if the whole sentence is about that.
fn strip_next_step(sentence: &str) -> Option<String> {
    if !has_next_step(sentence) {
        return Some(sentence.to_owned());
    }
    let lower = sentence.to_ascii_lowercase().replace('’', "'");
    // A curly quote would move the positions.
    if lower.len() != sentence.len() {
        return None;
    }
    let start = NEXT_STEPS.iter().filter_map(|it| lower.find(it)).min()?;
    let kept = sentence[..start].trim_end();
    let cut = kept.trim_end_matches(|it: char| {
        it.is_whitespace() || matches!(it, ',' | ';' | '—' | '–' | '-' | '.')
    });
    let cut =
        [" so", " and", " but", " then"].iter().find_map(|it| cut.strip_suffix(it)).unwrap_or(cut);
    let cut = cut.trim_end_matches([',', ';', '—', '–', '-', ' ']);
    (cut.len() >= MIN_CUT_BYTES).then(|| format!("{cut}."))
}

fn has_next_step(sentence: &str) -> bool {
    let words = pad_words(sentence);
    NEXT_STEPS.iter().any(|it| words.contains(&format!(" {it} ")))
}

fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |it| it.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(sentence: &str, previous: &str, place: Option<&str>, expect: Expect) {
        expect.assert_eq(&cut_claim(sentence, previous, place).unwrap_or_else(|| "–".to_owned()));
    }

    #[test]
    fn lead_ins_and_next_steps_are_cut() {
        check(
            "Ah, I see — the hooks need a real repository, so let me add one.",
            "",
            None,
            expect!["The hooks need a real repository."],
        );
        check("Let me look at the tests in the folder.", "", None, expect!["–"]);
        check(
            "You’re right, `a` must never call `b` directly.",
            "",
            None,
            expect!["`a` must never call `b` directly."],
        );
    }

    #[test]
    fn a_sentence_that_points_back_gets_its_subject_or_its_place() {
        check(
            "It runs `git rev-parse`, which fails without a repository.",
            "The helper `RepoRoot` is called by the hooks.",
            None,
            expect![
                "The helper `RepoRoot` is called by the hooks. It runs `git rev-parse`, which fails without a repository."
            ],
        );
        check(
            "This should never happen in the handler.",
            "",
            Some("src/a.rs"),
            expect!["src/a.rs: This should never happen in the handler."],
        );
        check("This should never happen in the handler.", "", None, expect!["–"]);
    }
}
