//! Chooses the step that was missing when a command failed: a command that ran between the failure and the
//! success and prepares something for others, such as a build, an installation or a migration.
//!
//! Commands that only look (`git status`, `ls`, a test run) cannot have helped.

use super::command_tables as tables;
use super::intent::CommandIntent;
use crate::shell::{self, ShellEffect};

/// Steps that are named.
const MAX_STEPS: usize = 2;

/// The commands that were missing when `failed` failed; empty if none can be named. `in_line` are those before
/// it in the line that succeeded, `between` those of earlier calls, `preceding` had run before the failure.
pub(super) fn choose_steps(
    failed: &CommandIntent,
    in_line: &[CommandIntent],
    between: &[CommandIntent],
    preceding: &[String],
) -> Vec<String> {
    let is_new = |it: &&CommandIntent| {
        // The number of a process is another one the next time.
        let has_number = it.target.iter().any(|it| it.bytes().all(|it| it.is_ascii_digit()));
        it.family != failed.family
            && !preceding.contains(&it.text)
            && !it.text.ends_with('…')
            && (it.family != "kill" || !has_number)
            // An edit of files is no step that can be repeated.
            && !matches!(it.family.as_str(), "sed" | "perl" | "patch" | "rm" | "mv")
    };
    let all: Vec<&CommandIntent> = between
        .iter()
        .chain(in_line.iter().filter(|it| !is_inspection(it)))
        .filter(is_new)
        .collect();
    // `git add` belongs to every commit: it is the step only if git failed and there is no other.
    let is_staging = |it: &&CommandIntent| it.family == "git add";
    let others: Vec<&CommandIntent> = all.iter().copied().filter(|it| !is_staging(it)).collect();
    let all = if others.is_empty() && failed.family.starts_with("git ") { all } else { others };
    let preparing: Vec<&CommandIntent> =
        all.iter().copied().filter(|it| is_preparing(it)).collect();
    // A command of unknown purpose counts only if there is no other that could have helped.
    let chosen = match (preparing.is_empty(), all.len()) {
        (false, _) => preparing,
        (true, 1) => all,
        (true, _) => Vec::new(),
    };
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

/// Returns whether a command is of a kind that prepares something for others.
fn is_preparing(intent: &CommandIntent) -> bool {
    let is_fix_option = |it: &String| matches!(it.as_str(), "--fix" | "--write" | "-w" | "-i");
    let parts = intent.family.split([' ', ':', '-', '_', '.', '/']);
    let mut words = parts.map(str::to_lowercase);
    intent.family == "."
        || words.any(|it| tables::PREPARING_WORDS.contains(&it.as_str()))
        || intent.options.iter().any(is_fix_option)
}
