//! `waylore restore`.

use serde_json::json;

use super::CommandSession;
use super::shared::kind_label;
use crate::output::BOLD_STYLE;
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

pub(crate) async fn run(args: RestoreArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let memory = session.project.editor().restore(&args.id, args.version).await?;
    if session.output.json {
        session.output.data_json("restored", json!({ "memory": MemoryWire::from(&memory) }));
        return Ok(0);
    }
    session.output.print_line(&format!(
        "{BOLD_STYLE}#{}{BOLD_STYLE:#}  {:<11} {}",
        memory.id.short(),
        kind_label(&memory.kind, &session.settings.types),
        memory.summary
    ));
    session.output.say("restored");
    Ok(0)
}
