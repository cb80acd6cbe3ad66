//! `waylore history`.

use model::Memory;
use serde_json::json;

use super::CommandSession;
use super::shared::status_word;
use crate::output::{BOLD_STYLE, DIM_STYLE, escape_controls};
use crate::wire::MemoryWire;

/// Show the versions of a memory and their changes
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Id of the memory, or a prefix of it
    id: String,
}

pub(crate) async fn run(args: HistoryArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let past = session.project.retriever().history(&args.id).await?;
    if session.output.json {
        let step = |(entry, memory): &(engine::HistoryEntry, Option<Memory>)| {
            json!({
                "at": entry.at.0,
                "action": entry.action.slug(),
                "actor": entry.actor.to_string(),
                "undone": entry.is_undone,
                "memory": memory.as_ref().map(MemoryWire::from),
            })
        };
        let steps: Vec<_> = past.steps.iter().map(step).collect();
        session.output.data_json("history", json!({ "id": past.memory.id, "steps": steps }));
        return Ok(0);
    }
    let mut before: Option<&Memory> = None;
    for (entry, memory) in &past.steps {
        let version =
            memory.as_ref().map(|it| format!("version {}", it.version)).unwrap_or_default();
        let undone = if entry.is_undone { " (undone)" } else { "" };
        session.output.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#} by {} {DIM_STYLE}{} · {version}{undone}{DIM_STYLE:#}",
            entry.action,
            entry.actor,
            entry.at.format_minute()
        ));
        if let Some(memory) = memory {
            for it in describe_changes(before, memory) {
                session.output.print_line(&format!("  {it}"));
            }
            before = Some(memory);
        }
    }
    Ok(0)
}

/// Describes the differences between two versions.
fn describe_changes(before: Option<&Memory>, after: &Memory) -> Vec<String> {
    let mut res = Vec::new();
    let mut note = |name: &str, old: Option<String>, new: String| {
        if old.as_ref() != Some(&new) && !(old.is_none() && new.is_empty()) {
            res.push(format!("{DIM_STYLE}{name}:{DIM_STYLE:#} {new}"));
        }
    };
    note("text", before.map(|it| escape_controls(&it.content)), escape_controls(&after.content));
    note("type", before.map(|it| it.kind.to_string()), after.kind.to_string());
    let status = |it: &Memory| status_word(it.status()).to_owned();
    note("status", before.map(status), status(after));
    note("confidence", before.map(|it| it.confidence.to_string()), after.confidence.to_string());
    note("tags", before.map(|it| it.tags.join(", ")), after.tags.join(", "));
    let files =
        |it: &Memory| it.files.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    note("files", before.map(files), files(after));
    note("modules", before.map(|it| it.modules.join(", ")), after.modules.join(", "));
    let pinned = |it: &Memory| if it.flags.pinned { "yes" } else { "" }.to_owned();
    note("pinned", before.map(pinned), pinned(after));
    res
}
