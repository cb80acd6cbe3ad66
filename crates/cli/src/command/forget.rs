//! `waylore forget`.

use serde_json::json;

use super::CommandSession;
use crate::output::BOLD_STYLE;
use crate::wire::MemoryWire;

/// Forget memories; they can be restored for 30 days
#[derive(clap::Args, Debug)]
pub(crate) struct ForgetArgs {
    /// Ids of the memories, or prefixes of them
    #[arg(required = true)]
    ids: Vec<String>,
}

pub(crate) async fn run(args: ForgetArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let forgotten = session.project.editor().forget(&args.ids).await?;
    if session.output.json {
        let memories: Vec<MemoryWire> = forgotten.iter().map(MemoryWire::from).collect();
        session.output.data_json("forgotten", json!({ "memories": memories }));
        return Ok(0);
    }
    for memory in &forgotten {
        session.output.print_line(&format!(
            "{BOLD_STYLE}#{}{BOLD_STYLE:#}  forgotten: {}",
            memory.id.short(),
            memory.summary
        ));
    }
    session.output.hint(
        "`waylore undo` or `waylore restore` restores it; `waylore purge` erases it for good",
    );
    Ok(0)
}
