//! Linters and formatters. The rule is the subject: the same rule in another place is the same error.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, PlacedLine};
use super::output_lines::OutputLines;

fn lint_error(family: ToolFamily, message: &str, rule: &str) -> FoundError {
    FoundError::new(family, message).with_kind(ErrorKind::LintRule).with_subject(rule)
}

/// `  1:7  error  'x' is assigned a value but never used  no-unused-vars`
pub(super) fn find_eslint(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::Eslint;
    let configuration = |it: &&&str| {
        it.starts_with("ESLint couldn't find")
            || it.starts_with("No files matching the pattern")
            || it.starts_with("Invalid option '")
    };
    if let Some(line) = output.lines.iter().find(configuration)
        && output.contains_any(&["ESLint", "eslint"])
    {
        let found = FoundError::new(family, line);
        let is_missing = line.starts_with("ESLint couldn't find");
        return Some(if is_missing { found.with_kind(ErrorKind::MissingFile) } else { found });
    }
    output.lines.iter().find_map(|line| {
        let (place, rest) = line.trim_start().split_once("  ")?;
        let (row, column) = place.trim().split_once(':')?;
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let rest = rest.trim_start();
        let message = rest.strip_prefix("error ").or_else(|| rest.strip_prefix("Error: "))?;
        if !is_number(row) || !is_number(column) {
            return None;
        }
        let message = message.trim();
        Some(match message.rsplit_once("  ") {
            Some((message, rule)) if !rule.trim().contains(' ') => {
                lint_error(family, &format!("{} ({})", message.trim(), rule.trim()), rule.trim())
            }
            // A parsing error has no rule.
            _ => FoundError::new(family, message).with_kind(ErrorKind::CompileError),
        })
    })
}

/// `./a.js:1:7 lint/correctness/noUnusedVariables  FIXABLE  ━━━━`, then `✖ This variable is unused.`
pub(super) fn find_biome(output: &OutputLines<'_>) -> Option<FoundError> {
    let number = output.position(|it| it.contains("━━━"))?;
    let heading = output.lines[number];
    let is_rule = |it: &&str| it.starts_with("lint/") || it.starts_with("assist/");
    let is_step = |it: &&str| matches!(*it, "format" | "parse" | "organizeImports");
    let rule = heading.split_whitespace().find(|it| is_rule(it) || is_step(it))?;
    let is_message = |it: &&str| it.starts_with('✖') || it.starts_with('×');
    let message = output.filled_from(number + 1).find(is_message)?;
    let message = message.trim_start_matches(['✖', '×']).trim();
    Some(lint_error(ToolFamily::Biome, &format!("{message} ({rule})"), rule))
}

/// Ruff, flake8, pylint, mypy and pyright.
pub(super) fn find_python_linter(output: &OutputLines<'_>) -> Option<FoundError> {
    for (number, line) in output.lines.iter().enumerate() {
        if let Some(placed) = PlacedLine::parse(line.trim_start())
            && matches!(placed.extension(), "py" | "pyi")
            && let Some(found) = placed_python_error(placed.message)
        {
            return Some(found);
        }
        // Ruff's full format has the place below: `F401 [*] …`, ` --> a.py:1:8`.
        let next = output.lines.get(number + 1).map_or("", |it| it.trim_start());
        if next.starts_with("--> ")
            && next.contains(".py")
            && let Some(found) = ruff_error(line)
        {
            return Some(found);
        }
        if let Some(tool) = reformatting_tool(line) {
            return Some(lint_error(tool, "would reformat a file", "format"));
        }
    }
    None
}

fn reformatting_tool(line: &str) -> Option<ToolFamily> {
    let is_listed = line.starts_with("Would reformat: ") || line.starts_with("would reformat ");
    is_listed.then_some(ToolFamily::Ruff)
}

/// `error: Incompatible types [assignment]` of mypy, `F401 'os' imported but unused` of ruff and flake8.
fn placed_python_error(message: &str) -> Option<FoundError> {
    let Some(message) = message.strip_prefix("error: ") else { return ruff_error(message) };
    let is_module = message.contains("module named") || message.contains("could not be resolved");
    let kind = if is_module { ErrorKind::MissingModule } else { ErrorKind::CompileError };
    Some(FoundError::new(ToolFamily::Mypy, message).with_kind(kind))
}

fn ruff_error(message: &str) -> Option<FoundError> {
    let (code, rest) = message.split_once(' ')?;
    let code = code.trim_end_matches(':');
    let digits = code.trim_start_matches(|it: char| it.is_ascii_uppercase());
    let is_code = code.len() > digits.len()
        && (3..=5).contains(&digits.len())
        && digits.bytes().all(|it| it.is_ascii_digit());
    is_code.then(|| {
        lint_error(ToolFamily::Ruff, &format!("{code} {}", rest.trim_start_matches("[*] ")), code)
    })
}

/// `error - lib/a.dart:6:6 - Undefined name 'x'. Try … - undefined_identifier`; newer versions separate the
/// parts with bullets and put the place third. Errors come before warnings.
pub(super) fn find_dart_analyzer(output: &OutputLines<'_>) -> Option<FoundError> {
    let of_level = |level: &str| {
        output.lines.iter().find_map(|line| {
            let rest = line.trim_start().strip_prefix(level)?.trim_start();
            let mark = ["- ", "• "].into_iter().find(|it| rest.starts_with(it))?;
            let separator = format!(" {mark}");
            let parts: Vec<&str> = rest[mark.len()..].split(separator.as_str()).collect();
            dart_finding(level, &parts)
        })
    };
    of_level("error").or_else(|| of_level("warning")).or_else(|| of_level("info"))
}

fn dart_finding(level: &str, parts: &[&str]) -> Option<FoundError> {
    let [first, second, .., rule] = parts else { return None };
    let message = if first.contains(".dart:") { second } else { first };
    let is_rule =
        rule.bytes().all(|it| it.is_ascii_lowercase() || it == b'_' || it.is_ascii_digit());
    if !is_rule || rule.is_empty() {
        return None;
    }
    // What follows the first sentence is general advice.
    let message = message.split(". Try ").next().unwrap_or(message).trim_end_matches('.');
    let message = format!("{message} ({rule})");
    let found = FoundError::new(ToolFamily::DartAnalyzer, &message);
    Some(match (*rule, level) {
        ("uri_does_not_exist" | "uri_has_not_been_generated", _) => {
            found.with_kind(ErrorKind::MissingModule)
        }
        (_, "error") => found.with_kind(ErrorKind::CompileError),
        _ => found.with_kind(ErrorKind::LintRule).with_subject(rule),
    })
}

/// Prettier, rustfmt and commitlint.
pub(super) fn find_formatter(output: &OutputLines<'_>) -> Option<FoundError> {
    if let Some(line) = output.lines.iter().find(|it| it.contains("Code style issues")) {
        let message = line.trim_start_matches("[warn] ");
        return Some(lint_error(ToolFamily::Prettier, message, "format"));
    }
    if output.lines.iter().any(|it| it.starts_with("Diff in ")) {
        return Some(lint_error(ToolFamily::Rustc, "rustfmt would change a file", "rustfmt"));
    }
    // `✖   subject may not be empty [subject-empty]`
    output.lines.iter().find_map(|line| {
        let message = line.trim_start().strip_prefix('✖')?.trim();
        let (text, rule) = message.rsplit_once(" [")?;
        let rule = rule.strip_suffix(']')?;
        Some(lint_error(ToolFamily::Git, text, rule))
    })
}
