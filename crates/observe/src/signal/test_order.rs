//! Tests before or after the implementation, by module.

use model::SignalKind;

use crate::facts::file_uses;
use crate::scratchpad::Does;
use crate::sighting::{Evidence, Sighting, is_test};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &Modules) {
    let uses = file_uses(pad);
    let edits = || uses.iter().filter_map(|(name, it)| it.first_edit.map(|at| (*name, at)));
    let of_tests = |wanted: bool| {
        edits().filter(|it| is_test(pad.names.text(it.0)) == wanted).min_by_key(|it| it.1)
    };
    let Some((file, implemented)) = of_tests(false) else { return };
    let tested = (0_u32..).zip(&pad.calls).find(|it| it.1.does.any(Does::TEST)).map(|it| it.0);
    let Some(tested) = of_tests(true).map(|it| it.1).into_iter().chain(tested).min() else {
        return;
    };
    let order = if tested < implemented { "first" } else { "after" };
    let module = modules.of(pad.names.text(file));
    let evidence = Evidence { text: Some(order.to_owned()), ..Evidence::default() };
    acc.push(Sighting::new(SignalKind::TestOrder, format!("{module} {order}"), evidence));
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::TestOrder;

    #[test]
    fn the_order_of_tests_is_seen() {
        check(
            TestOrder,
            "edit src/a_test.go\nedit src/a.go\nrun go test ./...",
            expect![[r#"
            src first ×1 {"text":"first"}
        "#]],
        );
        check(
            TestOrder,
            "edit src/a.go\nrun go test ./...",
            expect![[r#"
            src after ×1 {"text":"after"}
        "#]],
        );
        check(TestOrder, "edit src/a.go", expect![""]);
    }
}
