//! Decides whether a command that succeeded after a failure is another way to do the same: the difference
//! between the two lines is then the fix.
//!
//! `pytest` fails with "command not found" and `python -m pytest` passes: another launcher. `npm test` fails
//! with "`DATABASE_URL` is not set" and `DATABASE_URL=x npm test` passes: an assignment. But after a failing
//! `pytest`, a passing `pytest tests/test_a.py` fixes nothing: it runs less.

use super::command_tables::{BYPASS_OPTIONS, GIT_BYPASS_OPTIONS, INTERPRETERS};
use super::intent::{CommandIntent, option_name};
use super::nature::{FailureCause, FailureNature};
use crate::error_line::ErrorKind;

/// Returns whether `passed` does what `failed` was to do, in another way. It must do the same or more: a run
/// of less passes easily.
pub(super) fn is_other_command(
    failed: &CommandIntent,
    passed: &CommandIntent,
    cause: &FailureCause<'_>,
) -> bool {
    if failed.family != passed.family || passed.has_fallback || bypasses_check(failed, passed) {
        return false;
    }
    let changes = CommandChanges::between(failed, passed);
    match cause.nature() {
        // The command was rejected, so that naming the part that is meant can be the fix.
        FailureNature::Usage => {
            let keeps_option = cause.unknown_option().is_some_and(|it| has_option(passed, it));
            let is_more = failed.target.iter().all(|it| passed.target.contains(it));
            let is_comparable = is_more || covers_target(failed, passed) || changes.path;
            !keeps_option && is_comparable && changes.any()
        }
        FailureNature::Missing => {
            let is_comparable = covers_target(failed, passed) || changes.path;
            is_comparable && covers_options(failed, passed) && changes.any()
        }
        // Another part of the tests is another task.
        FailureNature::NothingRan => {
            let changes_call = changes.launch || changes.folder || changes.own_options;
            covers_target(failed, passed) && covers_options(failed, passed) && changes_call
        }
        FailureNature::Unclear => has_same_scope(failed, passed) && changes.any(),
        // The findings of a linter or test do not depend on the words, but source can be too new for one
        // interpreter.
        FailureNature::Work => {
            let is_run_error = matches!(cause.kind, ErrorKind::CompileError | ErrorKind::Exception);
            is_run_error && changes.interpreter && has_same_scope(failed, passed)
        }
    }
}

/// The differences between a command that failed and one that passed.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each read by one rule")]
struct CommandChanges {
    /// The words that start the program, or its assignments.
    launch: bool,
    /// The interpreter or its version.
    interpreter: bool,
    options: bool,
    /// Options other than those that choose what is run.
    own_options: bool,
    folder: bool,
    /// A path is looked for in another folder.
    path: bool,
}

impl CommandChanges {
    fn between(failed: &CommandIntent, passed: &CommandIntent) -> Self {
        let first = |it: &CommandIntent| launcher_words(it).first().map(|it| (*it).to_owned());
        let is_interpreter = |it: &CommandIntent| {
            let name = first(it).unwrap_or_default();
            let name = name.rsplit('/').next().unwrap_or_default();
            let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
            INTERPRETERS.contains(&bare)
        };
        let own = |it: &CommandIntent| {
            let scope: Vec<String> = it.scope_options().iter().map(|it| (*it).to_owned()).collect();
            let is_own = |it: &&str| !scope.iter().any(|scope| scope == it);
            let own = it.relevant_options().into_iter().filter(is_own).map(str::to_owned);
            let mut own: Vec<String> = own.collect();
            own.sort_unstable();
            own
        };
        Self {
            launch: failed.assignments != passed.assignments || failed.launcher != passed.launcher,
            interpreter: first(failed) != first(passed)
                && is_interpreter(failed)
                && is_interpreter(passed),
            options: sorted(failed.relevant_options()) != sorted(passed.relevant_options()),
            own_options: own(failed) != own(passed),
            folder: failed.folder != passed.folder,
            path: moves_path(failed, passed),
        }
    }

    const fn any(&self) -> bool {
        self.launch || self.options || self.folder || self.path
    }
}

/// Returns whether a success of `passed` shows that what `failed` ran is in order now: it ran the same, or
/// more.
pub(super) fn covers_scope(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let is_elsewhere =
        !failed.folder.is_empty() && !passed.folder.is_empty() && failed.folder != passed.folder;
    failed.family == passed.family
        && !passed.has_fallback
        && !is_elsewhere
        && covers_target(failed, passed)
        && covers_options(failed, passed)
}

/// Returns whether the targets of the second command hold all of the first one.
fn covers_target(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let is_word = |it: &&String| it.as_str() == "run";
    let targets = |it: &CommandIntent| -> Vec<String> {
        it.target.iter().filter(|it| !is_word(it)).map(|it| target_path(it)).collect()
    };
    let (failed, passed) = (targets(failed), targets(passed));
    let is_path = |it: &String| it.is_empty() || it.contains(['/', '.']);
    let is_covered = |it: &String| passed.iter().any(|wider| is_inside(it, wider));
    // Without a target, a command that takes paths runs everything.
    let is_everything = passed.is_empty() && failed.iter().all(is_path);
    let is_still_everything = !failed.is_empty() || passed.iter().all(String::is_empty);
    is_everything || (is_still_everything && failed.iter().all(is_covered))
}

/// A target as a path without what does not tell it apart: `./src/` and `src/...` are `src`.
fn target_path(target: &str) -> String {
    let path = target.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/');
    if path == "." { String::new() } else { path.to_owned() }
}

fn is_inside(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

/// Returns whether the second command has no option that narrows what the first one ran.
fn covers_options(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let before = failed.scope_options();
    passed.scope_options().iter().all(|it| before.contains(it))
}

fn has_same_scope(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    sorted_words(&failed.target) == sorted_words(&passed.target)
        && sorted(failed.scope_options()) == sorted(passed.scope_options())
}

/// Returns whether a command has an option, whatever its value.
pub(super) fn has_option(command: &CommandIntent, option: &str) -> bool {
    command.options.iter().any(|it| option_name(it) == option_name(option))
}

/// Returns whether two intents differ in nothing that counts: not even in the folder.
pub(super) fn is_same_command(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    failed.family == passed.family
        && sorted_words(&failed.target) == sorted_words(&passed.target)
        && sorted(failed.relevant_options()) == sorted(passed.relevant_options())
        && failed.assignments == passed.assignments
        && launcher_words(failed) == launcher_words(passed)
        && failed.folder == passed.folder
}

/// The words that start the program. A limit of time or another priority changes nothing.
fn launcher_words(intent: &CommandIntent) -> Vec<&str> {
    let mut acc: Vec<&str> = Vec::new();
    let mut after_limit = false;
    for word in &intent.launcher {
        let is_limit = matches!(word.as_str(), "timeout" | "gtimeout" | "time" | "nice" | "nohup");
        let is_duration = after_limit && word.starts_with(|it: char| it.is_ascii_digit());
        if !is_limit && !is_duration && word != "run" {
            acc.push(word);
        }
        after_limit = is_limit || (after_limit && word.starts_with('-'));
    }
    acc
}

/// Returns whether the second command has an option that switches a check off.
fn bypasses_check(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    passed.options.iter().any(|it| {
        let name = option_name(it);
        let is_bypass = BYPASS_OPTIONS.contains(&name.as_str())
            || passed.family.starts_with("git ") && GIT_BYPASS_OPTIONS.contains(&name.as_str());
        is_bypass && !failed.options.contains(it)
    })
}

/// Returns whether the targets differ only in folders: `run.py` was in another one.
fn moves_path(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let base = |it: &String| {
        let path = it.trim_end_matches('/');
        path.rsplit('/').next().unwrap_or(path).to_owned()
    };
    let bases = |it: &[String]| it.iter().map(base).collect::<Vec<_>>();
    let has_path = passed.target.iter().chain(&passed.launcher).any(|it| it.contains('/'));
    has_path
        && bases(&failed.target) == bases(&passed.target)
        && bases(&failed.launcher) == bases(&passed.launcher)
        && (failed.target != passed.target || failed.launcher != passed.launcher)
}

fn sorted(mut words: Vec<&str>) -> Vec<&str> {
    words.sort_unstable();
    words
}

fn sorted_words(words: &[String]) -> Vec<&str> {
    sorted(words.iter().map(String::as_str).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fix(failed: &str, passed: &str, kind: ErrorKind) -> bool {
        let intent = |line| CommandIntent::main_of_line(line).unwrap();
        let cause = FailureCause::new(kind, "a message", None);
        is_other_command(&intent(failed), &intent(passed), &cause)
    }

    #[test]
    fn a_usage_error_is_fixed_by_other_words_for_the_same() {
        use ErrorKind::{MissingCommand, MissingFile, MissingVariable, UsageError};
        for (failed, passed, kind) in [
            ("pytest", "python -m pytest", MissingCommand),
            ("npm test", "DATABASE_URL=x npm test", MissingVariable),
            ("npm run build", "pnpm build", MissingCommand),
            ("python x.py", "python3 x.py", MissingCommand),
            ("git push", "git push -u origin HEAD", UsageError),
            ("npm test", "cd web && npm test", MissingFile),
            ("gh pr diff 104 --stat", "gh pr diff 104 --name-only", UsageError),
            ("python run.py", "python tools/run.py", MissingFile),
            ("timeout 60 make test", "gtimeout 60 make test", MissingCommand),
            ("npm run typecheck", "npm run typecheck --workspace packages/core", UsageError),
            ("go vet", "go vet -tags x ./...", MissingFile),
        ] {
            assert!(is_fix(failed, passed, kind), "{failed} → {passed}");
        }
    }

    #[test]
    fn another_task_or_a_smaller_one_is_no_fix() {
        use ErrorKind::{MissingFile, MissingModule, NotRun, Other, UsageError};
        for (failed, passed, kind) in [
            ("git show a1", "git show b2", UsageError),
            ("npm run lint", "npm run fmt", UsageError),
            ("git commit -m x", "git commit --no-verify -m x", UsageError),
            ("npm test", "npm test || true", UsageError),
            ("make test", "make build", UsageError),
            ("eslint a.ts b.ts --x", "eslint a.ts", UsageError),
            // A part of the folder, of the tests, of the packages.
            ("dart analyze lib/vpn/", "dart analyze lib/vpn/domain/", MissingModule),
            ("pytest", "pytest tests/a.py", MissingModule),
            ("pytest -q", "pytest -q -k adds", MissingFile),
            ("pytest", "pytest -k adds", NotRun),
            ("go test -run TestA ./x", "go test -run TestB ./x", NotRun),
            ("go test ./... -x", "go test ./a", Other),
            // Nothing but the scope is different.
            ("dart analyze lib/vpn/", "dart analyze lib/", MissingModule),
        ] {
            assert!(!is_fix(failed, passed, kind), "{failed} → {passed}");
        }
        // The same scope by other means.
        let tagged = "go test -tags integration ./integration";
        assert!(is_fix("go test ./integration", tagged, Other));
        assert!(is_fix("go test ./integration", tagged, NotRun));
    }

    #[test]
    fn findings_are_not_fixed_by_another_command() {
        use ErrorKind::{AssertionFailure, CompileError, Conflict, Exception, LintRule};
        for kind in [AssertionFailure, CompileError, Conflict, Exception, LintRule] {
            for (failed, passed) in [
                ("npm test", "CI=1 npm test"),
                ("npm test", "bun run test"),
                ("pytest", "pytest tests/a.py"),
                ("vitest run", "vitest run -t adds"),
                ("vitest run test/live", "vitest run test/query.test.ts"),
                ("go test ./...", "go test -count=1 ./..."),
                ("npm test", "timeout 60 npm test"),
                ("npx eslint src", "npx eslint src --quiet"),
                ("git rebase main", "git rebase --continue"),
            ] {
                assert!(!is_fix(failed, passed, kind), "{failed} → {passed}");
            }
        }
        assert!(is_fix("python a.py", "python3.12 a.py", CompileError));
        assert!(!is_fix("python a.py", "python3.12 a.py", AssertionFailure));
    }

    #[test]
    fn an_option_that_is_unknown_must_be_gone() {
        let intent = |line| CommandIntent::main_of_line(line).unwrap();
        let message = "unknown flag: --out-format";
        let cause = FailureCause::new(ErrorKind::UsageError, message, Some("--out-format"));
        let failed = intent("golangci-lint run --out-format=line-number");
        let is_fix = |it| is_other_command(&failed, &intent(it), &cause);
        assert!(is_fix("golangci-lint run"));
        assert!(!is_fix("golangci-lint run --out-format=tab ./..."));
    }
}
