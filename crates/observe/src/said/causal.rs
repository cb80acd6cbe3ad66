//! Causal statements: "whenever I touch A I have to update B".

use crate::sentence::{code_words, opening, sentences};

/// Beginnings of the condition.
const WHEN: &[&str] = &[
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
const TOUCHES: &[&str] =
    &["touch", "change", "edit", "update", "modify", "add", "rename", "bump", "chang", "remove"];
/// What the consequence says.
const THEN: &[&str] = &[
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

/// No statement that names two things is shorter, in bytes.
const SHORTEST: usize = 20;

/// A statement that touching one thing means touching another, with the two, as they are named.
pub fn causal(text: &str) -> Vec<(&str, &str, &str)> {
    let text = &text[..text.floor_char_boundary(super::MAX_TEXT)];
    sentences(text).into_iter().filter_map(|it| read(it).map(|(a, b)| (it, a, b))).collect()
}

fn read(sentence: &str) -> Option<(&str, &str)> {
    if sentence.len() < SHORTEST
        || sentence.len() > crate::sentence::MAX_SENTENCE
        || sentence.ends_with(['?', ':'])
    {
        return None;
    }
    let lower = opening(sentence);
    let rest = WHEN.iter().find_map(|it| lower.strip_prefix(it))?;
    let changes = TOUCHES.iter().any(|it| rest.starts_with(it))
        || lower.starts_with("any change")
        || lower.starts_with("changing");
    let at = THEN.iter().filter_map(|it| lower.find(it)).min()?;
    if !changes || !sentence.is_char_boundary(at) {
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
        let ends = |it: &'static str| causal(it).first().map(|it| (it.1, it.2));
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
