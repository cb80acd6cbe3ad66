//! What several commands print alike.

use std::fmt::Write as _;
use std::io::Read as _;

use engine::{Reach, Shown};
use model::{MemoryType, Status};

use crate::output::{BAD, BOLD, DIM, WARN};

/// Where to read a text from: the words of the command line, or standard input.
pub(crate) fn text_or_stdin(words: &[String]) -> anyhow::Result<String> {
    if words.is_empty() || words == ["-"] {
        let bytes = read_all(std::io::stdin().lock())?;
        return String::from_utf8(bytes).map_err(|it| {
            let at = it.utf8_error().valid_up_to();
            crate::failure::usage(
                format!("the text is not valid UTF-8 at byte {at}"),
                "convert it to UTF-8 first",
            )
        });
    }
    Ok(words.join(" "))
}

/// Far more than any memory; stops a mistaken `cat`.
const MOST: u64 = 64 << 20;

pub(crate) fn read_all(from: impl std::io::Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(crate::failure::usage("the input is larger than 64 MiB", "split it"));
    }
    Ok(bytes)
}

/// The word at the head of a line.
pub(crate) fn label(kind: &MemoryType) -> String {
    kind.core().map_or_else(|| kind.slug().to_owned(), |it| it.row().label.to_owned())
}

/// One memory in one line.
pub(crate) fn line(shown: &Shown) -> String {
    let memory = &shown.memory;
    let mut res = format!(
        "{BOLD}#{}{BOLD:#}  {:<11} {}",
        memory.id.short(),
        label(&memory.kind),
        memory.summary
    );
    let mut notes: Vec<String> = Vec::new();
    if memory.flags.pinned {
        notes.push("pinned".to_owned());
    }
    if shown.reach == Reach::User {
        notes.push("yours everywhere".to_owned());
    }
    let files: Vec<&str> = memory.files.iter().map(model::ProjectPath::as_str).collect();
    if !files.is_empty() {
        notes.push(files.join(", "));
    }
    if !notes.is_empty() {
        let _ = write!(res, "  {DIM}{}{DIM:#}", notes.join(" · "));
    }
    if let Some(status) = status_note(memory.status()) {
        let _ = write!(res, "  {WARN}[{status}]{WARN:#}");
    }
    res
}

/// What a reader must know about a memory that is not simply live.
pub(crate) fn status_note(status: Status) -> Option<&'static str> {
    match status {
        Status::Live => None,
        Status::NeedsReview => Some("needs review"),
        Status::Tainted => Some("from outside, not confirmed"),
        Status::Stale => Some("stale"),
        Status::Deprecated => Some("deprecated"),
        Status::Deleted => Some("forgotten"),
    }
}

/// Asks for the word `yes` unless it was given on the command line.
pub(crate) fn confirmed(yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !crate::output::is_conversation() {
        return Err(crate::failure::usage(
            "this cannot be undone and nobody can be asked",
            "say --yes",
        ));
    }
    Ok(crate::output::ask(&format!("{BAD}{question}{BAD:#} Type `yes` to go on:"))? == "yes")
}
