//! `waylore forget`: marks memories as forgotten. They can be restored; `purge` erases for good.

use serde_json::json;

use super::CommandContext;
use crate::output::BOLD_STYLE;
use crate::reader::{CHANGES_ARE_THE_USERS, refuse_agent};
use crate::wire::MemoryWire;

/// Forget memories; they can be restored for 30 days
#[derive(clap::Args, Debug)]
pub(crate) struct ForgetArgs {
    /// Ids of the memories, or prefixes of them
    #[arg(required = true)]
    ids: Vec<String>,
}

pub(crate) async fn run(args: ForgetArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(CHANGES_ARE_THE_USERS, "the tool `flag_memory` reports a doubt to the user")?;
    let forgotten = command.project.editor().forget(&args.ids).await?;
    if command.output.json {
        let memories: Vec<MemoryWire> = forgotten.iter().map(MemoryWire::from).collect();
        command.output.print_json("forgotten", json!({ "memories": memories }));
        return Ok(0);
    }
    for memory in &forgotten {
        command.output.print_line(&format!(
            "{BOLD_STYLE}#{}{BOLD_STYLE:#}  forgotten: {}",
            memory.id.short(),
            memory.summary
        ));
    }
    command.output.hint(
        "`waylore undo` or `waylore restore` restores it; `waylore purge` erases it for good",
    );
    Ok(0)
}
