//! `waylore import`: reads memories from an export or from JSON lines. The engine checks and stores them.
//!
//! A *record* is one item of the file: a memory, or the reason why the item is none. Imported memories are
//! *tainted* (external and not confirmed) unless the user vouches for the file with `--trust`.

use std::path::{Path, PathBuf};

use engine::{
    ImportOptions, ImportProblem, ImportRecord, ImportReport, NotebookScope, OnSecret,
    RecordOutcome,
};
use model::Memory;
use serde_json::{Value, json};

use super::CommandContext;
use super::shared::read_all;
use crate::failure::usage_error;
use crate::output::{Output, format_count};
use crate::reader::refuse_agent;
use crate::wire::MemoryWire;

/// Import memories from an export
///
/// Imported memories are external: they are quarantined until you confirm them (`waylore flag ID ok`), unless you trust
/// the file with --trust. A bad record rejects the whole file, unless you give --skip-bad. Memories that exist here or
/// were erased here are skipped.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// File: a JSON export or one JSON memory per line; `-` reads standard input
    file: PathBuf,
    /// Trust the file: import the memories as they are
    #[arg(long)]
    trust: bool,
    /// Import the valid records and skip the bad ones
    #[arg(long)]
    skip_bad: bool,
    /// Replace secrets by a placeholder instead of rejecting the record
    #[arg(long)]
    redact: bool,
    /// Into your personal memories instead of this project's
    #[arg(long)]
    user: bool,
    /// Show what would be imported without writing
    #[arg(long)]
    dry_run: bool,
}

/// Number of records from which a start message is printed.
const ANNOUNCE_ABOVE_RECORDS: usize = 5_000;

pub(crate) async fn run(args: ImportArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    if args.trust {
        refuse_agent(
            "trust in a file is the user's",
            "the user can run `waylore import --trust` in a terminal",
        )?;
    }
    let (name, bytes) = read_input(&args.file)?;
    let records = parse_records(&bytes)?;
    let n_records = records.len();
    if n_records > ANNOUNCE_ABOVE_RECORDS {
        command.output.announce(&format!("importing {n_records} records"));
    }
    let options = ImportOptions {
        file: if name.is_empty() { "file".to_owned() } else { name },
        scope: if args.user { NotebookScope::User } else { NotebookScope::Project },
        is_vouched: args.trust,
        skip_invalid: args.skip_bad,
        on_secret: if args.redact { OnSecret::Redact } else { OnSecret::Refuse },
        dry_run: args.dry_run,
    };
    let report = command.project.editor().import(records, options).await?;
    Ok(report_import(&report, &args, n_records, command.output))
}

/// Prints the result and returns the exit code: 1 if a record was invalid.
fn report_import(report: &ImportReport, args: &ImportArgs, n_records: usize, out: &Output) -> u8 {
    let (mut n_added, mut n_known, mut n_erased) = (0, 0, 0);
    for outcome in &report.outcomes {
        match outcome {
            RecordOutcome::Added(_) => n_added += 1,
            RecordOutcome::Duplicate(_) => n_known += 1,
            RecordOutcome::Erased(_) => n_erased += 1,
        }
    }
    let has_problems = !report.problems.is_empty();
    // One bad record rejects the whole file, so that a half import is never taken for a whole one.
    let is_rejected = has_problems && !args.skip_bad;
    let exit_code = u8::from(has_problems);
    if out.json {
        let problem_json = |it: &ImportProblem| json!({ "record": it.at, "problem": it.what });
        let body = json!({
            "records": n_records,
            "added": if is_rejected { 0 } else { n_added },
            "known": n_known,
            "erased": n_erased,
            "problems": report.problems.iter().map(problem_json).collect::<Vec<_>>(),
            "written": report.written,
            "held_for_review": !args.trust && report.written,
        });
        out.print_json("imported", body);
        return exit_code;
    }
    for problem in &report.problems {
        out.warn(&format!("record {}: {}", problem.at, problem.what));
    }
    if is_rejected {
        out.error(&format!(
            "{} invalid (of {n_records}), so nothing was imported",
            format_count(report.problems.len(), "record is", "records are")
        ));
        out.hint("correct the file, or import the valid records with --skip-bad");
        return exit_code;
    }
    let verb = if args.dry_run { "would be taken" } else { "taken" };
    out.print_line(&format!(
        "{} {verb}, {n_known} known already, {n_erased} erased here before",
        format_count(n_added, "memory", "memories")
    ));
    if report.written && !args.trust {
        out.hint("they need your confirmation: `waylore list --status tainted`, then `waylore flag ID ok`; --trust imports your own exports directly");
    }
    exit_code
}

/// Reads the file or standard input; returns a label for the origin and the bytes.
fn read_input(path: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    if path.as_os_str() == "-" {
        return Ok(("standard input".to_owned(), read_all(std::io::stdin().lock())?));
    }
    let file = std::fs::File::open(path).map_err(|it| {
        usage_error(
            format!("`{}` cannot be read: {it}", path.display()),
            "give the path of a file that `waylore export` wrote",
        )
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((model::clean_label(&name, 80), read_all(file)?))
}

/// Some editors on Windows write it before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses the records of a file: an export, a list of memories, a single one, or one per line.
fn parse_records(bytes: &[u8]) -> anyhow::Result<Vec<ImportRecord>> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|it| {
        usage_error(
            format!("the file is not valid UTF-8 at byte {}", it.valid_up_to()),
            "convert it to UTF-8 first",
        )
    })?;
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut export)) if export.contains_key("memories") => {
            let version = export.get("v").and_then(Value::as_u64);
            if version.is_some_and(|it| it > u64::from(crate::output::SCHEMA_VERSION)) {
                return Err(usage_error(
                    "the file was written by a newer version",
                    "update waylore",
                ));
            }
            match export.remove("memories") {
                Some(Value::Array(items)) => Ok(to_records(items.into_iter().map(Ok))),
                _ => Err(usage_error(
                    "`memories` is not a list",
                    "give a file that `waylore export` wrote",
                )),
            }
        }
        Ok(Value::Array(items)) => Ok(to_records(items.into_iter().map(Ok))),
        Ok(item @ Value::Object(_)) => Ok(to_records(std::iter::once(Ok(item)))),
        // A number, a string, null …
        Ok(_) => Err(usage_error(
            "the file holds no memories",
            "give a file that `waylore export` wrote",
        )),
        // Several JSON objects, one per line, are not one JSON document.
        Err(error) => parse_lines(text, &error),
    }
}

/// Parses one memory per line; fails if no line is a JSON object.
fn parse_lines(
    text: &str,
    document_error: &serde_json::Error,
) -> anyhow::Result<Vec<ImportRecord>> {
    let mut lines: Vec<Result<Value, String>> = Vec::new();
    for line in text.lines().filter(|it| !it.trim().is_empty()) {
        lines.push(serde_json::from_str(line).map_err(|it| it.to_string()));
    }
    let has_object = lines.iter().any(|it| matches!(it, Ok(Value::Object(_))));
    if !has_object {
        return Err(usage_error(
            format!("the file is not JSON: {document_error}"),
            "give a file that `waylore export` wrote, or one JSON memory per line",
        ));
    }
    Ok(to_records(lines.into_iter()))
}

/// Numbers the items from 1. An item that is no memory becomes a record with an error.
fn to_records(items: impl Iterator<Item = Result<Value, String>>) -> Vec<ImportRecord> {
    let mut records = Vec::new();
    for (index, item) in items.enumerate() {
        records.push(ImportRecord { at: index + 1, memory: parse_memory(item) });
    }
    records
}

fn parse_memory(item: Result<Value, String>) -> Result<Box<Memory>, String> {
    let wire: MemoryWire = serde_json::from_value(item?).map_err(|it| it.to_string())?;
    Ok(Box::new(wire.into_memory()?))
}
