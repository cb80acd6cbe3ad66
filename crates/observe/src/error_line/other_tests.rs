//! Test runners of Ruby and PHP: `RSpec`, `PHPUnit`.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, is_exception};
use super::output_lines::OutputLines;

/// Lines of a failure that are joined: the exception and its message, or the two values.
const MAX_JOINED_LINES: usize = 2;

/// `Failure/Error: …` quotes the source; the message follows it, up to `# ./spec/a_spec.rb:3`.
pub(super) fn find_rspec(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::Rspec;
    let is_source = |line: &str| line.trim_start().starts_with("Failure/Error:");
    let number = output.position(is_source)?;
    let lines = output.filled_from(number + 1);
    let message: Vec<&str> =
        lines.take_while(|it| !it.starts_with("# ")).take(MAX_JOINED_LINES).collect();
    let joined = message.join(" ");
    let above = output.lines[..number].iter().rev();
    let heading = above.map(|it| it.trim()).find(|it| !it.is_empty());
    let test = heading.and_then(|it| it.split_once(") ")).map(|it| it.1);
    let is_error = message.first().is_some_and(|it| it.trim_end_matches(':').ends_with("Error"));
    let found = FoundError::new(family, &joined);
    Some(if is_error {
        found
    } else {
        found.with_test(test).with_kind(ErrorKind::AssertionFailure)
    })
}

/// `1) Tests\ATest::testAdds`, then the message.
pub(super) fn find_phpunit(output: &OutputLines<'_>) -> Option<FoundError> {
    let is_heading = |line: &str| line.starts_with("1) ") && line.contains("::");
    let number = output.position(is_heading)?;
    let message = output.filled_from(number + 1).next()?;
    let test = output.lines[number].rsplit_once("::").map(|it| it.1);
    let found = FoundError::new(ToolFamily::Phpunit, message);
    Some(if is_exception(message) {
        found
    } else {
        found.with_test(test).with_kind(ErrorKind::AssertionFailure)
    })
}
