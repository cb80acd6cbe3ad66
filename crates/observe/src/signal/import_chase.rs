//! A file was read, then what it imports.

use model::SignalKind;

use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for (from, to) in &pad.chases {
        let key = format!("{}→{}", pad.names.text(*from), pad.names.text(*to));
        let evidence = Evidence { files: paths(pad, [*from, *to]), ..Evidence::default() };
        acc.push(Sighting::new(SignalKind::ImportChase, key, evidence));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ImportChase;

    #[test]
    fn a_reader_follows_imports() {
        check(
            ImportChase,
            "read src/cart.ts: import { total } from './total';\nread src/total.ts",
            expect![[r#"
                src/cart.ts→src/total.ts ×1 {"files":["src/cart.ts","src/total.ts"]}
            "#]],
        );
        check(ImportChase, "read src/cart.ts: const total = 1;\nread src/total.ts", expect![""]);
        check(
            ImportChase,
            "read a.ts: import './total'\nread 1\nread 2\nread 3\nread 4\nread 5\nread total.ts",
            expect![""],
        );
    }
}
