//! `waylore undo`: reverts the last change and prints the state of the memories afterwards.

use model::{Memory, MemoryId};
use serde_json::json;

use super::CommandContext;
use crate::output::BOLD_STYLE;
use crate::reader::{CHANGES_ARE_THE_USERS, refuse_agent};
use crate::wire::MemoryWire;

/// Undo the last change, of one memory or of all
///
/// Repeat it to go further back. Changes can be undone for 30 days.
#[derive(clap::Args, Debug)]
pub(crate) struct UndoArgs {
    /// The memory whose last change to undo; the last change of any memory if absent
    id: Option<String>,
}

pub(crate) async fn run(args: UndoArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(CHANGES_ARE_THE_USERS, "the user can run `waylore undo` in a terminal")?;
    let undone = command.project.editor().undo(args.id.as_deref()).await?;
    if command.output.json {
        // `None`: the undone change had created the memory.
        let memory_json = |(id, memory): &(MemoryId, Option<Memory>)| json!({ "id": id, "memory": memory.as_ref().map(MemoryWire::from) });
        let body = json!({
            "action": undone.entry.action.slug(),
            "at": undone.entry.at.0,
            "memories": undone.memories.iter().map(memory_json).collect::<Vec<_>>(),
        });
        command.output.print_json("undone", body);
        return Ok(0);
    }
    command.output.say(&format!(
        "undone: {} of {}",
        undone.entry.action,
        undone.entry.at.format_minute()
    ));
    for (id, memory) in &undone.memories {
        let state = match memory {
            None => "forgotten: the undone change had created it".to_owned(),
            Some(memory) if memory.states.deleted_at.is_some() => "forgotten".to_owned(),
            Some(memory) => memory.summary.clone(),
        };
        command.output.print_line(&format!("{BOLD_STYLE}#{}{BOLD_STYLE:#}  {state}", id.short()));
    }
    Ok(0)
}
