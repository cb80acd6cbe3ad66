//! The agent corrected a belief about the code, and said what is so.

use model::SignalKind;

use crate::said::fact_in;
use crate::scratchpad::RemarkKind;
use crate::sighting::{Evidence, Sighting, files_named};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for it in pad.remarks.iter().filter(|it| it.kind == RemarkKind::Correction) {
        // The fact is in the sentence that corrects, or in the one after it.
        let fact = fact_in(&it.text).or_else(|| fact_in(&it.context[0]));
        let Some(fact) = fact else { continue };
        let key = model::fingerprint(&fact.to_lowercase());
        let evidence = Evidence {
            files: files_named(pad, &fact),
            before: Some(it.text.clone()),
            text: Some(fact),
            ..Evidence::default()
        };
        acc.push(Sighting::new(SignalKind::SelfCorrection, key, evidence).at(pad, it.order));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::SelfCorrection;

    #[test]
    fn a_corrected_fact_is_kept_with_its_file() {
        check(
            SelfCorrection,
            "read src/total.ts\nsay I was wrong about the rounding. Rounding in `total.ts` happens per line, never on the sum.",
            expect![[r#"
                7bf05bbaea576780 ×1 {"files":["src/total.ts"],"text":"Rounding in `total.ts` happens per line, never on the sum.","before":"I was wrong about the rounding."}
            "#]],
        );
    }

    #[test]
    fn plans_and_waiting_are_not_kept() {
        check(SelfCorrection, "say Wait for `make` to finish. It is slow.", expect![""]);
        check(SelfCorrection, "say Actually, let me use `a.rs` instead.", expect![""]);
        check(SelfCorrection, "say await `fetchTotals()` is needed here, actually.", expect![""]);
    }

    #[test]
    fn what_was_fetched_taints_what_is_said_after_it() {
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
