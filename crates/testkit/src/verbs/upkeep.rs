//! Commands that look after the notebooks.

use engine::{CompactMode, Error, MaintenanceOptions, NotebookScope};

use super::Line;
use super::change::reach;
use crate::World;

pub(super) fn maintain(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let compact = if line.has("compact") { CompactMode::Always } else { CompactMode::IfWorthwhile };
    let options = MaintenanceOptions { backup_every_days: 1, compact, dry_run: line.has("dry") };
    for it in world.with(async |engine| engine.maintenance().maintain(options).await)? {
        let user = if it.scope == NotebookScope::User { " (user)" } else { "" };
        for memory in &it.faded {
            acc.push(format!("faded: {}{user}", world.name(memory.id)));
        }
        for id in &it.removed {
            acc.push(format!("gone: {}{user}", world.name(*id)));
        }
        acc.extend(it.findings.iter().map(|it| format!("found: {it}")));
        acc.extend(it.backup.map(|_| format!("backed up{user}")));
    }
    Ok(())
}

pub(super) fn backup(world: &mut World, _: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let made = world.with(async |engine| engine.maintenance().backup().await)?;
    let user = |it: NotebookScope| if it == NotebookScope::User { " (user)" } else { "" };
    acc.extend(made.iter().map(|it| format!("backed up{}", user(it.0))));
    Ok(())
}

pub(super) fn backups(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let reach = reach(line);
    let all = world.with(async |engine| Ok(engine.maintenance().backups(reach)))?;
    for (nth, (_, contents)) in all.iter().enumerate() {
        let holds = match contents {
            Ok(contents) => format!("{} memories", contents.memories),
            Err(error) => error.to_string(),
        };
        acc.push(format!("backup {}: {holds}", nth + 1));
    }
    Ok(())
}

/// By its number in the list, the newest first.
pub(super) fn restore_backup(
    world: &mut World,
    line: &Line,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (reach, nth) = (reach(line), line.word(0).parse::<usize>().unwrap_or(0));
    let name = line.word(0).to_owned();
    let contents = world.with(async |engine| {
        let known = engine.maintenance().backups(reach).into_iter().nth(nth.wrapping_sub(1));
        engine.restore_backup(reach, &known.map_or(name, |it| it.0.name))
    })?;
    acc.push(format!("restored {} memories", contents.memories));
    Ok(())
}

pub(super) fn set(world: &mut World, line: &Line, _: &mut Vec<String>) -> Result<(), Error> {
    let (key, value) = (line.word(0).to_owned(), line.word(1).to_owned());
    let value = (line.verb == "set").then_some(value);
    world.with(async |engine| engine.set_setting(&key, value.as_deref()).await)
}

/// Indexes, and brings history and map up to date where that changes them.
pub(super) fn follow(world: &mut World, _: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let progress = engine::TaskProgress::default();
    let done = world.with(async |engine| {
        let indexed = engine.code_indexer().index_code(&progress, 1).await?;
        engine.code_indexer().follow_up(&indexed, &progress).await
    })?;
    let modules = done.n_modules.map_or("as before".to_owned(), |it| it.to_string());
    acc.push(format!("{} new commits, modules: {modules}", done.n_commits));
    Ok(())
}

pub(super) fn index(world: &mut World, _: &Line, _: &mut Vec<String>) -> Result<(), Error> {
    let progress = engine::TaskProgress::default();
    world.with(async |engine| engine.code_indexer().index_code(&progress, 1).await).map(|_| ())
}
