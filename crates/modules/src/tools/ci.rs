//! Commands in CI configuration.

use super::{CI_CONFIG_PATHS, MainLanguage, ManifestTexts, ProjectToolKind};

/// Beginnings of commands by purpose.
#[rustfmt::skip]
const CI_COMMANDS: &[(ProjectToolKind, &[&str])] = &[
    (ProjectToolKind::Test,  &["pytest", "python -m pytest", "tox", "nox", "python -Wall tests/runtests.py", "python tests/runtests.py", "npm test", "yarn test", "pnpm test", "bundle exec rspec", "bundle exec rake", "vendor/bin/phpunit", "ctest", "mage "]),
    (ProjectToolKind::Lint,  &["ruff", "flake8", "pylint", "mypy", "black --check", "golangci-lint", "npm run lint", "yarn lint", "pnpm lint", "pre-commit run", "bundle exec rubocop"]),
    (ProjectToolKind::Build, &["python -m build", "npm run build", "yarn build", "pnpm build", "cmake --build"]),
];

/// Names of workflows that run on every change.
const COMMON_WORKFLOWS: &[&str] =
    &["test", "tests", "ci", "main", "check", "checks", "lint", "linters", "build"];

/// A longer line is not a command to show.
const MAX_COMMAND_BYTES: usize = 100;

/// One command per purpose with the file it is from. Preferred are commands of the project's main
/// language, then those of common workflows, then the shortest: it has the fewest special options.
pub(super) fn find_ci_commands(
    files: &ManifestTexts,
    language: MainLanguage,
) -> Vec<(ProjectToolKind, String, String)> {
    let prefers_scripts = language == MainLanguage::EcmaScript;
    let is_script = |it: &str| ["npm ", "yarn ", "pnpm "].iter().any(|tool| it.starts_with(tool));
    let mut ranked = Vec::new();
    for (path, text) in files.iter().filter(|it| is_ci_config(&it.0)) {
        for (row, command) in parse_commands(text) {
            let is_other_language = is_script(&command) != prefers_scripts;
            let rank = (row, is_other_language, !is_common_workflow(path), command.len());
            ranked.push((rank, command, path.clone()));
        }
    }
    ranked.sort();
    // The best of each row of the table.
    ranked.dedup_by_key(|it| it.0.0);
    ranked.into_iter().map(|it| (CI_COMMANDS[it.0.0].0, it.1, it.2)).collect()
}

fn is_ci_config(path: &str) -> bool {
    CI_CONFIG_PATHS.iter().any(|it| path.starts_with(it))
}

/// GitHub has a file per workflow; elsewhere the one file is the common workflow.
fn is_common_workflow(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or(name);
    COMMON_WORKFLOWS.contains(&stem.to_lowercase().as_str()) || !path.starts_with(".github")
}

/// The commands of a workflow with their rows in `CI_COMMANDS`. Lines with variables, and lines
/// that continue or open a block, cannot be run as they are.
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
            // A whole word: `tox` is not the beginning of `toxic`.
            let begins_with = |beginning: &str| {
                line.strip_prefix(beginning).is_some_and(|it| it.is_empty() || it.starts_with(' '))
            };
            if beginnings.iter().any(|it| begins_with(it.trim_end())) {
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
            find_ci_commands(&files, language).into_iter().map(|it| it.1).collect()
        };
        assert_eq!(commands(MainLanguage::Other), ["pytest -v", "python -m build docs"]);
        assert_eq!(commands(MainLanguage::EcmaScript)[0], "npm test");
    }
}
