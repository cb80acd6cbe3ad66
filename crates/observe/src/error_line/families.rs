//! The families of tools, in the order in which they are tried.
//!
//! A family is a function that finds the line which says what went wrong in the output of its tool, or
//! nothing if another tool printed it. The output decides and not the command, because wrappers hide the tool:
//! `npm test` and `make check` run anything.

use super::error_kind::{ErrorKind, ToolFamily};
use super::output_lines::OutputLines;
use super::{
    coded_compilers, git, go, host_tools, js_tests, jvm, linters, native, node, other_tests,
    packages, python, rust, shells,
};

/// The longest joined message, in bytes.
const MAX_MESSAGE_BYTES: usize = 600;

/// An error that a family found.
#[derive(Debug)]
pub(super) struct FoundError {
    pub(super) family: ToolFamily,
    pub(super) message: String,
    /// Set if the family knows the kind; otherwise the shape of the message decides.
    pub(super) kind: Option<ErrorKind>,
    pub(super) subject: Option<String>,
    /// The test that failed.
    pub(super) test: Option<String>,
}

impl FoundError {
    pub(super) fn new(family: ToolFamily, message: &str) -> Self {
        // One kind of quotes, so that shapes match.
        let message = message.trim().replace(['‘', '’'], "'").replace(['“', '”'], "\"");
        let message = message[..message.floor_char_boundary(MAX_MESSAGE_BYTES)].to_owned();
        Self { family, message, kind: None, subject: None, test: None }
    }

    pub(super) fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    pub(super) fn with_subject(self, subject: &str) -> Self {
        Self { subject: Some(subject.to_owned()), ..self }
    }

    pub(super) fn with_test(self, test: Option<&str>) -> Self {
        let test = test.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        Self { test, ..self }
    }
}

/// A family: the texts of which an output must contain one, and its function.
type Family = (&'static [&'static str], fn(&OutputLines<'_>) -> Option<FoundError>);

/// The first that finds an error decides. Test runners come before compilers and uncaught exceptions, because
/// their reports quote both; a compiler whose error keeps tests from running comes before its runner.
/// Package managers and git come after the tools they run.
#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    (&["tool_use_error", "File does not exist", "Path does not exist", "String to replace not found", "File has not been read"], host_tools::find),
    (&["⎯⎯", "FAIL  ", "vitest", "CACError", "No test files found"],                         js_tests::find_vitest),
    (&["● ", "Test Suites:"],                                          js_tests::find_jest),
    (&["(fail) ", "bun test v"],                                       js_tests::find_bun_test),
    (&[" failing"],                                                    js_tests::find_mocha),
    (&["failing tests:", "not ok "],                                   js_tests::find_node_test),
    (&["E  ", "short test summary info", "pytest: error", "ERROR: ", "FAILED "], python::find_pytest),
    (&["\nFAIL: ", "\nERROR: "],                                       python::find_unittest),
    (&[".go:", "cannot find main module", "go: ", "import cycle"],     go::find_build),
    (&["--- FAIL", "FAIL\t", "panic: ", "DATA RACE"],                  go::find_test),
    (&["panicked at"],                                                 rust::find_panic),
    (&["error[E", "error: ", "error["],                                rust::find_rustc),
    (&["Failure/Error:", "LoadError", "rspec"],                        other_tests::find_rspec),
    (&["PHPUnit", "FAILURES!", "ERRORS!"],                             other_tests::find_phpunit),
    (&["error TS", "error CS", "error MSB", "error FS", "error NU", "Error Message:"], coded_compilers::find),
    (&[".java:", ".kt:", "[ERROR]", " FAILED", "What went wrong", "AssertionFailedError"], jvm::find),
    (&["error: ", "undefined reference", "Undefined symbols"],         native::find_compiler),
    (&["error", "Error", "ESLint"],                                              linters::find_eslint),
    (&["━━━"],                                                         linters::find_biome),
    (&[".py:", "--> ", "Would reformat", "would reformat"],            linters::find_python_linter),
    (&[".dart:"],                                                      linters::find_dart_analyzer),
    (&["Code style issues", "Diff in ", "commitlint", "[subject-", "[type-"], linters::find_formatter),
    (&["Traceback (most recent call last)", "  File \""],              python::find_traceback),
    (&["The following tests FAILED", "% tests passed"],                native::find_ctest),
    (&["docker", "Docker", "daemon", "failed to solve", "service \"", "no configuration file"], shells::find_docker),
    (&[": line ", "(eval)", "not found", "unbound variable", "syntax error", "Permission denied", "parameter", "No such file", "no such file", "bad interpreter", "matches found"], shells::find_shell),
    (&["    at ", "node:internal", "Node.js v", "[ERROR]", "bad option"], node::find_exception),
    (&["fatal: ", "CONFLICT (", "[rejected]", "[remote rejected]", "pathspec", "would be overwritten", "ignored by one of your", "nothing to commit", "patch failed", "index.lock"], git::find),
    (&["ERR_PNPM", "npm ERR!", "npm error", "YN0", "error ", "error: ", "ERROR: ", "× ", "Could not find gem", "command not found", "version solving", "requirements could not", "pyproject.toml", "Usage Error"], packages::find),
    (&["make: ", "make[", "gmake: ", "recipe", "task", "Task", "hook id"], shells::find_script_runner),
];

/// Finds the error in an output by the families.
pub(super) fn find_error(output: &OutputLines<'_>) -> Option<FoundError> {
    FAMILIES
        .iter()
        .filter(|(marks, _)| output.contains_any(marks))
        .find_map(|(_, find)| find(output))
}

/// Returns whether a line has the form of an exception: `TypeError: …`, `Error [ERR_X]: …`, `a.b.CustomException: …`.
pub(super) fn is_exception(line: &str) -> bool {
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let Some((name, message)) = line.split_once(": ") else { return is_exception_name(line) };
    // `Error [ERR_MODULE_NOT_FOUND]: …`
    let name = name.split_once(" [").map_or(name, |it| it.0);
    !message.trim().is_empty() && is_exception_name(name)
}

fn is_exception_name(name: &str) -> bool {
    let last = name.rsplit(['.', '\\']).next().unwrap_or(name);
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '$' | '\\');
    name.chars().all(is_word)
        && last.starts_with(char::is_uppercase)
        && ["Error", "Exception", "Failure", "Exit", "Interrupt"]
            .iter()
            .any(|it| last.ends_with(it))
}

/// Joins the lines of a message that ends in the middle: `Invalid environment variables: {` says nothing
/// without the next lines.
pub(super) fn join_open_end<'a>(message: &str, following: impl Iterator<Item = &'a str>) -> String {
    const MAX_JOINED_LINES: usize = 3;
    let mut acc = message.trim().to_owned();
    for line in following.take(MAX_JOINED_LINES) {
        let is_open = acc.ends_with([':', '{', '[', '(', ',']);
        if !is_open || line.starts_with("at ") {
            break;
        }
        acc.push(' ');
        acc.push_str(line);
    }
    acc
}

/// A line that begins with a place in a file: `src/a.c:3:5: error: …` or `src/a.ts(3,5): error …`.
pub(super) struct PlacedLine<'a> {
    pub(super) path: &'a str,
    pub(super) has_column: bool,
    pub(super) message: &'a str,
}

impl<'a> PlacedLine<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        if line.starts_with(char::is_whitespace) {
            return None;
        }
        // The drive of a path on Windows is no place.
        let drive = if line.get(1..3).is_some_and(|it| it == ":\\" || it == ":/") { 2 } else { 0 };
        let at = drive + line[drive..].find([':', '('])?;
        let (path, rest) = (&line[..at], &line[at + 1..]);
        let is_path = model::words::file_extension(path).is_some() && !path.contains(": ");
        if !is_path || path.contains('\t') {
            return None;
        }
        let after_row = skip_digits(rest)?;
        // `12:5` has a column, `12: message` has none.
        let after_column = after_row.strip_prefix([':', ',']).and_then(skip_digits);
        let (has_column, after) = (after_column.is_some(), after_column.unwrap_or(after_row));
        let after = after.strip_prefix(')').unwrap_or(after);
        let message = after.strip_prefix(':').or_else(|| after.strip_prefix(" -")).unwrap_or(after);
        let message = message.trim_start();
        (!message.is_empty()).then_some(Self { path, has_column, message })
    }

    pub(super) fn extension(&self) -> &'a str {
        model::words::file_extension(self.path).unwrap_or_default()
    }
}

/// The text after the digits at its beginning; `None` without a digit.
fn skip_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}
