//! Commands in CI configuration: lines of workflow files that begin like a well-known command.
//! `- run: pytest -v` in `.github/workflows/tests.yml` gives the test command `pytest -v`.
//!
//! CI runs a project's real commands, so they are better than the defaults of its tools. The files
//! are searched by line, not parsed as YAML: every CI service has its own structure.

use super::{CI_CONFIG_PATHS, MainLanguage, ManifestTexts, ProjectToolKind};

/// Beginnings of commands by purpose, in whole words.
#[rustfmt::skip]
const CI_COMMANDS: &[(ProjectToolKind, &[&str])] = &[
    (ProjectToolKind::Test,  &["pytest", "python -m pytest", "tox", "nox", "python -Wall tests/runtests.py", "python tests/runtests.py", "npm test", "yarn test", "pnpm test", "bundle exec rspec", "bundle exec rake", "vendor/bin/phpunit", "ctest", "mage"]),
    (ProjectToolKind::Lint,  &["ruff", "flake8", "pylint", "mypy", "black --check", "golangci-lint", "npm run lint", "yarn lint", "pnpm lint", "pre-commit run", "bundle exec rubocop"]),
    (ProjectToolKind::Build, &["python -m build", "npm run build", "yarn build", "pnpm build", "cmake --build"]),
];

/// Names of workflows that run on every change.
const COMMON_WORKFLOWS: &[&str] =
    &["test", "tests", "ci", "main", "check", "checks", "lint", "linters", "build"];

/// A longer line is too special for an overview.
const MAX_COMMAND_BYTES: usize = 100;

/// A command of a CI configuration.
pub(super) struct CiCommand {
    pub(super) kind: ProjectToolKind,
    pub(super) command: String,
    /// The configuration file it is from.
    pub(super) path: String,
}

/// A command with the properties by which it is chosen. The derived order is best first within each
/// purpose: by the first field that differs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RankedCommand {
    /// Its purpose, as a row of `CI_COMMANDS`.
    row: usize,
    /// It runs scripts of `package.json` in a project of another language, or the reverse.
    is_other_language: bool,
    /// Its workflow does not run on every change.
    is_special_workflow: bool,
    /// A shorter command has fewer special options.
    n_bytes: usize,
    command: String,
    path: String,
}

/// One command per purpose. Preferred are commands of the project's main language, then those of
/// common workflows, then the shortest: it has the fewest special options.
pub(super) fn find_ci_commands(files: &ManifestTexts, language: MainLanguage) -> Vec<CiCommand> {
    let prefers_scripts = language == MainLanguage::EcmaScript;
    let is_script = |it: &str| ["npm ", "yarn ", "pnpm "].iter().any(|tool| it.starts_with(tool));
    let mut ranked = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_ci_config(path)) {
        for (row, command) in parse_commands(text) {
            ranked.push(RankedCommand {
                row,
                is_other_language: is_script(&command) != prefers_scripts,
                is_special_workflow: !is_common_workflow(path),
                n_bytes: command.len(),
                command,
                path: path.clone(),
            });
        }
    }
    ranked.sort();
    // Only the first of each row, which is its best command, stays.
    ranked.dedup_by_key(|it| it.row);
    let mut best = Vec::new();
    for RankedCommand { row, command, path, .. } in ranked {
        let (kind, _) = CI_COMMANDS[row];
        best.push(CiCommand { kind, command, path });
    }
    best
}

fn is_ci_config(path: &str) -> bool {
    CI_CONFIG_PATHS.iter().any(|it| path.starts_with(it))
}

/// The file holds a workflow that runs on every change. Only GitHub has a file per workflow;
/// elsewhere the one file is the common workflow.
fn is_common_workflow(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or(name);
    COMMON_WORKFLOWS.contains(&stem.to_lowercase().as_str()) || !path.starts_with(".github")
}

/// The commands of a workflow with their rows in `CI_COMMANDS`. Lines with variables, and lines
/// that continue or open a block, are dropped: they cannot be run as they are.
fn parse_commands(text: &str) -> Vec<(usize, String)> {
    let mut commands = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        let line = line.strip_prefix("run:").unwrap_or(line).trim().trim_matches(['"', '\'', ';']);
        let is_incomplete = line.contains('$') || line.ends_with([':', '\\', '|']);
        if is_incomplete || line.len() > MAX_COMMAND_BYTES {
            continue;
        }
        for (row, (_, beginnings)) in CI_COMMANDS.iter().enumerate() {
            // Only whole words match: `toxic` does not begin with the command `tox`.
            let begins_with = |beginning: &str| {
                line.strip_prefix(beginning).is_some_and(|it| it.is_empty() || it.starts_with(' '))
            };
            if beginnings.iter().any(|it| begins_with(it)) {
                commands.push((row, line.to_owned()));
            }
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plainest_command_of_a_common_workflow_is_chosen() {
        // A workflow file with one command.
        let file = |name: &str, run: &str| {
            (format!(".github/workflows/{name}.yml"), format!("      - run: {run}\n"))
        };
        let files = [
            file("coverage_tests", "tox"),
            file("postgis", "pytest --db postgis"),
            file("tests", "pytest -v --all"),
            file("tests", "pytest -v"),
            file("tests", "npm test"),
            file("docs", "python -m build docs"),
        ];
        let commands = |language| -> Vec<String> {
            find_ci_commands(&files, language).into_iter().map(|it| it.command).collect()
        };
        assert_eq!(commands(MainLanguage::Other), ["pytest -v", "python -m build docs"]);
        assert_eq!(commands(MainLanguage::EcmaScript)[0], "npm test");
    }
}
