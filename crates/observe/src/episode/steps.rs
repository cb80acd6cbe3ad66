//! Chooses the step that was missing when a command failed: a command that ran between the failure and the
//! success and can have made what the error misses, such as a build, an installation or a migration.
//!
//! Commands that only look (`git status`, `ls`, a test run) cannot have helped, and neither can a build
//! after a finding of a linter: see `FailureCause::allows_step`.

use super::command_tables as tables;
use super::intent::CommandIntent;
use super::nature::{FailureCause, is_preparing};
use crate::shell::{self, ShellEffect};

/// Steps that are named.
const MAX_STEPS: usize = 2;

/// The commands that were missing when `failed` failed; empty if none can be named. `in_line` are those before
/// it in the line that succeeded, `between` those of earlier calls, `preceding` had run before the failure.
pub(super) fn choose_steps(
    failed: &CommandIntent,
    cause: &FailureCause<'_>,
    in_line: &[CommandIntent],
    between: &[CommandIntent],
    preceding: &[String],
) -> Vec<String> {
    let is_candidate = |it: &&CommandIntent| {
        // The number of a process is another one the next time.
        let has_number = it.target.iter().any(|it| it.bytes().all(|it| it.is_ascii_digit()));
        it.family != failed.family
            && !preceding.contains(&it.text)
            && !it.text.ends_with('…')
            && (it.family != "kill" || !has_number)
            // An edit of files is no step that can be repeated, and staging belongs to every commit.
            && !matches!(it.family.as_str(), "sed" | "perl" | "patch" | "rm" | "mv" | "git add")
            && cause.allows_step(it)
    };
    let in_line = in_line.iter().filter(|it| !is_inspection(it));
    let chosen: Vec<&CommandIntent> = between.iter().chain(in_line).filter(is_candidate).collect();
    let mut acc: Vec<String> = Vec::new();
    for step in chosen.iter().rev() {
        if acc.len() < MAX_STEPS && !acc.contains(&step.text) {
            acc.insert(0, step.text.clone());
        }
    }
    acc
}

/// Returns whether a command only looks at something, so that nothing is different after it.
pub(super) fn is_inspection(intent: &CommandIntent) -> bool {
    let (program, subcommands) = intent.family.split_once(' ').unwrap_or((&intent.family, ""));
    // `docker compose ps` looks as `docker ps` does.
    let is_listed = tables::INSPECTIONS.iter().any(|(name, listed)| {
        let is_given = |it: &&str| it.is_empty() || subcommands.split(' ').any(|word| word == *it);
        *name == program && listed.iter().any(is_given)
    });
    let only_asks = intent
        .options
        .iter()
        .any(|it| matches!(it.as_str(), "--version" | "--help" | "-h" | "-V" | "--dry-run"));
    let only_looks = |it: &ShellEffect| {
        matches!(
            it,
            ShellEffect::Read(_)
                | ShellEffect::Search(_)
                | ShellEffect::List(_)
                | ShellEffect::Test
        )
    };
    let effects = shell::find_effects(&intent.text);
    let is_read = !effects.is_empty() && effects.iter().all(only_looks);
    // A linter or type checker changes nothing, a build and a formatter do.
    let is_check = effects.contains(&ShellEffect::Check) && !is_preparing(intent);
    is_listed || only_asks || is_read || is_check
}
