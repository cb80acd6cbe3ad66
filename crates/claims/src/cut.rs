//! The cut: the shortest text of a sentence that stands alone.
//!
//! "Ah, I see — the hooks need a real repository, so let me add one." becomes "The hooks need a real
//! repository." A sentence that points back ("It runs git") gets the sentence before it, or its place as a
//! heading, or is refused. Its *place* is the file that was edited shortly before, or the heading above it.

use observe::code_words;

/// Lengths of a claim, in bytes.
const MIN_CUT_BYTES: usize = 25;
const MAX_CUT_BYTES: usize = 420;
/// The fewest words of a claim.
const MIN_CUT_WORDS: usize = 5;
/// Lengths of a sentence that can lend its subject to the next, in bytes.
const MIN_SUBJECT_BYTES: usize = 20;
const MAX_SUBJECT_BYTES: usize = 220;

// All phrases of this file are in lower case and with plain apostrophes; `strip_phrase` compares them.

/// Openings that are complete in themselves. They say nothing only before a mark: "Right, the hooks …" loses
/// its first word, "Right joins need …" and "No test covers …" do not.
#[rustfmt::skip]
const INTERJECTIONS: &[&str] = &[
    "i see the issue", "i see the problem", "i understand the issue", "i understand the problem", "i see", "i understand", "got it",
    "found the root cause", "found the issue", "found the bug", "found the problem", "found it", "you're absolutely right", "you're right", "you are right", "good catch", "good point", "good question",
    "great question", "great point", "valid point", "fair point", "root cause", "key insight", "key finding", "interesting",
    "excellent", "perfect", "great", "important", "problem", "good", "right", "sure", "issue", "well", "wait", "note", "yes", "fix", "ok", "no",
];

/// Openings before a clause that says the same without them, with or without a mark between. Where one
/// begins another, the longer one comes first.
#[rustfmt::skip]
const CLAUSE_OPENINGS: &[&str] = &[
    "i see that", "i understand that", "the real issue is that", "the real issue is", "the actual issue is", "the issue is that", "the issue is", "the issue was", "the problem is that",
    "the problem is", "the problem was", "the root cause is that", "the root cause is", "the root cause was", "the bug is that", "the bug is", "the cause is",
    "however", "actually", "okay", "yeah", "also", "now", "and", "but", "hmm", "oh", "ah", "so",
];

/// Phrases that only look like an opening before a clause.
#[rustfmt::skip]
const FALSE_OPENINGS: &[&str] = &["so far", "so that", "so many", "so much", "so few", "so long", "now that", "but for"];

/// Words with which a sentence points back to another one.
#[rustfmt::skip]
const BACK_POINTERS: &[&str] = &[
    "it", "it's", "its", "this", "that", "that's", "these", "those", "they", "they're", "he", "she", "here", "there", "both", "same", "which", "then", "otherwise", "the same", "the above", "the former", "the latter",
    "the first", "the second", "the other", "the fix", "the issue", "the problem", "the error", "the test", "the tests", "the code", "the change", "the changes", "the function", "the user", "the linter",
];

/// Beginnings of a clause about what the agent does next.
const NEXT_STEPS: &[&str] =
    &["let me", "i'll", "i will", "i'm going", "i am going", "i need to", "i should"];

/// The text of a sentence that stands alone; `None` if there is none. `previous` is the sentence before it,
/// or empty.
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
    // A sentence without code words names nothing that "it" could be.
    let lends_subject = (MIN_SUBJECT_BYTES..=MAX_SUBJECT_BYTES).contains(&subject.len())
        && !points_back(subject)
        && !subject.ends_with([':', '?'])
        && !code_words(subject).is_empty()
        && find_next_step(subject).is_none();
    if lends_subject {
        return Some(format!("{} {}", capitalise(subject), capitalise(&body)));
    }
    place.map(|it| format!("{it}: {body}"))
}

/// The sentence without openings that say nothing.
pub(crate) fn strip_lead_in(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    while let Some(after) = strip_one_lead_in(rest) {
        rest = after;
    }
    rest
}

/// The text after its opening; `None` if it has none or is nothing else.
fn strip_one_lead_in(text: &str) -> Option<&str> {
    let after_interjection =
        || INTERJECTIONS.iter().find_map(|it| strip_marks(strip_phrase(text, it)?));
    let after_clause_opening = || {
        if FALSE_OPENINGS.iter().any(|it| strip_phrase(text, it).is_some()) {
            return None;
        }
        CLAUSE_OPENINGS.iter().find_map(|it| {
            let after = strip_phrase(text, it)?;
            strip_marks(after).or_else(|| after.strip_prefix(char::is_whitespace))
        })
    };
    let rest = after_interjection().or_else(after_clause_opening)?.trim_start();
    (!rest.is_empty()).then_some(rest)
}

/// The text after the marks that end an opening, such as `,` or ` — `; `None` if there are none. A mark
/// before a letter belongs to a word: `Right-click`, `Note.md`.
fn strip_marks(text: &str) -> Option<&str> {
    // Asterisks are left of "**Note:** the hooks …", whose first two were taken for a bullet.
    let text = text.trim_start_matches(|it: char| it.is_whitespace() || it == '*');
    let rest = text.trim_start_matches(['!', '.', ',', ':', ';', '-', '—', '–', '*']);
    let marks = &text[..text.len() - rest.len()];
    let ends_opening = rest.starts_with(char::is_whitespace) || marks.ends_with(['—', '–']);
    (!marks.is_empty() && ends_opening).then_some(rest)
}

/// Returns whether a sentence needs another one to be understood.
pub(crate) fn points_back(sentence: &str) -> bool {
    // A quote mark or a parenthesis may come first.
    let words = sentence.trim_start_matches(|it| !is_word_char(it));
    BACK_POINTERS.iter().any(|it| strip_phrase(words, it).is_some())
}

/// Removes a clause at the end about what the agent does next; `None` if the whole sentence is about that.
fn strip_next_step(sentence: &str) -> Option<String> {
    let Some(start) = find_next_step(sentence) else { return Some(sentence.to_owned()) };
    // Of "The hooks need git, so let me …" first "The hooks need git, so" is left, then "The hooks need git".
    let before = trim_end_marks(&sentence[..start]);
    let conjunctions = [" so", " and", " but", " then"];
    let cut = conjunctions.iter().find_map(|it| before.strip_suffix(it)).unwrap_or(before);
    let cut = trim_end_marks(cut);
    (cut.len() >= MIN_CUT_BYTES).then(|| format!("{cut}."))
}

/// The position of the first clause about what the agent does next.
fn find_next_step(sentence: &str) -> Option<usize> {
    let mut is_in_word = false;
    for (position, char) in sentence.char_indices() {
        let begins_word = is_word_char(char) && !is_in_word;
        is_in_word = is_word_char(char);
        let rest = &sentence[position..];
        if begins_word && NEXT_STEPS.iter().any(|it| strip_phrase(rest, it).is_some()) {
            return Some(position);
        }
    }
    None
}

/// The text after a phrase; `None` if the text does not begin with the whole words of the phrase.
fn strip_phrase<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in phrase.chars() {
        let found = rest.next()?;
        let found = if found == '’' { '\'' } else { found.to_ascii_lowercase() };
        if found != expected {
            return None;
        }
    }
    let rest = rest.as_str();
    (!rest.starts_with(is_word_char)).then_some(rest)
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '\'' | '’')
}

fn trim_end_marks(text: &str) -> &str {
    text.trim_end_matches(|it: char| {
        it.is_whitespace() || matches!(it, ',' | ';' | '—' | '–' | '-' | '.')
    })
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
    fn a_lead_in_ends_with_a_mark_unless_a_clause_follows() {
        for kept in [
            "No integration test covers the retry path.",
            "Fix versions in the lock file are never raised.",
            "Right joins need an index on both tables.",
            "Wait 5 seconds before the second request.",
            "Right-click menus are drawn by the host.",
            "So far only `a.rs` opens the database.",
            "Now that `a.rs` is generated, edits are lost.",
            "Note.md is written by the release script.",
        ] {
            assert_eq!(strip_lead_in(kept), kept);
        }
        for (sentence, cut) in [
            ("No, the retry path is covered.", "the retry path is covered."),
            ("Wait — the test reads a file.", "the test reads a file."),
            ("Wait—the test reads a file.", "the test reads a file."),
            ("Note:** the test reads a file.", "the test reads a file."),
            ("Ok. So the problem is that the test reads a file.", "the test reads a file."),
            ("Note: --locked is needed.", "--locked is needed."),
        ] {
            assert_eq!(strip_lead_in(sentence), cut);
        }
    }

    #[test]
    fn a_next_step_is_found_at_word_borders() {
        check(
            "The API will refuse a second login, so I’ll add a retry.",
            "",
            None,
            expect!["The API will refuse a second login."],
        );
        check(
            "The API will refuse a second login of one user.",
            "",
            None,
            expect!["The API will refuse a second login of one user."],
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
