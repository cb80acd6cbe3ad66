//! `waylore history`: prints the versions of a memory, each with the fields that changed.

use model::Memory;
use serde_json::json;

use super::CommandContext;
use super::shared::status_word;
use crate::output::{BOLD_STYLE, DIM_STYLE, escape_controls};
use crate::wire::MemoryWire;

/// Show the versions of a memory and their changes
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Id of the memory, or a prefix of it
    id: String,
}

pub(crate) async fn run(args: HistoryArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let history = command.project.retriever().history(&args.id).await?;
    if command.output.json {
        let step_json = |(entry, memory): &(engine::HistoryEntry, Option<Memory>)| {
            json!({
                "at": entry.at.0,
                "action": entry.action.slug(),
                "actor": entry.actor.to_string(),
                "undone": entry.is_undone,
                "memory": memory.as_ref().map(MemoryWire::from),
            })
        };
        let steps: Vec<_> = history.steps.iter().map(step_json).collect();
        command.output.print_json("history", json!({ "id": history.memory.id, "steps": steps }));
        return Ok(0);
    }
    // Each version is compared with the one before it. An entry that changed no version has no memory.
    let mut before: Option<&Memory> = None;
    for (entry, memory) in &history.steps {
        let version =
            memory.as_ref().map(|it| format!("version {}", it.version)).unwrap_or_default();
        let undone = if entry.is_undone { " (undone)" } else { "" };
        command.output.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#} by {} {DIM_STYLE}{} · {version}{undone}{DIM_STYLE:#}",
            entry.action,
            entry.actor,
            entry.at.format_minute()
        ));
        if let Some(memory) = memory {
            for it in describe_changes(before, memory) {
                command.output.print_line(&format!("  {it}"));
            }
            before = Some(memory);
        }
    }
    Ok(0)
}

/// Describes the differences between two versions.
fn describe_changes(before: Option<&Memory>, after: &Memory) -> Vec<String> {
    let mut res = Vec::new();
    let mut add_if_changed = |name: &str, old: Option<String>, new: String| {
        // The first version shows all its fields, except empty ones.
        if old.as_ref() != Some(&new) && !(old.is_none() && new.is_empty()) {
            res.push(format!("{DIM_STYLE}{name}:{DIM_STYLE:#} {new}"));
        }
    };
    add_if_changed(
        "text",
        before.map(|it| escape_controls(&it.content)),
        escape_controls(&after.content),
    );
    add_if_changed("type", before.map(|it| it.kind.to_string()), after.kind.to_string());
    let status = |it: &Memory| status_word(it.status()).to_owned();
    add_if_changed("status", before.map(status), status(after));
    add_if_changed(
        "confidence",
        before.map(|it| it.confidence.to_string()),
        after.confidence.to_string(),
    );
    add_if_changed("tags", before.map(|it| it.tags.join(", ")), after.tags.join(", "));
    let files =
        |it: &Memory| it.files.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    add_if_changed("files", before.map(files), files(after));
    add_if_changed("modules", before.map(|it| it.modules.join(", ")), after.modules.join(", "));
    let pinned = |it: &Memory| if it.flags.pinned { "yes" } else { "" }.to_owned();
    add_if_changed("pinned", before.map(pinned), pinned(after));
    res
}
