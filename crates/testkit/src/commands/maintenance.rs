//! Maintenance commands: backups, settings and the code index.

use engine::{CompactMode, Error, MaintenanceOptions, NotebookScope};

use super::ScriptLine;
use super::change::notebook_scope;
use crate::TestWorld;

pub(super) fn maintain(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let compact =
        if line.has_switch("compact") { CompactMode::Always } else { CompactMode::IfWorthwhile };
    let options =
        MaintenanceOptions { backup_every_days: 1, compact, dry_run: line.has_switch("dry") };
    for it in world.with_project(async |project| project.maintenance().maintain(options).await)? {
        let user = if it.scope == NotebookScope::User { " (user)" } else { "" };
        for memory in &it.faded {
            acc.push(format!("faded: {}{user}", world.name_of(memory.id)));
        }
        for memory in &it.unconfirmed {
            acc.push(format!("unconfirmed: {}{user}", world.name_of(memory.id)));
        }
        for id in &it.removed {
            acc.push(format!("gone: {}{user}", world.name_of(*id)));
        }
        acc.extend(it.findings.iter().map(|it| format!("found: {it}")));
        acc.extend(it.backup.map(|_| format!("backed up{user}")));
    }
    Ok(())
}

pub(super) fn backup(
    world: &mut TestWorld,
    _: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let made = world.with_project(async |project| project.maintenance().backup().await)?;
    let user = |it: NotebookScope| if it == NotebookScope::User { " (user)" } else { "" };
    acc.extend(made.iter().map(|it| format!("backed up{}", user(it.0))));
    Ok(())
}

pub(super) fn backups(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let scope = notebook_scope(line);
    let all = world.with_project(async |project| Ok(project.maintenance().backups(scope)))?;
    for (index, (_, contents)) in all.iter().enumerate() {
        let summary = match contents {
            Ok(contents) => format!("{} memories", contents.memories),
            Err(error) => error.to_string(),
        };
        acc.push(format!("backup {}: {summary}", index + 1));
    }
    Ok(())
}

/// Restores a backup by its number in the list of `backups`, newest first. Any other word is taken
/// as the name of a backup, for tests of unknown names.
pub(super) fn restore_backup(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (scope, name) = (notebook_scope(line), line.word(0).to_owned());
    let index = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let contents = world.with_project(async |project| {
        let listed = project.maintenance().backups(scope);
        let chosen = index.and_then(|it| listed.into_iter().nth(it));
        project.restore_backup(scope, &chosen.map_or(name, |it| it.0.name))
    })?;
    acc.push(format!("restored {} memories", contents.memories));
    Ok(())
}

/// `set` and `unset`.
pub(super) fn set(
    world: &mut TestWorld,
    line: &ScriptLine,
    _: &mut Vec<String>,
) -> Result<(), Error> {
    let (key, value) = (line.word(0).to_owned(), line.word(1).to_owned());
    let value = (line.verb == "set").then_some(value);
    world.with_project(async |project| project.set_setting(&key, value.as_deref()).await)
}

/// Updates the code index as the daemon does: then also the history and the module map, if necessary.
pub(super) fn follow(
    world: &mut TestWorld,
    _: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let progress = engine::TaskProgress::default();
    let done = world.with_project(async |project| {
        let indexed = project.code_indexer().index_code(&progress, 1).await?;
        project.code_indexer().follow_up(&indexed, &progress).await
    })?;
    let modules = done.n_modules.map_or("as before".to_owned(), |it| it.to_string());
    acc.push(format!("{} new commits, modules: {modules}", done.n_commits));
    Ok(())
}

/// Updates the code index only.
pub(super) fn index(
    world: &mut TestWorld,
    _: &ScriptLine,
    _: &mut Vec<String>,
) -> Result<(), Error> {
    let progress = engine::TaskProgress::default();
    world
        .with_project(async |project| project.code_indexer().index_code(&progress, 1).await)
        .map(|_| ())
}
