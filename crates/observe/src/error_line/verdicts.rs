//! Verdicts in the output of tests and checks, whatever the exit code was: did it fail, did it run anything?
//!
//! A pipe such as `| tail` hides the exit code of the command before it, so the output decides. Lines are read as
//! their tool prints them: a passing test whose name has the word "error" is no failure. There are three kinds of
//! lines: a summary that reports failures decides; a summary without failures outweighs lines that only look
//! like a failure, because tests can print anything.

use super::families::{PlacedLine, is_exception};
use super::output_lines::{OutputLines, strip_escapes};

/// A line that tells how a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Failed,
    /// A failure, unless a summary says otherwise.
    LooksFailed,
    Passed,
}

/// Beginnings of lines, trimmed, that report a failure.
#[rustfmt::skip]
const FAILED_PREFIXES: &[&str] = &[
    "FAIL\t", "--- FAIL: ", "test result: FAILED", "error: test failed", "error: could not compile", "error: aborting due to", "FAILED (failures=", "FAILED (errors=", "FAILURES!", "ERRORS!", "Failed!  - Failed:", "Build FAILED.",
    "BUILD FAILED", "[INFO] BUILD FAILURE", "npm ERR! code", "npm error code", "npm ERR! Missing script", "npm error Missing script", "npm error Lifecycle script", "npm ERR! Lifecycle script", "ELIFECYCLE", "ERR_PNPM_", "ERROR task failed",
    "error Command failed with exit code", "error: script \"", "error: Recipe `", "task: Failed to run task", "husky - ", "make: *** ", "gmake: *** ", "[warn] Code style issues found", "Code style issues found",
    "error: failed to push some refs", "! [rejected]", "! [remote rejected]", "CONFLICT (", "* What went wrong:", "The following tests FAILED:", "Errors while running CTest", "collect2: error:", "✖ failing tests:", "error[E",
    "!!!!!!!!!!", "No test files found, exiting with code 1", "No tests found, exiting with code 1",
];

/// Beginnings of lines, trimmed, that look like a failure.
#[rustfmt::skip]
const LOOKS_FAILED_PREFIXES: &[&str] = &[
    "FAIL ", "FAIL: ", "FAILED ", "(fail) ", "✖ ", "not ok ", "● ", "panic: ", "fatal: ", "npm ERR!", "npm error", "Traceback (most recent call last)", "ERROR: ", "(eval):", "Would reformat: ", "thread '",
];

/// Words of a summary before which, or after which, the number of failures stands, in lower case.
#[rustfmt::skip]
const FAILURE_COUNTS: &[&str] = &[
    "failed", "failing", "failure", "failures", "fail", "error", "errors", "issues", "tests failed", "errored",
];
/// Words that a summary of a run has, in lower case; others would make it a sentence.
#[rustfmt::skip]
const SUMMARY_WORDS: &[&str] = &[
    "tests", "test", "files", "file", "suites", "suite", "passed", "passing", "pass", "skipped", "pending", "todo", "total", "examples", "example", "problems", "problem", "warnings", "warning", "found", "assertions", "ran", "checked",
    "and", "in", "of", "run", "ok", "cancelled", "ignored", "measured", "filtered", "out", "source", "sources", "deselected", "xfailed", "xpassed", "summary", "duration", "s", "ms", "snapshots", "expect", "calls", "across", "time", "skip", "passes", "each",
    "finished", "result", "m", "incomplete", "risky", "success", "no", "all", "rerun", "flaky", "leaky", "slow", "occurred", "outside",
];

/// Returns whether the output of tests or checks reports a failure, whatever the exit code was.
pub(crate) fn reports_failure(output: &str) -> bool {
    let text = strip_escapes(output);
    let output = OutputLines::new(&text);
    let (mut looks_failed, mut has_passed) = (false, false);
    for line in &output.lines {
        match line_verdict(line) {
            Some(Verdict::Failed) => return true,
            Some(Verdict::LooksFailed) => looks_failed = true,
            Some(Verdict::Passed) => has_passed = true,
            None => {}
        }
    }
    looks_failed && !has_passed
}

fn line_verdict(line: &str) -> Option<Verdict> {
    let trimmed = line.trim();
    // The shell of the host reports a program that is not there on a line of its own.
    let is_missing_command =
        trimmed.ends_with(": command not found") || trimmed.contains("command not found: ");
    if trimmed == "FAIL" || FAILED_PREFIXES.iter().any(|it| trimmed.starts_with(it)) {
        // `make: *** [x] Error 1 (ignored)`
        return (!trimmed.ends_with("(ignored)")).then_some(Verdict::Failed);
    }
    if let Some(verdict) = summary_verdict(trimmed) {
        return Some(verdict);
    }
    if is_missing_command || is_compile_error(line) {
        return Some(Verdict::Failed);
    }
    let looks_failed = LOOKS_FAILED_PREFIXES.iter().any(|it| trimmed.starts_with(it));
    (looks_failed || (line == trimmed && is_exception(line))).then_some(Verdict::LooksFailed)
}

/// The verdict of a summary of counts: `Tests  1 failed | 3 passed (4)`, `3 issues:`, `# fail 0`.
fn summary_verdict(line: &str) -> Option<Verdict> {
    let lower = line.to_ascii_lowercase();
    // Of `✖ 3 problems (1 error, 2 warnings)` only the errors count, `(1 fixed, 0 remaining)` is no failure.
    let words: Vec<&str> =
        lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let starts_with_unit = |it: &str| it.starts_with(|it: char| it.is_ascii_digit());
    let is_summary = words.len() >= 2
        && words.len() <= 30
        && words.iter().any(|it| is_number(it))
        && words.iter().all(|it| {
            starts_with_unit(it) || SUMMARY_WORDS.contains(it) || FAILURE_COUNTS.contains(it)
        });
    if !is_summary {
        return None;
    }
    let mut counts = Vec::new();
    for (nth, word) in words.iter().enumerate().filter(|(_, it)| FAILURE_COUNTS.contains(it)) {
        // `1 failed`, or `failures: 1`, `fail 1`; `3 tests failed` has a word between.
        let before = (nth > 0).then(|| words[nth - 1]).filter(|it| is_number(it));
        let two_before =
            (nth > 1 && matches!(words[nth - 1], "tests" | "test")).then(|| words[nth - 2]);
        let after = words.get(nth + 1).copied().filter(|it| is_number(it));
        let is_labelled = lower.contains(&format!("{word}:")) || nth == 0;
        let count = if is_labelled { after.or(before) } else { before.or(two_before) };
        counts.extend(count.filter(|it| is_number(it)));
    }
    let n_passed = words.iter().any(|it| matches!(*it, "passed" | "passing" | "pass" | "ok"));
    if counts.iter().any(|it| !it.trim_matches('0').is_empty()) {
        return Some(Verdict::Failed);
    }
    (n_passed || !counts.is_empty()).then_some(Verdict::Passed)
}

/// Returns whether a line is an error of a compiler or linter: `a.go:3:5: undefined: x`, `a.c:3:5: error: …`.
fn is_compile_error(line: &str) -> bool {
    let Some(placed) = PlacedLine::parse(line) else { return false };
    let message = placed.message;
    let is_error = message.starts_with("error") || message.starts_with("fatal error");
    // The go command prints places of errors only.
    is_error || (placed.extension() == "go" && placed.has_column)
}

/// Sentences of runs that found nothing to do, in lower case.
#[rustfmt::skip]
const NOTHING_RAN: &[&str] = &[
    "no test files found", "no tests found", "no test suite found", "no tests ran", "collected 0 items", "no tests to run", "[no test files]", "[no tests to run]", "0 passing", "running 0 tests", "ran 0 tests", "0 tests passed", "no tests were run",
    "no tests were found", "no tests were executed", "no test is available", "no test matches", "0 examples, 0 failures", "no files matching the pattern", "no files matching", "no matching files", "nothing to do", "nothing to lint", "nothing to be done",
    "no python files found", "no files to check", "no files found", "no projects matched", "no tasks were executed", "no targets specified", "0 files checked", "checked 0 files", "0 tests collected", "no input files", "no such test",
];

/// Returns whether a command ended without running what it was asked to: no test matched, no file was found.
/// Its success proves nothing.
pub fn ran_nothing(command: &str, output: &str) -> bool {
    // A reader prints any text.
    let effects = crate::shell::find_effects(command);
    let runs_check = effects
        .iter()
        .any(|it| matches!(it, crate::shell::ShellEffect::Test | crate::shell::ShellEffect::Check));
    (runs_check || crate::shell::is_script_runner(command)) && finds_nothing(output)
}

/// Returns whether the output of a test or check reports that it ran nothing.
pub(crate) fn finds_nothing(output: &str) -> bool {
    empty_run_phrase(output).is_some()
}

/// The words with which the output of a test or check reports that it ran nothing.
pub(super) fn empty_run_phrase(output: &str) -> Option<&'static str> {
    let lower = strip_escapes(output).to_ascii_lowercase();
    let phrase = NOTHING_RAN.iter().find(|it| lower.contains(**it))?;
    (!lower.lines().any(has_run)).then_some(phrase.trim_matches(['[', ']']))
}

/// Returns whether a line in lower case reports a test that ran, or an error before the tests.
fn has_run(line: &str) -> bool {
    let line = line.trim();
    // `ok  pkg  0.3s [no tests to run]` and `ok. 0 passed; 0 failed` ran nothing.
    let is_empty_package = line.contains("[no test");
    let is_go_package = line.starts_with("ok ") || line.starts_with("ok\t");
    let starts_result = ["--- pass", "--- fail", "fail\t"].iter().any(|it| line.starts_with(it));
    let words: Vec<&str> =
        line.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let has_count = words.windows(2).any(|pair| {
        let is_result = matches!(
            pair[1],
            "passed"
                | "failed"
                | "passing"
                | "failing"
                | "pass"
                | "fail"
                | "failures"
                | "failure"
                | "error"
                | "errors"
        );
        is_result
            && pair[0].bytes().all(|it| it.is_ascii_digit())
            && !pair[0].trim_matches('0').is_empty()
    });
    has_count || (is_go_package && !is_empty_package) || starts_result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_behind_a_pipe_is_recognised() {
        for output in [
            "ok  pkg/a\n--- FAIL: TestX (0.00s)\nFAIL\tpkg/b",
            "[test] ERROR task failed",
            " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 9 passed (11)",
            "Tests:       1 failed, 3 passed, 4 total",
            "======== 1 failed, 3 passed in 0.12s ========",
            "1 failed in 0.02s",
            "FAILED (failures=1)",
            "  1 failing",
            "# tests 2\n# pass 1\n# fail 1",
            " 0 pass\n 1 fail",
            "3 examples, 1 failure",
            "50% tests passed, 1 tests failed out of 2",
            "src/a.ts(3,5): error TS2322: Type 'A' is not assignable",
            "✖ 2 problems (1 error, 1 warning)",
            "Found 3 errors.",
            "3 issues:\n* nilerr: 3",
            "cmd/a.go:156:23: undefined: strategy",
            "bash: line 1: vitest: command not found",
            "To github.com:me/app\n ! [rejected]  main -> main (fetch first)",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "FAILED tests/test_a.py::test_x - assert 3 == 4",
        ] {
            assert!(reports_failure(output), "{output}");
        }
    }

    #[test]
    fn a_passing_run_that_prints_the_word_error_is_no_failure() {
        for output in [
            "0 failed, 12 passed\nok  failing_test.go\nFAILURES: 0",
            " ✓ test/errors.test.ts > throws Error: FAIL (3 tests) 4ms\n Test Files  1 passed (1)\n      Tests  3 passed (3)",
            "stderr | a.test.ts > logs\nError: expected in this test\n\n Tests  3 passed (3)",
            "=== RUN   TestError\n    a_test.go:277: Got expected error: exit status 1\n--- PASS: TestError (0.00s)\nPASS\nok  \tpkg\t0.3s",
            "test errors::fails_on_bad_input ... ok\n\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "Found 1 error (1 fixed, 0 remaining).",
            "0 issues.",
            "✖ 2 problems (0 errors, 2 warnings)",
            "npm warn deprecated x\nadded 3 packages in 2s",
            "make: [x] Error 1 (ignored)",
            "Finished dev in 3s",
            "100% tests passed, 0 tests failed out of 2",
        ] {
            assert!(!reports_failure(output), "{output}");
        }
    }

    #[test]
    fn a_run_without_a_test_proves_nothing() {
        for (command, output) in [
            ("npx vitest run x --passWithNoTests", "No test files found, exiting with code 0"),
            ("npx jest x", "No tests found, exiting with code 0"),
            ("pytest -k nothing", "collected 0 items\n\n=== no tests ran in 0.01s ==="),
            (
                "go test ./... -run Nothing",
                "ok  \tpkg/a\t0.2s [no tests to run]\n?   \tpkg/b\t[no test files]",
            ),
            (
                "cargo test nothing",
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s",
            ),
            ("npx mocha", "  0 passing (2ms)"),
            ("npx eslint nothing", "No files matching the pattern \"nothing\" were found."),
            ("make test", "make: Nothing to be done for 'test'."),
        ] {
            assert!(ran_nothing(command, output), "{command}");
        }
        for (command, output) in [
            ("go test ./...", "ok  \tpkg/a\t0.2s\n?   \tpkg/b\t[no test files]"),
            (
                "cargo test",
                "running 3 tests\ntest result: ok. 3 passed; 0 failed\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed",
            ),
            ("cat notes.md", "No tests found"),
            ("pytest", "collected 3 items\n\n3 passed in 0.1s"),
        ] {
            assert!(!ran_nothing(command, output), "{command}");
        }
    }
}
