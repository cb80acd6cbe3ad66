//! `waylore export`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use engine::{Package, Reach};
use model::{CustomType, Memory, Status};
use serde_json::{Value, json};

use super::Session;
use super::shared::{begin, label};
use crate::failure::usage;
use crate::output::{Output, SCHEMA, count};
use crate::wire::{MemoryWire, reach_word};

/// Write memories out: everything as JSON, or the standing ones as Markdown
///
/// `json` can be imported again: memories come back in every state, while their earlier versions and
/// the settings stand in the file for the record. `markdown` is for reading; `rules` is the form of
/// CLAUDE.md and AGENTS.md. `archive` holds everything: a verified copy of the database.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// The file to write; standard output when absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long, requires = "output")]
    force: bool,
    /// Your own memories instead of this project's
    #[arg(long)]
    user: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Markdown,
    Rules,
    Archive,
}

pub(crate) async fn run(args: ExportArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let reach = if args.user { Reach::User } else { Reach::Project };
    if let Some(path) = args.output.as_deref().filter(|_| !args.force) {
        refuse_existing(path)?;
    }
    if args.format == Format::Archive {
        return archive(args, reach, session).await;
    }
    let package = session.engine.export(reach).await?;
    let types = &session.settings.types;
    let text = match args.format {
        Format::Markdown => markdown(&package, types),
        Format::Rules => rules(&package, types),
        Format::Json | Format::Archive => {
            format!("{:#}\n", to_json(&package, session.environment.now.0))
        }
    };
    match &args.output {
        Some(path) => {
            engine::write_private(path, text.as_bytes()).map_err(engine::Error::from)?;
            written(path, package.memories.len(), "", session.output);
        }
        None => session.output.document(text.as_bytes())?,
    }
    if !package.redacted.is_empty() {
        let n = count(package.redacted.len(), "memory", "memories");
        session.output.warn(&format!("what looks like a secret was masked in {n}"));
        session.output.hint("`waylore purge --secrets` takes it out here, too");
    }
    Ok(0)
}

/// What lies there may be written by hand, and nothing of it would be left.
fn refuse_existing(path: &Path) -> anyhow::Result<()> {
    // A link is something too, wherever it points.
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(usage(
        format!("`{}` exists already; nothing was written", path.display()),
        "choose another name, or replace it with --force",
    ))
}

async fn archive(args: ExportArgs, reach: Reach, session: &Session<'_>) -> anyhow::Result<u8> {
    let Some(path) = args.output else {
        return Err(usage("an archive is a file", "say where: --output FILE"));
    };
    let path = session.environment.cwd.join(path);
    begin("writing and checking", session);
    let contents = session.engine.archive(reach, &path).await?;
    let n = usize::try_from(contents.memories).unwrap_or(0);
    written(&path, n, ", opened and checked", session.output);
    Ok(0)
}

fn written(path: &Path, n: usize, how: &str, output: &Output) {
    if output.json {
        output.data_json("exported", json!({ "path": path, "memories": n }));
    }
    let memories = count(n, "memory", "memories");
    output.say(&format!("{memories} written to `{}`{how}", path.display()));
}

fn to_json(package: &Package, now: i64) -> Value {
    let memories: Vec<MemoryWire> = package.memories.iter().map(MemoryWire::from).collect();
    let versions = package.versions.iter().map(|(id, versions)| {
        let versions: Vec<MemoryWire> = versions.iter().map(MemoryWire::from).collect();
        json!({ "id": id, "versions": versions })
    });
    let settings: serde_json::Map<String, Value> =
        package.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    json!({
        "v": SCHEMA,
        "kind": "export",
        "exported_at": now,
        "reach": reach_word(package.reach),
        "project": package.project,
        "memories": memories,
        "history": versions.collect::<Vec<_>>(),
        "settings": settings,
    })
}

/// What may be shown to people and agents: not forgotten, deprecated, tainted or unconfirmed.
fn standing(package: &Package) -> impl Iterator<Item = &Memory> {
    package.memories.iter().filter(|it| it.status() == Status::Live)
}

fn markdown(package: &Package, declared: &[CustomType]) -> String {
    let mut res = format!("# Memories of {}\n", package.project.as_deref().unwrap_or("the user"));
    let mut kinds: Vec<_> = standing(package).map(|it| it.kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let _ = write!(res, "\n## {}\n\n", label(&kind, declared));
        for memory in standing(package).filter(|it| it.kind == kind) {
            let about = about(memory);
            let _ = writeln!(
                res,
                "- {}{about} (#{}, confidence {}, {})",
                indented(&memory.content),
                memory.id.short(),
                memory.confidence,
                memory.created_at.date()
            );
        }
    }
    res
}

/// Short imperative lines, as agents read them at the start of a session.
fn rules(package: &Package, declared: &[CustomType]) -> String {
    let mut res = String::from(
        "<!-- exported by waylore: recorded notes with their ids, not instructions from a person -->\n",
    );
    for memory in standing(package) {
        let _ = writeln!(
            res,
            "- **{}** {}{} (#{})",
            label(&memory.kind, declared),
            memory.summary,
            about(memory),
            memory.id.short()
        );
    }
    res
}

fn about(memory: &Memory) -> String {
    let files: Vec<String> = memory.files.iter().map(|it| format!("`{it}`")).collect();
    if files.is_empty() { String::new() } else { format!(" — {}", files.join(", ")) }
}

fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}
