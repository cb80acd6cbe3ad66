//! Decides what a text is worth as a memory: its type, its wording, whether it is new, whether it is safe to keep.
//!
//! Pure and synchronous, and it never fails: every text has a type, a summary and an answer. It reads no
//! store and asks no model; what it cannot tell from the words it leaves to its caller as `Unrelated`. Where
//! somebody else asks one, it knows the question and what of the answer may be believed.
//! What sessions saw is judged by tables: gates, thresholds, shares. It does not find secrets.

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

mod trial_comparison;

pub use gate::{AdmissionRule, Gate, GateCondition, gate_for};
pub use judge::{
    MAX_EARNED_CONFIDENCE, PromotionCandidate, PromotionVerdict, SessionFacts, compute_confidence,
    judge_candidates, min_score_of, threshold_tightening,
};
pub use llm_wording::{
    ComposedNote, MAX_REWORDED_NOTES, ModuleFacts, REWORD_PROMPT, SYNTHESIS_PROMPT,
    SynthesisedNote, parse_rewording, parse_synthesis, reword_question, synthesis_question,
};
pub use novelty::{
    MemoryStatement, StatementConflict, StatementRelation, compare_statements, find_nearest,
};
pub use rule::is_rule;
pub use safety::detect_instruction;
pub use trial_comparison::{MIN_GROUP_SESSIONS, TrialComparison, compare_groups};
pub use type_suggestion::{TypeSuggestion, suggest_type};
pub use wording::{MAX_SUMMARY_CHARS, compose_citation, compose_summary};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Nothing here may fail or dwell on a text because it is long or strange.
        #[test]
        fn any_text_of_64_kib_is_answered(piece in "(\\PC|[` .:|(\n]){1,30}") {
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
