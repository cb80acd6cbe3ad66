//! `waylore restore`.

use serde_json::json;

use super::Session;
use super::shared::label;
use crate::output::BOLD;
use crate::wire::MemoryWire;

/// Bring a memory back, or an older version of it
#[derive(clap::Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Its id, or the beginning of it
    id: String,
    /// The version to go back to
    #[arg(long, value_name = "N")]
    version: Option<u32>,
}

pub(crate) async fn run(args: RestoreArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let memory = session.engine.restore(&args.id, args.version).await?;
    if session.output.json {
        session.output.data_json("restored", json!({ "memory": MemoryWire::from(&memory) }));
        return Ok(0);
    }
    session.output.line(&format!(
        "{BOLD}#{}{BOLD:#}  {:<11} {}",
        memory.id.short(),
        label(&memory.kind, &session.settings.types),
        memory.summary
    ));
    session.output.say("it stands again");
    Ok(0)
}
