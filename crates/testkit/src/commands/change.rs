//! Commands that change memories. Each prints the memory as it is afterwards.

use engine::{
    Error, MemoryCorrection, MemoryEdit, MemoryNovelty, NewMemory, NotebookScope, OnDuplicate,
    OnSecret,
};
use model::{Actor, HybridTimestamp, Memory, PerMille, Timestamp};
use store::{AuditAction, StoreChange, WriteBatch};

use super::ScriptLine;
use crate::{TestWorld, output};

pub(super) fn notebook_scope(line: &ScriptLine) -> NotebookScope {
    if line.has_switch("user") { NotebookScope::User } else { NotebookScope::Project }
}

pub(super) fn on_secret(line: &ScriptLine) -> OnSecret {
    if line.has_switch("redact") { OnSecret::Redact } else { OnSecret::Refuse }
}

/// A batch of changes that learning would write for an agent's session, for commands that write
/// directly to the store.
pub(super) fn agent_batch(now: Timestamp, changes: Vec<StoreChange>) -> WriteBatch {
    let (action, actor, after) =
        (AuditAction::Promote, Actor::Observer, HybridTimestamp::default());
    WriteBatch { key: None, action, actor, detail: None, now, after_clock: after, changes }
}

pub(super) fn teach(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let teaching = NewMemory {
        content: line.text_from(0),
        kind: line.option("type"),
        scope: notebook_scope(line),
        tags: line.options("tag"),
        files: line.path_options("file"),
        modules: line.options("module"),
        payload: None,
        cwd: world.cwd.clone(),
        pinned: line.has_switch("pin"),
        on_secret: on_secret(line),
        origin: engine::StatementOrigin::Command,
        on_duplicate: if line.has_switch("new") { OnDuplicate::Keep } else { OnDuplicate::Resolve },
        key: line.option("key"),
        dry_run: line.has_switch("dry"),
    };
    let res = world.with_project(async |project| project.editor().remember(teaching).await)?;
    let old = match &res.novelty {
        MemoryNovelty::Supersedes { old, .. } => world.name_of(old.id),
        _ => String::new(),
    };
    // A dry run creates no memory that could get a name; a merge keeps the existing one.
    let exists = !line.has_switch("dry") || matches!(res.novelty, MemoryNovelty::Merged { .. });
    let name = if exists { world.name_of(res.memory.id) } else { "would be".to_owned() };
    acc.extend(output::remember_lines(&name, &old, &res));
    Ok(())
}

pub(super) fn edit(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let id = world.resolve_id(line.word(0));
    let confidence = line.number_option("confidence").and_then(|it| u16::try_from(it).ok());
    let edit = MemoryEdit {
        content: (line.words.len() > 1).then(|| line.text_from(1)),
        kind: line.option("type"),
        tags: line.list_option("tag"),
        files: line.list_option("file").map(|it| it.into_iter().map(Into::into).collect()),
        modules: line.list_option("module"),
        confidence: confidence.map(PerMille::new),
        cwd: world.cwd.clone(),
        on_secret: on_secret(line),
    };
    let (_, after) = world.with_project(async |project| project.editor().edit(&id, edit).await)?;
    push_memory(world, &after, acc);
    Ok(())
}

/// `pin` and `unpin`.
pub(super) fn pin(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (id, pinned) = (world.resolve_id(line.word(0)), line.verb == "pin");
    let (memory, changed) =
        world.with_project(async |project| project.editor().pin(&id, pinned).await)?;
    if changed {
        push_memory(world, &memory, acc);
    } else {
        acc.push("nothing to change".to_owned());
    }
    Ok(())
}

/// Counts a use, as an agent's session would.
pub(super) fn used(
    world: &mut TestWorld,
    line: &ScriptLine,
    _: &mut Vec<String>,
) -> Result<(), Error> {
    let (id, now) = (world.resolve_id(line.word(0)), world.now);
    world.with_project(async |project| {
        let found = project.retriever().find_by_id(&id).await?;
        let changes = vec![StoreChange::CountUse { id: found.memory.id }];
        project.notebook_writer(&found.notebook).apply(agent_batch(now, changes)).await?;
        Ok(())
    })
}

pub(super) fn flag(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (id, text) = (world.resolve_id(line.word(0)), line.text_from(2));
    let correction = match line.word(1) {
        "right" => MemoryCorrection::Confirmed,
        "outdated" => {
            MemoryCorrection::Outdated { replacement: Some(text).filter(|it| !it.is_empty()) }
        }
        "partly" => MemoryCorrection::PartlyWrong { text },
        "incorrect" => MemoryCorrection::Incorrect { text },
        "nothere" => MemoryCorrection::NotApplicable {
            modules: line.options("module"),
            files: line.path_options("file"),
            cwd: world.cwd.clone(),
        },
        other => panic!("a memory cannot be `{other}`"),
    };
    let res =
        world.with_project(async |project| project.editor().correct(&id, correction).await)?;
    push_memory(world, &res.memory, acc);
    if res.excluded {
        acc.push("  kept out of this project".to_owned());
    }
    if let Some(it) = &res.replacement {
        let name = world.name_of(it.id);
        acc.push(format!("  replaced by {}", output::memory_line(&name, it)));
    }
    for it in &res.dependents {
        acc.push(format!("  for review: {}", world.name_of(it.id)));
    }
    Ok(())
}

pub(super) fn forget(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let ids: Vec<String> = line.words.iter().map(|it| world.resolve_id(it)).collect();
    for it in world.with_project(async |project| project.editor().forget(&ids).await)? {
        push_memory(world, &it, acc);
    }
    Ok(())
}

pub(super) fn restore(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let (id, version) = (world.resolve_id(line.word(0)), line.word(1).parse().ok());
    let memory =
        world.with_project(async |project| project.editor().restore(&id, version).await)?;
    push_memory(world, &memory, acc);
    Ok(())
}

pub(super) fn undo(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let id = Some(line.word(0)).filter(|it| !it.is_empty()).map(|it| world.resolve_id(it));
    let undone = world.with_project(async |project| project.editor().undo(id.as_deref()).await)?;
    acc.push(format!("undid {}", undone.entry.action));
    for (id, memory) in &undone.memories {
        match memory {
            Some(memory) => push_memory(world, memory, acc),
            // The undone change had created it.
            None => acc.push(format!("{} never was", world.name_of(*id))),
        }
    }
    Ok(())
}

fn push_memory(world: &mut TestWorld, memory: &Memory, acc: &mut Vec<String>) {
    let name = world.name_of(memory.id);
    acc.push(output::memory_line(&name, memory));
}
