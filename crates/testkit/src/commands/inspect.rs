//! Commands that show memories, settings and health. All but `doctor --fix` are read-only.

use std::path::PathBuf;

use engine::{DoctorMode, Error, HealthLevel, MemoryFilter, NotebookScope};
use model::{MemoryScope, MemorySource, MemoryStatus};

use super::ScriptLine;
use crate::{TestWorld, output};

/// The filter of `list`, `search` and `ask`, and the notebook to search: with `--user` the user's
/// only, else all.
pub(super) fn filter(
    world: &mut TestWorld,
    line: &ScriptLine,
) -> Result<(MemoryFilter, Option<NotebookScope>), Error> {
    let active = MemoryFilter::active(line.number_option("limit").unwrap_or(100));
    let file = match line.option("file") {
        Some(file) => {
            let (file, cwd) = (PathBuf::from(file), world.cwd.clone());
            Some(world.with_project(async |project| project.project_path(&file, &cwd))?)
        }
        None => None,
    };
    let statuses = match line.option("status") {
        Some(status) => vec![MemoryStatus::parse(&status)?],
        None if line.has_switch("all") => MemoryStatus::ALL.to_vec(),
        None => active.statuses.clone(),
    };
    let res = MemoryFilter {
        kind: line.option("type"),
        tag: line.option("tag"),
        module: line.option("module"),
        source: line.option("source").as_deref().map(MemorySource::parse).transpose()?,
        scope: line.option("scope").as_deref().map(MemoryScope::parse).transpose()?,
        branch: line.option("branch"),
        file,
        statuses,
        offset: line.number_option("offset").unwrap_or(0),
        ..active
    };
    Ok((res, line.has_switch("user").then_some(NotebookScope::User)))
}

pub(super) fn list(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (filter, scope) = filter(world, line)?;
    for it in world.with_project(async |project| project.retriever().list(&filter, scope).await)? {
        let name = world.name_of(it.memory.id);
        acc.push(output::rated_memory_line(&name, &it));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

/// A memory with all its details.
pub(super) fn show(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let id = world.resolve_id(line.word(0));
    let (rated, missing) = world.with_project(async |project| {
        let found = project.retriever().find_by_id(&id).await?;
        let missing = project.retriever().missing_relation_targets(&found.memory).await?;
        Ok((project.retriever().rate(&found.notebook, vec![found.memory]).await?, missing))
    })?;
    for it in rated {
        let name = world.name_of(it.memory.id);
        acc.push(output::rated_memory_line(&name, &it));
        acc.extend(output::detail_lines(&it.memory, &missing));
    }
    Ok(())
}

/// A memory in one line.
pub(super) fn find(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let id = world.resolve_id(line.word(0));
    let found = world.with_project(async |project| project.retriever().find_by_id(&id).await)?;
    let name = world.name_of(found.memory.id);
    acc.push(output::memory_line(&name, &found.memory));
    Ok(())
}

pub(super) fn history(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let id = world.resolve_id(line.word(0));
    let past = world.with_project(async |project| project.retriever().history(&id).await)?;
    for (entry, memory) in past.steps {
        // The state after the change, which an erased version no longer has.
        let state = memory.map_or("?".to_owned(), |it| {
            format!("v{} {:?}{}", it.version, it.content, output::attributes(&it))
        });
        let undone = if entry.is_undone { ", undone" } else { "" };
        acc.push(format!("{} by {}{undone}: {state}", entry.action, entry.actor));
    }
    Ok(())
}

pub(super) fn settings(
    world: &mut TestWorld,
    _: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let settings = world.with_project(async |project| project.project_settings().await)?;
    // The location of a project differs in every run.
    let settings = settings.into_iter().filter(|it| !it.0.starts_with("identity."));
    acc.extend(settings.map(|(key, value)| format!("{key} = {value}")));
    push_nothing_if_empty(acc);
    Ok(())
}

/// Prints failed checks and repairs.
pub(super) fn doctor(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let mode = if line.has_switch("fix") { DoctorMode::Repair } else { DoctorMode::Examine };
    let (checks, repairs) =
        world.with_project(async |project| project.maintenance().doctor(mode).await)?;
    acc.extend(repairs);
    for it in checks.into_iter().filter(|it| it.health != HealthLevel::Good) {
        acc.push(format!("{:?} {}: {}", it.health, it.name, it.detail));
    }
    push_nothing_if_empty(acc);
    Ok(())
}

/// Makes an empty result visible in the output.
pub(super) fn push_nothing_if_empty(acc: &mut Vec<String>) {
    if acc.is_empty() {
        acc.push("nothing".to_owned());
    }
}
