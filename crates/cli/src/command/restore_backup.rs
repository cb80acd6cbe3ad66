//! `waylore restore-backup`.

use engine::{BackupContents, BackupFile, NotebookScope, REPLACED_BACKUP_NAME, StoreError};
use serde_json::{Value, json};

use super::CommandSession;
use super::shared::{confirm_or_fail, report_declined};
use crate::output::{BAD_STYLE, BOLD_STYLE, DIM_STYLE, format_count, format_size};

/// Restore a backup, or list the backups
///
/// The current database is kept as `replaced` until the next restore and can be restored by that name.
/// Purged memories stay purged.
#[derive(clap::Args, Debug)]
pub(crate) struct RestoreBackupArgs {
    /// The backup to restore; lists them if absent
    name: Option<String>,
    /// Your personal memories instead of this project's
    #[arg(long)]
    user: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: RestoreBackupArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let reach = if args.user { NotebookScope::User } else { NotebookScope::Project };
    let Some(name) = args.name else {
        return Ok(list_backups(reach, session));
    };
    if !confirm_or_fail(args.yes, &format!("`{name}` will replace the current database."))? {
        return Ok(report_declined("nothing was changed", session.output));
    }
    let contents = session.project.restore_backup(reach, &name)?;
    if session.output.json {
        session
            .output
            .data_json("restored_backup", json!({ "name": name, "memories": contents.memories }));
        return Ok(0);
    }
    let n = usize::try_from(contents.memories).unwrap_or(0);
    session.output.print_line(&format!(
        "restored {BOLD_STYLE}{name}{BOLD_STYLE:#}: {}",
        format_count(n, "memory", "memories")
    ));
    if let Some((aside, _)) = session.project.maintenance().replaced(reach) {
        let whose = if reach == NotebookScope::User { " --user" } else { "" };
        session.output.hint(&format!(
            "the replaced database is kept in `{}`; `waylore restore-backup{whose} {REPLACED_BACKUP_NAME}` restores it",
            aside.path.display()
        ));
    }
    Ok(0)
}

fn list_backups(reach: NotebookScope, session: &CommandSession<'_>) -> u8 {
    let backups = session.project.maintenance().backups(reach);
    let aside = session.project.maintenance().replaced(reach);
    let code = u8::from(backups.is_empty() && aside.is_none());
    if session.output.json {
        let backups: Vec<_> = backups.iter().map(|it| to_json(&it.0.name, it)).collect();
        let aside = aside.as_ref().map(|it| to_json(REPLACED_BACKUP_NAME, it));
        session.output.data_json("backups", json!({ "backups": backups, "replaced": aside }));
        return code;
    }
    for it in &backups {
        session.output.print_line(&render(&it.0.name, it));
    }
    if let Some(it) = &aside {
        let note = "the database before the last restore";
        session.output.print_line(&format!(
            "{}  {DIM_STYLE}{note}{DIM_STYLE:#}",
            render(REPLACED_BACKUP_NAME, it)
        ));
    }
    if backups.is_empty() {
        session.output.say("there are no backups yet");
        session.output.hint("`waylore backup` makes one");
    }
    code
}

/// A backup with the result of opening and checking it.
type CheckedBackup = (BackupFile, Result<BackupContents, StoreError>);

fn to_json(name: &str, (it, contents): &CheckedBackup) -> Value {
    json!({
        "name": name,
        "path": it.path,
        "bytes": it.bytes,
        "memories": contents.as_ref().ok().map(|it| it.memories),
        "problem": contents.as_ref().err().map(ToString::to_string),
    })
}

fn render(name: &str, (it, contents): &CheckedBackup) -> String {
    let state = match contents {
        Ok(it) => format_count(usize::try_from(it.memories).unwrap_or(0), "memory", "memories"),
        Err(error) => format!("{BAD_STYLE}cannot be restored{BAD_STYLE:#}: {error}"),
    };
    format!("{BOLD_STYLE}{name}{BOLD_STYLE:#}  {}, {state}", format_size(it.bytes))
}
