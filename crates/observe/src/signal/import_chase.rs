//! Detects the signal `import_chase`: a file was read, then one of its imports.
//!
//! The scratchpad (the log of one session) has found the pairs already. Each becomes a sighting, whose key,
//! by which sessions are compared, has both paths. Example: `src/cart.ts`, which imports `./total`, then
//! `src/total.ts` have the key `src/cart.ts→src/total.ts`.

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path_pair};
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for (from, to) in &pad.import_chases {
        let Some((from, to)) = to_path_pair(pad, *from, *to) else { continue };
        let key = PatternKey::import_chase(&from, &to);
        acc.push(Sighting::new(key, Evidence::ImportChase { from, to }));
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ImportChase;

    #[test]
    fn the_read_of_an_import_is_a_sighting() {
        check(
            ImportChase,
            "read src/cart.ts: import { total } from './total';\nread src/total.ts",
            expect![[r#"
                src/cart.ts→src/total.ts ×1 {"files":["src/cart.ts","src/total.ts"]}
            "#]],
        );
        check(ImportChase, "read src/cart.ts: const total = 1;\nread src/total.ts", expect![""]);
        // Too many calls after the importing file.
        check(
            ImportChase,
            "read a.ts: import './total'\nread 1\nread 2\nread 3\nread 4\nread 5\nread total.ts",
            expect![""],
        );
    }
}
