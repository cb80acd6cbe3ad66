//! Input and output shared by several commands: texts from standard input, one-line memories, questions
//! to the user, and announcements of long work.

use std::fmt::Write as _;
use std::io::Read as _;

use anstyle::Style;
use engine::{NotebookScope, RatedMemory};
use model::{CustomType, Memory, MemoryKind, MemoryStatus, MemoryType};
use serde_json::json;

use super::CommandContext;
use crate::output::{
    BAD_STYLE, BLUE_STYLE, BOLD_STYLE, CYAN_STYLE, DIM_STYLE, MAGENTA_STYLE, Output, RED_STYLE,
    WARN_STYLE, format_size,
};
use crate::reader::readable_memory;

/// Write mode of a command: write, or only show what would be done (`--dry-run`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteMode {
    Write,
    DryRun,
}

impl WriteMode {
    /// The mode requested by the flag `--dry-run`.
    pub(crate) const fn from_dry_run_flag(is_set: bool) -> Self {
        if is_set { Self::DryRun } else { Self::Write }
    }
}

/// True if a text is read from standard input: it is absent, or `-`.
pub(crate) fn names_stdin(words: &[String]) -> bool {
    words.is_empty() || words == ["-"]
}

/// Reads a text from the arguments or from standard input.
pub(crate) fn text_or_stdin(words: &[String]) -> anyhow::Result<String> {
    if names_stdin(words) {
        let bytes = read_all(std::io::stdin().lock())?;
        return String::from_utf8(bytes).map_err(|it| {
            let position = it.utf8_error().valid_up_to();
            crate::failure::usage_error(
                format!("the text is not valid UTF-8 at byte {position}"),
                "convert it to UTF-8 first",
            )
        });
    }
    Ok(words.join(" "))
}

/// Input limit, far above any memory; stops a mistaken `cat`.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// Reads everything, up to the limit.
pub(crate) fn read_all(input: impl std::io::Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a full input from one that is too long.
    input.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(crate::failure::usage_error("the input is larger than 64 MiB", "split it"));
    }
    Ok(bytes)
}

/// The label of a memory type; custom types declare theirs.
pub(crate) fn kind_label(kind: &MemoryType, declared: &[CustomType]) -> String {
    // A built-in type has its label in the table of the model.
    if let Some(core) = kind.core_kind() {
        return core.row().label.to_owned();
    }
    match declared.iter().find(|it| it.slug == kind.slug()) {
        Some(custom) => custom.label.clone(),
        // No longer declared in the settings.
        None => kind.slug().to_owned(),
    }
}

/// The word for a type in the output for people: the one that `--type` takes. A custom type is shown by the
/// label that the user gave it.
pub(crate) fn kind_word(kind: &MemoryType, declared: &[CustomType]) -> String {
    if kind.core_kind().is_some() { kind.slug().to_owned() } else { kind_label(kind, declared) }
}

/// The slug of a type that a user named, by its slug or by its label in any case: `ERROR` is `error_pattern`.
pub(crate) fn kind_slug(word: &str, declared: &[CustomType]) -> String {
    let is_label = |label: &str| label.eq_ignore_ascii_case(word);
    let core = MemoryKind::ALL.iter().find(|it| is_label(it.row().label));
    let custom = declared.iter().find(|it| is_label(&it.label));
    match (core, custom) {
        (Some(kind), _) => kind.slug().to_owned(),
        (None, Some(custom)) => custom.slug.clone(),
        // A slug, or an error that the caller reports.
        (None, None) => word.to_owned(),
    }
}

/// The colour of a type: red for what goes wrong, yellow for warnings, magenta for what people decided, cyan for
/// how things are done, blue for facts about the code.
const fn kind_style(kind: Option<MemoryKind>) -> Style {
    use MemoryKind as Kind;
    match kind {
        Some(Kind::ErrorPattern) => RED_STYLE,
        Some(Kind::Gotcha | Kind::DeadEnd) => WARN_STYLE,
        Some(Kind::Decision | Kind::Preference | Kind::Requirement) => MAGENTA_STYLE,
        Some(Kind::Pattern | Kind::WorkflowRecipe | Kind::TaskCalibration | Kind::WorkState) => {
            CYAN_STYLE
        }
        Some(
            Kind::ModuleInsight
            | Kind::PrefetchPattern
            | Kind::CausalDependency
            | Kind::E2eObservation
            | Kind::WorkUnitOutcome
            | Kind::ContextCost,
        ) => BLUE_STYLE,
        None => BOLD_STYLE,
    }
}

/// Width of the column of types: `causal_dependency` is the longest.
const KIND_COLUMNS: usize = 17;
/// Columns before the summary of a memory in a list.
pub(crate) const SUMMARY_COLUMN: usize = "#ab12cd34  ".len() + KIND_COLUMNS + 2;

/// Id, type and summary of a memory in one line: `#ab12cd34  gotcha      Run migrations first`.
pub(crate) fn format_summary(memory: &Memory, declared: &[CustomType]) -> String {
    format!("{}{}", format_id_and_kind(memory, declared), readable_memory(memory).summary)
}

fn format_id_and_kind(memory: &Memory, declared: &[CustomType]) -> String {
    let (id, kind) = (memory.id.short(), kind_word(&memory.kind, declared));
    let style = kind_style(memory.kind.core_kind());
    format!("{BOLD_STYLE}#{id}{BOLD_STYLE:#}  {style}{kind:<KIND_COLUMNS$}{style:#}  ")
}

/// The line of [`format_summary`] with remarks: pinned, notebook, files, status.
pub(crate) fn format_memory(rated: &RatedMemory, declared: &[CustomType]) -> String {
    let memory = &*readable_memory(&rated.memory);
    let mut res = format_id_and_kind(memory, declared);
    // Before the summary, where a narrow terminal cannot cut it off.
    if let Some(status) = status_note(memory.status()) {
        let _ = write!(res, "{WARN_STYLE}[{status}]{WARN_STYLE:#} ");
    }
    res.push_str(&memory.summary);
    let mut notes: Vec<String> = Vec::new();
    if memory.flags.pinned {
        notes.push("pinned".to_owned());
    }
    if rated.scope == NotebookScope::User {
        notes.push("yours everywhere".to_owned());
    }
    let files: Vec<&str> = memory.files.iter().map(model::ProjectPath::as_str).collect();
    if !files.is_empty() {
        notes.push(files.join(", "));
    }
    if !notes.is_empty() {
        let _ = write!(res, "  {DIM_STYLE}{}{DIM_STYLE:#}", notes.join(" · "));
    }
    res
}

/// The remark on a memory that is not live; only live ones are shown to agents.
pub(crate) fn status_note(status: MemoryStatus) -> Option<&'static str> {
    match status {
        MemoryStatus::Live => None,
        MemoryStatus::NeedsReview => Some("needs review"),
        MemoryStatus::Candidate => Some("candidate"),
        MemoryStatus::Tainted => Some("external, not confirmed"),
        MemoryStatus::Stale => Some("stale"),
        MemoryStatus::Deprecated => Some("deprecated"),
        MemoryStatus::Deleted => Some("forgotten"),
    }
}

/// The word for a status in messages; `deleted` is shown as `forgotten`.
pub(crate) fn status_word(status: MemoryStatus) -> &'static str {
    if status == MemoryStatus::Deleted { "forgotten" } else { status.slug() }
}

/// Asks for the word `yes`, for a change that cannot be undone. With `--yes` it does not ask; without
/// a terminal it fails.
pub(crate) fn confirm_or_fail(yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !crate::output::is_interactive() {
        return Err(crate::failure::usage_error(
            "this cannot be undone and there is no terminal to confirm on",
            "say --yes",
        ));
    }
    Ok(crate::output::ask_line(&format!(
        "{BAD_STYLE}{question}{BAD_STYLE:#} Type `yes` to go on:"
    ))? == "yes")
}

/// Asks for consent to a reversible change. With `--yes` it does not ask; without a terminal the answer is no.
pub(crate) fn ask_yes_no(yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !crate::output::is_interactive() {
        return Ok(false);
    }
    let answer = crate::output::ask_line(&format!("{BOLD_STYLE}{question}{BOLD_STYLE:#} [y/N]"))?;
    Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
}

/// Reports that the user declined, and returns the exit code.
pub(crate) fn report_declined(what: &str, output: &Output) -> u8 {
    if output.json {
        output.print_json("declined", json!({}));
    }
    output.say(what);
    1
}

/// Size from which an operation takes noticeable time.
const LARGE_DATABASE_BYTES: u64 = 32 << 20;

/// Announces a long operation if the databases of the open notebooks are large: `backing up 48.0 MiB …`.
pub(crate) fn report_start(doing: &str, command: &CommandContext<'_>) {
    let notebooks = command.project.notebooks().into_iter();
    let databases = notebooks.map(|it| it.store.path());
    report_start_if_large(doing, databases, command.output);
}

/// Like [`report_start`], for operations on all projects.
pub(crate) fn report_start_everywhere(doing: &str, command: &CommandContext<'_>) {
    let data_dir = command.project.data_dir();
    let mut databases = vec![data_dir.user_paths().database()];
    for project in data_dir.list_projects() {
        databases.push(data_dir.project_paths(project).database());
    }
    report_start_if_large(doing, databases.into_iter(), command.output);
}

fn report_start_if_large(
    doing: &str,
    databases: impl Iterator<Item = std::path::PathBuf>,
    output: &Output,
) {
    let size = |path: std::path::PathBuf| std::fs::metadata(path).map_or(0, |it| it.len());
    let total_bytes: u64 = databases.map(size).sum();
    if total_bytes > LARGE_DATABASE_BYTES {
        output.announce(&format!("{doing} {}", format_size(total_bytes)));
    }
}
