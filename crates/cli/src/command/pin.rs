//! `waylore pin`.

use serde_json::json;

use super::CommandSession;
use super::shared::kind_label;
use crate::output::BOLD_STYLE;
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

pub(crate) async fn run(args: PinArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let (memory, changed) = session.project.editor().pin(&args.id, !args.off).await?;
    if session.output.json {
        session.output.data_json(
            "pinned",
            json!({ "memory": MemoryWire::from(&memory), "changed": changed }),
        );
        return Ok(0);
    }
    session.output.print_line(&format!(
        "{BOLD_STYLE}#{}{BOLD_STYLE:#}  {:<11} {}",
        memory.id.short(),
        kind_label(&memory.kind, &session.settings.types),
        memory.summary
    ));
    session.output.say(match (args.off, changed) {
        (false, true) => "pinned: it never decays",
        (true, true) => "no longer pinned",
        (false, false) => "was pinned already",
        (true, false) => "was not pinned",
    });
    Ok(0)
}
