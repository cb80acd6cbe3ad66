//! `waylore backup`.

use serde_json::json;

use super::CommandSession;
use super::shared::report_start;
use crate::output::{BOLD_STYLE, format_size};
use crate::wire::reach_word;

/// Make a backup and verify it
#[derive(clap::Args, Debug)]
pub(crate) struct BackupArgs {}

pub(crate) async fn run(_: BackupArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    report_start("backing up", session);
    let made = session.project.maintenance().backup().await?;
    if session.output.json {
        let backup = |(reach, it): &(engine::NotebookScope, engine::BackupFile)| json!({ "notebook": reach_word(*reach), "name": it.name, "path": it.path, "bytes": it.bytes });
        let backups: Vec<_> = made.iter().map(backup).collect();
        session.output.data_json("backups", json!({ "backups": backups }));
        return Ok(u8::from(made.is_empty()));
    }
    for (reach, it) in &made {
        session.output.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {} ({})",
            it.name,
            reach_word(*reach),
            format_size(it.bytes)
        ));
    }
    if made.is_empty() {
        session.output.say("there is nothing to back up yet");
        return Ok(1);
    }
    session.output.hint("the three newest are kept; `waylore restore-backup` lists them");
    Ok(0)
}
