//! Detects the signal `self_correction`: the agent corrected a belief about the code and stated the fact.
//!
//! The scratchpad (the log of one session) has found the correcting sentences already. A correction becomes
//! a sighting only if it states a fact: the key, by which sessions are compared, is a hash of the fact; the
//! evidence quotes both. Example: "I was wrong about the rounding. Rounding in `total.ts` happens per line,
//! never on the sum." The second sentence is the fact.

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::StatementKind;
use crate::sighting::{Sighting, find_named_files};
use crate::statements::extract_fact;
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for statement in pad.statements.iter().filter(|it| it.kind == StatementKind::Correction) {
        // The fact is in the sentence that corrects, or in the one after it.
        let [next_sentence, _] = &statement.context;
        let fact = extract_fact(&statement.text).or_else(|| extract_fact(next_sentence));
        // A correction without a fact, such as a change of plan, teaches nothing.
        let Some(fact) = fact else { continue };
        let key = PatternKey::self_correction(&fact);
        let evidence = Evidence::SelfCorrection {
            files: find_named_files(pad, &fact),
            fact,
            sentence: Some(statement.text.clone()),
        };
        // The position decides whether it is tainted: stated after text from outside was read.
        acc.push(Sighting::new(key, evidence).seen_at(pad, statement.order));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::SelfCorrection;

    #[test]
    fn a_corrected_fact_is_recorded_with_its_file() {
        check(
            SelfCorrection,
            "read src/total.ts\nsay I was wrong about the rounding. Rounding in `total.ts` happens per line, never on the sum.",
            expect![[r#"
                7bf05bbaea576780 ×1 {"files":["src/total.ts"],"text":"Rounding in `total.ts` happens per line, never on the sum.","before":"I was wrong about the rounding."}
            "#]],
        );
    }

    #[test]
    fn plans_and_waiting_are_not_corrections() {
        check(SelfCorrection, "say Wait for `make` to finish. It is slow.", expect![""]);
        check(SelfCorrection, "say Actually, let me use `a.rs` instead.", expect![""]);
        check(SelfCorrection, "say await `fetchTotals()` is needed here, actually.", expect![""]);
    }

    #[test]
    fn fetched_text_taints_later_sentences() {
        check(
            SelfCorrection,
            "say Actually, `getTotal()` returns cents, it is not in euros.\nweb https://example.com/x\nsay Actually, `getSum()` returns cents, it is not in euros.",
            expect![[r#"
                8f52136ee74830f9 ×1 {"text":"`getTotal()` returns cents, it is not in euros.","before":"Actually, `getTotal()` returns cents, it is not in euros."}
                c21fb6b0cb3d50dc ×1 tainted {"text":"`getSum()` returns cents, it is not in euros.","before":"Actually, `getSum()` returns cents, it is not in euros."}
            "#]],
        );
    }
}
