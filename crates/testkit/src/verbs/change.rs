//! Commands that change memories.

use engine::{
    Error, MemoryCorrection, MemoryEdit, MemoryNovelty, NewMemory, NotebookScope, OnDuplicate,
    OnSecret,
};
use model::{Actor, HybridTimestamp, Memory, PerMille, Timestamp};
use store::{AuditAction, StoreChange, WriteBatch};

use super::Line;
use crate::{World, print};

pub(super) fn reach(line: &Line) -> NotebookScope {
    if line.has("user") { NotebookScope::User } else { NotebookScope::Project }
}

pub(super) fn on_secret(line: &Line) -> OnSecret {
    if line.has("redact") { OnSecret::Redact } else { OnSecret::Refuse }
}

/// What an agent's session writes by itself.
pub(super) fn observed(now: Timestamp, changes: Vec<StoreChange>) -> WriteBatch {
    let (action, actor, after) =
        (AuditAction::Promote, Actor::Observer, HybridTimestamp::default());
    WriteBatch { key: None, action, actor, detail: None, now, after_clock: after, changes }
}

pub(super) fn teach(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let teaching = NewMemory {
        content: line.text(0),
        kind: line.one("type"),
        scope: reach(line),
        tags: line.all("tag"),
        files: line.paths("file"),
        modules: line.all("module"),
        cwd: world.cwd.clone(),
        pinned: line.has("pin"),
        on_secret: on_secret(line),
        on_duplicate: if line.has("new") { OnDuplicate::Keep } else { OnDuplicate::Resolve },
        key: line.one("key"),
        dry_run: line.has("dry"),
    };
    let res = world.with(async |engine| engine.editor().remember(teaching).await)?;
    let old = match &res.novelty {
        MemoryNovelty::Supersedes { old, .. } => world.name(old.id),
        _ => String::new(),
    };
    let known = !line.has("dry") || matches!(res.novelty, MemoryNovelty::Merged { .. });
    let name = if known { world.name(res.memory.id) } else { "would be".to_owned() };
    acc.extend(print::remembered(&name, &old, &res));
    Ok(())
}

pub(super) fn edit(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let id = world.id(line.word(0));
    let confidence = line.number("confidence").and_then(|it| u16::try_from(it).ok());
    let edit = MemoryEdit {
        content: (line.words.len() > 1).then(|| line.text(1)),
        kind: line.one("type"),
        tags: line.list("tag"),
        files: line.list("file").map(|it| it.into_iter().map(Into::into).collect()),
        modules: line.list("module"),
        confidence: confidence.map(PerMille::new),
        cwd: world.cwd.clone(),
        on_secret: on_secret(line),
    };
    let (_, after) = world.with(async |engine| engine.editor().edit(&id, edit).await)?;
    say(world, &after, acc);
    Ok(())
}

pub(super) fn pin(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let (id, pinned) = (world.id(line.word(0)), line.verb == "pin");
    let (memory, changed) = world.with(async |engine| engine.editor().pin(&id, pinned).await)?;
    if changed {
        say(world, &memory, acc);
    } else {
        acc.push("nothing to change".to_owned());
    }
    Ok(())
}

/// Counts a use, as an agent's session would.
pub(super) fn used(world: &mut World, line: &Line, _: &mut Vec<String>) -> Result<(), Error> {
    let (id, now) = (world.id(line.word(0)), world.now);
    world.with(async |engine| {
        let found = engine.retriever().find_by_id(&id).await?;
        let changes = vec![StoreChange::CountUse { id: found.memory.id }];
        engine.writer(&found.notebook).apply(observed(now, changes)).await?;
        Ok(())
    })
}

pub(super) fn flag(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let (id, text) = (world.id(line.word(0)), line.text(2));
    let correction = match line.word(1) {
        "right" => MemoryCorrection::Confirmed,
        "outdated" => {
            MemoryCorrection::Outdated { replacement: Some(text).filter(|it| !it.is_empty()) }
        }
        "partly" => MemoryCorrection::PartlyWrong { text },
        "incorrect" => MemoryCorrection::Incorrect { text },
        "nothere" => MemoryCorrection::NotApplicable {
            modules: line.all("module"),
            files: line.paths("file"),
            cwd: world.cwd.clone(),
        },
        other => panic!("a memory cannot be `{other}`"),
    };
    let res = world.with(async |engine| engine.editor().correct(&id, correction).await)?;
    say(world, &res.memory, acc);
    if res.excluded {
        acc.push("  kept out of this project".to_owned());
    }
    if let Some(it) = &res.replacement {
        let name = world.name(it.id);
        acc.push(format!("  replaced by {}", print::memory(&name, it)));
    }
    for it in &res.dependents {
        acc.push(format!("  for review: {}", world.name(it.id)));
    }
    Ok(())
}

pub(super) fn forget(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let ids: Vec<String> = line.words.iter().map(|it| world.id(it)).collect();
    for it in world.with(async |engine| engine.editor().forget(&ids).await)? {
        say(world, &it, acc);
    }
    Ok(())
}

pub(super) fn restore(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let (id, version) = (world.id(line.word(0)), line.word(1).parse().ok());
    let memory = world.with(async |engine| engine.editor().restore(&id, version).await)?;
    say(world, &memory, acc);
    Ok(())
}

pub(super) fn undo(world: &mut World, line: &Line, acc: &mut Vec<String>) -> Result<(), Error> {
    let id = Some(line.word(0)).filter(|it| !it.is_empty()).map(|it| world.id(it));
    let undone = world.with(async |engine| engine.editor().undo(id.as_deref()).await)?;
    acc.push(format!("undid {}", undone.entry.action));
    for (id, memory) in &undone.memories {
        match memory {
            Some(memory) => say(world, memory, acc),
            None => acc.push(format!("{} never was", world.name(*id))),
        }
    }
    Ok(())
}

fn say(world: &mut World, memory: &Memory, acc: &mut Vec<String>) {
    let name = world.name(memory.id);
    acc.push(print::memory(&name, memory));
}
