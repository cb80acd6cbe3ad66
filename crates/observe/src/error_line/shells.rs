//! Shells, containers, and programs that run scripts of the project (make, just, task, mise).

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::FoundError;
use super::output_lines::OutputLines;

/// Names with which shells begin their messages.
#[rustfmt::skip]
const SHELLS: &[&str] = &["bash", "-bash", "zsh", "sh", "dash", "ksh", "fish", "(eval)", "/bin/sh", "/bin/bash", "/usr/bin/bash", "/usr/bin/env", "env", "/bin/zsh", "-zsh", "rbash"];

/// `bash: line 3: foo: command not found`, `(eval):1: no matches found: *.x`, `./run.sh: line 4: …`
pub(super) fn find_shell(output: &OutputLines<'_>) -> Option<FoundError> {
    output.lines.iter().find_map(|line| {
        let (name, rest) = line.split_once(':')?;
        let is_script = rest.trim_start().starts_with("line ") && !name.contains(' ');
        // `x.sh: 3: foo: not found` of dash.
        let is_dash = name.rsplit_once('.').is_some_and(|it| it.1 == "sh")
            && rest.trim_start().starts_with(|it: char| it.is_ascii_digit());
        if !SHELLS.contains(&name) && !is_script && !is_dash {
            return None;
        }
        let message = strip_shell_place(rest);
        let found = FoundError::new(ToolFamily::Shell, message);
        let lower = message.to_ascii_lowercase();
        if let Some(command) = missing_command(message) {
            return Some(found.with_kind(ErrorKind::MissingCommand).with_subject(command));
        }
        if let Some(pattern) = message.strip_prefix("no matches found: ") {
            // The shell expanded a pattern that was meant for the program.
            return Some(found.with_kind(ErrorKind::UsageError).with_subject(pattern));
        }
        let is_syntax = lower.contains("syntax error")
            || lower.contains("parse error")
            || lower.contains("unexpected eof")
            || lower.contains("unmatched");
        Some(if is_syntax { found.with_kind(ErrorKind::UsageError) } else { found })
    })
}

/// The message without `line 3: ` or `1: `, and without the builtin of zsh: `cd:1: `.
fn strip_shell_place(rest: &str) -> &str {
    let mut rest = rest.trim_start();
    while let Some((part, message)) = rest.split_once(": ") {
        let number = part.trim_start_matches("line ").trim_start_matches("cd:");
        if number.is_empty() || !number.bytes().all(|it| it.is_ascii_digit()) {
            break;
        }
        rest = message;
    }
    rest
}

/// The program in `foo: command not found`, `command not found: foo`, `foo: not found`.
fn missing_command(message: &str) -> Option<&str> {
    if let Some(command) = message.strip_prefix("command not found: ") {
        return Some(command.trim());
    }
    let command = message
        .strip_suffix(": command not found")
        .or_else(|| message.strip_suffix(": not found"))?;
    let command = command.rsplit(": ").next().unwrap_or(command);
    (!command.contains(' ')).then_some(command)
}

/// Beginnings of messages of docker that say what went wrong.
#[rustfmt::skip]
const DOCKER_MESSAGES: &[&str] = &[
    "Cannot connect to the Docker daemon", "Error response from daemon: ", "ERROR: Cannot connect", "no configuration file provided", "no such service: ", "service \"", "error during connect", "docker: Error response",
    "failed to solve: ", "ERROR: failed to solve: ", "unable to get image", "Error: No such container", "Error: No such object",
];

pub(super) fn find_docker(output: &OutputLines<'_>) -> Option<FoundError> {
    output.lines.iter().find_map(|line| {
        let line = line.trim_start().trim_start_matches("docker: ");
        let is_message = DOCKER_MESSAGES.iter().any(|it| line.starts_with(it));
        // The step that did not complete printed its own error.
        let is_summary = line.contains("did not complete successfully");
        (is_message && !is_summary).then(|| FoundError::new(ToolFamily::Docker, line))
    })
}

/// Messages of the runner itself. That a script failed is no message: the script has printed its own.
pub(super) fn find_script_runner(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::ScriptRunner;
    let hook = output.lines.iter().find_map(|it| it.strip_prefix("- hook id: "));
    output
        .lines
        .iter()
        .find_map(|line| {
            let message = if let Some((program, rest)) = line.split_once(": *** ")
                && program
                    .trim_end_matches(|it: char| it.is_ascii_digit() || matches!(it, '[' | ']'))
                    .ends_with("make")
            {
                // `[Makefile:2: test] Error 1`
                (!rest.starts_with('[')).then_some(rest.trim_end_matches("  Stop."))
            } else if let Some(rest) = line.strip_prefix("error: ") {
                rest.to_ascii_lowercase().contains("does not contain recipe").then_some(rest)
            } else if let Some(rest) = line.strip_prefix("task: ") {
                rest.contains("does not exist").then_some(rest)
            } else if let Some(rest) = line.strip_prefix("mise ERROR ") {
                (!rest.starts_with("Run with") && !rest.starts_with("Version")).then_some(rest)
            } else {
                None
            };
            message.map(|it| FoundError::new(family, it))
        })
        .or_else(|| {
            // A hook of pre-commit whose output says nothing more.
            let hook = hook?;
            Some(
                FoundError::new(ToolFamily::Git, &format!("hook {hook} failed"))
                    .with_kind(ErrorKind::LintRule)
                    .with_subject(hook),
            )
        })
}
