//! `waylore restore-backup`.

use engine::{Backup, Contents, REPLACED, Reach, StoreError};
use serde_json::{Value, json};

use super::Session;
use super::shared::{confirmed, declined};
use crate::output::{BAD, BOLD, DIM, count, size};

/// Put a backup in the place of the database, or list the backups
///
/// The database before is set aside as `replaced`, until the next restore, and can be restored by that
/// name. What was purged stays purged.
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
        return Ok(declined("nothing was changed", session.output));
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
    if let Some((aside, _)) = session.engine.replaced(reach) {
        let whose = if reach == Reach::User { " --user" } else { "" };
        session.output.hint(&format!(
            "what was there before is set aside in `{}`; `waylore restore-backup{whose} {REPLACED}` goes back to it",
            aside.path.display()
        ));
    }
    Ok(0)
}

fn list(reach: Reach, session: &Session<'_>) -> u8 {
    let backups = session.engine.backups(reach);
    let aside = session.engine.replaced(reach);
    let code = u8::from(backups.is_empty() && aside.is_none());
    if session.output.json {
        let backups: Vec<_> = backups.iter().map(|it| to_json(&it.0.name, it)).collect();
        let aside = aside.as_ref().map(|it| to_json(REPLACED, it));
        session.output.data_json("backups", json!({ "backups": backups, "replaced": aside }));
        return code;
    }
    for it in &backups {
        session.output.line(&render(&it.0.name, it));
    }
    if let Some(it) = &aside {
        let note = "what was there before the last restore";
        session.output.line(&format!("{}  {DIM}{note}{DIM:#}", render(REPLACED, it)));
    }
    if backups.is_empty() {
        session.output.say("there are no backups yet");
        session.output.hint("`waylore backup` makes one");
    }
    code
}

/// A backup as it was found when it was opened and checked.
type Checked = (Backup, Result<Contents, StoreError>);

fn to_json(name: &str, (it, contents): &Checked) -> Value {
    json!({
        "name": name,
        "path": it.path,
        "bytes": it.bytes,
        "memories": contents.as_ref().ok().map(|it| it.memories),
        "problem": contents.as_ref().err().map(ToString::to_string),
    })
}

fn render(name: &str, (it, contents): &Checked) -> String {
    let state = match contents {
        Ok(it) => count(usize::try_from(it.memories).unwrap_or(0), "memory", "memories"),
        Err(error) => format!("{BAD}cannot be restored{BAD:#}: {error}"),
    };
    format!("{BOLD}{name}{BOLD:#}  {}, {state}", size(it.bytes))
}
