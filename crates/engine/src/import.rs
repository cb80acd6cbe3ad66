//! Import: stores the records of a file as memories.
//!
//! The command line parses the file; this module checks every text, compares the records with the
//! stored memories, and writes one batch. A file is not trusted: unless the user vouches for it,
//! its memories are tainted (marked as derived from outside), wait for review, and lose every claim
//! about their own trust. A *forgotten* memory is still stored and can be restored; an *erased* one
//! is gone, and only its id is known.

mod record_admission;

use std::collections::{HashMap, HashSet};

use model::{
    Actor, MAX_LABEL, Memory, MemoryId, MemorySource, PerMille, ProjectId, RelationTarget,
    Timestamp, UsageCounters, Visibility,
};
use store::{AuditAction, StoreChange, StoreReader, WriteBatch};

use crate::editing::user_batch;
use crate::export::list_all_memories;
use crate::text_admission::mask_label;
use crate::{Error, NotebookScope, OnSecret, Project, ProjectReader, format_count};
use record_admission::admit_record;

/// One record of a file, or the reason why it could not be parsed.
#[derive(Clone, Debug)]
pub struct ImportRecord {
    /// Position in the file, counted from 1.
    pub at: usize,
    pub memory: Result<Box<Memory>, String>,
}

/// A record that was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProblem {
    pub at: usize,
    /// The reason, as a message.
    pub what: String,
}

/// Options of an import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Name of the file, for the audit trail.
    pub file: String,
    pub scope: NotebookScope,
    /// The user vouches for the content, so nothing is tainted.
    pub is_vouched: bool,
    /// Import the valid records although others are invalid. If false, one invalid record stops the
    /// whole import.
    pub skip_invalid: bool,
    pub on_secret: OnSecret,
    pub dry_run: bool,
}

/// Outcome for one valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    Added(MemoryId),
    /// The notebook holds a memory with this id or exactly this text.
    Duplicate(MemoryId),
    /// The memory was erased here for good and is not imported again.
    Erased(MemoryId),
}

/// Outcome of an import.
#[derive(Clone, Debug)]
pub struct ImportReport {
    pub outcomes: Vec<RecordOutcome>,
    pub problems: Vec<ImportProblem>,
    /// True if anything was written.
    pub written: bool,
}

/// Highest confidence of a record that the user does not vouch for.
const MAX_UNVOUCHED_CONFIDENCE: PerMille = PerMille::new(850);

/// The memories that a record is compared with.
#[derive(Default)]
struct ExistingRecords {
    /// Memories of the target notebook.
    present: HashMap<MemoryId, Memory>,
    /// Ids that the file names and that were purged from this notebook.
    erased: HashSet<MemoryId>,
    /// Ids of earlier records of the same file.
    imported: HashSet<MemoryId>,
    /// Ids by exact text, of the target notebook and of earlier records.
    by_text: HashMap<String, MemoryId>,
    /// Ids of the other notebook. One id must not name two memories.
    other_notebook: HashSet<MemoryId>,
    /// New ids of records whose own id is taken in the other notebook.
    renamed: HashMap<MemoryId, MemoryId>,
}

/// Imports records. They are external: unless the user vouches for them, they are tainted and wait
/// for review.
pub(crate) async fn import_records(
    project: &mut Project,
    records: Vec<ImportRecord>,
    options: ImportOptions,
) -> Result<ImportReport, Error> {
    project.require_memory_enabled()?;
    let valid = records.iter().filter_map(|it| it.memory.as_ref().ok());
    let ids = valid.map(|it| it.id).collect();
    let mut existing = load_existing(project, options.scope, ids).await?;
    let mut report = ImportReport { outcomes: Vec::new(), problems: Vec::new(), written: false };

    // Decides about every record before anything is written.
    let mut fresh = Vec::new();
    for ImportRecord { at, memory } in records {
        match memory.and_then(|it| admit_record(*it, options.on_secret)) {
            Ok(memory) => {
                report.outcomes.push(place_record(project, &mut existing, &mut fresh, memory));
            }
            Err(what) => report.problems.push(ImportProblem { at, what }),
        }
    }
    let is_refused = !report.problems.is_empty() && !options.skip_invalid;
    if is_refused || options.dry_run || fresh.is_empty() {
        return Ok(report);
    }
    let target = project.ensure_notebook(options.scope).await?.project;
    let to_change = |memory: Memory| {
        let memory = to_imported(memory, target, &existing.renamed, &options, project.now);
        // The memory of an undone import is still stored, as forgotten. Importing it again revives
        // it.
        if existing.present.contains_key(&memory.id) {
            StoreChange::Replace(Box::new(memory))
        } else {
            StoreChange::Insert(Box::new(memory))
        }
    };
    let changes: Vec<StoreChange> = fresh.into_iter().map(to_change).collect();
    let batch = WriteBatch {
        actor: import_actor(&options),
        detail: Some(format_count(changes.len(), "memory", "memories")),
        ..user_batch(AuditAction::Import, project.now, changes)
    };
    project.write(options.scope, batch).await?;
    report.written = true;
    Ok(report)
}

/// Loads the memories of both notebooks. `scope` is the target of the import.
async fn load_existing(
    reader: &ProjectReader,
    scope: NotebookScope,
    ids: Vec<MemoryId>,
) -> Result<ExistingRecords, Error> {
    let mut existing = ExistingRecords::default();
    for notebook in reader.notebooks() {
        let memories = list_all_memories(&notebook.store).await?;
        if notebook.scope != scope {
            existing.other_notebook.extend(memories.iter().map(|it| it.id));
            continue;
        }
        for memory in memories {
            // The text of an undone import may be imported again, so it does not count as a
            // duplicate.
            if !was_undone(&notebook.store, &memory).await? {
                existing.by_text.insert(memory.content.clone(), memory.id);
            }
            existing.present.insert(memory.id, memory);
        }
        existing.erased.extend(notebook.store.memories().filter_erased(ids.clone()).await?);
    }
    Ok(existing)
}

/// Decides about one record, and adds it to `fresh` if it is to be written.
fn place_record(
    reader: &ProjectReader,
    existing: &mut ExistingRecords,
    fresh: &mut Vec<Memory>,
    mut memory: Memory,
) -> RecordOutcome {
    if existing.erased.contains(&memory.id) {
        return RecordOutcome::Erased(memory.id);
    }
    if let Some(known) = existing.by_text.get(&memory.content) {
        return RecordOutcome::Duplicate(*known);
    }
    if let Some(present) = existing.present.get(&memory.id) {
        // Same id, other text: the memory was edited since the export, and the edit wins. (The texts
        // of undone imports are not in `by_text`.)
        if existing.by_text.contains_key(&present.content) {
            return RecordOutcome::Duplicate(memory.id);
        }
        // The memory of an undone import is replaced. A replacement is based on the stored version.
        memory.version = present.version;
    }

    // Taken by a memory of the other notebook: the record gets a new id.
    if existing.other_notebook.contains(&memory.id) {
        let id = MemoryId::new(reader.now, (reader.config.random)());
        existing.renamed.insert(memory.id, id);
        memory.id = id;
    }

    // The file has two records with this id.
    if !existing.imported.insert(memory.id) {
        return RecordOutcome::Duplicate(memory.id);
    }
    existing.by_text.insert(memory.content.clone(), memory.id);
    let id = memory.id;
    fresh.push(memory);
    RecordOutcome::Added(id)
}

/// Converts a record to the memory to store. `updated_at` becomes `now` in any case, because decay
/// counts from it and an old export should not be faded on arrival. `created_at` is kept.
fn to_imported(
    memory: Memory,
    project: Option<ProjectId>,
    renamed: &HashMap<MemoryId, MemoryId>,
    options: &ImportOptions,
    now: Timestamp,
) -> Memory {
    let mut imported = Memory { project, updated_at: now, ..memory };

    // Relations follow the records that got new ids.
    for relation in &mut imported.relations {
        if let RelationTarget::Memory(id) = &mut relation.target {
            *id = *renamed.get(id).unwrap_or(id);
        }
    }
    if !options.is_vouched {
        imported.flags.tainted = true;
        imported.flags.needs_review = true;
        imported.flags.user_verified = false;
        // Only a user may pin, and the confidence that a file claims is limited.
        imported.flags.pinned = false;
        imported.confidence = imported.confidence.at_most(MAX_UNVOUCHED_CONFIDENCE);
        // No user or session here stated it, so it gets the least trusted source.
        imported.source = MemorySource::ObserverInferred;
        imported.visibility = Visibility::Personal;
        imported.counters = UsageCounters::default();
        imported.half_life_days = None;
        imported.states.stale_at = None;
        imported.created_at = imported.created_at.min(now);
        imported.created_by = import_actor(options);
    }
    if promote::detect_instruction(&imported.content).is_some() {
        imported.flags.needs_review = true;
    }
    imported
}

/// Returns the author for the audit trail. An empty name could not be parsed back from the stored
/// entry.
fn import_actor(options: &ImportOptions) -> Actor {
    let name = mask_label(&options.file, MAX_LABEL);
    Actor::Import(if name.is_empty() { "a file".to_owned() } else { name })
}

/// Returns whether a memory is forgotten because the batch that created it was undone.
async fn was_undone(store: &StoreReader, memory: &Memory) -> Result<bool, Error> {
    if memory.states.deleted_at.is_none() {
        return Ok(false);
    }
    let last = store.history().audit_entries_of(memory.id).await?.pop();
    Ok(last.is_some_and(|(entry, _)| entry.action == AuditAction::Undo))
}
