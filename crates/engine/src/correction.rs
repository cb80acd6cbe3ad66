//! Correcting a memory: the four ways in which it can be wrong, and its confirmation.

use std::path::PathBuf;

use model::{Deprecation, Memory, MemoryId, MemoryScope, ProjectPath, RelationKind};
use store::{AuditAction, StoreChange, WriteBatch};

use crate::anchor::refresh_anchors;
use crate::draft_resolution::{SupersedeCause, to_successor};
use crate::editing::{clean_reason, refuse_if_forgotten, replace_memory, set_content, user_batch};
use crate::lookup::{excluded_memories, find_by_id};
use crate::remember::{draft_memory, resolve_files};
use crate::text_admission::{OnSecret, admit_content, admit_labels};
use crate::{Error, LocatedMemory, Notebook, NotebookScope, Project, ProjectReader};

/// A user's judgement of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCorrection {
    /// It is right. Ends review, and is the only operation that removes taint. Remembering the same
    /// statement again ends review as well, but keeps taint.
    Confirmed,
    /// It was true once. The replacement, if any, supersedes it.
    Outdated { replacement: Option<String> },
    /// Part of it is wrong. The text becomes its new version.
    PartlyWrong { text: String },
    /// It is true elsewhere. A project's memory is narrowed to these modules and files; a user's
    /// memory is excluded from this project.
    NotApplicable { modules: Vec<String>, files: Vec<PathBuf>, cwd: PathBuf },
    /// It was never true. The text supersedes it.
    Incorrect { text: String },
}

impl MemoryCorrection {
    const fn has_text(&self) -> bool {
        match self {
            Self::Confirmed | Self::NotApplicable { .. } | Self::Outdated { replacement: None } => {
                false
            }
            Self::Outdated { .. } | Self::PartlyWrong { .. } | Self::Incorrect { .. } => true,
        }
    }
}

/// Outcome of a correction.
#[derive(Clone, Debug)]
pub struct CorrectionResult {
    pub memory: Memory,
    pub replacement: Option<Memory>,
    /// Memories derived from the corrected one. They now wait for review.
    pub dependents: Vec<Memory>,
    /// The memory is the user's and is now excluded from this project.
    pub excluded: bool,
}

/// Prefix of the project setting that excludes a user's memory; its id follows.
pub(crate) const EXCLUSION_PREFIX: &str = "exclude.";
/// Confidence that a confirmation adds, per mille.
const CONFIRMATION_BONUS: u16 = 100;

/// Applies a user's judgement of a memory.
pub(crate) async fn correct_memory(
    project: &mut Project,
    id: &str,
    correction: MemoryCorrection,
) -> Result<CorrectionResult, Error> {
    // While memory is turned off, memories can be judged, but no new text comes in.
    if correction.has_text() {
        project.require_memory_enabled()?;
    }
    let LocatedMemory { notebook, memory } = find_by_id(project, id).await?;
    refuse_if_settled(&memory)?;
    match correction {
        MemoryCorrection::Confirmed => confirm_memory(project, &notebook, memory).await,
        MemoryCorrection::Outdated { replacement } => {
            deprecate_memory(project, &notebook, memory, "outdated", replacement).await
        }
        MemoryCorrection::Incorrect { text } => {
            deprecate_memory(project, &notebook, memory, "incorrect", Some(text)).await
        }
        MemoryCorrection::PartlyWrong { text } => {
            correct_text(project, &notebook, memory, &text).await
        }
        MemoryCorrection::NotApplicable { modules, files, cwd } => {
            let (files, _) = resolve_files(project, &files, &cwd)?;
            let modules = admit_labels("module", &modules)?;
            narrow_memory(project, &notebook, memory, modules, files).await
        }
    }
}

async fn confirm_memory(
    project: &Project,
    notebook: &Notebook,
    memory: Memory,
) -> Result<CorrectionResult, Error> {
    let mut after = memory;
    after.flags.user_verified = true;
    after.flags.needs_review = false;
    after.flags.tainted = false;
    after.states.stale_at = None;
    // The user confirmed the memory for the code as it is now.
    after.anchors = refresh_anchors(project, after.anchors);
    after.confidence = after.confidence.saturating_add(CONFIRMATION_BONUS);
    let memory = replace_memory(project, notebook, AuditAction::Verify, after).await?;
    Ok(CorrectionResult { memory, replacement: None, dependents: Vec::new(), excluded: false })
}

/// Deprecates a memory, stores its replacement, and puts its dependents up for review.
async fn deprecate_memory(
    project: &Project,
    notebook: &Notebook,
    memory: Memory,
    why: &str,
    text: Option<String>,
) -> Result<CorrectionResult, Error> {
    let replacement = match &text {
        None => None,
        Some(text) => Some(draft_replacement(project, notebook.scope, &memory, text)?),
    };
    let mut after = memory.clone();
    let reason = match &replacement {
        Some(fresh) => clean_reason(&format!("{why}, superseded by #{}", fresh.id.short())),
        None => why.to_owned(),
    };
    after.states.deprecate(&Deprecation::ByPerson(reason), project.now);
    after.updated_at = project.now;
    let dependents = dependents_for_review(project, notebook, &memory).await?;
    // One batch, so that one `undo` reverts the correction with all its consequences.
    let mut changes = vec![StoreChange::Replace(Box::new(after))];
    changes.extend(replacement.clone().map(|it| StoreChange::Insert(Box::new(it))));
    changes.extend(dependents.iter().cloned().map(|it| StoreChange::Replace(Box::new(it))));
    project.write(notebook.scope, user_batch(AuditAction::Flag, project.now, changes)).await?;
    let memory = notebook.store.memories().get(memory.id).await?.unwrap_or(memory);
    Ok(CorrectionResult { memory, replacement, dependents, excluded: false })
}

async fn correct_text(
    project: &Project,
    notebook: &Notebook,
    memory: Memory,
    text: &str,
) -> Result<CorrectionResult, Error> {
    let mut after = memory.clone();
    set_content(&mut after, admit_changed_text(&memory, text)?);
    after.anchors = refresh_anchors(project, after.anchors);
    // The user wrote the new text. Taint stays: only an explicit confirmation removes it.
    after.flags.user_verified = true;
    after.updated_at = project.now;
    let dependents = dependents_for_review(project, notebook, &memory).await?;
    let mut changes = vec![StoreChange::Replace(Box::new(after))];
    changes.extend(dependents.iter().cloned().map(|it| StoreChange::Replace(Box::new(it))));
    project.write(notebook.scope, user_batch(AuditAction::Flag, project.now, changes)).await?;
    let memory = notebook.store.memories().get(memory.id).await?.unwrap_or(memory);
    Ok(CorrectionResult { memory, replacement: None, dependents, excluded: false })
}

async fn narrow_memory(
    project: &mut Project,
    notebook: &Notebook,
    memory: Memory,
    modules: Vec<String>,
    files: Vec<ProjectPath>,
) -> Result<CorrectionResult, Error> {
    // The user's memory holds for other projects, so it is excluded here and not changed.
    if notebook.scope == NotebookScope::User {
        return exclude_memory(project, memory).await;
    }
    if modules.is_empty() && files.is_empty() {
        return Err(Error::refuse(
            "a project's memory can only be narrowed",
            "say where it does apply: --module NAME or --file PATH; if nowhere, flag it `incorrect`",
        ));
    }
    let mut after = memory;
    after.scope = if modules.is_empty() { after.scope } else { MemoryScope::Module };
    after.modules = if modules.is_empty() { after.modules } else { modules };
    after.files = if files.is_empty() { after.files } else { files };
    let memory = replace_memory(project, notebook, AuditAction::Flag, after).await?;
    Ok(CorrectionResult { memory, replacement: None, dependents: Vec::new(), excluded: false })
}

/// Excludes a user's memory from this project only.
async fn exclude_memory(project: &mut Project, memory: Memory) -> Result<CorrectionResult, Error> {
    if excluded_memories(project).await?.contains(&memory.id) {
        let id = memory.id.short();
        return Err(Error::refuse(
            format!("#{id} is excluded from this project already"),
            format!("`waylore restore {id}` lifts the exclusion"),
        ));
    }
    // The exclusion is stored in the project's notebook, which may not exist yet.
    project.notebook(NotebookScope::Project).await?;
    let batch = exclusion_batch(project, AuditAction::Flag, memory.id);
    project.write(NotebookScope::Project, batch).await?;
    Ok(CorrectionResult { memory, replacement: None, dependents: Vec::new(), excluded: true })
}

/// Lifts the exclusion of a user's memory from this project. Returns whether there was one.
pub(crate) async fn lift_exclusion(
    project: &Project,
    notebook: &Notebook,
    id: MemoryId,
) -> Result<bool, Error> {
    let is_excluded =
        notebook.scope == NotebookScope::User && excluded_memories(project).await?.contains(&id);
    if is_excluded {
        let batch = exclusion_batch(project, AuditAction::Restore, id);
        project.write(NotebookScope::Project, batch).await?;
    }
    Ok(is_excluded)
}

/// The batch that excludes a user's memory (`Flag`) or lifts that (`Restore`). It belongs to the
/// project's notebook and changes no memory, so its detail names the memory; `undo` reads it there.
fn exclusion_batch(reader: &ProjectReader, action: AuditAction, id: MemoryId) -> WriteBatch {
    let key = format!("{EXCLUSION_PREFIX}{id}");
    let value = (action == AuditAction::Flag).then(|| "true".to_owned());
    let changes = vec![StoreChange::Setting { key: key.clone(), value }];
    WriteBatch { detail: Some(key), ..user_batch(action, reader.now, changes) }
}

fn draft_replacement(
    reader: &ProjectReader,
    scope: NotebookScope,
    old: &Memory,
    text: &str,
) -> Result<Memory, Error> {
    let text = admit_changed_text(old, text)?;
    // The replacement is about the same subject, so it keeps the type.
    let mut draft = draft_memory(reader, scope, old.kind.clone(), &text);
    draft.flags.needs_review = promote::detect_instruction(&text).is_some();
    Ok(to_successor(old, draft, SupersedeCause::Correction))
}

/// The active memories that name this one as their origin, marked for review.
async fn dependents_for_review(
    reader: &ProjectReader,
    notebook: &Notebook,
    memory: &Memory,
) -> Result<Vec<Memory>, Error> {
    let mut dependents: Vec<Memory> = Vec::new();
    for kind in [RelationKind::DerivedFrom, RelationKind::Supersedes] {
        for mut it in notebook.store.memories().list_related_to(memory.id, kind).await? {
            let is_active = it.states.deleted_at.is_none() && it.states.deprecated_at.is_none();
            // A memory can be related in both ways.
            if is_active && !dependents.iter().any(|known| known.id == it.id) {
                it.flags.needs_review = true;
                it.updated_at = reader.now;
                dependents.push(it);
            }
        }
    }
    Ok(dependents)
}

/// Refuses to correct a memory that is forgotten or deprecated already.
fn refuse_if_settled(memory: &Memory) -> Result<(), Error> {
    refuse_if_forgotten(memory)?;
    if memory.states.deprecated_at.is_none() {
        return Ok(());
    }
    let id = memory.id.short();
    let why = memory.states.deprecated_reason.as_deref().unwrap_or("the reason is not known");
    Err(Error::refuse(
        format!("#{id} is deprecated already: {why}"),
        format!("`waylore restore {id}` brings it back"),
    ))
}

/// Admits the text of a correction, which must differ from the memory's.
fn admit_changed_text(memory: &Memory, text: &str) -> Result<String, Error> {
    let text = admit_content(text, OnSecret::Refuse)?.text;
    if text == memory.content {
        let hint = "say what is right instead";
        return Err(Error::refuse("that is what the memory says already", hint));
    }
    Ok(text)
}
