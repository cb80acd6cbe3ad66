//! `waylore forget`.

use serde_json::json;

use super::Session;
use crate::output::BOLD;
use crate::wire::MemoryWire;

/// Forget memories; they can be restored for 30 days
#[derive(clap::Args, Debug)]
pub(crate) struct ForgetArgs {
    /// Their ids, or the beginnings of them
    #[arg(required = true)]
    ids: Vec<String>,
}

pub(crate) async fn run(args: ForgetArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let forgotten = session.engine.forget(&args.ids).await?;
    if session.output.json {
        let memories: Vec<MemoryWire> = forgotten.iter().map(MemoryWire::from).collect();
        session.output.data_json("forgotten", json!({ "memories": memories }));
        return Ok(0);
    }
    for memory in &forgotten {
        session.output.line(&format!(
            "{BOLD}#{}{BOLD:#}  forgotten: {}",
            memory.id.short(),
            memory.summary
        ));
    }
    session.output.hint(
        "`waylore undo` or `waylore restore` brings it back; `waylore purge` removes it for good",
    );
    Ok(0)
}
