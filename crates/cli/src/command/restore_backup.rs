//! `waylore restore-backup`: replaces the database of a notebook (the memories of the project, or with `--user`
//! those of the user) by a backup, or lists the backups.
//!
//! A [`CheckedBackup`] is a pair: the file, and what was found when it was opened, its contents or an error.

use engine::{CheckedBackup, NotebookScope, REPLACED_BACKUP_NAME};
use serde_json::{Value, json};

use super::CommandContext;
use super::shared::{confirm_or_fail, report_declined};
use crate::output::{BAD_STYLE, BOLD_STYLE, DIM_STYLE, format_count, format_size};
use crate::reader::{CHANGES_ARE_THE_USERS, refuse_agent};

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

pub(crate) fn run(args: RestoreBackupArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    let scope = if args.user { NotebookScope::User } else { NotebookScope::Project };
    let Some(name) = args.name else {
        return Ok(list_backups(scope, command));
    };
    refuse_agent(CHANGES_ARE_THE_USERS, "the user can run it in a terminal")?;
    if !confirm_or_fail(args.yes, &format!("`{name}` will replace the current database."))? {
        return Ok(report_declined("nothing was changed", command.output));
    }
    let contents = command.project.restore_backup(scope, &name)?;
    if command.output.json {
        command
            .output
            .print_json("restored_backup", json!({ "name": name, "memories": contents.active }));
        return Ok(0);
    }
    let n = usize::try_from(contents.active).unwrap_or(0);
    command.output.print_line(&format!(
        "restored {BOLD_STYLE}{name}{BOLD_STYLE:#}: {}",
        format_count(n, "memory", "memories")
    ));
    if let Some((replaced_file, _contents)) = command.project.maintenance().replaced(scope) {
        let flag = if scope == NotebookScope::User { " --user" } else { "" };
        command.output.hint(&format!(
            "the replaced database is kept in `{}`; `waylore restore-backup{flag} {REPLACED_BACKUP_NAME}` restores it",
            replaced_file.path.display()
        ));
    }
    Ok(0)
}

/// Prints the backups, each opened and checked, and returns the exit code.
fn list_backups(scope: NotebookScope, command: &CommandContext<'_>) -> u8 {
    let backups = command.project.maintenance().backups(scope);
    // The database that the last restore replaced can be restored like a backup.
    let replaced = command.project.maintenance().replaced(scope);
    let code = u8::from(backups.is_empty() && replaced.is_none());
    if command.output.json {
        let mut backups_json = Vec::new();
        for backup in &backups {
            let (file, _contents) = backup;
            backups_json.push(to_json(&file.name, backup));
        }
        let replaced = replaced.as_ref().map(|it| to_json(REPLACED_BACKUP_NAME, it));
        let body = json!({ "backups": backups_json, "replaced": replaced });
        command.output.print_json("backups", body);
        return code;
    }
    for backup in &backups {
        let (file, _contents) = backup;
        command.output.print_line(&render(&file.name, backup));
    }
    if let Some(it) = &replaced {
        let note = "the database before the last restore";
        command.output.print_line(&format!(
            "{}  {DIM_STYLE}{note}{DIM_STYLE:#}",
            render(REPLACED_BACKUP_NAME, it)
        ));
    }
    if backups.is_empty() {
        command.output.say("there are no backups yet");
        command.output.hint("`waylore backup` makes one");
    }
    code
}

fn to_json(name: &str, (file, contents): &CheckedBackup) -> Value {
    json!({
        "name": name,
        "path": file.path,
        "bytes": file.bytes,
        "memories": contents.as_ref().ok().map(|it| it.active),
        "problem": contents.as_ref().err().map(ToString::to_string),
    })
}

fn render(name: &str, (file, contents): &CheckedBackup) -> String {
    let state = match contents {
        Ok(it) => format_count(usize::try_from(it.active).unwrap_or(0), "memory", "memories"),
        Err(error) => format!("{BAD_STYLE}cannot be restored{BAD_STYLE:#}: {error}"),
    };
    format!("{BOLD_STYLE}{name}{BOLD_STYLE:#}  {}, {state}", format_size(file.bytes))
}
