//! Git: refused pushes, conflicts, unknown names. What a hook runs was found by an earlier family.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, join_open_end};
use super::output_lines::OutputLines;

pub(super) fn find(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::Git;
    let mut summary = None;
    for (number, line) in output.lines.iter().enumerate() {
        let line = line.trim_start_matches("remote: ").trim();
        if line.starts_with("CONFLICT (") {
            return Some(FoundError::new(family, line).with_kind(ErrorKind::Conflict));
        }
        if let Some(message) = rejected_push(line) {
            return Some(FoundError::new(family, &message).with_kind(ErrorKind::Conflict));
        }
        if line.starts_with("The following paths are ignored by one of your .gitignore files") {
            return Some(
                FoundError::new(family, line.trim_end_matches(':'))
                    .with_kind(ErrorKind::UsageError),
            );
        }
        if line.starts_with("nothing to commit") || line.starts_with("no changes added to commit") {
            return Some(FoundError::new(family, line).with_kind(ErrorKind::NotRun));
        }
        let Some(message) = line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: "))
        else {
            continue;
        };
        // The reason stands above or below: in the output of a hook, or as `! [rejected]`.
        if message.starts_with("failed to push some refs") || message.starts_with("could not apply")
        {
            summary = Some(message);
            continue;
        }
        return Some(message_error(message, output, number));
    }
    // A push that a hook refused says nothing itself.
    let message = summary.filter(|it| it.starts_with("could not apply"))?;
    Some(FoundError::new(family, message).with_kind(ErrorKind::Conflict))
}

/// `! [rejected]  main -> main (fetch first)` without the names of the branches.
fn rejected_push(line: &str) -> Option<String> {
    let rest = line.strip_prefix("! ")?;
    let kind = rest.strip_prefix('[')?.split(']').next()?;
    let reason = rest.rsplit_once('(').map_or("", |it| it.1).trim_end_matches(')');
    Some(format!("push [{kind}] ({reason})"))
}

fn message_error(message: &str, output: &OutputLines<'_>, number: usize) -> FoundError {
    let family = ToolFamily::Git;
    // Names of branches differ from work to work; the command that is missing an option does not.
    if message.starts_with("The current branch ") && message.contains("no upstream") {
        let message = "The current branch has no upstream branch";
        return FoundError::new(family, message).with_kind(ErrorKind::UsageError);
    }
    if message.starts_with("Your local changes to the following files") {
        return FoundError::new(family, message.trim_end_matches(':'))
            .with_kind(ErrorKind::Conflict);
    }
    if message.starts_with("ambiguous argument") || message.starts_with("bad revision") {
        let subject = message.split('\'').nth(1).unwrap_or_default();
        return FoundError::new(family, message)
            .with_kind(ErrorKind::UsageError)
            .with_subject(subject);
    }
    FoundError::new(family, &join_open_end(message, output.filled_from(number + 1)))
}
