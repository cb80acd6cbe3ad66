//! `waylore pin`: pins a memory, so that its confidence does not fall without use, or removes the pin.

use serde_json::json;

use super::CommandContext;
use super::shared::format_summary;
use crate::reader::refuse_agent;
use crate::wire::MemoryWire;

/// Pin a memory, so that it never decays
#[derive(clap::Args, Debug)]
pub(crate) struct PinArgs {
    /// Id of the memory, or a prefix of it
    id: String,
    /// Remove the pin
    #[arg(long)]
    off: bool,
}

pub(crate) async fn run(args: PinArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent("a pin is the user's", "the user can run `waylore pin` in a terminal")?;
    let (memory, changed) = command.project.editor().pin(&args.id, !args.off).await?;
    if command.output.json {
        command.output.print_json(
            "pinned",
            json!({ "memory": MemoryWire::from(&memory), "changed": changed }),
        );
        return Ok(0);
    }
    command.output.print_line(&format_summary(&memory, &command.settings.types));
    command.output.say(match (args.off, changed) {
        (false, true) => "pinned: it never decays",
        (true, true) => "no longer pinned",
        (false, false) => "was pinned already",
        (true, false) => "was not pinned",
    });
    Ok(0)
}
