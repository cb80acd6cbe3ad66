//! Suggests the type of a text that the user wants remembered, with the reason: "decided to keep the CLI
//! synchronous" is a decision, because "it tells of a choice that was made".
//!
//! The cues are a table of phrases (`cues.rs`); the first row with a phrase that occurs in the text gives the
//! type. Precision comes first: a type is suggested only for wording that rarely means anything else. The cues
//! are English; texts in other languages get the default, which the user can override.

mod cues;

use std::sync::LazyLock;

use model::MemoryKind;

use crate::phrase_table::{self, PhraseTable};
use cues::TYPE_CUES;

/// A type, and the reason that the user is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSuggestion {
    pub kind: MemoryKind,
    pub because: &'static str,
}

/// A plain statement is most often a fact about a part of the project. `gotcha` was rejected as default: it
/// is injected as a warning, and needless warnings teach people to skip warnings.
const DEFAULT_SUGGESTION: TypeSuggestion = TypeSuggestion {
    kind: MemoryKind::ModuleInsight,
    because: "it has no cue of another type, so it is kept as a plain fact about the project",
};

static CUE_TABLE: LazyLock<PhraseTable> =
    LazyLock::new(|| PhraseTable::new(TYPE_CUES.iter().map(|it| it.phrases)));

/// Suggests the type of a text by its first matching cue.
pub fn suggest_type(text: &str) -> TypeSuggestion {
    match CUE_TABLE.first_row(&phrase_table::split_words(text)) {
        Some(row) => TypeSuggestion { kind: TYPE_CUES[row].kind, because: TYPE_CUES[row].because },
        None => DEFAULT_SUGGESTION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One example per line: `type | text`. A known miss is `right today wrong | text`: the type that a reader
    /// would give, and today's suggestion.
    const EXAMPLES: &str = include_str!("../fixtures/kinds.txt");

    #[test]
    fn examples_get_the_type_a_reader_would_give() {
        let mut n_right = 0;
        let mut n_examples = 0;
        let mut wrong = Vec::new();
        for line in EXAMPLES.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
            let (label, text) = line.split_once(" | ").expect("a line is `type | text`");
            let (right, today) = label.split_once(" today ").unwrap_or((label, label));
            let kind = suggest_type(text).kind;
            n_examples += 1;
            n_right += usize::from(kind.slug() == right.trim());
            if kind.slug() != today.trim() {
                wrong.push(format!("{text}: {kind}, expected {today}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        assert!(n_examples >= 60);
        assert!(n_right * 100 >= n_examples * 95, "{n_right} of {n_examples}, 95 % is the minimum");
    }

    #[test]
    fn types_that_only_the_engine_creates_are_never_suggested() {
        use MemoryKind::{
            ContextCost, PrefetchPattern, TaskCalibration, WorkState, WorkUnitOutcome,
        };
        let engine = [ContextCost, PrefetchPattern, TaskCalibration, WorkState, WorkUnitOutcome];
        assert!(TYPE_CUES.iter().all(|it| !engine.contains(&it.kind)));
    }

    #[test]
    fn long_text_has_a_type() {
        let text = "tried when you never #1 must the way to ".repeat(1_600);
        assert_eq!(suggest_type(&text).kind, MemoryKind::Pattern);
    }

    proptest! {
        #[test]
        fn any_text_has_a_type(text in "\\PC{0,400}") {
            prop_assert!(!suggest_type(&text).because.is_empty());
        }
    }
}
