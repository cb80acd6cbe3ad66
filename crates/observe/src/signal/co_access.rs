//! Two files edited together within a few steps: touching one means touching the other.

use std::collections::BTreeSet;

use model::SignalKind;

use crate::facts::{co_accessed, co_edited};
use crate::sighting::{Evidence, Sighting, are_twins, pair_key, path};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    let near = co_accessed(pad);
    let edited: BTreeSet<_> = co_edited(pad).into_iter().collect();
    for (a, b) in edited {
        let (forth, back) = (near.get(&(a, b)).copied(), near.get(&(b, a)).copied());
        let n = forth.unwrap_or(0) + back.unwrap_or(0);
        if n == 0 || are_twins(pad.names.text(a), pad.names.text(b)) {
            continue;
        }
        // The file that is touched first stands first.
        let (first, second) = if forth >= back { (a, b) } else { (b, a) };
        let (Some(first), Some(second)) = (path(pad, first), path(pad, second)) else { continue };
        let evidence = Evidence { files: vec![first, second], ..Evidence::default() };
        acc.push(Sighting::new(SignalKind::CoAccess, pair_key(pad, a, b), evidence).times(n));
    }
    acc.sort_by(|a, b| b.n.cmp(&a.n).then_with(|| a.key.cmp(&b.key)));
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::CoAccess;

    #[test]
    fn files_edited_within_a_few_steps_belong_together() {
        check(
            CoAccess,
            "edit a.rs\nedit b.rs\nread c.rs",
            expect![[r#"
                a.rs|b.rs ×1 {"files":["a.rs","b.rs"]}
            "#]],
        );
        check(CoAccess, "edit a.rs\nedit a_test.rs", expect![""]);
        check(
            CoAccess,
            "edit a.rs\nread 1.rs\nread 2.rs\nread 3.rs\nread 4.rs\nread 5.rs\nread 6.rs\nedit b.rs",
            expect![""],
        );
    }
}
