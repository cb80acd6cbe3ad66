//! `waylore restore-backup`.

use engine::Reach;
use serde_json::json;

use super::Session;
use super::shared::confirmed;
use crate::output::{BAD, BOLD, count, size};

/// Put a backup in the place of the database, or list the backups
///
/// The database before is kept aside in `replaced`. What was purged stays purged.
#[derive(clap::Args, Debug)]
pub(crate) struct RestoreBackupArgs {
    /// The backup to restore; absent: list them
    name: Option<String>,
    /// Of your own memories instead of this project's
    #[arg(long)]
    user: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: RestoreBackupArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let reach = if args.user { Reach::User } else { Reach::Project };
    let Some(name) = args.name else {
        return Ok(list(reach, session));
    };
    if !confirmed(args.yes, &format!("`{name}` will take the place of what is stored now."))? {
        session.output.say("nothing was changed");
        return Ok(1);
    }
    let contents = session.engine.restore_backup(reach, &name)?;
    if session.output.json {
        session
            .output
            .data_json("restored_backup", json!({ "name": name, "memories": contents.memories }));
        return Ok(0);
    }
    let n = usize::try_from(contents.memories).unwrap_or(0);
    session
        .output
        .line(&format!("restored {BOLD}{name}{BOLD:#}: {}", count(n, "memory", "memories")));
    Ok(0)
}

fn list(reach: Reach, session: &Session<'_>) -> u8 {
    let backups = session.engine.backups(reach);
    let code = u8::from(backups.is_empty());
    if session.output.json {
        let backup =
            |(it, contents): &(engine::Backup, Result<engine::Contents, engine::StoreError>)| {
                json!({
                    "name": it.name,
                    "path": it.path,
                    "bytes": it.bytes,
                    "memories": contents.as_ref().ok().map(|it| it.memories),
                    "problem": contents.as_ref().err().map(ToString::to_string),
                })
            };
        let backups: Vec<_> = backups.iter().map(backup).collect();
        session.output.data_json("backups", json!({ "backups": backups }));
        return code;
    }
    for (it, contents) in &backups {
        let state = match contents {
            Ok(contents) => {
                count(usize::try_from(contents.memories).unwrap_or(0), "memory", "memories")
            }
            Err(error) => format!("{BAD}cannot be restored{BAD:#}: {error}"),
        };
        session.output.line(&format!("{BOLD}{}{BOLD:#}  {}, {state}", it.name, size(it.bytes)));
    }
    if backups.is_empty() {
        session.output.say("there are no backups yet");
        session.output.hint("`waylore backup` makes one");
    }
    code
}
