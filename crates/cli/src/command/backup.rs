//! `waylore backup`: copies every notebook (the database of the project's memories, and that of the user's) and
//! verifies the copies.

use serde_json::json;

use super::CommandContext;
use super::shared::report_start;
use crate::output::{BOLD_STYLE, format_size};
use crate::wire::notebook_word;

/// Make a backup and verify it
#[derive(clap::Args, Debug)]
pub(crate) struct BackupArgs {}

pub(crate) async fn run(_: BackupArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    report_start("backing up", command);
    let backups = command.project.maintenance().backup().await?;
    if command.output.json {
        let backup_json = |(scope, file): &(engine::NotebookScope, engine::BackupFile)| {
            json!({
                "notebook": notebook_word(*scope),
                "name": file.name,
                "path": file.path,
                "bytes": file.bytes,
            })
        };
        let body = json!({ "backups": backups.iter().map(backup_json).collect::<Vec<_>>() });
        command.output.print_json("backups", body);
        return Ok(u8::from(backups.is_empty()));
    }
    for (scope, file) in &backups {
        command.output.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {} ({})",
            file.name,
            notebook_word(*scope),
            format_size(file.bytes)
        ));
    }
    if backups.is_empty() {
        command.output.say("there is nothing to back up yet");
        return Ok(1);
    }
    command.output.hint("the three newest are kept; `waylore restore-backup` lists them");
    Ok(0)
}
