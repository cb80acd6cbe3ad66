//! `waylore backup`.

use serde_json::json;

use super::Session;
use super::shared::begin;
use crate::output::{BOLD, size};
use crate::wire::reach_word;

/// Make a backup now, opened and checked before it counts
#[derive(clap::Args, Debug)]
pub(crate) struct BackupArgs {}

pub(crate) async fn run(_: BackupArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    begin("backing up", session);
    let made = session.engine.backup().await?;
    if session.output.json {
        let backup = |(reach, it): &(engine::Reach, engine::Backup)| json!({ "reach": reach_word(*reach), "name": it.name, "path": it.path, "bytes": it.bytes });
        let backups: Vec<_> = made.iter().map(backup).collect();
        session.output.data_json("backups", json!({ "backups": backups }));
        return Ok(u8::from(made.is_empty()));
    }
    for (reach, it) in &made {
        session.output.line(&format!(
            "{BOLD}{}{BOLD:#}  {} ({})",
            it.name,
            reach_word(*reach),
            size(it.bytes)
        ));
    }
    if made.is_empty() {
        session.output.say("there is nothing to back up yet");
        return Ok(1);
    }
    session.output.hint("the newest three are kept; `waylore restore-backup` lists them");
    Ok(0)
}
