//! Detects the signal `test_order`: whether tests came before or after the implementation in a module (a
//! part of the project, by default a folder).
//!
//! Input is the scratchpad, the log of one session. The key of the sighting, by which sessions are compared,
//! has the module and the order. Example: an edit of `src/a_test.go`, then of `src/a.go` has the key
//! `src first`. All positions below are call numbers.

use crate::evidence::Evidence;
use crate::facts::file_uses;
use crate::path_rules::is_test_path;
use crate::pattern_key::{PatternKey, TestTiming};
use crate::scratchpad::CallEffects;
use crate::sighting::Sighting;
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &ModuleLookup) {
    // The first edit of an implementation file, and the first edit of a test file.
    let mut first_implementation: Option<(u32, StringId)> = None;
    let mut test_written_at: Option<u32> = None;
    for (file, file_use) in file_uses(pad) {
        // A file that was only read is neither implemented nor written.
        let Some(edited_at) = file_use.first_edit else { continue };
        if is_test_path(pad.strings.text(file)) {
            test_written_at = Some(test_written_at.map_or(edited_at, |it| it.min(edited_at)));
        } else if first_implementation.is_none_or(|(at, _)| edited_at < at) {
            first_implementation = Some((edited_at, file));
        }
    }
    let Some((implemented_at, file)) = first_implementation else { return };
    let first_run = pad.calls.iter().position(|it| it.effects.has_any(CallEffects::RUNS_TEST));
    let test_run_at = first_run.and_then(|it| u32::try_from(it).ok());
    // A test comes first if it was written or run first.
    let tested_at = match (test_written_at, test_run_at) {
        (Some(written_at), Some(run_at)) => written_at.min(run_at),
        (Some(at), None) | (None, Some(at)) => at,
        (None, None) => return,
    };
    let timing = if tested_at < implemented_at { TestTiming::First } else { TestTiming::After };
    // The implementation decides the module, because tests are often in a folder of their own.
    let module = modules.module_of_file(pad.strings.text(file));
    let key = PatternKey::test_order(module, timing);
    acc.push(Sighting::new(key, Evidence::TestOrder { timing }));
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

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
