//! Commands that only look.

use std::path::PathBuf;

use engine::{DoctorMode, Error, HealthLevel, MemoryFilter, NotebookScope};
use model::{MemoryScope, MemorySource, MemoryStatus};

use super::Line;
use crate::{World, print};

pub(super) fn filter(
    world: &mut World,
    line: &Line,
) -> Result<(MemoryFilter, Option<NotebookScope>), Error> {
    let standing = MemoryFilter::active(line.number("limit").unwrap_or(100));
    let file = match line.one("file") {
        Some(file) => {
            let (file, cwd) = (PathBuf::from(file), world.cwd.clone());
            Some(world.with(async |engine| engine.project_path(&file, &cwd))?)
        }
        None => None,
    };
    let statuses = match line.one("status") {
        Some(status) => vec![MemoryStatus::parse(&status)?],
        None if line.has("all") => MemoryStatus::ALL.to_vec(),
        None => standing.statuses.clone(),
    };
    let res = MemoryFilter {
        kind: line.one("type"),
        tag: line.one("tag"),
        module: line.one("module"),
        source: line.one("source").as_deref().map(MemorySource::parse).transpose()?,
        scope: line.one("scope").as_deref().map(MemoryScope::parse).transpose()?,
        branch: line.one("branch"),
        file,
        statuses,
        offset: line.number("offset").unwrap_or(0),
        ..standing
    };
    Ok((res, line.has("user").then_some(NotebookScope::User)))
}

pub(super) fn list(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let (filter, reach) = filter(world, line)?;
    for it in world.with(async |engine| engine.retriever().list(&filter, reach).await)? {
        let name = world.name(it.memory.id);
        acc.push(print::shown(&name, &it));
    }
    said(acc);
    Ok(())
}

pub(super) fn show(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let id = world.id(line.word(0));
    let (shown, gone) = world.with(async |engine| {
        let found = engine.retriever().find_by_id(&id).await?;
        let gone = engine.retriever().missing_relation_targets(&found.memory).await?;
        Ok((engine.retriever().rate(&found.notebook, vec![found.memory]).await?, gone))
    })?;
    for it in shown {
        let name = world.name(it.memory.id);
        acc.push(print::shown(&name, &it));
        acc.extend(print::details(&it.memory, &gone));
    }
    Ok(())
}

pub(super) fn find(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let id = world.id(line.word(0));
    let found = world.with(async |engine| engine.retriever().find_by_id(&id).await)?;
    let name = world.name(found.memory.id);
    acc.push(print::memory(&name, &found.memory));
    Ok(())
}

pub(super) fn history(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let id = world.id(line.word(0));
    let past = world.with(async |engine| engine.retriever().history(&id).await)?;
    for (entry, memory) in past.steps {
        let said = memory.map_or("?".to_owned(), |it| {
            format!("v{} {:?}{}", it.version, it.content, print::notes(&it))
        });
        let undone = if entry.is_undone { ", undone" } else { "" };
        acc.push(format!("{} by {}{undone}: {said}", entry.action, entry.actor));
    }
    Ok(())
}

pub(super) fn settings(world: &mut World, _: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let settings = world.with(async |engine| engine.project_settings().await)?;
    // Where a project lies is different in every run.
    let settings = settings.into_iter().filter(|it| !it.0.starts_with("identity."));
    acc.extend(settings.map(|(key, value)| format!("{key} = {value}")));
    said(acc);
    Ok(())
}

/// Prints what is not good, and what was mended.
pub(super) fn doctor(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let mode = if line.has("fix") { DoctorMode::Repair } else { DoctorMode::Examine };
    let (checks, done) = world.with(async |engine| engine.maintenance().doctor(mode).await)?;
    acc.extend(done);
    for it in checks.into_iter().filter(|it| it.health != HealthLevel::Good) {
        acc.push(format!("{:?} {}: {}", it.health, it.name, it.detail));
    }
    said(acc);
    Ok(())
}

/// Silence would look like a missing line.
pub(super) fn said(acc: &mut Vec<String>) {
    if acc.is_empty() {
        acc.push("nothing".to_owned());
    }
}
