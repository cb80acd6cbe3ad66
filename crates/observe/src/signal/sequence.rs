//! Detects the signal `sequence`: the steps between two commits. Every commit after an edit gives the
//! pattern `finish a change`, whose steps are the checks before it. If a module was edited (a part of the
//! project, by default a folder), it also gives a pattern named after the first one, with all steps.
//!
//! Input is the scratchpad, the folded state of one session. Arguments do not count, so that sessions can
//! be compared: edits are named by module, checks without paths and options. Example: edit `api/a.go`, edit
//! `web/b.ts`, `go test ./api`, `git commit` →
//!
//! ```text
//! finish a change   go test, git commit
//! change api        edit api, edit web, go test, git commit
//! ```

use model::ToolKind;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::{CallEffects, LoggedCall};
use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad, shell};

/// The fewest steps of a change of a module, from its first edit to the commit.
const MIN_MODULE_STEPS: usize = 4;
/// Words by which a check is named: `mise run lint`.
const MAX_CHECK_WORDS: usize = 3;
pub(crate) const COMMIT_STEP: &str = "git commit";

/// The steps since the last commit.
#[derive(Default)]
struct ChangeSteps {
    /// Checks that passed. An edit afterwards does not remove them: the pattern tells which checks are
    /// usual, not whether the commit was checked.
    checks: Vec<String>,
    /// Edited modules, in the order of the first edit.
    modules: Vec<String>,
    /// A file was edited, possibly one that belongs to no module.
    has_edit: bool,
}

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &ModuleLookup) {
    let mut steps = ChangeSteps::default();
    for call in pad.calls.iter().filter(|it| it.has_succeeded()) {
        steps.add_edits(pad, call, modules);
        if call.tool != ToolKind::Shell {
            continue;
        }
        // The effects were found when the scratchpad logged the call.
        let command = call.command.map(|it| pad.strings.text(it)).unwrap_or_default();
        if call.effects.has_any(CallEffects::RUNS_TEST | CallEffects::RUNS_CHECK) {
            for check in check_commands(command) {
                // A check that runs again counts at its last position.
                steps.checks.retain(|it| *it != check);
                steps.checks.push(check);
            }
        }
        // A commit ends the change; the next steps belong to another one.
        if call.effects.has_any(CallEffects::MAKES_COMMIT) {
            std::mem::take(&mut steps).finish(acc);
        }
    }
}

impl ChangeSteps {
    fn add_edits(&mut self, pad: &Scratchpad, call: &LoggedCall, modules: &ModuleLookup) {
        for touch in pad.touches_of_call(call).iter().filter(|it| it.is_write) {
            self.has_edit = true;
            let module = modules.module_of_file(pad.strings.text(touch.file));
            if !module.is_empty() && !self.modules.iter().any(|it| it == module) {
                self.modules.push(module.to_owned());
            }
        }
    }

    /// Adds the sightings of a change that was committed.
    fn finish(self, acc: &mut Vec<Sighting>) {
        let Self { mut checks, modules, has_edit } = self;
        checks.push(COMMIT_STEP.to_owned());
        let checks_and_commit = checks;
        // A commit without a check counts as well: a check is usual if most commits follow it.
        if has_edit {
            let steps = checks_and_commit.clone();
            acc.push(Sighting::new(PatternKey::finished_change(), Evidence::Sequence { steps }));
        }
        // The change is named after the module that was edited first. Without one, it has no name.
        let Some(first_module) = modules.first() else { return };
        let key = PatternKey::module_change(first_module);
        let edits: Vec<String> = modules.iter().map(|it| format!("edit {it}")).collect();
        let steps = [edits, checks_and_commit].concat();
        if steps.len() >= MIN_MODULE_STEPS {
            acc.push(Sighting::new(key, Evidence::Sequence { steps }));
        }
    }
}

/// The checks of a command line without their arguments: `mise run lint`, `go test`.
fn check_commands(command: &str) -> Vec<String> {
    let mut acc = Vec::new();
    for simple in shell::split_commands(command) {
        let is_check = shell::find_effects(&simple.words.join(" "))
            .iter()
            .any(|it| matches!(it, shell::ShellEffect::Test | shell::ShellEffect::Check));
        // A command behind a pipe only filters the output of the one before it.
        if !is_check || simple.is_piped {
            continue;
        }
        // Program, subcommand and task name; the rest differs from run to run.
        let leading = simple.words.iter().take(MAX_CHECK_WORDS);
        let name: Vec<&str> =
            leading.map(String::as_str).take_while(|it| !is_argument(it)).collect();
        // Empty if the program itself is a path, such as `./gradlew`.
        if !name.is_empty() {
            acc.push(name.join(" "));
        }
    }
    acc
}

/// Returns whether a word is an argument and not a name: `-v`, `./api`, `a.go`, `A=1`, `2>&1`.
fn is_argument(word: &str) -> bool {
    word.starts_with('-') || word.contains(['/', '.', '=', '"', '\'', '>'])
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::Sequence;

    #[test]
    fn checks_before_a_commit_are_counted() {
        check(
            Sequence,
            "edit a.go\nrun mise run lint\nfail mise run test: FAIL x\nedit a.go\nrun mise run test 2>&1 | tail\nrun mise run fmt && mise run lint\ncommit",
            expect![[r#"
                finish a change ×1 {"steps":["mise run test","mise run fmt","mise run lint","git commit"]}
            "#]],
        );
        check(
            Sequence,
            "edit a.go\nrun go test ./...\ncommit",
            expect![[r#"
                finish a change ×1 {"steps":["go test","git commit"]}
            "#]],
        );
        check(
            Sequence,
            "edit api/a.go\nedit web/b.ts\nedit api/c.go\nrun go test ./api\ncommit",
            expect![[r#"
                finish a change ×1 {"steps":["go test","git commit"]}
                change api ×1 {"steps":["edit api","edit web","go test","git commit"]}
            "#]],
        );
        // Nothing was edited.
        check(Sequence, "run go vet\nrun go build\nrun go test\ncommit", expect![""]);
    }
    #[test]
    fn a_module_may_be_named_like_a_step() {
        let modules = vec!["edit forms".to_owned(), "api".to_owned()];
        let checks = vec!["go test".to_owned()];
        let mut acc = Vec::new();
        super::ChangeSteps { checks, modules, has_edit: false }.finish(&mut acc);
        assert_eq!(acc[0].key, crate::pattern_key::PatternKey::module_change("edit forms"));
    }
}
