//! Causal statements: "whenever I touch A I have to update B".

use crate::sentences::{code_words, lowercase_opening, split_sentences};

/// Beginnings of the condition, in lower case.
const CONDITION_OPENINGS: &[&str] = &[
    "whenever i ",
    "whenever you ",
    "whenever we ",
    "every time i ",
    "every time you ",
    "every time we ",
    "when you ",
    "when we ",
    "if you ",
    "if we ",
    "any change to ",
    "changing ",
    "any time you ",
];
/// Beginnings of the verb in the condition.
const CHANGE_VERBS: &[&str] =
    &["touch", "change", "edit", "update", "modify", "add", "rename", "bump", "chang", "remove"];
/// Phrases that begin the consequence.
const CONSEQUENCE_PHRASES: &[&str] = &[
    " have to update",
    " must update",
    " need to update",
    " has to be updated",
    " must be updated",
    " need to change",
    " must change",
    " also update",
    " also change",
    " also needs",
    " must also",
    " have to change",
    " needs to be updated",
    " have to regenerate",
    " must regenerate",
    " needs updating",
    " requires updating",
    " have to run",
    " must run",
    " need to run",
    " remember to ",
];

/// The shortest statement that can name two things, in bytes.
const MIN_SENTENCE_BYTES: usize = 20;

/// The sentences which state that one change requires another, each with the two things as they are
/// named.
pub fn causal_statements(text: &str) -> Vec<(&str, &str, &str)> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT_BYTES)];
    split_sentences(text)
        .into_iter()
        .filter_map(|it| parse_causal(it).map(|(a, b)| (it, a, b)))
        .collect()
}

/// The two things of a causal statement; `None` for any other sentence.
fn parse_causal(sentence: &str) -> Option<(&str, &str)> {
    if sentence.len() < MIN_SENTENCE_BYTES
        || sentence.len() > crate::sentences::MAX_SENTENCE_BYTES
        || sentence.ends_with(['?', ':'])
    {
        return None;
    }
    let lower = lowercase_opening(sentence);
    let rest = CONDITION_OPENINGS.iter().find_map(|it| lower.strip_prefix(it))?;
    let is_change = CHANGE_VERBS.iter().any(|it| rest.starts_with(it))
        || lower.starts_with("any change")
        || lower.starts_with("changing");
    // The first consequence splits the sentence; each part must name its own thing.
    let at = CONSEQUENCE_PHRASES.iter().filter_map(|it| lower.find(it)).min()?;
    // A plain quote is shorter than the curly one it replaced, so that positions can shift.
    if !is_change || !sentence.is_char_boundary(at) {
        return None;
    }
    let (condition, consequence) = sentence.split_at(at);
    let from = code_words(condition).into_iter().next()?;
    let to = code_words(consequence).into_iter().find(|it| *it != from)?;
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_has_two_named_ends() {
        let ends = |it: &'static str| causal_statements(it).first().map(|it| (it.1, it.2));
        assert_eq!(
            ends("Whenever I touch `schema.sql` I have to update `src/row.rs` as well."),
            Some(("schema.sql", "src/row.rs"))
        );
        assert_eq!(
            ends("If you change wire.rs, you must also regenerate `wire.gen.ts`."),
            Some(("wire.rs", "wire.gen.ts"))
        );
        assert_eq!(ends("Whenever I touch it I have to update something."), None);
        assert_eq!(ends("If you run `a` you must also run `b`."), None);
        assert_eq!(ends("When you change `a.rs`, must it also update `b.rs`?"), None);
    }
}
