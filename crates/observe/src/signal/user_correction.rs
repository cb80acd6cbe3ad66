//! A person said how things are done here.

use model::SignalKind;

use crate::scratchpad::RemarkKind;
use crate::sighting::{Evidence, Sighting, files_named};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for it in pad.remarks.iter().filter(|it| it.kind == RemarkKind::Wish) {
        let evidence = Evidence {
            files: files_named(pad, &it.text),
            text: Some(it.text.clone()),
            ..Evidence::default()
        };
        let key = model::fingerprint(&it.text.to_lowercase());
        let seen = Sighting::new(SignalKind::UserCorrection, key, evidence).at(pad, it.order);
        // What a person types is theirs, whatever the agent has read before.
        acc.push(Sighting { tainted: false, ..seen });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::UserCorrection;

    #[test]
    fn a_standing_wish_is_kept() {
        check(
            UserCorrection,
            "web https://x.test\nuser please always run `mise run fmt` before committing",
            expect![[r#"
                e8b2b8e8e5495ab3 ×1 {"text":"please always run `mise run fmt` before committing"}
            "#]],
        );
        check(UserCorrection, "user fix the build please", expect![""]);
    }
}
