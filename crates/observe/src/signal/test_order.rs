//! Detects the signal `test_order`: tests came before or after the implementation, by module.

use crate::evidence::Evidence;
use crate::facts::file_uses;
use crate::path_rules::is_test_path;
use crate::pattern_key::{PatternKey, TestTiming};
use crate::scratchpad::CallEffects;
use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &ModuleLookup) {
    let uses = file_uses(pad);
    let edits = || uses.iter().filter_map(|(file, it)| it.first_edit.map(|call| (*file, call)));
    let is_test = |file| is_test_path(pad.strings.text(file));
    // The implementation decides the module. All positions below are call numbers.
    let first_implemented = edits().filter(|it| !is_test(it.0)).min_by_key(|it| it.1);
    let Some((file, implemented_at)) = first_implemented else { return };
    // A test comes first if it was written or run first.
    let written_at = edits().filter(|it| is_test(it.0)).map(|it| it.1).min();
    let runs_tests = |it: &(u32, &crate::LoggedCall)| it.1.effects.has_any(CallEffects::RUNS_TEST);
    let run_at = (0_u32..).zip(&pad.calls).find(runs_tests).map(|it| it.0);
    let Some(tested_at) = written_at.into_iter().chain(run_at).min() else { return };
    let timing = if tested_at < implemented_at { TestTiming::First } else { TestTiming::After };
    let module = modules.module_of_file(pad.strings.text(file));
    let key = PatternKey::test_order(module, timing);
    acc.push(Sighting::new(key, Evidence::TestOrder { timing }));
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::TestOrder;

    #[test]
    fn the_order_of_tests_is_recorded() {
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
