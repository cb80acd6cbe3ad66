//! Editing: edit, pin, forget and restore memories for the user. Each call writes one batch that
//! can be undone. The helpers at the end are shared by the other files that write memories.

use std::path::PathBuf;

use model::{
    Actor, HybridTimestamp, MAX_LABEL, Memory, MemoryScope, MemoryType, PerMille, Timestamp,
};
use store::{AuditAction, StoreChange, WriteBatch};

use crate::anchor::{refresh_anchors, split_anchors};
use crate::correction::lift_exclusion;
use crate::lookup::find_by_id;
use crate::remember::resolve_files;
use crate::text_admission::{OnSecret, admit_content, admit_labels, mask_label};
use crate::{Error, LocatedMemory, Notebook, Project};

/// A change to a memory. Fields that are `None` stay as they are.
#[derive(Clone, Debug)]
pub struct MemoryEdit {
    pub content: Option<String>,
    /// Slug of a type.
    pub kind: Option<String>,
    pub tags: Option<Vec<String>>,
    /// As typed, relative to `cwd`; `path:symbol` sets an anchor.
    pub files: Option<Vec<PathBuf>>,
    pub modules: Option<Vec<String>>,
    pub confidence: Option<PerMille>,
    pub cwd: PathBuf,
    pub on_secret: OnSecret,
}

/// Longest reason in the audit trail, in characters.
const MAX_REASON_CHARS: usize = 4 * MAX_LABEL;

/// Changes the text or the attributes of a memory. Returns it before and after.
pub(crate) async fn edit_memory(
    project: &Project,
    id: &str,
    edit: MemoryEdit,
) -> Result<(Memory, Memory), Error> {
    project.require_memory_enabled()?;
    let LocatedMemory { notebook, memory: before } = find_by_id(project, id).await?;
    refuse_if_forgotten(&before)?;
    let mut after = before.clone();
    if let Some(content) = &edit.content {
        set_content(&mut after, admit_content(content, edit.on_secret)?.text);
        // The user wrote the text for the current code.
        after.anchors = refresh_anchors(project, after.anchors);
    }
    if let Some(slug) = &edit.kind {
        after.kind = MemoryType::parse(slug, &project.config.types)?;
        // A payload belongs to one type, so it is dropped if the type changes.
        after.payload = after.payload.filter(|it| Some(it.kind()) == after.kind.core_kind());
    }

    // The summary depends on the text and the type; either may have changed.
    after.summary = promote::compose_summary(&after.content, &after.kind);
    if let Some(tags) = &edit.tags {
        after.tags = admit_labels("tag", tags)?;
    }
    if let Some(files) = &edit.files {
        let (paths, anchors) = split_anchors(project, files, &edit.cwd)?;
        (after.files, _) = resolve_files(project, &paths, &edit.cwd)?;
        // Anchors of files that are still listed stay, unless the edit anchors the same symbol
        // again. A user's memory belongs to no project and has no anchors.
        after.anchors.retain(|it| after.files.contains(&it.file));
        after.anchors.retain(|it| anchors.iter().all(|new| new.symbol != it.symbol));
        if after.project.is_some() {
            after.anchors.extend(anchors);
        }
    }
    if let Some(modules) = &edit.modules {
        after.modules = admit_labels("module", modules)?;
        after.scope =
            if after.modules.is_empty() { MemoryScope::Global } else { MemoryScope::Module };
    }
    after.confidence = edit.confidence.unwrap_or(after.confidence);
    if after == before {
        return Err(Error::refuse(
            "that changes nothing",
            "say what to change: --text, --type, --tag, --file …",
        ));
    }
    let after = replace_memory(project, &notebook, AuditAction::Edit, after).await?;
    Ok((before, after))
}

/// Pins or unpins a memory. Returns it, and whether that changed anything.
pub(crate) async fn set_pinned(
    project: &Project,
    id: &str,
    pinned: bool,
) -> Result<(Memory, bool), Error> {
    let LocatedMemory { notebook, memory } = find_by_id(project, id).await?;
    refuse_if_forgotten(&memory)?;
    if memory.flags.pinned == pinned {
        return Ok((memory, false));
    }
    let mut after = memory;
    after.flags.pinned = pinned;
    Ok((replace_memory(project, &notebook, AuditAction::Pin, after).await?, true))
}

/// Marks memories as deleted. Memories of one notebook form one batch, so one `undo` restores them
/// all.
pub(crate) async fn forget_memories(
    project: &Project,
    ids: &[String],
) -> Result<Vec<Memory>, Error> {
    // All ids are checked before anything is written, so that one wrong id changes nothing.
    let mut doomed: Vec<LocatedMemory> = Vec::new();
    for id in ids {
        let located = find_by_id(project, id).await?;
        let memory = &located.memory;
        if memory.states.deleted_at.is_some() {
            let id = memory.id.short();
            return Err(Error::refuse(
                format!("#{id} is forgotten already"),
                format!(
                    "`waylore restore {id}` brings it back, `waylore purge {id}` removes it for good"
                ),
            ));
        }
        if !doomed.iter().any(|it| it.memory.id == memory.id) {
            doomed.push(located);
        }
    }
    for LocatedMemory { memory, .. } in &mut doomed {
        memory.states.deleted_at = Some(project.now);
        memory.updated_at = project.now;
    }

    // One batch per notebook.
    for notebook in project.notebooks() {
        let in_notebook = doomed.iter().filter(|it| it.notebook.scope == notebook.scope);
        let changes: Vec<StoreChange> =
            in_notebook.map(|it| StoreChange::Replace(Box::new(it.memory.clone()))).collect();
        if !changes.is_empty() {
            let batch = user_batch(AuditAction::Forget, project.now, changes);
            project.write(notebook.scope, batch).await?;
        }
    }

    // Read back, because the store has raised the versions.
    let mut forgotten = Vec::new();
    for LocatedMemory { notebook, memory } in doomed {
        forgotten.push(notebook.store.memories().get(memory.id).await?.unwrap_or(memory));
    }
    Ok(forgotten)
}

/// Restores a memory: from forgotten or deprecated, into a project it was excluded from, or to an
/// earlier version.
pub(crate) async fn restore_memory(
    project: &Project,
    id: &str,
    version: Option<u32>,
) -> Result<Memory, Error> {
    let LocatedMemory { notebook, memory } = find_by_id(project, id).await?;
    let mut after = match version {
        None => memory.clone(),
        Some(version) => get_version(&notebook, &memory, version).await?,
    };
    after.version = memory.version;

    // An earlier version does not bring back trust that the memory has lost since.
    after.flags.tainted |= memory.flags.tainted;
    after.flags.needs_review |= memory.flags.needs_review;
    after.flags.candidate |= memory.flags.candidate;
    after.states.deleted_at = None;
    after.states.deprecated_at = None;
    after.states.deprecated_reason = None;
    after.states.stale_at = None;
    let is_exclusion_lifted =
        version.is_none() && lift_exclusion(project, &notebook, memory.id).await?;

    // The memory itself needed no change: the exclusion was all there was to restore, or nothing
    // was.
    if after == memory && is_exclusion_lifted {
        return Ok(memory);
    }
    if after == memory {
        return Err(Error::refuse(
            format!("#{} is not forgotten", memory.id.short()),
            "`waylore history` shows what it said before; `--version N` goes back to it",
        ));
    }
    replace_memory(project, &notebook, AuditAction::Restore, after).await
}

/// Writes one changed memory and reads it back with its new version number.
pub(crate) async fn replace_memory(
    project: &Project,
    notebook: &Notebook,
    action: AuditAction,
    after: Memory,
) -> Result<Memory, Error> {
    let after = Memory { updated_at: project.now, ..after };
    let id = after.id;
    let changes = vec![StoreChange::Replace(Box::new(after))];
    project.write(notebook.scope, user_batch(action, project.now, changes)).await?;
    let saved = notebook.store.memories().get(id).await?;
    saved.ok_or_else(|| Error::NotFound { id: id.short() })
}

/// Sets the text of a memory and everything derived from it.
pub(crate) fn set_content(memory: &mut Memory, text: String) {
    if text == memory.content {
        return;
    }
    memory.summary = promote::compose_summary(&text, &memory.kind);
    memory.citation = promote::compose_citation(&text);
    memory.flags.needs_review |= promote::detect_instruction(&text).is_some();
    memory.content = text;
}

/// Refuses to change a forgotten memory. It is in no list, so the change could not be seen.
pub(crate) fn refuse_if_forgotten(memory: &Memory) -> Result<(), Error> {
    if memory.states.deleted_at.is_none() {
        return Ok(());
    }
    let id = memory.id.short();
    Err(Error::refuse(
        format!("#{id} is forgotten"),
        format!("`waylore restore {id}` brings it back"),
    ))
}

/// Builds a batch whose author is the user. Callers with another author replace `actor`.
pub(crate) fn user_batch(
    action: AuditAction,
    now: Timestamp,
    changes: Vec<StoreChange>,
) -> WriteBatch {
    let (actor, after_clock) = (Actor::User, HybridTimestamp::default());
    WriteBatch { key: None, action, actor, detail: None, now, after_clock, changes }
}

/// Cleans a reason for the audit trail: one line, secrets masked.
pub(crate) fn clean_reason(text: &str) -> String {
    mask_label(text, MAX_REASON_CHARS)
}

/// Finds an earlier version of a memory.
async fn get_version(notebook: &Notebook, memory: &Memory, version: u32) -> Result<Memory, Error> {
    let versions = notebook.store.history().list_versions(memory.id).await?;
    let found = versions.into_iter().find(|it| it.version == version);
    found.ok_or_else(|| {
        let hint = format!("`waylore history {}` lists them", memory.id.short());
        Error::refuse(format!("#{} has no version {version}", memory.id.short()), hint)
    })
}
