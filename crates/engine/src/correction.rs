//! Corrections: applies a user's judgement of a memory (right, outdated, partly wrong, not
//! applicable, incorrect). Each correction is one batch that can be undone, together with its
//! consequences: memories derived from a corrected one wait for review.
//!
//! Words: a *tainted* memory derives from text outside the project. A *user's* memory is in the
//! user's own notebook, which all projects share; a *project's* memory is in that of one project.
//! *Anchors* are the symbols that a memory refers to, with the hash of their code.

use std::path::PathBuf;

use model::{Deprecation, Memory, MemoryId, MemoryScope, ProjectPath, RelationKind};
use store::{AuditAction, StoreChange, WriteBatch};

use crate::anchor::refresh_anchors;
use crate::draft_resolution::{SupersedeCause, to_successor};
use crate::editing::{clean_reason, refuse_if_forgotten, replace_memory, set_content, user_batch};
use crate::lookup::{find_by_id, user_excluded_memories};
use crate::remember::{draft_memory, resolve_files};
use crate::text_admission::{OnSecret, admit_content, admit_labels};
use crate::{Error, LocatedMemory, Notebook, NotebookScope, Project, ProjectReader};

/// A user's judgement of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCorrection {
    /// It is right. Ends the review, and is the only operation that removes a taint. (Remembering
    /// the same statement again also ends the review, but keeps the taint.)
    Confirmed,
    /// It was true once. The replacement, if any, supersedes it.
    Outdated { replacement: Option<String> },
    /// Part of it is wrong. The text becomes its new version.
    PartlyWrong { text: String },
    /// It is true, but not everywhere. A project's memory is narrowed to these modules and files; a
    /// user's memory is excluded from this project.
    NotApplicable { modules: Vec<String>, files: Vec<PathBuf>, cwd: PathBuf },
    /// It was never true. The text supersedes it.
    Incorrect { text: String },
}

impl MemoryCorrection {
    /// Returns whether the correction brings in new text.
    const fn has_text(&self) -> bool {
        match self {
            Self::Confirmed | Self::NotApplicable { .. } | Self::Outdated { replacement: None } => {
                false
            }
            Self::Outdated { replacement: Some(_) }
            | Self::PartlyWrong { .. }
            | Self::Incorrect { .. } => true,
        }
    }
}

/// Outcome of a correction.
#[derive(Clone, Debug)]
pub struct CorrectionResult {
    /// The corrected memory in its new state.
    pub memory: Memory,
    /// The new memory that supersedes it.
    pub replacement: Option<Memory>,
    /// Memories derived from the corrected one. They now wait for review.
    pub dependents: Vec<Memory>,
    /// The memory is the user's and is now excluded from this project.
    pub excluded: bool,
}

/// Prefix of the project setting that excludes a user's memory; the id of the memory follows.
pub(crate) const EXCLUSION_PREFIX: &str = "exclude.";
/// Confidence that a confirmation adds, in per mille.
const CONFIRMATION_BONUS: u16 = 100;

/// Applies a user's judgement of a memory.
pub(crate) async fn correct_memory(
    project: &mut Project,
    id: &str,
    correction: MemoryCorrection,
) -> Result<CorrectionResult, Error> {
    // While memory is turned off, the user can still judge memories, but no new text is stored.
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

/// Lifts the exclusion of a user's memory from this project. Returns whether there was one.
pub(crate) async fn lift_exclusion(
    project: &Project,
    notebook: &Notebook,
    id: MemoryId,
) -> Result<bool, Error> {
    let is_excluded = notebook.scope == NotebookScope::User
        && user_excluded_memories(project).await?.contains(&id);
    if is_excluded {
        let batch = exclusion_batch(project, AuditAction::Restore, id);
        project.write(NotebookScope::Project, batch).await?;
    }
    Ok(is_excluded)
}

/// Refuses to correct a memory that is forgotten or deprecated.
fn refuse_if_settled(memory: &Memory) -> Result<(), Error> {
    refuse_if_forgotten(memory)?;
    if memory.states.deprecated_at.is_none() {
        return Ok(());
    }
    let id = memory.id.short();
    let reason = memory.states.deprecated_reason.as_deref().unwrap_or("the reason is not known");
    Err(Error::refuse(
        format!("#{id} is deprecated already: {reason}"),
        format!("`waylore restore {id}` brings it back"),
    ))
}

/// Marks a memory as verified by the user.
async fn confirm_memory(
    project: &Project,
    notebook: &Notebook,
    memory: Memory,
) -> Result<CorrectionResult, Error> {
    let mut after = memory;
    after.flags.user_verified = true;
    after.flags.needs_review = false;
    after.flags.tainted = false;
    after.flags.candidate = false;
    after.states.stale_at = None;
    // The user confirmed the memory for the code as it is now.
    after.anchors = refresh_anchors(project, after.anchors);
    after.confidence = after.confidence.saturating_add(CONFIRMATION_BONUS);
    let memory = replace_memory(project, notebook, AuditAction::Verify, after).await?;
    Ok(CorrectionResult { memory, replacement: None, dependents: Vec::new(), excluded: false })
}

/// Deprecates a memory, stores its replacement if there is one, and marks its dependents for
/// review.
async fn deprecate_memory(
    project: &Project,
    notebook: &Notebook,
    memory: Memory,
    judgement: &str,
    replacement_text: Option<String>,
) -> Result<CorrectionResult, Error> {
    let replacement = match &replacement_text {
        // The memory was true once, and nothing is true instead.
        None => None,
        Some(text) => Some(draft_replacement(project, notebook.scope, &memory, text)?),
    };
    let mut after = memory.clone();
    let reason = match &replacement {
        Some(fresh) => clean_reason(&format!("{judgement}, superseded by #{}", fresh.id.short())),
        None => judgement.to_owned(),
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

/// Changes the text of a memory, and marks its dependents for review.
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

/// Narrows a project's memory to modules and files, or excludes a user's memory from the project.
async fn narrow_memory(
    project: &mut Project,
    notebook: &Notebook,
    memory: Memory,
    modules: Vec<String>,
    files: Vec<ProjectPath>,
) -> Result<CorrectionResult, Error> {
    // A user's memory may be right in other projects, so it is not changed.
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
    // What the user did not name stays as it is.
    if !modules.is_empty() {
        after.scope = MemoryScope::Module;
        after.modules = modules;
    }
    if !files.is_empty() {
        after.files = files;
    }
    let memory = replace_memory(project, notebook, AuditAction::Flag, after).await?;
    Ok(CorrectionResult { memory, replacement: None, dependents: Vec::new(), excluded: false })
}

/// Builds the batch that excludes a user's memory (`Flag`) or lifts the exclusion (`Restore`). It
/// only changes a setting of the project's notebook, so the detail of the audit entry names the
/// memory; `undo` reads it there.
fn exclusion_batch(reader: &ProjectReader, action: AuditAction, id: MemoryId) -> WriteBatch {
    let key = format!("{EXCLUSION_PREFIX}{id}");
    let value = (action == AuditAction::Flag).then(|| "true".to_owned());
    let changes = vec![StoreChange::Setting { key: key.clone(), value }];
    WriteBatch { detail: Some(key), ..user_batch(action, reader.now, changes) }
}

/// Drafts the memory that replaces a corrected one.
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

/// Returns the active memories that derive from this one, marked for review. They are not written
/// yet.
async fn dependents_for_review(
    reader: &ProjectReader,
    notebook: &Notebook,
    memory: &Memory,
) -> Result<Vec<Memory>, Error> {
    let mut dependents: Vec<Memory> = Vec::new();
    // A memory that once superseded this one (which was restored since) inherited its subject.
    for kind in [RelationKind::DerivedFrom, RelationKind::Supersedes] {
        for mut dependent in notebook.store.memories().list_related_to(memory.id, kind).await? {
            let states = &dependent.states;
            let is_active = states.deleted_at.is_none() && states.deprecated_at.is_none();
            // A memory can have both relations; it is listed once.
            if is_active && !dependents.iter().any(|it| it.id == dependent.id) {
                dependent.flags.needs_review = true;
                dependent.updated_at = reader.now;
                dependents.push(dependent);
            }
        }
    }
    Ok(dependents)
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

/// Excludes a user's memory from this project only.
async fn exclude_memory(project: &mut Project, memory: Memory) -> Result<CorrectionResult, Error> {
    if user_excluded_memories(project).await?.contains(&memory.id) {
        let id = memory.id.short();
        return Err(Error::refuse(
            format!("#{id} is excluded from this project already"),
            format!("`waylore restore {id}` lifts the exclusion"),
        ));
    }
    // The exclusion is stored in the project's notebook, which may not exist yet.
    project.ensure_notebook(NotebookScope::Project).await?;
    let batch = exclusion_batch(project, AuditAction::Flag, memory.id);
    project.write(NotebookScope::Project, batch).await?;
    Ok(CorrectionResult { memory, replacement: None, dependents: Vec::new(), excluded: true })
}
