//! Package managers: npm, pnpm, yarn, bun, pip, poetry, uv, bundler, composer. Cargo and the go command are
//! with their compilers.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, join_open_end};
use super::output_lines::OutputLines;

/// Beginnings of npm's lines, in lower case, that say nothing about the reason.
#[rustfmt::skip]
const NPM_DETAILS: &[&str] = &[
    "code ", "errno ", "syscall ", "path ", "command ", "signal ", "cwd ", "workspace ", "location ", "a complete log", "lifecycle script", "exit status", "test failed", "failed at the", "this is ", "for a full report", "fix the upstream",
    "this command", "to accept", "dest ", "node -v", "did you mean", "to see a list", "or ", "network this is", "errno:", "  npm ", "run \"npm help",
];

/// Messages that only report that a script failed.
const SCRIPT_FAILURES: &[&str] =
    &["command failed", "elifecycle", "script \"", "command \"", "exit status"];

/// Beginnings of messages that belong to one manager, with what identifies its output.
#[rustfmt::skip]
const ERROR_PREFIXES: &[(ToolFamily, &str, &[&str])] = &[
    (ToolFamily::Uv,       "error: ",       &["uv", "pyproject.toml", "Failed to spawn"]),
    (ToolFamily::Yarn,     "Usage Error: ", &[]),
    (ToolFamily::Yarn,     "Internal Error: ", &[]),
    (ToolFamily::Yarn,     "error ",        &["yarn", "Command \"", "package.json"]),
    (ToolFamily::Bun,      "error: ",       &["bun", "Script not found", "script \"", "Cannot find module", "Module not found", "Could not resolve"]),
    (ToolFamily::Pip,      "ERROR: ",       &["pip", "requirement", "distribution", "Could not install", "ResolutionImpossible"]),
    (ToolFamily::Pip,      "error: externally-managed", &[]),
];

/// Sentences that are errors wherever they stand at the beginning of a line.
#[rustfmt::skip]
const SENTENCES: &[(ToolFamily, &str)] = &[
    (ToolFamily::Bundler,  "Could not find gem"),
    (ToolFamily::Bundler,  "bundler: command not found"),
    (ToolFamily::Bundler,  "Bundler could not find compatible versions"),
    (ToolFamily::Composer, "Your requirements could not be resolved"),
    (ToolFamily::Composer, "Your lock file does not contain"),
    (ToolFamily::Poetry,   "pyproject.toml changed significantly"),
    (ToolFamily::Poetry,   "Poetry could not find a pyproject.toml"),
    (ToolFamily::Poetry,   "Group(s) not found"),
];

pub(super) fn find(output: &OutputLines<'_>) -> Option<FoundError> {
    find_npm(output)
        .or_else(|| find_pnpm(output))
        .or_else(|| find_resolver(output))
        .or_else(|| find_sentence(output))
        .or_else(|| find_prefixed(output))
}

/// `npm error Missing script: "x"`; older versions print `npm ERR! `.
fn find_npm(output: &OutputLines<'_>) -> Option<FoundError> {
    let npm_line = |it: &&str| -> Option<String> {
        let message = it.strip_prefix("npm error ").or_else(|| it.strip_prefix("npm ERR! "))?;
        // `npm error 404  'x@*' is not in this registry.` and `npm error enoent …` repeat the code.
        let message = message.trim();
        let lower = message.to_ascii_lowercase();
        let is_detail = NPM_DETAILS.iter().any(|detail| lower.starts_with(detail));
        (!message.is_empty() && !is_detail).then(|| message.to_owned())
    };
    let messages: Vec<String> = output.lines.iter().filter_map(npm_line).collect();
    // The registry's answer is an address, the name of the package comes after it.
    let named = messages.iter().find(|it| it.contains("is not in this registry"));
    let message = named.or(messages.first())?;
    let package = message.split('\'').nth(1).filter(|_| named.is_some());
    let found = FoundError::new(ToolFamily::Npm, message);
    Some(match package {
        Some(package) => {
            let name =
                package.rsplit_once('@').filter(|it| !it.0.is_empty()).map_or(package, |it| it.0);
            found.with_kind(ErrorKind::MissingModule).with_subject(name)
        }
        None if message.contains("can only install") => found.with_kind(ErrorKind::Conflict),
        None => found,
    })
}

/// ` ERR_PNPM_NO_SCRIPT  Missing script: x`
fn find_pnpm(output: &OutputLines<'_>) -> Option<FoundError> {
    let line = output.lines.iter().find(|it| {
        it.contains("ERR_PNPM_")
            && !it.contains("RUN_FIRST_FAIL")
            && !it.to_ascii_lowercase().contains("command failed")
    })?;
    let message = &line[line.find("ERR_PNPM_")?..];
    Some(script_error(ToolFamily::Pnpm, message))
}

/// Resolvers explain in sentences: `Because a depends on b …, version solving failed.`
fn find_resolver(output: &OutputLines<'_>) -> Option<FoundError> {
    let family =
        if output.text.contains("No solution found") { ToolFamily::Uv } else { ToolFamily::Poetry };
    if !output.contains_any(&["No solution found", "version solving failed"]) {
        return None;
    }
    let is_reason = |it: &str| it.trim_start_matches(['╰', '─', '▶', ' ']).starts_with("Because");
    let number = output.position(|it| is_reason(it.trim_start()))?;
    let reason = output.lines[number].trim_start_matches(['╰', '─', '▶', ' ']);
    Some(FoundError::new(family, reason).with_kind(ErrorKind::Conflict))
}

fn find_sentence(output: &OutputLines<'_>) -> Option<FoundError> {
    for (number, line) in output.lines.iter().enumerate() {
        for (family, sentence) in SENTENCES {
            if line.trim_start().starts_with(sentence) {
                let message = join_open_end(line, output.filled_from(number + 1));
                return Some(FoundError::new(*family, &message));
            }
        }
    }
    None
}

fn find_prefixed(output: &OutputLines<'_>) -> Option<FoundError> {
    for line in &output.lines {
        for (family, prefix, marks) in ERROR_PREFIXES {
            let Some(message) = line.strip_prefix(prefix) else { continue };
            let lower = message.to_ascii_lowercase();
            let is_summary = SCRIPT_FAILURES.iter().any(|it| lower.starts_with(it))
                && !lower.contains("not found");
            if !is_summary && (marks.is_empty() || output.contains_any(marks)) {
                let message =
                    if marks.is_empty() && *family == ToolFamily::Pip { line } else { message };
                return Some(script_error(*family, message));
            }
        }
    }
    None
}

/// `Command "tests" not found` names a script: the command line is wrong, no program is missing.
fn script_error(family: ToolFamily, message: &str) -> FoundError {
    let found = FoundError::new(family, message);
    let name = message.split_once("Command \"").and_then(|it| it.1.split_once('"'));
    match name.filter(|it| it.1.starts_with(" not found")) {
        Some((name, _)) => found.with_kind(ErrorKind::UsageError).with_subject(name),
        None => found,
    }
}
