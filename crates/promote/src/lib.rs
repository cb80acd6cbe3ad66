//! Decides what a text is worth as a memory: its type, its wording, whether it is new, whether it is safe to keep.
//!
//! Pure and synchronous, and it never fails: every text has a type, a summary and an answer. It reads no
//! store and asks no model; what it cannot tell from the words it leaves to its caller as `Unrelated`. Where
//! somebody else asks one, it knows the question and what of the answer may be believed.
//! What sessions saw is judged by tables: gates, thresholds, shares. It does not find secrets.

mod chunk;
mod phrase;

mod rule;
mod suggest;
mod wording;

mod novelty;
mod safety;

mod gate;
mod judge;
mod worded;

mod trial;

pub use gate::{Gate, Opens, Ticket, gate};
pub use judge::{Candidate, Facts, Verdict, confidence, judge, threshold, tightening};
pub use novelty::{Conflict, Relationship, Statement, compare, nearest};
pub use rule::is_rule;
pub use safety::instruction_like;
pub use suggest::{Suggestion, suggest_type};
pub use trial::{Compared, LEAST, compare_groups};
pub use worded::{
    Composed, Insight, MOST_REWORDED, ModuleFacts, REWORD, SYNTHESISE, reword_question, reworded,
    synthesis_question, synthesised,
};
pub use wording::{MAX_SUMMARY, citation, summary};

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
            let statement = Statement { text: &text, files: &[], kind: &kind };
            prop_assert_eq!(compare(&statement, &statement), Relationship::Same);
            let _ = instruction_like(&text);
            prop_assert!(summary(&text, &kind).chars().count() <= MAX_SUMMARY);
            prop_assert!(citation(&text).chars().count() <= model::MAX_CITATION);
        }
    }
}
