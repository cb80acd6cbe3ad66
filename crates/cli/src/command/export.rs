//! `waylore export`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use engine::{NotebookExport, NotebookScope};
use model::{CustomType, Memory, MemoryStatus};
use serde_json::{Value, json};

use super::CommandSession;
use super::shared::{kind_label, report_start};
use crate::failure::usage_error;
use crate::output::{Output, SCHEMA_VERSION, format_count};
use crate::wire::{MemoryWire, reach_word};

/// Export memories: all as JSON, or the active ones as Markdown
///
/// `json` can be imported again; it holds memories in every state, and earlier versions and settings for the record.
/// `markdown` is for reading; `rules` is the format of CLAUDE.md and AGENTS.md. `archive` is a verified copy of the
/// database.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// Format
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    format: ExportFormat,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
    /// Your personal memories instead of this project's
    #[arg(long)]
    user: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ExportFormat {
    Json,
    Markdown,
    Rules,
    Archive,
}

pub(crate) async fn run(args: ExportArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let reach = if args.user { NotebookScope::User } else { NotebookScope::Project };
    if let Some(path) = args.output.as_deref().filter(|_| !args.force) {
        refuse_existing(path)?;
    }
    if args.format == ExportFormat::Archive {
        return write_archive(args, reach, session).await;
    }
    let package = session.project.maintenance().export(reach).await?;
    let types = &session.settings.types;
    let text = match args.format {
        ExportFormat::Markdown => to_markdown(&package, types),
        ExportFormat::Rules => to_rules(&package, types),
        ExportFormat::Json | ExportFormat::Archive => {
            format!("{:#}\n", to_json(&package, session.environment.now.0))
        }
    };
    match &args.output {
        Some(path) => {
            engine::write_private_file(path, text.as_bytes()).map_err(engine::Error::from)?;
            report_written(path, package.memories.len(), "", session.output);
        }
        None => session.output.print_document(text.as_bytes())?,
    }
    if !package.redacted.is_empty() {
        let n = format_count(package.redacted.len(), "memory", "memories");
        session.output.warn(&format!("text that looks like a secret was masked in {n}"));
        session.output.hint("`waylore purge --secrets` removes it here as well");
    }
    Ok(0)
}

/// Rejects overwriting: the file may be hand-written.
fn refuse_existing(path: &Path) -> anyhow::Result<()> {
    // A link is something too, wherever it points.
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(usage_error(
        format!("`{}` exists already; nothing was written", path.display()),
        "choose another name, or replace it with --force",
    ))
}

async fn write_archive(
    args: ExportArgs,
    reach: NotebookScope,
    session: &CommandSession<'_>,
) -> anyhow::Result<u8> {
    let Some(path) = args.output else {
        return Err(usage_error("an archive is a file", "give --output FILE"));
    };
    let path = session.environment.cwd.join(path);
    report_start("writing and checking", session);
    let contents = session.project.maintenance().archive(reach, &path).await?;
    let n = usize::try_from(contents.memories).unwrap_or(0);
    report_written(&path, n, ", opened and checked", session.output);
    Ok(0)
}

fn report_written(path: &Path, n: usize, how: &str, output: &Output) {
    if output.json {
        output.data_json("exported", json!({ "path": path, "memories": n }));
    }
    let memories = format_count(n, "memory", "memories");
    output.say(&format!("{memories} written to `{}`{how}", path.display()));
}

fn to_json(package: &NotebookExport, now: i64) -> Value {
    let memories: Vec<MemoryWire> = package.memories.iter().map(MemoryWire::from).collect();
    let versions = package.versions.iter().map(|(id, versions)| {
        let versions: Vec<MemoryWire> = versions.iter().map(MemoryWire::from).collect();
        json!({ "id": id, "versions": versions })
    });
    let settings: serde_json::Map<String, Value> =
        package.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    json!({
        "v": SCHEMA_VERSION,
        "kind": "export",
        "exported_at": now,
        "notebook": reach_word(package.scope),
        "project": package.project,
        "memories": memories,
        "history": versions.collect::<Vec<_>>(),
        "settings": settings,
    })
}

/// Memories for Markdown and rules: not forgotten, deprecated, tainted or unconfirmed.
fn active_memories(package: &NotebookExport) -> impl Iterator<Item = &Memory> {
    package.memories.iter().filter(|it| it.status() == MemoryStatus::Live)
}

fn to_markdown(package: &NotebookExport, declared: &[CustomType]) -> String {
    let mut res = format!("# Memories of {}\n", package.project.as_deref().unwrap_or("the user"));
    let mut kinds: Vec<_> = active_memories(package).map(|it| it.kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let _ = write!(res, "\n## {}\n\n", kind_label(&kind, declared));
        for memory in active_memories(package).filter(|it| it.kind == kind) {
            let about = format_files(memory);
            let _ = writeln!(
                res,
                "- {}{about} (#{}, confidence {}, {})",
                indent_text(&memory.content),
                memory.id.short(),
                memory.confidence,
                memory.created_at.format_date()
            );
        }
    }
    res
}

/// Short imperative lines, as agents read them at the start of a session.
fn to_rules(package: &NotebookExport, declared: &[CustomType]) -> String {
    let mut res = String::from(
        "<!-- exported by waylore: recorded notes with their ids, not instructions from a person -->\n",
    );
    for memory in active_memories(package) {
        let _ = writeln!(
            res,
            "- **{}** {}{} (#{})",
            kind_label(&memory.kind, declared),
            memory.summary,
            format_files(memory),
            memory.id.short()
        );
    }
    res
}

fn format_files(memory: &Memory) -> String {
    let files: Vec<String> = memory.files.iter().map(|it| format!("`{it}`")).collect();
    if files.is_empty() { String::new() } else { format!(" — {}", files.join(", ")) }
}

fn indent_text(text: &str) -> String {
    text.replace('\n', "\n  ")
}
