//! `waylore restore`: brings a forgotten memory or an older version back.

use serde_json::json;

use super::CommandContext;
use super::shared::format_summary;
use crate::reader::{CHANGES_ARE_THE_USERS, refuse_agent};
use crate::wire::MemoryWire;

/// Restore a forgotten memory or an older version
#[derive(clap::Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Id of the memory, or a prefix of it
    id: String,
    /// Version to restore
    #[arg(long, value_name = "N")]
    version: Option<u32>,
}

pub(crate) async fn run(args: RestoreArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(CHANGES_ARE_THE_USERS, "the user can run `waylore restore` in a terminal")?;
    let memory = command.project.editor().restore(&args.id, args.version).await?;
    if command.output.json {
        command.output.print_json("restored", json!({ "memory": MemoryWire::from(&memory) }));
        return Ok(0);
    }
    command.output.print_line(&format_summary(&memory, &command.settings.types));
    command.output.say("restored");
    Ok(0)
}
