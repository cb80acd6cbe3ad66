//! `waylore import`.

use std::path::{Path, PathBuf};

use engine::{ImportOptions, ImportRecord, NotebookScope, OnSecret, RecordOutcome};
use serde_json::{Value, json};

use super::CommandSession;
use super::shared::read_all;
use crate::failure::usage_error;
use crate::output::format_count;
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
const CONFIRM_ABOVE_RECORDS: usize = 5_000;

pub(crate) async fn run(args: ImportArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let (name, bytes) = read_input(&args.file)?;
    let records = parse_records(&bytes)?;
    let total = records.len();
    if total > CONFIRM_ABOVE_RECORDS {
        session.output.progress(&format!("importing {total} records"));
    }
    let how = ImportOptions {
        file: if name.is_empty() { "file".to_owned() } else { name.clone() },
        scope: if args.user { NotebookScope::User } else { NotebookScope::Project },
        is_vouched: args.trust,
        skip_invalid: args.skip_bad,
        on_secret: if args.redact { OnSecret::Redact } else { OnSecret::Refuse },
        dry_run: args.dry_run,
    };
    let res = session.project.editor().import(records, how).await?;
    let n =
        |wanted: fn(&RecordOutcome) -> bool| res.outcomes.iter().filter(|it| wanted(it)).count();
    let (added, known, erased) = (
        n(|it| matches!(it, RecordOutcome::Added(_))),
        n(|it| matches!(it, RecordOutcome::Duplicate(_))),
        n(|it| matches!(it, RecordOutcome::Erased(_))),
    );
    let kept_out = !res.problems.is_empty() && !args.skip_bad;
    let out = session.output;
    if out.json {
        let problems: Vec<Value> =
            res.problems.iter().map(|it| json!({ "record": it.at, "problem": it.what })).collect();
        out.data_json("imported", json!({ "records": total, "added": if kept_out { 0 } else { added }, "known": known, "erased": erased, "problems": problems, "written": res.written, "held_for_review": !args.trust && res.written }));
        return Ok(u8::from(!res.problems.is_empty()));
    }
    for problem in &res.problems {
        out.warn(&format!("record {}: {}", problem.at, problem.what));
    }
    if kept_out {
        out.error(&format!(
            "{} of {total} are invalid, so nothing was imported",
            format_count(res.problems.len(), "record", "records")
        ));
        out.hint("correct the file, or import the valid records with --skip-bad");
        return Ok(1);
    }
    let verb = if args.dry_run { "would be taken" } else { "taken" };
    out.print_line(&format!(
        "{} {verb}, {known} known already, {erased} erased here before",
        format_count(added, "memory", "memories")
    ));
    if res.written && !args.trust {
        out.hint("they need your confirmation: `waylore list --status tainted`, then `waylore flag ID ok`; --trust imports your own exports directly");
    }
    Ok(u8::from(!res.problems.is_empty()))
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

/// Parses the records of a file: an export, a list of memories, a single one, or one per line.
fn parse_records(bytes: &[u8]) -> anyhow::Result<Vec<ImportRecord>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|it| {
        usage_error(
            format!("the file is not valid UTF-8 at byte {}", it.valid_up_to()),
            "convert it to UTF-8 first",
        )
    })?;
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut whole)) if whole.contains_key("memories") => {
            let newer = whole
                .get("v")
                .and_then(Value::as_u64)
                .is_some_and(|it| it > u64::from(crate::output::SCHEMA_VERSION));
            if newer {
                return Err(usage_error(
                    "the file was written by a newer version",
                    "update waylore",
                ));
            }
            match whole.remove("memories") {
                Some(Value::Array(items)) => Ok(to_records(items.into_iter().map(Ok))),
                _ => Err(usage_error(
                    "`memories` is not a list",
                    "give a file that `waylore export` wrote",
                )),
            }
        }
        Ok(Value::Array(items)) => Ok(to_records(items.into_iter().map(Ok))),
        Ok(item @ Value::Object(_)) => Ok(to_records(std::iter::once(Ok(item)))),
        Ok(_) => Err(usage_error(
            "the file holds no memories",
            "give a file that `waylore export` wrote",
        )),
        Err(error) => by_line(text, &error),
    }
}

/// Parses one memory per line; fails if no line is a JSON object.
fn by_line(text: &str, whole: &serde_json::Error) -> anyhow::Result<Vec<ImportRecord>> {
    let lines: Vec<Result<Value, String>> = text
        .lines()
        .filter(|it| !it.trim().is_empty())
        .map(|it| serde_json::from_str::<Value>(it).map_err(|it| it.to_string()))
        .collect();
    if !lines.iter().any(|it| matches!(it, Ok(Value::Object(_)))) {
        return Err(usage_error(
            format!("the file is not JSON: {whole}"),
            "give a file that `waylore export` wrote, or one JSON memory per line",
        ));
    }
    Ok(to_records(lines.into_iter()))
}

fn to_records(items: impl Iterator<Item = Result<Value, String>>) -> Vec<ImportRecord> {
    let memory = |item: Result<Value, String>| {
        let wire: MemoryWire = serde_json::from_value(item?).map_err(|it| it.to_string())?;
        wire.into_memory().map(Box::new)
    };
    items.enumerate().map(|(at, item)| ImportRecord { at: at + 1, memory: memory(item) }).collect()
}
