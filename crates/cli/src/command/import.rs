//! `waylore import`.

use std::path::PathBuf;

use engine::{ImportRecord, Intake, OnSecret, Reach, Taken};
use serde_json::{Value, json};

use super::Session;
use super::shared::read_all;
use crate::failure::usage;
use crate::output::count;
use crate::wire::MemoryWire;

/// Take memories in from a file that `export` wrote
///
/// What comes from a file is external: it is kept apart until you confirm it (`waylore flag ID ok`),
/// unless you vouch for the file with --trust. Nothing is taken when any record is bad, unless you
/// say --skip-bad. Memories that are here already, or were erased here, are left alone.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// The file, a JSON export or one JSON memory per line; `-` reads standard input
    file: PathBuf,
    /// These are your own memories: take them as they are
    #[arg(long)]
    trust: bool,
    /// Take the good records and leave the bad ones
    #[arg(long)]
    skip_bad: bool,
    /// Replace secrets by a placeholder instead of refusing the record
    #[arg(long)]
    redact: bool,
    /// Into your own memories instead of this project's
    #[arg(long)]
    user: bool,
    /// Show what would be taken without taking it
    #[arg(long)]
    dry_run: bool,
}

/// More records than are taken in before a person wonders.
const MANY: usize = 5_000;

pub(crate) async fn run(args: ImportArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let (name, bytes) = if args.file.as_os_str() == "-" {
        ("standard input".to_owned(), read_all(std::io::stdin().lock())?)
    } else {
        let file = std::fs::File::open(&args.file).map_err(|it| {
            usage(
                format!("`{}` cannot be read: {it}", args.file.display()),
                "give the path of a file that `waylore export` wrote",
            )
        })?;
        let name = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (model::clean_label(&name, 80), read_all(file)?)
    };
    let records = read(&bytes)?;
    let total = records.len();
    if total > MANY {
        session.output.progress(&format!("importing {total} records"));
    }
    let how = Intake {
        file: if name.is_empty() { "file".to_owned() } else { name.clone() },
        reach: if args.user { Reach::User } else { Reach::Project },
        vouched: args.trust,
        skip: args.skip_bad,
        on_secret: if args.redact { OnSecret::Redact } else { OnSecret::Refuse },
        dry_run: args.dry_run,
    };
    let res = session.engine.import(records, how).await?;
    let n = |wanted: fn(&Taken) -> bool| res.taken.iter().filter(|it| wanted(it)).count();
    let (added, known, erased) = (
        n(|it| matches!(it, Taken::Added(_))),
        n(|it| matches!(it, Taken::Known(_))),
        n(|it| matches!(it, Taken::Erased(_))),
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
            "{} of {total} cannot be taken, so nothing was",
            count(res.problems.len(), "record", "records")
        ));
        out.hint("correct the file, or take the good records with --skip-bad");
        return Ok(1);
    }
    let verb = if args.dry_run { "would be taken" } else { "taken" };
    out.line(&format!(
        "{} {verb}, {known} known already, {erased} erased here before",
        count(added, "memory", "memories")
    ));
    if res.written && !args.trust {
        out.hint("they wait for you: `waylore list --status tainted`, then `waylore flag ID ok`; --trust takes your own exports as they are");
    }
    Ok(u8::from(!res.problems.is_empty()))
}

/// The records of a file: an export, a list of memories, a single one, or one per line.
fn read(bytes: &[u8]) -> anyhow::Result<Vec<ImportRecord>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|it| {
        usage(
            format!("the file is not valid UTF-8 at byte {}", it.valid_up_to()),
            "convert it to UTF-8 first",
        )
    })?;
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut whole)) if whole.contains_key("memories") => {
            let newer = whole
                .get("v")
                .and_then(Value::as_u64)
                .is_some_and(|it| it > u64::from(crate::output::SCHEMA));
            if newer {
                return Err(usage("the file was written by a newer version", "update waylore"));
            }
            match whole.remove("memories") {
                Some(Value::Array(items)) => Ok(records(items.into_iter().map(Ok))),
                _ => Err(usage(
                    "`memories` is not a list",
                    "give a file that `waylore export` wrote",
                )),
            }
        }
        Ok(Value::Array(items)) => Ok(records(items.into_iter().map(Ok))),
        Ok(item @ Value::Object(_)) => Ok(records(std::iter::once(Ok(item)))),
        Ok(_) => {
            Err(usage("the file holds no memories", "give a file that `waylore export` wrote"))
        }
        Err(error) => by_line(text, &error),
    }
}

/// One memory per line. A file of which no line is an object is not of this form at all.
fn by_line(text: &str, whole: &serde_json::Error) -> anyhow::Result<Vec<ImportRecord>> {
    let lines: Vec<Result<Value, String>> = text
        .lines()
        .filter(|it| !it.trim().is_empty())
        .map(|it| serde_json::from_str::<Value>(it).map_err(|it| it.to_string()))
        .collect();
    if !lines.iter().any(|it| matches!(it, Ok(Value::Object(_)))) {
        return Err(usage(
            format!("the file is not JSON: {whole}"),
            "give a file that `waylore export` wrote, or one JSON memory per line",
        ));
    }
    Ok(records(lines.into_iter()))
}

fn records(items: impl Iterator<Item = Result<Value, String>>) -> Vec<ImportRecord> {
    let memory = |item: Result<Value, String>| {
        let wire: MemoryWire = serde_json::from_value(item?).map_err(|it| it.to_string())?;
        wire.into_memory().map(Box::new)
    };
    items.enumerate().map(|(at, item)| ImportRecord { at: at + 1, memory: memory(item) }).collect()
}
