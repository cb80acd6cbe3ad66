//! `waylore undo`.

use serde_json::json;

use super::Session;
use crate::output::BOLD;
use crate::wire::MemoryWire;

/// Take back the last change, of one memory or of all
///
/// Said again, it goes one step further back. Changes can be undone for 30 days.
#[derive(clap::Args, Debug)]
pub(crate) struct UndoArgs {
    /// The memory whose last change to take back; absent: the last change of any
    id: Option<String>,
}

pub(crate) async fn run(args: UndoArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let undone = session.engine.undo(args.id.as_deref()).await?;
    if session.output.json {
        let memory = |(id, memory): &(model::MemoryId, Option<model::Memory>)| json!({ "id": id, "memory": memory.as_ref().map(MemoryWire::from) });
        let memories: Vec<_> = undone.memories.iter().map(memory).collect();
        session.output.data_json("undone", json!({ "action": undone.entry.action.slug(), "at": undone.entry.at.0, "memories": memories }));
        return Ok(0);
    }
    session.output.say(&format!(
        "took back: {} of {}",
        undone.entry.action,
        undone.entry.at.minute()
    ));
    for (id, memory) in &undone.memories {
        let now = match memory {
            None => "forgotten: this had created it".to_owned(),
            Some(memory) if memory.states.deleted_at.is_some() => "forgotten".to_owned(),
            Some(memory) => memory.summary.clone(),
        };
        session.output.line(&format!("{BOLD}#{}{BOLD:#}  {now}", id.short()));
    }
    Ok(0)
}
