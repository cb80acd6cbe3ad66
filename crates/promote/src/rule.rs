//! Distinguishes rules from descriptions: a rule states what to do or not to do. "Don't edit generated files"
//! is a rule, "`src/app.ts` is the entry point" is not. The lines of a rule file such as `CLAUDE.md` are
//! imported as memories only if they are rules.

use std::sync::LazyLock;

use crate::phrase_table::{self, PhraseTable};

/// Shorter texts are labels, not rules, in words.
const MIN_RULE_WORDS: usize = 2;

/// Binding phrases, and verbs that begin an instruction, in the notation of [`crate::phrase_table`]:
/// `do|may not` is "do not" or "may not", `^` begins a sentence, `*` is a gap of a few words.
const RULE_PHRASES: &[&str] = &[
    "always|never|must|mustn't|avoid|prefer|don't|shouldn't|ensure|forbidden|mandatory|required",
    "do|should|may|can|need not",
    "should|cannot|can't",
    "make sure",
    "be sure|careful",
    "not allowed",
    "instead of",
    "^ no *",
    "only|not * when|if|in|after|with",
    "before|after committing|pushing|merging|editing|changing|releasing",
    "^ use|run|keep|write|add|put|call|set|follow|place|name|import|check|commit|format|handle|return|document|test|update|include|limit|split|mark|log|store|read|treat|ask|stick|respect|start|stop|wrap|validate|remove|delete|create|define|declare|group|order|sort|leave|let|do",
];

static RULE_TABLE: LazyLock<PhraseTable> =
    LazyLock::new(|| PhraseTable::new(std::iter::once(RULE_PHRASES)));

/// Returns whether a text is a rule.
pub fn is_rule(text: &str) -> bool {
    let words = phrase_table::split_words(text);
    words.len() >= MIN_RULE_WORDS && RULE_TABLE.first_row(&words).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_bind_and_descriptions_do_not() {
        for rule in [
            "Use `pnpm`, never npm",
            "All public functions must have a doc comment",
            "Run `make fmt` before committing",
            "Don't edit generated files",
            "No default exports in components",
            "New endpoints should return problem details",
            "Prefer composition over inheritance",
            "Be careful with `unsafe`, ask first",
            "Use tabs.",
        ] {
            assert!(is_rule(rule), "{rule}");
        }
        for text in [
            "The API is built with FastAPI",
            "`src/app.ts` is the entry point",
            "Monorepo with three packages: web, api, shared",
            "User-friendly",
            "Tests",
            "Usage notes",
            "",
        ] {
            assert!(!is_rule(text), "{text}");
        }
    }
}
