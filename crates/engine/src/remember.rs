//! Remember: stores a user's statement as a memory.
//!
//! The stages: admit every part of the input, draft a memory, compare it with the stored ones
//! (`draft_resolution`: insert, merge or supersede), write one batch. [`draft_memory`] and
//! [`resolve_files`] are shared with corrections, rules and agents.

use std::path::{Path, PathBuf};

use model::{
    Actor, HybridTimestamp, MAX_LABEL, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource,
    MemoryType, Payload, PerMille, ProjectPath, SoftStates, StatedPayload, SymbolAnchor,
    UsageCounters, Visibility,
};
use promote::TypeSuggestion;
use store::WriteBatch;

use crate::anchor::split_anchors;
use crate::draft_resolution::{DraftResolution, TypeOrigin, insert_draft, resolve_draft};
use crate::lookup::notebooks_in_scope;
use crate::payload_admission::admit_payload;
use crate::text_admission::{OnSecret, admit_content, admit_labels, mask_label, refuse_secret};
use crate::{Error, Notebook, NotebookScope, Project, ProjectReader};

/// Initial confidence of a user's statement.
pub(crate) const USER_CONFIDENCE: PerMille = PerMille::new(900);
/// Longest stored branch name, in characters.
pub(crate) const MAX_BRANCH_CHARS: usize = 4 * MAX_LABEL;

/// A statement that a user wants to have remembered.
#[derive(Clone, Debug)]
pub struct NewMemory {
    pub content: String,
    /// Slug of a type. If absent, the type is suggested from the text.
    pub kind: Option<String>,
    pub scope: NotebookScope,
    pub tags: Vec<String>,
    /// As typed, relative to `cwd`. `path:symbol` and `path:line` anchor the memory to a symbol.
    pub files: Vec<PathBuf>,
    pub modules: Vec<String>,
    /// The data of the type; needs a given type.
    pub payload: Option<StatedPayload>,
    pub cwd: PathBuf,
    pub pinned: bool,
    pub on_secret: OnSecret,
    pub on_duplicate: OnDuplicate,
    /// Way by which the text came, which decides if text that reads like an instruction waits for review.
    pub origin: StatementOrigin,
    /// Idempotency key of the caller: a second call with the same key writes nothing.
    pub key: Option<String>,
    pub dry_run: bool,
}

/// Way by which a statement reaches the notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementOrigin {
    /// A command or a request, which an agent can make as well as the user.
    Command,
    /// A command that an agent ran in its shell. The statement waits for the user's review.
    AgentShell,
    /// The user typed it as a prompt of an agent. The user may give instructions.
    Prompt,
}

/// Author of a statement that an agent made in its shell.
const SHELL_AGENT: &str = "shell";
/// The review reason of a statement that an agent made in its shell.
const STATED_BY_AGENT: &str = "an agent stated it";

/// Handling of a stored memory that states nearly the same or the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Merge a repetition, supersede a contradicted memory.
    Resolve,
    /// Keep both.
    Keep,
}

/// Outcome of remembering a statement.
#[derive(Clone, Debug)]
pub struct RememberResult {
    /// The memory in its current state. For a repeated key it may have been forgotten meanwhile.
    pub memory: Memory,
    pub scope: NotebookScope,
    pub novelty: MemoryNovelty,
    /// The suggested type with its reason, if none was given.
    pub suggestion: Option<TypeSuggestion>,
    pub n_redacted: usize,
    /// Named files that do not exist.
    pub missing_files: Vec<ProjectPath>,
    /// The reason for review, if the text reads like an instruction to an agent.
    pub review_reason: Option<&'static str>,
    /// The key was used before, so nothing was written.
    pub is_repeated: bool,
}

/// Relation of a new memory to the existing ones.
#[derive(Clone, Debug)]
pub enum MemoryNovelty {
    New,
    /// Merged into a memory that states the same.
    Merged {
        previous_text: String,
    },
    /// Supersedes a memory that it contradicts.
    Supersedes {
        old: Box<Memory>,
        explanation: String,
    },
}

/// A statement whose every part passed admission.
struct AdmittedStatement {
    text: String,
    n_redacted: usize,
    kind: MemoryType,
    suggestion: Option<TypeSuggestion>,
    files: Vec<ProjectPath>,
    missing_files: Vec<ProjectPath>,
    anchors: Vec<SymbolAnchor>,
    tags: Vec<String>,
    modules: Vec<String>,
    payload: Option<Payload>,
}

/// Stores a user's statement.
pub(crate) async fn remember_statement(
    project: &mut Project,
    new: NewMemory,
) -> Result<RememberResult, Error> {
    project.require_memory_enabled()?;

    // All input is checked first, because a refused statement must not register the project.
    let statement = admit_statement(project, &new)?;

    // A dry run must not create the notebook; it may be missing then.
    let notebook = if new.dry_run {
        notebooks_in_scope(project, Some(new.scope)).pop()
    } else {
        Some(project.ensure_notebook(new.scope).await?)
    };
    let draft = draft_statement(project, &new, &statement);
    let review_reason = find_review_reason(&new, &statement.text);
    // The words of an agent change no memory of the user: they wait beside it.
    let may_resolve =
        new.on_duplicate == OnDuplicate::Resolve && new.origin != StatementOrigin::AgentShell;
    let DraftResolution { memory, novelty, batch } = match &notebook {
        Some(notebook) if may_resolve => {
            let is_given = new.kind.is_some();
            let origin = if is_given { TypeOrigin::Given } else { TypeOrigin::Suggested };
            resolve_draft(&notebook.store, draft, origin).await?
        }
        // Nothing is stored yet, or both are to be kept.
        None | Some(_) => insert_draft(draft),
    };
    let (memory, is_repeated) = match notebook.filter(|_| !new.dry_run) {
        Some(notebook) => {
            let batch = WriteBatch { key: new.key, ..batch };
            write_statement(project, &notebook, batch, memory).await?
        }
        None => (memory, false),
    };
    Ok(RememberResult {
        memory,
        scope: new.scope,
        novelty,
        suggestion: statement.suggestion,
        n_redacted: statement.n_redacted,
        missing_files: statement.missing_files,
        review_reason,
        is_repeated,
    })
}

/// Builds a user's memory with a text and a type, and defaults for everything else.
pub(crate) fn draft_memory(
    reader: &ProjectReader,
    scope: NotebookScope,
    kind: MemoryType,
    content: &str,
) -> Memory {
    // Staleness is computed later against the commit and branch of this moment.
    let head = source::read_head(&reader.place);
    let in_project = scope == NotebookScope::Project;
    Memory {
        id: MemoryId::new(reader.now, (reader.config.random)()),
        project: reader.state.id().filter(|_| in_project),
        summary: promote::compose_summary(content, &kind),
        citation: promote::compose_citation(content),
        content: content.to_owned(),
        kind,
        source: MemorySource::UserTaught,
        scope: MemoryScope::Global,
        visibility: Visibility::Personal,
        confidence: USER_CONFIDENCE,
        tags: Vec::new(),
        files: Vec::new(),
        modules: Vec::new(),
        anchors: Vec::new(),
        work_unit: None,
        session: None,
        provenance: Vec::new(),
        commit: head.commit.filter(|_| in_project),
        branch: head.branch.filter(|_| in_project).map(|it| mask_label(&it, MAX_BRANCH_CHARS)),
        relations: Vec::new(),
        half_life_days: None,
        flags: MemoryFlags { user_verified: true, ..MemoryFlags::default() },
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: reader.now,
        updated_at: reader.now,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    }
}

/// Converts paths as typed to paths of the project. Returns all of them, and those that do not
/// exist.
pub(crate) fn resolve_files(
    reader: &ProjectReader,
    given: &[PathBuf],
    cwd: &Path,
) -> Result<(Vec<ProjectPath>, Vec<ProjectPath>), Error> {
    let mut files: Vec<ProjectPath> = Vec::new();
    for path in given {
        let path = reader.project_path(path, cwd)?;
        refuse_secret("file", path.as_str())?;
        // Two spellings can name one file.
        if !files.contains(&path) {
            files.push(path);
        }
    }
    let is_missing =
        |it: &&ProjectPath| !source::exists_in_project(&reader.place.root, it.as_str());
    let missing = files.iter().filter(is_missing).cloned().collect();
    Ok((files, missing))
}

/// Checks every part of the input, and suggests a type if none is given.
fn admit_statement(reader: &ProjectReader, new: &NewMemory) -> Result<AdmittedStatement, Error> {
    if let Some(key) = &new.key {
        refuse_secret("key", key)?;
    }
    let admitted = admit_content(&new.content, new.on_secret)?;
    // The type is suggested from the admitted text, so that a redacted secret cannot influence it.
    let (kind, suggestion) = if let Some(slug) = &new.kind {
        (MemoryType::parse(slug, &reader.config.types)?, None)
    } else {
        let suggestion = promote::suggest_type(&admitted.text);
        (MemoryType::Core(suggestion.kind), Some(suggestion))
    };
    if new.payload.is_some() && new.kind.is_none() {
        return Err(Error::refuse(
            "a payload needs a type",
            "name the type whose fields these are",
        ));
    }
    let payload = admit_payload(&kind, new.payload.as_ref(), reader.now)?;
    let (paths, anchors) = split_anchors(reader, &new.files, &new.cwd)?;
    let (files, missing_files) = resolve_files(reader, &paths, &new.cwd)?;
    Ok(AdmittedStatement {
        text: admitted.text,
        n_redacted: admitted.n_redacted,
        kind,
        suggestion,
        files,
        missing_files,
        anchors,
        tags: admit_labels("tag", &new.tags)?,
        modules: admit_labels("module", &new.modules)?,
        payload,
    })
}

/// Drafts the memory of a statement.
fn draft_statement(
    reader: &ProjectReader,
    new: &NewMemory,
    statement: &AdmittedStatement,
) -> Memory {
    let mut draft = draft_memory(reader, new.scope, statement.kind.clone(), &statement.text);
    draft.scope =
        if statement.modules.is_empty() { MemoryScope::Global } else { MemoryScope::Module };
    draft.tags.clone_from(&statement.tags);
    draft.modules.clone_from(&statement.modules);
    draft.files.clone_from(&statement.files);
    // A user's memory holds for all projects, so it cannot be anchored to a symbol of one.
    if new.scope == NotebookScope::Project {
        draft.anchors.clone_from(&statement.anchors);
    }
    draft.payload.clone_from(&statement.payload);
    draft.flags.pinned = new.pinned;
    draft.flags.needs_review = find_review_reason(new, &statement.text).is_some();
    if new.origin == StatementOrigin::AgentShell {
        draft.flags.user_verified = false;
        draft.source = MemorySource::AgentExplicit;
        draft.created_by = Actor::Agent(SHELL_AGENT.to_owned());
    }
    draft
}

/// The reason why a statement waits for the user's review, if it does.
fn find_review_reason(new: &NewMemory, text: &str) -> Option<&'static str> {
    match new.origin {
        StatementOrigin::Command => promote::detect_instruction(text),
        StatementOrigin::AgentShell => Some(STATED_BY_AGENT),
        StatementOrigin::Prompt => None,
    }
}

/// Writes the batch. Returns the memory as stored, and whether the key was used before.
async fn write_statement(
    project: &Project,
    notebook: &Notebook,
    batch: WriteBatch,
    memory: Memory,
) -> Result<(Memory, bool), Error> {
    let applied = project.write(notebook.scope, batch).await?;
    // For a repeated key, these are the ids that the first call wrote.
    let id = applied.ids.first().copied().unwrap_or(memory.id);
    let saved = notebook.store.memories().get(id).await?;
    if applied.is_repeat && saved.is_none() {
        return Err(Error::refuse(
            "the memory stored under this key was erased",
            "to store the text again, give another key",
        ));
    }
    Ok((saved.unwrap_or(memory), applied.is_repeat))
}
