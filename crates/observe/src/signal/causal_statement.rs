//! Detects the signal `causal_statement`: the agent stated that one change requires another.
//!
//! The scratchpad (the folded state of one session) has found the sentences already, by the cues in
//! `statements/causal.rs`. Each becomes a sighting: the key, by which sessions are compared, has both
//! ends; the evidence quotes the sentence. Example: "Whenever you change `schema.sql` you must also update
//! `row.rs`." has the key `schema.sql→row.rs`.

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::StatementKind;
use crate::sighting::{Sighting, find_named_files};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for statement in pad.statements.iter().filter(|it| it.kind == StatementKind::Causal) {
        // The two ends: what is changed, and what must change with it.
        let [from, to] = &statement.context;
        let evidence = Evidence::CausalStatement {
            files: find_named_files(pad, &statement.text),
            sentence: statement.text.clone(),
            from: from.clone(),
            to: to.clone(),
        };
        let key = PatternKey::causal_statement(from, to);
        acc.push(Sighting::new(key, evidence).seen_at(pad, statement.order));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON. There the
    //! sentence is the `text`, the two ends are the `steps`.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::CausalStatement;

    #[test]
    fn a_stated_dependency_is_a_sighting() {
        check(
            CausalStatement,
            "read schema.sql\nsay Whenever you change `schema.sql` you must also update `row.rs`.",
            expect![[r#"
                schema.sql→row.rs ×1 {"files":["schema.sql"],"text":"Whenever you change `schema.sql` you must also update `row.rs`.","steps":["schema.sql","row.rs"]}
            "#]],
        );
        // A report of two changes does not say that one requires the other.
        check(CausalStatement, "say I changed `a.rs` and updated `b.rs`.", expect![""]);
    }
}
