//! What several commands print alike.

use std::fmt::Write as _;
use std::io::Read as _;

use engine::{Reach, Shown};
use model::{CustomType, MemoryType, Status};
use serde_json::json;

use super::Session;
use crate::output::{BAD, BOLD, DIM, Output, WARN, size};

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

/// The word at the head of a line; a type of a methodology has the one it was declared with.
pub(crate) fn label(kind: &MemoryType, declared: &[CustomType]) -> String {
    if let Some(core) = kind.core() {
        return core.row().label.to_owned();
    }
    let custom = declared.iter().find(|it| it.slug == kind.slug());
    custom.map_or_else(|| kind.slug().to_owned(), |it| it.label.clone())
}

/// One memory in one line.
pub(crate) fn line(shown: &Shown, declared: &[CustomType]) -> String {
    let memory = &shown.memory;
    let mut res = format!(
        "{BOLD}#{}{BOLD:#}  {:<11} {}",
        memory.id.short(),
        label(&memory.kind, declared),
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

/// The word of a status in talk; what the wire calls deleted was forgotten by somebody.
pub(crate) fn status_word(status: Status) -> &'static str {
    if status == Status::Deleted { "forgotten" } else { status.slug() }
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

/// Asks for a yes to something that can be taken back. Where nobody can be asked, nobody said it.
pub(crate) fn agreed(yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes || !crate::output::is_conversation() {
        return Ok(yes);
    }
    let answer = crate::output::ask(&format!("{BOLD}{question}{BOLD:#} [y/N]"))?;
    Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
}

/// The answer of a command that was called off.
pub(crate) fn declined(what: &str, output: &Output) -> u8 {
    if output.json {
        output.data_json("declined", json!({}));
    }
    output.say(what);
    1
}

/// From here on a person would wonder whether anything happens.
const LARGE: u64 = 32 << 20;

/// Says what takes long, when the databases at hand are large enough that it does.
pub(crate) fn begin(doing: &str, session: &Session<'_>) {
    let databases = session.engine.notebooks().into_iter().map(|it| it.store.path());
    begin_with(doing, databases, session.output);
}

/// As `begin`, for what goes through every project.
pub(crate) fn begin_everywhere(doing: &str, session: &Session<'_>) {
    let data = session.engine.data();
    let projects = data.projects().into_iter().map(|it| data.project(it));
    let homes = projects.chain(std::iter::once(data.user()));
    begin_with(doing, homes.map(|it| it.database()), session.output);
}

fn begin_with(doing: &str, databases: impl Iterator<Item = std::path::PathBuf>, output: &Output) {
    let bytes = |it: std::path::PathBuf| std::fs::metadata(it).map_or(0, |it| it.len());
    let total: u64 = databases.map(bytes).sum();
    if total > LARGE {
        output.progress(&format!("{doing} {}", size(total)));
    }
}
