//! `waylore undo`.

use serde_json::json;

use super::CommandSession;
use crate::output::BOLD_STYLE;
use crate::wire::MemoryWire;

/// Undo the last change, of one memory or of all
///
/// Repeat it to go further back. Changes can be undone for 30 days.
#[derive(clap::Args, Debug)]
pub(crate) struct UndoArgs {
    /// The memory whose last change to undo; the last change of any memory if absent
    id: Option<String>,
}

pub(crate) async fn run(args: UndoArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let undone = session.project.editor().undo(args.id.as_deref()).await?;
    if session.output.json {
        let memory = |(id, memory): &(model::MemoryId, Option<model::Memory>)| json!({ "id": id, "memory": memory.as_ref().map(MemoryWire::from) });
        let memories: Vec<_> = undone.memories.iter().map(memory).collect();
        session.output.data_json("undone", json!({ "action": undone.entry.action.slug(), "at": undone.entry.at.0, "memories": memories }));
        return Ok(0);
    }
    session.output.say(&format!(
        "undone: {} of {}",
        undone.entry.action,
        undone.entry.at.format_minute()
    ));
    for (id, memory) in &undone.memories {
        let now = match memory {
            None => "forgotten: the undone change had created it".to_owned(),
            Some(memory) if memory.states.deleted_at.is_some() => "forgotten".to_owned(),
            Some(memory) => memory.summary.clone(),
        };
        session.output.print_line(&format!("{BOLD_STYLE}#{}{BOLD_STYLE:#}  {now}", id.short()));
    }
    Ok(0)
}
