//! `waylore history`.

use model::Memory;
use serde_json::json;

use super::Session;
use super::shared::status_word;
use crate::output::{BOLD, DIM, visible};
use crate::wire::MemoryWire;

/// Show what happened to a memory, and what it said each time
#[derive(clap::Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Its id, or the beginning of it
    id: String,
}

pub(crate) async fn run(args: HistoryArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let past = session.engine.history(&args.id).await?;
    if session.output.json {
        let step = |(entry, memory): &(engine::Entry, Option<Memory>)| {
            json!({
                "at": entry.at.0,
                "action": entry.action.slug(),
                "actor": entry.actor.to_string(),
                "undone": entry.undone_by.is_some(),
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
        let undone = if entry.undone_by.is_some() { " (undone)" } else { "" };
        session.output.line(&format!(
            "{BOLD}{}{BOLD:#} by {} {DIM}{} · {version}{undone}{DIM:#}",
            entry.action,
            entry.actor,
            entry.at.minute()
        ));
        if let Some(memory) = memory {
            for it in differences(before, memory) {
                session.output.line(&format!("  {it}"));
            }
            before = Some(memory);
        }
    }
    Ok(0)
}

/// What a version says that the one before did not.
fn differences(before: Option<&Memory>, after: &Memory) -> Vec<String> {
    let mut res = Vec::new();
    let mut note = |name: &str, old: Option<String>, new: String| {
        if old.as_ref() != Some(&new) && !(old.is_none() && new.is_empty()) {
            res.push(format!("{DIM}{name}:{DIM:#} {new}"));
        }
    };
    note("text", before.map(|it| visible(&it.content)), visible(&after.content));
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
