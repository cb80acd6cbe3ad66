//! Detects the signal `causal_statement`: the agent stated that one change requires another.

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::StatementKind;
use crate::sighting::{Sighting, find_named_files};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for statement in pad.statements.iter().filter(|it| it.kind == StatementKind::Causal) {
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
        check(CausalStatement, "say I changed `a.rs` and updated `b.rs`.", expect![""]);
    }
}
