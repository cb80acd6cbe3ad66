//! Commands that CI runs.

use super::{ToolKind, WORKFLOWS};

/// What a line of CI begins with, and what it then is.
#[rustfmt::skip]
const IN_CI: &[(ToolKind, &[&str])] = &[
    (ToolKind::Test,  &["pytest", "python -m pytest", "tox", "nox", "python -Wall tests/runtests.py", "python tests/runtests.py", "npm test", "yarn test", "pnpm test", "bundle exec rspec", "bundle exec rake", "vendor/bin/phpunit", "ctest", "mage "]),
    (ToolKind::Lint,  &["ruff", "flake8", "pylint", "mypy", "black --check", "golangci-lint", "npm run lint", "yarn lint", "pnpm lint", "pre-commit run", "bundle exec rubocop"]),
    (ToolKind::Build, &["python -m build", "npm run build", "yarn build", "pnpm build", "cmake --build"]),
];

/// What workflows are called that do for every change what everybody does.
const USUAL: &[&str] =
    &["test", "tests", "ci", "main", "check", "checks", "lint", "linters", "build"];

/// One command for each purpose with the file it is from: in the language of the project, of the workflows
/// that everybody runs, the one that asks for the least.
pub(super) fn commands(
    files: &[(String, String)],
    by_script: bool,
) -> Vec<(ToolKind, String, String)> {
    let is_script = |it: &str| ["npm ", "yarn ", "pnpm "].iter().any(|tool| it.starts_with(tool));
    let mut found = Vec::new();
    for (from, text) in files.iter().filter(|it| is_workflow(&it.0)) {
        for (row, command) in steps(text) {
            let order = (row, is_script(&command) != by_script, !is_usual(from), command.len());
            found.push((order, command, from.clone()));
        }
    }
    found.sort();
    found.dedup_by_key(|it| it.0.0);
    found.into_iter().map(|it| (IN_CI[it.0.0].0, it.1, it.2)).collect()
}

fn is_workflow(path: &str) -> bool {
    WORKFLOWS.iter().any(|it| path.starts_with(it))
}

fn is_usual(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or(name);
    USUAL.contains(&stem.to_lowercase().as_str()) || !path.starts_with(".github")
}

/// The commands of a workflow that stand for themselves, by their row.
fn steps(text: &str) -> Vec<(usize, String)> {
    let mut res = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        let line = line.strip_prefix("run:").unwrap_or(line).trim().trim_matches(['"', '\'', ';']);
        if line.contains('$') || line.ends_with([':', '\\', '|']) || line.len() > 100 {
            continue;
        }
        for (row, (_, beginnings)) in IN_CI.iter().enumerate() {
            let begins = |it: &&str| {
                line.strip_prefix(it).is_some_and(|it| it.is_empty() || it.starts_with(' '))
            };
            if beginnings.iter().any(|it| begins(&it.trim_end())) {
                res.push((row, line.to_owned()));
            }
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plainest_command_of_a_workflow_that_everybody_runs_counts() {
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
        let told = |by_script| -> Vec<String> {
            commands(&files, by_script).into_iter().map(|it| it.1).collect()
        };
        assert_eq!(told(false), ["pytest -v", "python -m build docs"]);
        assert_eq!(told(true)[0], "npm test");
    }
}
