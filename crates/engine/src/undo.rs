//! Undo, and the history of a memory. Both read the audit trail: one entry per batch, with the
//! versions of the memories that the batch changed.
//!
//! Undo reverts a whole batch. It writes the versions from before as new versions, so that an undo
//! is part of the history itself, and marks the batch as undone; the next undo goes further back.
//!
//! Two kinds of batches change no memory but a setting in the project's notebook: a user's memory (shared
//! by all projects) can be *excluded* from one project, and a finding (`finding.rs`) can be dismissed.

use model::{Actor, Memory, MemoryId, RESTORE_WINDOW_MS, Timestamp, lived_millis};
use store::{AuditAction, AuditEntry, StoreChange, StoreReader, UndoStep};

use crate::correction::EXCLUSION_PREFIX;
use crate::editing::user_batch;
use crate::export::NO_LIMIT;
use crate::finding::DISMISSAL_PREFIX;
use crate::housekeeping::quiet_spans;
use crate::lookup::{find_by_id, notebooks_in_scope};
use crate::{Error, LocatedMemory, Notebook, NotebookScope, Project, ProjectReader};

/// The history of one memory.
#[derive(Clone, Debug)]
pub struct MemoryHistory {
    pub memory: Memory,
    /// Each change with the memory after it, oldest first. `None`: that version is no longer
    /// stored.
    pub steps: Vec<(HistoryEntry, Option<Memory>)>,
}

/// One entry of the audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub at: Timestamp,
    pub actor: Actor,
    pub action: AuditAction,
    pub is_undone: bool,
}

/// Outcome of an undo.
#[derive(Clone, Debug)]
pub struct UndoReport {
    /// The change that was undone.
    pub entry: HistoryEntry,
    pub scope: NotebookScope,
    /// Each memory in its current state; `None` if the undone change had created it, because it is
    /// forgotten now.
    pub memories: Vec<(MemoryId, Option<Memory>)>,
}

/// Lists the changes of a memory with its versions, oldest first.
pub(crate) async fn memory_history(
    reader: &ProjectReader,
    id: &str,
) -> Result<MemoryHistory, Error> {
    let LocatedMemory { notebook, memory } = find_by_id(reader, id).await?;
    let versions = notebook.store.history().list_versions(memory.id).await?;
    let version_at = |version: u32| {
        if version == memory.version {
            return Some(memory.clone());
        }
        versions.iter().find(|it| it.version == version).cloned()
    };
    let entries = notebook.store.history().audit_entries_of(memory.id).await?;
    let steps =
        entries.into_iter().map(|(entry, version)| (to_history_entry(entry), version_at(version)));
    Ok(MemoryHistory { steps: steps.collect(), memory })
}

/// Undoes the last change of a memory, or the last change anywhere. Repeated calls go further back.
pub(crate) async fn undo_last(project: &Project, id: Option<&str>) -> Result<UndoReport, Error> {
    let last = match id {
        Some(id) => last_change_of(project, id).await?,
        None => last_change(project).await?,
    };
    let Some((notebook, entry)) = last else {
        return Err(Error::nothing_to_do("there is nothing to undo"));
    };
    let quiet = quiet_spans(project, &notebook.store).await?;
    if lived_millis(entry.at, project.now, &quiet) > RESTORE_WINDOW_MS {
        return Err(Error::refuse(
            format!(
                "the last change ({}, {}) is more than 30 days old",
                entry.action,
                entry.at.format_date()
            ),
            "`waylore history` shows older versions; `waylore restore --version N` goes back to one",
        ));
    }
    undo_entry(project, &notebook, entry).await
}

fn to_history_entry(entry: AuditEntry) -> HistoryEntry {
    let AuditEntry { at, actor, action, undone_by, .. } = entry;
    HistoryEntry { at, actor, action, is_undone: undone_by.is_some() }
}

/// Finds the last undoable change of one memory. For a user's memory that may be its exclusion from
/// this project, which is stored in the project's notebook.
async fn last_change_of(
    reader: &ProjectReader,
    id: &str,
) -> Result<Option<(Notebook, AuditEntry)>, Error> {
    let LocatedMemory { notebook, memory } = find_by_id(reader, id).await?;
    let own = notebook.store.history().last_undoable_entry(Some(memory.id)).await?;
    if notebook.scope == NotebookScope::Project {
        return Ok(own.map(|it| (notebook, it)));
    }
    // The project's notebook, if the project has one. The newer of the two changes wins; the hybrid
    // clock (`hlc`) orders changes across notebooks.
    for project_notebook in notebooks_in_scope(reader, Some(NotebookScope::Project)) {
        let is_exclusion =
            |it: &AuditEntry| it.undone_by.is_none() && excluded_memory(it) == Some(memory.id);
        let entries = project_notebook.store.history().recent_entries(NO_LIMIT).await?;
        if let Some(exclusion) = entries.into_iter().find(is_exclusion)
            && own.as_ref().is_none_or(|it| it.hlc < exclusion.hlc)
        {
            return Ok(Some((project_notebook, exclusion)));
        }
    }
    Ok(own.map(|it| (notebook, it)))
}

/// Finds the last undoable change in any notebook. The hybrid clock orders changes across
/// notebooks.
async fn last_change(reader: &ProjectReader) -> Result<Option<(Notebook, AuditEntry)>, Error> {
    let mut last: Option<(Notebook, AuditEntry)> = None;
    for notebook in reader.notebooks() {
        if let Some(entry) = last_undoable(reader, &notebook.store).await?
            && last.as_ref().is_none_or(|(_, newest)| newest.hlc < entry.hlc)
        {
            last = Some((notebook, entry));
        }
    }
    Ok(last)
}

/// Reverts one batch.
async fn undo_entry(
    project: &Project,
    notebook: &Notebook,
    entry: AuditEntry,
) -> Result<UndoReport, Error> {
    let steps = notebook.store.history().undo_steps(entry.batch).await?;
    let excluded = excluded_memory(&entry);
    let setting = switched_setting(&entry).map(str::to_owned);
    let mut changes = Vec::new();

    // The affected memories, and whether the batch had created each.
    let mut affected: Vec<(MemoryId, bool)> = Vec::new();
    if let Some(key) = setting {
        // The batch changed a setting only. If it removed the setting (`Restore`), set it
        // again; otherwise remove it.
        let value = (entry.action == AuditAction::Restore).then(|| "true".to_owned());
        changes.push(StoreChange::Setting { key, value });
        affected.extend(excluded.map(|it| (it, false)));
    }
    for step in steps {
        let current = notebook.store.memories().get(step.id).await?;
        let current = current.ok_or_else(|| Error::NotFound { id: step.id.short() })?;
        let versions = notebook.store.history().list_versions(step.id).await?;
        let (mut after, was_created) = revert_step(&step, current, &versions, project.now)?;
        if entry.action == AuditAction::Prune {
            // Maintenance had forgotten it for its age; without a new date it would do so again.
            after.updated_at = project.now;
        }
        changes.push(StoreChange::Replace(Box::new(after)));
        affected.push((step.id, was_created));
    }
    changes.push(StoreChange::MarkUndone(entry.batch));
    project.write(notebook.scope, user_batch(AuditAction::Undo, project.now, changes)).await?;

    // An exclusion is stored in the project's notebook, but the memory is the user's.
    let store =
        if excluded.is_some() { project.user_store_reader() } else { notebook.store.clone() };
    let mut memories = Vec::new();
    for (id, was_created) in affected {
        let memory = if was_created { None } else { store.memories().get(id).await? };
        memories.push((id, memory));
    }
    Ok(UndoReport { entry: to_history_entry(entry), scope: notebook.scope, memories })
}

/// Returns the memory that a batch excluded from the project, or whose exclusion it lifted; `None`
/// for all other batches.
fn excluded_memory(entry: &AuditEntry) -> Option<MemoryId> {
    entry.detail.as_ref()?.strip_prefix(EXCLUSION_PREFIX)?.parse().ok()
}

/// Returns the setting of the project that a batch switched on or off, if it changed nothing else.
fn switched_setting(entry: &AuditEntry) -> Option<&str> {
    let detail = entry.detail.as_deref()?;
    [EXCLUSION_PREFIX, DISMISSAL_PREFIX].iter().any(|it| detail.starts_with(it)).then_some(detail)
}

/// Finds the last undoable batch of a store that changed anything that still exists.
async fn last_undoable(
    reader: &ProjectReader,
    store: &StoreReader,
) -> Result<Option<AuditEntry>, Error> {
    let last = store.history().last_undoable_entry(None).await?;
    let Some(entry) = &last else { return Ok(None) };
    if has_remains(reader, store, entry).await? {
        return Ok(last);
    }
    // Everything that the batch changed was erased since. That is rare, so a scan of all entries,
    // newest first, is fast enough.
    for older in store.history().recent_entries(NO_LIMIT).await? {
        let is_candidate = older.undone_by.is_none() && older.action.is_undoable();
        if is_candidate && has_remains(reader, store, &older).await? {
            return Ok(Some(older));
        }
    }
    Ok(None)
}

/// Returns the memory from before a step, and whether the step had created it. The caller writes it
/// as a new version. `step.version` is the version that the batch wrote: 1 if it created the memory.
fn revert_step(
    step: &UndoStep,
    current: Memory,
    versions: &[Memory],
    now: Timestamp,
) -> Result<(Memory, bool), Error> {
    if !is_unchanged_since(step, &current, versions) {
        return Err(Error::refuse(
            format!("#{} was changed again since", step.id.short()),
            format!("undo that first: `waylore undo {}`", step.id.short()),
        ));
    }
    // The store checks that a replacement is based on the current version.
    let current_version = current.version;
    let was_created = step.version == 1;
    let mut after = match &step.before {
        Some(before) => before.clone(),
        None if was_created => current,
        None => {
            let what = format!("the version of #{} before is no longer stored", step.id.short());
            return Err(Error::Refused { what, hint: None });
        }
    };
    if was_created {
        after.states.deleted_at = Some(now);
    }
    after.version = current_version;
    Ok((after, was_created))
}

/// Returns whether anything that a batch changed still exists.
async fn has_remains(
    reader: &ProjectReader,
    store: &StoreReader,
    entry: &AuditEntry,
) -> Result<bool, Error> {
    match excluded_memory(entry) {
        Some(id) => Ok(reader.user_store_reader().memories().get(id).await?.is_some()),
        None if switched_setting(entry).is_some() => Ok(true),
        None => Ok(!store.history().undo_steps(entry.batch).await?.is_empty()),
    }
}

/// Returns whether the memory is in the state in which the step left it: it has that version, or
/// all later changes were undone.
fn is_unchanged_since(step: &UndoStep, current: &Memory, versions: &[Memory]) -> bool {
    if current.version == step.version {
        return true;
    }
    let left_by_step = versions.iter().find(|it| it.version == step.version);
    // An undo writes a new version, so the bookkeeping fields differ; all others must be equal.
    left_by_step.is_some_and(|left| {
        let Memory { version, hlc, updated_at, counters, .. } = left.clone();
        Memory { version, hlc, updated_at, counters, ..current.clone() } == *left
    })
}
