//! Files touched early, session after session: where work in a module begins.

use std::collections::BTreeMap;

use model::SignalKind;

use crate::facts::file_uses;
use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

/// Shorter sessions have no beginning to speak of.
const FEWEST_CALLS: u32 = 8;
const MAX_FILES: usize = 12;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &Modules) {
    if pad.n_steps() < FEWEST_CALLS {
        return;
    }
    let uses = file_uses(pad);
    let early = pad.n_steps() / 4;
    let mut first: Vec<_> = uses.iter().filter(|it| it.1.first_call <= early).collect();
    first.sort_by_key(|it| it.1.first_call);
    let mut changed: BTreeMap<&str, u32> = BTreeMap::new();
    for (name, it) in uses.iter().filter(|it| it.1.n_edits > 0) {
        *changed.entry(modules.of(pad.names.text(*name))).or_insert(0) += it.n_edits;
    }
    for (module, n_edits) in changed {
        let files = paths(pad, first.iter().map(|it| *it.0).take(MAX_FILES));
        let of_code = !module.split('/').any(|it| matches!(it, "docs" | "doc" | "plans"));
        if !module.is_empty() && of_code && !files.is_empty() {
            let evidence = Evidence { files, number: u64::from(n_edits), ..Evidence::default() };
            acc.push(Sighting::new(SignalKind::FileAccess, module, evidence));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::FileAccess;

    #[test]
    fn what_is_opened_first_is_seen_per_module() {
        check(
            FileAccess,
            "read src/a.rs\nread src/b.rs\nrun x\nrun x\nrun x\nread late.rs\nedit src/a.rs\nrun x",
            expect![[r#"
                src ×1 {"files":["src/a.rs","src/b.rs"],"number":1}
            "#]],
        );
        check(FileAccess, "read src/a.rs\nedit src/a.rs", expect![""]);
    }
}
