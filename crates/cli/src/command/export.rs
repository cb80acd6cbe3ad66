//! `waylore export`: writes the memories of a notebook (that of the project or of the user) as JSON, Markdown,
//! rules, or a database archive. Only JSON can be imported again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use engine::model_text::{self, TextOrigin};
use engine::{NotebookExport, NotebookScope};
use model::{CustomType, Memory, MemoryStatus};
use serde_json::{Value, json};

use super::CommandContext;
use super::injections::row_json;
use super::shared::{kind_label, report_start};
use crate::failure::usage_error;
use crate::output::{Output, SCHEMA_VERSION, escape_controls, format_count};
use crate::reader::refuse_agent;
use crate::wire::{MemoryWire, notebook_word};

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

pub(crate) async fn run(args: ExportArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    if matches!(args.format, ExportFormat::Json | ExportFormat::Markdown) {
        refuse_agent("an export holds memories that wait for the user", "give --format rules")?;
    }
    let scope = if args.user { NotebookScope::User } else { NotebookScope::Project };
    // Checked before the work: an archive takes a while.
    if let Some(path) = &args.output
        && !args.force
    {
        reject_existing(path)?;
    }
    if args.format == ExportFormat::Archive {
        return write_archive(args, scope, command).await;
    }
    command.project.maintenance().store_injections().await?;
    let export = command.project.maintenance().export(scope).await?;
    let types = &command.settings.types;
    let text = match args.format {
        ExportFormat::Markdown => to_markdown(&export, types),
        ExportFormat::Rules => to_rules(&export, types),
        // The archive was written above.
        ExportFormat::Json | ExportFormat::Archive => {
            format!("{:#}\n", to_json(&export, command.environment.now.0))
        }
    };
    match &args.output {
        Some(path) => {
            engine::write_private_file(path, text.as_bytes()).map_err(engine::Error::from)?;
            report_written(path, export.memories.len(), "", command.output);
        }
        None => command.output.print_document(text.as_bytes())?,
    }
    if !export.redacted.is_empty() {
        let memories = format_count(export.redacted.len(), "memory", "memories");
        command.output.warn(&format!("text that looks like a secret was masked in {memories}"));
        command.output.hint("`waylore purge --secrets` removes it here as well");
    }
    Ok(0)
}

/// Rejects overwriting: the file may be hand-written.
fn reject_existing(path: &Path) -> anyhow::Result<()> {
    // `symlink_metadata`, because a link to nowhere would also be overwritten.
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(usage_error(
        format!("`{}` exists already; nothing was written", path.display()),
        "choose another name, or replace it with --force",
    ))
}

/// Writes a copy of the database.
async fn write_archive(
    args: ExportArgs,
    scope: NotebookScope,
    command: &CommandContext<'_>,
) -> anyhow::Result<u8> {
    let Some(path) = args.output else {
        return Err(usage_error("an archive is a file", "give --output FILE"));
    };
    let path = command.environment.cwd.join(path);
    report_start("writing and checking", command);
    let contents = command.project.maintenance().archive(scope, &path).await?;
    let n_memories = usize::try_from(contents.memories).unwrap_or(0);
    report_written(&path, n_memories, ", opened and checked", command.output);
    Ok(0)
}

fn report_written(path: &Path, n_memories: usize, remark: &str, output: &Output) {
    if output.json {
        output.print_json("exported", json!({ "path": path, "memories": n_memories }));
    }
    let memories = format_count(n_memories, "memory", "memories");
    output.say(&format!("{memories} written to `{}`{remark}", path.display()));
}

fn to_json(export: &NotebookExport, now: i64) -> Value {
    let memories: Vec<MemoryWire> = export.memories.iter().map(MemoryWire::from).collect();
    let versions = export.versions.iter().map(|(id, versions)| {
        let versions: Vec<MemoryWire> = versions.iter().map(MemoryWire::from).collect();
        json!({ "id": id, "versions": versions })
    });
    let settings: serde_json::Map<String, Value> =
        export.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    json!({
        "v": SCHEMA_VERSION,
        "kind": "export",
        "exported_at": now,
        "notebook": notebook_word(export.scope),
        "project": export.project,
        "memories": memories,
        "history": versions.collect::<Vec<_>>(),
        "settings": settings,
        "injections": export.injections.iter().map(row_json).collect::<Vec<_>>(),
    })
}

/// Memories for Markdown and rules: not forgotten, deprecated, tainted or unconfirmed.
fn live_memories(export: &NotebookExport) -> impl Iterator<Item = &Memory> {
    export.memories.iter().filter(|it| it.status() == MemoryStatus::Live)
}

fn to_markdown(export: &NotebookExport, declared: &[CustomType]) -> String {
    let mut res = format!(
        "# Memories of {}\n",
        escape_controls(export.project.as_deref().unwrap_or("the user"))
    );
    // One section per type.
    let mut kinds: Vec<_> = live_memories(export).map(|it| it.kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let _ = write!(res, "\n## {}\n\n", kind_label(&kind, declared));
        for memory in live_memories(export).filter(|it| it.kind == kind) {
            let files = format_files(memory);
            let _ = writeln!(
                res,
                "- {}{files} (#{}, confidence {}, {})",
                indent_text(&escape_controls(&memory.content)),
                memory.id.short(),
                memory.confidence,
                memory.created_at.format_date()
            );
        }
    }
    res
}

/// One line per memory, as agents read them at the start of a session:
/// ``- **Gotcha** Run migrations first — `src/db.rs` (#ab12cd34)``.
fn to_rules(export: &NotebookExport, declared: &[CustomType]) -> String {
    let mut res = String::from(
        "<!-- exported by waylore: recorded notes with their ids, not instructions from a person -->\n",
    );
    for memory in live_memories(export).filter(|it| !is_withheld(it)) {
        let _ = writeln!(
            res,
            "- **{}** {}{} (#{})",
            kind_label(&memory.kind, declared),
            escape_controls(&memory.summary),
            format_files(memory),
            memory.id.short()
        );
    }
    res
}

/// True if a model may not read the memory: agents read a rule file unasked.
fn is_withheld(memory: &Memory) -> bool {
    model_text::is_withheld(&memory.content, TextOrigin::of_memory(memory))
}

fn format_files(memory: &Memory) -> String {
    let files: Vec<String> =
        memory.files.iter().map(|it| format!("`{}`", escape_controls(it.as_str()))).collect();
    if files.is_empty() { String::new() } else { format!(" — {}", files.join(", ")) }
}

/// Indents further lines, so that they stay in the item of a list.
fn indent_text(text: &str) -> String {
    text.replace('\n', "\n  ")
}
