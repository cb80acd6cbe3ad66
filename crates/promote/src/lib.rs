//! Decides which texts become memories, and in which form.
//!
//! - `judge` decides on the drafts of a session by tables: gates, thresholds, shares.
//! - `type_suggestion`, `rule`, `safety` and `wording` classify and shorten one text by its words.
//! - `novelty` compares two texts: duplicate, contradiction, or unrelated. If the words alone do not decide,
//!   the result is `Unrelated`, and the caller may compare embeddings.
//! - `llm_wording` provides the prompts for a language model and verifies its answers; the caller sends them.
//! - `trial_comparison` tests whether memory helps.
//!
//! Pure and synchronous, and it never fails: every text has a type, a summary and a relation to another
//! text. The crate reads no store, calls no model, and does not search for secrets.

mod phrase_table;
mod text_chunks;

mod rule;
mod type_suggestion;
mod wording;

mod novelty;
mod safety;

mod gate;
mod judge;
mod llm_wording;
mod session_claims;

mod trial_comparison;

pub use gate::{AdmissionRule, Gate, GateCondition, gate_for};
pub use judge::{
    MAX_EARNED_CONFIDENCE, PromotionCandidate, PromotionVerdict, SessionFacts, compute_confidence,
    judge_candidates, min_score_of, threshold_tightening,
};
pub use llm_wording::{
    ComposedNote, MAX_REWORDED_NOTES, ModuleFacts, ModuleFileCounts, REWORD_PROMPT,
    SYNTHESIS_PROMPT, SynthesisedNote, format_reword_request, format_synthesis_request,
    parse_rewording, parse_synthesis,
};
pub use novelty::{
    MemoryStatement, ParsedStatement, StatementConflict, StatementRelation, compare_parsed,
    compare_statements, find_nearest,
};
pub use rule::is_rule;
pub use safety::{detect_instruction, is_plain_description};
pub use session_claims::{
    AnswerFacts, AnsweredClaim, CheckedClaim, ClaimVerdict, DossierLine, KnownMemory, LineQuote,
    check_claims, parse_answer,
};
pub use trial_comparison::{MIN_GROUP_SESSIONS, TrialComparison, compare_groups};
pub use type_suggestion::{TypeSuggestion, suggest_type};
pub use wording::{MAX_SUMMARY_CHARS, compose_citation, compose_summary};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// No function fails or takes long because a text is long or unusual.
        #[test]
        fn any_text_of_64_kib_is_accepted(piece in "(\\PC|[` .:|(\n]){1,30}") {
            let text = piece.repeat(65_536 / piece.len());
            let kind = model::MemoryType::Core(suggest_type(&text).kind);
            let statement = MemoryStatement { text: &text, files: &[], kind: &kind };
            prop_assert_eq!(compare_statements(&statement, &statement), StatementRelation::Same);
            let _ = detect_instruction(&text);
            prop_assert!(compose_summary(&text, &kind).chars().count() <= MAX_SUMMARY_CHARS);
            prop_assert!(compose_citation(&text).chars().count() <= model::MAX_CITATION);
        }
    }
}
