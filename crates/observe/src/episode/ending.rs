//! Decides whether a command that succeeded after a failure is another way to do the same: the difference
//! between the two lines is then the fix.
//!
//! `pytest` fails with "command not found" and `python -m pytest` passes: another launcher. `npm test` fails
//! with "`DATABASE_URL` is not set" and `DATABASE_URL=x npm test` passes: an assignment. But after a failing
//! `pytest`, a passing `pytest tests/test_a.py` fixes nothing: it runs less.

use super::command_tables::{BYPASS_OPTIONS, GIT_BYPASS_OPTIONS};
use super::intent::{CommandIntent, option_name};
use super::nature::FailureNature;

/// Returns whether `passed` does what `failed` was to do, in another way.
pub(super) fn is_other_command(
    failed: &CommandIntent,
    passed: &CommandIntent,
    nature: FailureNature,
) -> bool {
    if failed.family != passed.family || passed.has_fallback || bypasses_check(failed, passed) {
        return false;
    }
    // A limit of time that is missing here can be the error itself, but never fixes the work.
    let changes_launch = failed.assignments != passed.assignments
        || match nature {
            FailureNature::Work => launcher_words(failed) != launcher_words(passed),
            FailureNature::Usage | FailureNature::NothingRan | FailureNature::Unclear => {
                failed.launcher != passed.launcher
            }
        };
    let changes_options = sorted(failed.relevant_options()) != sorted(passed.relevant_options());
    match nature {
        // What was run before must be run again, by other words than before.
        FailureNature::Work => {
            let is_same_scope = sorted_words(&failed.target) == sorted_words(&passed.target)
                && sorted(failed.scope_options()) == sorted(passed.scope_options())
                && failed.folder == passed.folder;
            // Another option of a test run that passes is a run that passed, not a fix.
            is_same_scope && changes_launch
        }
        FailureNature::Usage | FailureNature::NothingRan | FailureNature::Unclear => {
            // A run of less passes easily; only a wrong command is mended by saying which part is meant.
            let is_narrower = nature != FailureNature::Usage
                && (passed.scope_options().len() > failed.scope_options().len()
                    || passed.target.len() > failed.target.len());
            let changes_folder = failed.folder != passed.folder;
            (changes_launch || changes_options || changes_folder || moves_path(failed, passed))
                && is_comparable_target(failed, passed)
                && !is_narrower
        }
    }
}

/// Returns whether a success of `passed` shows that what `failed` ran is in order now: it ran the same, or
/// more.
pub(super) fn covers_scope(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let is_wider = |it: &String| it == "." || it.ends_with("/...") || it == "run";
    let has_same = |it: &String| failed.target.contains(it);
    failed.family == passed.family
        && !passed.has_fallback
        && (passed.target.iter().all(|it| has_same(it) || is_wider(it)))
        && passed.scope_options().iter().all(|it| failed.scope_options().contains(it))
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

/// Returns whether the targets can be those of one task: one has all words of the other, or a path moved.
fn is_comparable_target(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let contains = |all: &[String], some: &[String]| some.iter().all(|it| all.contains(it));
    contains(&passed.target, &failed.target)
        || contains(&failed.target, &passed.target)
        || moves_path(failed, passed)
}

/// Returns whether the targets differ only in folders: `run.py` was in another one.
fn moves_path(failed: &CommandIntent, passed: &CommandIntent) -> bool {
    let base = |it: &String| it.rsplit('/').next().unwrap_or(it).to_owned();
    let bases = |it: &CommandIntent| it.target.iter().map(base).collect::<Vec<_>>();
    let has_path = passed.target.iter().chain(&passed.launcher).any(|it| it.contains('/'));
    has_path
        && bases(failed) == bases(passed)
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

    fn is_fix(failed: &str, passed: &str, nature: FailureNature) -> bool {
        let intent = |line| CommandIntent::main_of_line(line).unwrap();
        is_other_command(&intent(failed), &intent(passed), nature)
    }

    #[test]
    fn a_usage_error_is_fixed_by_other_words_for_the_same() {
        use FailureNature::Usage;
        for (failed, passed) in [
            ("pytest", "python -m pytest"),
            ("npm test", "DATABASE_URL=x npm test"),
            ("npm run build", "pnpm build"),
            ("python x.py", "python3 x.py"),
            ("git push", "git push -u origin HEAD"),
            ("npm test", "cd web && npm test"),
            ("gh pr diff 104 --stat", "gh pr diff 104 --name-only"),
            ("python run.py", "python tools/run.py"),
            ("timeout 60 make test", "gtimeout 60 make test"),
        ] {
            assert!(is_fix(failed, passed, Usage), "{failed} → {passed}");
        }
    }

    #[test]
    fn another_task_or_a_smaller_one_is_no_fix() {
        use FailureNature::{NothingRan, Usage, Work};
        for (failed, passed, nature) in [
            ("git show a1", "git show b2", Usage),
            ("npm run lint", "npm run fmt", Usage),
            ("pytest", "pytest tests/a.py", Work),
            ("vitest run", "vitest run -t adds", Work),
            ("vitest run test/live", "vitest run test/query.test.ts", Work),
            ("go test ./...", "go test -count=1 ./...", Work),
            ("npm test", "timeout 60 npm test", Work),
            ("git commit -m x", "git commit --no-verify -m x", Usage),
            ("npm test", "npm test || true", Usage),
            ("pytest", "pytest -k adds", NothingRan),
            ("make test", "make build", Usage),
        ] {
            assert!(!is_fix(failed, passed, nature), "{failed} → {passed}");
        }
        // The same scope by other means.
        let tagged = "go test -tags integration ./integration";
        assert!(is_fix("go test ./integration", tagged, FailureNature::Unclear));
        assert!(is_fix("npm test", "CI=1 npm test", Work));
        assert!(is_fix("npm test", "bun run test", Work));
    }
}
