//! Causal statements: "whenever I touch A I have to update B".
//!
//! Such a sentence has a condition with a verb of change, then a consequence, and each part must name a
//! thing in code. The two things become the ends of a dependency: "If you change wire.rs, you must also
//! regenerate `wire.gen.ts`." → from `wire.rs` to `wire.gen.ts`.

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

/// A sentence which states that one change requires another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalSentence<'a> {
    pub text: &'a str,
    /// The thing that is changed, as it is named.
    pub from: &'a str,
    /// The thing that must then be changed as well.
    pub to: &'a str,
}

/// The causal statements of a text, in order.
pub fn causal_statements(text: &str) -> Vec<CausalSentence<'_>> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT_BYTES)];
    split_sentences(text).into_iter().filter_map(parse_causal).collect()
}

/// Parses a causal statement; `None` for any other sentence.
fn parse_causal(sentence: &str) -> Option<CausalSentence<'_>> {
    if !(MIN_SENTENCE_BYTES..=super::MAX_SENTENCE_BYTES).contains(&sentence.len()) {
        return None;
    }
    // A question states nothing, and the consequence of an introduction is in the next lines.
    if sentence.ends_with(['?', ':']) {
        return None;
    }
    // The condition: an opening, then a verb of change. "If you run …" is about something else.
    let lower = lowercase_opening(sentence);
    let after_opening = CONDITION_OPENINGS.iter().find_map(|it| lower.strip_prefix(it))?;
    // "Any change to" and "changing" contain the verb in the opening.
    let is_change = CHANGE_VERBS.iter().any(|it| after_opening.starts_with(it))
        || lower.starts_with("any change")
        || lower.starts_with("changing");
    if !is_change {
        return None;
    }
    // The first consequence splits the sentence; each part must name its own thing.
    let consequence_start = CONSEQUENCE_PHRASES.iter().filter_map(|it| lower.find(it)).min()?;
    // The position is one in `lower`. A plain quote is shorter than the curly one it replaced, so that the
    // same position in `sentence` can be inside a character.
    if !sentence.is_char_boundary(consequence_start) {
        return None;
    }
    let (condition, consequence) = sentence.split_at(consequence_start);
    let from = code_words(condition).into_iter().next()?;
    let to = code_words(consequence).into_iter().find(|it| *it != from)?;
    Some(CausalSentence { text: sentence, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_causal_statement_must_name_both_things() {
        let ends = |it: &'static str| causal_statements(it).first().map(|it| (it.from, it.to));
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
