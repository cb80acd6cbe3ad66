//! Somebody said that touching one thing means touching another.

use model::SignalKind;

use crate::scratchpad::RemarkKind;
use crate::sighting::{Evidence, Sighting, files_named};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for it in pad.remarks.iter().filter(|it| it.kind == RemarkKind::Causal) {
        let [from, to] = &it.context;
        let evidence = Evidence {
            files: files_named(pad, &it.text),
            text: Some(it.text.clone()),
            steps: vec![from.clone(), to.clone()],
            ..Evidence::default()
        };
        let key = format!("{from}→{to}");
        acc.push(Sighting::new(SignalKind::CausalStatement, key, evidence).at(pad, it.order));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::CausalStatement;

    #[test]
    fn a_stated_dependency_is_kept() {
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
