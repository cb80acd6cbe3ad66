//! Compilers that print codes (`tsc`, `csc`, `MSBuild`), and `dotnet test`.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::FoundError;
use super::output_lines::OutputLines;

pub(super) fn find(output: &OutputLines<'_>) -> Option<FoundError> {
    output.lines.iter().find_map(|it| coded_error(it)).or_else(|| find_failed_test(output))
}

/// The error in `src/a.ts(3,5): error TS2322: …`, `src/a.ts:3:5 - error TS2322: …` or
/// `Program.cs(5,9): error CS0103: … [/home/me/app.csproj]`.
fn coded_error(line: &str) -> Option<FoundError> {
    let rest = line.strip_prefix("error ").or_else(|| line.split_once(" error ").map(|it| it.1))?;
    let (code, message) = rest.split_once(": ")?;
    let letters = code.trim_end_matches(|it: char| it.is_ascii_digit());
    let family = match letters {
        "TS" if code.len() > 2 => ToolFamily::Typescript,
        "CS" | "FS" | "MSB" | "NU" | "NETSDK" if code.len() > letters.len() => ToolFamily::Csharp,
        _ => return None,
    };
    let message =
        message.rsplit_once(" [").filter(|it| it.1.ends_with("proj]")).map_or(message, |it| it.0);
    let found = FoundError::new(family, &format!("{code}: {message}"));
    // `TS2307: Cannot find module`, and the options of the compiler itself.
    let has_shape = message.starts_with("Cannot find module") || matches!(letters, "MSB" | "NU");
    let is_usage = matches!(
        code,
        "TS5023" | "TS6053" | "TS5057" | "TS5058" | "TS18003" | "MSB1003" | "MSB1008"
    );
    Some(match (is_usage, has_shape) {
        (true, _) => found.with_kind(ErrorKind::UsageError),
        (_, true) => found,
        _ => found.with_kind(ErrorKind::CompileError),
    })
}

/// `Failed Tests.X.Adds [5 ms]`, `Error Message:`, then the message and the two values.
fn find_failed_test(output: &OutputLines<'_>) -> Option<FoundError> {
    let number = output.position(|it| it.trim() == "Error Message:")?;
    let name = output.lines[..number].iter().rev().find_map(|it| it.trim().strip_prefix("Failed "));
    let name = name.map(|it| it.split(" [").next().unwrap_or(it));
    let lines = output.filled_from(number + 1).take_while(|it| !it.starts_with("Stack Trace:"));
    let message = lines.take(3).collect::<Vec<_>>().join(" ");
    let is_assertion = message.starts_with("Assert") || message.contains("Expected");
    let found = FoundError::new(ToolFamily::DotnetTest, &message);
    Some(if is_assertion {
        found.with_test(name).with_kind(ErrorKind::AssertionFailure)
    } else {
        found
    })
}
