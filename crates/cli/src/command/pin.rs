//! `waylore pin`.

use serde_json::json;

use super::Session;
use super::shared::label;
use crate::output::BOLD;
use crate::wire::MemoryWire;

/// Pin a memory: it never fades
#[derive(clap::Args, Debug)]
pub(crate) struct PinArgs {
    /// Its id, or the beginning of it
    id: String,
    /// Take the pin out again
    #[arg(long)]
    off: bool,
}

pub(crate) async fn run(args: PinArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let (memory, changed) = session.engine.pin(&args.id, !args.off).await?;
    if session.output.json {
        session.output.data_json(
            "pinned",
            json!({ "memory": MemoryWire::from(&memory), "changed": changed }),
        );
        return Ok(0);
    }
    session.output.line(&format!(
        "{BOLD}#{}{BOLD:#}  {:<11} {}",
        memory.id.short(),
        label(&memory.kind, &session.settings.types),
        memory.summary
    ));
    session.output.say(match (args.off, changed) {
        (false, true) => "pinned: it never fades",
        (true, true) => "no longer pinned",
        (false, false) => "was pinned already",
        (true, false) => "was not pinned",
    });
    Ok(0)
}
