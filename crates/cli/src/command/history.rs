//! `waylore history`: prints the changes of a memory, oldest first, each with the fields that differ from the
//! version before.

use model::Memory;
use serde_json::json;

use super::CommandContext;
use super::shared::status_word;
use crate::output::{BOLD_STYLE, DIM_STYLE, escape_controls};
use crate::reader::{EVIDENCE_IS_UNFILTERED, refuse_agent};
use crate::wire::MemoryWire;

/// Show the versions of a memory and their changes
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Id of the memory, or a prefix of it
    id: String,
}

pub(crate) async fn run(args: HistoryArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(EVIDENCE_IS_UNFILTERED, "the user can run `waylore history` in a terminal")?;
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
    // Each version is compared with the one before it. An entry has no memory if that version is no longer
    // stored.
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

/// Describes the fields that differ between two versions, with their new values. The first version, which
/// has none before it, shows all its fields except empty ones.
fn describe_changes(before: Option<&Memory>, after: &Memory) -> Vec<String> {
    let mut res = Vec::new();
    for (name, format_value) in COMPARED_FIELDS {
        let new = format_value(after);
        let has_changed = match before {
            Some(before) => format_value(before) != new,
            None => !new.is_empty(),
        };
        if has_changed {
            res.push(format!("{DIM_STYLE}{name}:{DIM_STYLE:#} {new}"));
        }
    }
    res
}

/// Label and formatted value of each field that is compared.
type ComparedField = (&'static str, fn(&Memory) -> String);

const COMPARED_FIELDS: &[ComparedField] = &[
    ("text", |it| escape_controls(&it.content)),
    ("type", |it| it.kind.to_string()),
    ("status", |it| status_word(it.status()).to_owned()),
    ("confidence", |it| it.confidence.to_string()),
    ("tags", |it| it.tags.join(", ")),
    ("files", |it| it.files.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    ("modules", |it| it.modules.join(", ")),
    ("pinned", |it| if it.flags.pinned { "yes".to_owned() } else { String::new() }),
];
