//! An edit was undone, or the same file was edited over and over.

use model::SignalKind;

use crate::sighting::{Evidence, Sighting, path};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for it in pad.undone.iter().filter(|it| pad.calls[it.call as usize].is_good()) {
        let Some(file) = path(pad, it.file) else { continue };
        let text = Some(it.reason.clone()).filter(|it| !it.is_empty());
        let key = file.as_str().to_owned();
        let evidence = Evidence { files: vec![file], text, ..Evidence::default() };
        acc.push(Sighting::new(SignalKind::Backtrack, key, evidence).at(pad, it.order));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::Backtrack;

    #[test]
    fn an_edit_and_its_opposite_are_a_way_back() {
        check(
            Backtrack,
            "swap a.rs one two\nsay The cache must stay, so I revert this.\nswap a.rs two one",
            expect![[r#"
                a.rs ×1 {"files":["a.rs"],"text":"The cache must stay, so I revert this."}
            "#]],
        );
        check(
            Backtrack,
            "edit a.rs\nrun git checkout -- a.rs",
            expect![[r#"
            a.rs ×1 {"files":["a.rs"]}
        "#]],
        );
        check(
            Backtrack,
            "swap a.rs one two\nswap b.rs two one\nrun git stash\nrun git checkout -- c.rs",
            expect![""],
        );
    }
}
