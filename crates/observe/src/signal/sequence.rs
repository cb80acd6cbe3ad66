//! The same steps in the same order until a commit: how work is finished here, and how a change of one
//! module goes. Arguments do not matter: edits are told by folder, checks without paths and options.

use model::{SignalKind, ToolKind};

use crate::scratchpad::Does;
use crate::sighting::{Evidence, Sighting};
use crate::{Modules, Scratchpad, shell};

/// Steps of a recipe, the edit before and the commit after included.
pub(crate) const FEWEST_STEPS: usize = 4;
/// Begins the key of a module's routine, and a step that edits.
pub(crate) const CHANGE: &str = "change ";
pub(crate) const EDIT: &str = "edit ";

const COMMIT: &str = "git commit";

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &Modules) {
    let mut steps: Vec<String> = Vec::new();
    let mut folders: Vec<String> = Vec::new();
    let mut edited = false;
    for call in &pad.calls {
        if pad.touches_of(call).iter().any(|it| it.writes) && call.is_good() {
            edited = true;
            for touch in pad.touches_of(call).iter().filter(|it| it.writes) {
                let step = format!("{EDIT}{}", modules.of(pad.names.text(touch.file)));
                if step != EDIT && !folders.contains(&step) {
                    folders.push(step);
                }
            }
        }
        if call.tool != ToolKind::Shell || !call.is_good() {
            continue;
        }
        let command = call.command.map(|it| pad.names.text(it)).unwrap_or_default();
        if call.does.any(Does::TEST | Does::CHECK) {
            for task in tasks(command) {
                // A check that is run again counts where it was run last.
                steps.retain(|it| *it != task);
                steps.push(task);
            }
        }
        if call.does.any(Does::COMMIT) {
            if edited && steps.len() + 2 >= FEWEST_STEPS {
                steps.push(COMMIT.to_owned());
                let evidence = Evidence { steps: steps.clone(), ..Evidence::default() };
                acc.push(Sighting::new(SignalKind::Sequence, "finish a change", evidence));
            }
            if let Some(first) = folders.first() {
                let key = format!("{CHANGE}{}", first.trim_start_matches(EDIT));
                let all = folders.iter().chain(steps.iter().filter(|it| *it != COMMIT));
                let all: Vec<String> = all.cloned().chain([COMMIT.to_owned()]).collect();
                if all.len() >= FEWEST_STEPS {
                    let evidence = Evidence { steps: all, ..Evidence::default() };
                    acc.push(Sighting::new(SignalKind::Sequence, key, evidence));
                }
            }
            (steps, folders, edited) = (Vec::new(), Vec::new(), false);
        }
    }
}

/// The checks of a command line without their arguments: `mise run lint`, `go test`.
fn tasks(command: &str) -> Vec<String> {
    let mut acc = Vec::new();
    for simple in shell::split(command) {
        let is_check = shell::deeds(&simple.words.join(" "))
            .iter()
            .any(|it| matches!(it, shell::Deed::Test | shell::Deed::Check));
        if is_check && !simple.piped {
            let plain = |it: &&String| {
                !it.starts_with('-') && !it.contains(['/', '.', '=', '"', '\'', '>'])
            };
            let words: Vec<&str> =
                simple.words.iter().take(3).take_while(plain).map(String::as_str).collect();
            if !words.is_empty() {
                acc.push(words.join(" "));
            }
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::Sequence;

    #[test]
    fn checks_before_a_commit_are_a_recipe() {
        check(
            Sequence,
            "edit a.go\nrun mise run lint\nfail mise run test: FAIL x\nedit a.go\nrun mise run test 2>&1 | tail\nrun mise run fmt && mise run lint\ncommit",
            expect![[r#"
                finish a change ×1 {"steps":["mise run test","mise run fmt","mise run lint","git commit"]}
            "#]],
        );
        check(Sequence, "edit a.go\nrun go test ./...\ncommit", expect![""]);
        check(
            Sequence,
            "edit api/a.go\nedit web/b.ts\nedit api/c.go\nrun go test ./api\ncommit",
            expect![[r#"
                change api ×1 {"steps":["edit api","edit web","go test","git commit"]}
            "#]],
        );
        check(Sequence, "run go vet\nrun go build\nrun go test\ncommit", expect![""]);
    }
}
