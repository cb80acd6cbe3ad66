//! Corrections of the module map: a name, a description or a list of files for a module.
//!
//! Each correction is a memory of the project, marked by tags: it has a source, can be undone, and
//! survives every new detection. The first half of this file writes corrections, the second half
//! ([`apply_edits`]) applies them to detected modules. For example, the correction of a name:
//!
//! ```text
//! text:   The module `crates/store` is called: storage
//! tags:   module-map, map-name
//! files:  some files of the module, which identify it if its id changes
//! ```

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Actor, MAX_LABEL, Memory, MemoryKind, MemoryScope, MemorySource, MemoryStatus, MemoryType,
    ProjectPath, clean_label,
};
use modules::Module;
use store::{AuditAction, MemoryFilter, StoreChange, WriteBatch};

use super::{MappedModule, ModuleMap, module_map};
use crate::editing::{set_content, user_batch};
use crate::lookup::list_memories;
use crate::remember::draft_memory;
use crate::text_admission::{OnSecret, admit_content, mask_label};
use crate::{AgentSession, Error, NotebookScope, Project, ProjectReader};

/// A correction of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapEdit {
    Name(String),
    Description(String),
    /// Files that belong to it, whatever was detected.
    Members(Vec<ProjectPath>),
}

/// Tag of all memories that correct the map.
const MAP_TAG: &str = "module-map";
/// Tags of the kinds of correction.
const NAME_TAG: &str = "map-name";
const DESCRIPTION_TAG: &str = "map-description";
const FILES_TAG: &str = "map-files";
/// Separates the module from its name in the text of a memory that names it.
const NAME_PHRASE: &str = "is called: ";
/// Files of a module that a correction stores. They identify the module if its id changes.
const MAX_IDENTIFYING_FILES: usize = 8;
/// Files in the text of a memory, at most. The memory itself lists all.
const MAX_FILES_IN_TEXT: usize = 20;
/// Corrections that are loaded, at most.
const MAX_MAP_EDITS: u32 = 1_000;
/// Half-life of a correction, so long that it never fades: a name does not become less true.
const HALF_LIFE_DAYS: u32 = 10_000;

impl MapEdit {
    const fn tag(&self) -> &'static str {
        match self {
            Self::Name(_) => NAME_TAG,
            Self::Description(_) => DESCRIPTION_TAG,
            Self::Members(_) => FILES_TAG,
        }
    }
}

/// Records a user's correction. It replaces an earlier one of the same kind. Returns its memory.
pub(crate) async fn record_map_edit(
    project: &mut Project,
    id: &str,
    edit: MapEdit,
) -> Result<Memory, Error> {
    write_map_edit(project, id, edit, None).await
}

/// Records an agent's correction. It has no effect until a user accepts it, and replaces an earlier
/// proposal of the same agent.
pub(crate) async fn propose_map_edit(
    project: &mut Project,
    session: &AgentSession,
    id: &str,
    edit: MapEdit,
) -> Result<Memory, Error> {
    let agent = Actor::Agent(mask_label(&session.agent, MAX_LABEL));
    write_map_edit(project, id, edit, Some(agent)).await
}

/// Writes a correction of the user (`agent` is `None`), or the proposal of an agent.
async fn write_map_edit(
    project: &mut Project,
    id: &str,
    edit: MapEdit,
    agent: Option<Actor>,
) -> Result<Memory, Error> {
    project.require_memory_enabled()?;
    let map = module_map(project).await?;
    let module = &find_module(&map, id)?.module;
    let (content, files) = to_statement(module, &edit)?;
    let content = admit_content(&content, OnSecret::Refuse)?.text;

    // An earlier correction of the same kind by the same author is changed, not repeated.
    let notebook = project.ensure_notebook(NotebookScope::Project).await?;
    let status = if agent.is_some() { MemoryStatus::NeedsReview } else { MemoryStatus::Live };
    let is_replaced = |it: &&Memory| {
        // Live corrections are the user's, even if an agent proposed them.
        let is_own = agent.as_ref().is_none_or(|agent| it.created_by == *agent);
        let is_same_kind = it.tags.iter().any(|tag| tag == edit.tag());
        is_own && is_same_kind && it.modules.contains(&module.id)
    };
    let earlier = list_map_edits(project, status).await?.iter().find(is_replaced).cloned();
    let (memory, change) = if let Some(before) = earlier {
        let mut after = before.clone();
        match &edit {
            MapEdit::Name(_) | MapEdit::Description(_) => {
                set_content(&mut after, content);
                after.files = files;
                if after == before {
                    return Ok(before);
                }
            }
            // New members are added to the earlier ones. An unchanged list is written again: another
            // correction may have moved a file meanwhile, and the last one counts.
            MapEdit::Members(more) => {
                after.files = merge_files(&before.files, more);
                let text = members_statement(&module.id, &after.files);
                // `set_content` marks a text that reads like an instruction for review. The stored
                // text names only the first files, so the text with the new ones is tested as well.
                set_content(&mut after, content);
                set_content(&mut after, text);
            }
        }
        after.updated_at = project.now;
        (after.id, StoreChange::Replace(Box::new(after)))
    } else {
        let draft = draft_map_edit(project, &content, files, &edit, &module.id, agent.as_ref());
        (draft.id, StoreChange::Insert(Box::new(draft)))
    };
    let is_new = matches!(change, StoreChange::Insert(_));
    let action = if is_new { AuditAction::Remember } else { AuditAction::Edit };
    let actor = agent.unwrap_or(Actor::User);
    let batch = WriteBatch { actor, ..user_batch(action, project.now, vec![change]) };
    project.write(notebook.scope, batch).await?;
    let saved = notebook.store.memories().get(memory).await?;
    saved.ok_or_else(|| Error::NotFound { id: memory.short() })
}

/// The memory of a new correction.
fn draft_map_edit(
    reader: &ProjectReader,
    content: &str,
    files: Vec<ProjectPath>,
    edit: &MapEdit,
    module: &str,
    agent: Option<&Actor>,
) -> Memory {
    let kind = MemoryType::Core(MemoryKind::ModuleInsight);
    let mut draft = draft_memory(reader, NotebookScope::Project, kind, content);
    draft.scope = MemoryScope::Module;
    draft.flags.user_verified = agent.is_none();
    draft.flags.needs_review = agent.is_some() || promote::detect_instruction(content).is_some();
    if let Some(agent) = agent {
        draft.source = MemorySource::AgentExplicit;
        draft.created_by = agent.clone();
    }
    draft.tags = vec![MAP_TAG.to_owned(), edit.tag().to_owned()];
    draft.modules = vec![module.to_owned()];
    draft.files = files;
    draft.flags.pinned = false;
    draft.half_life_days = Some(HALF_LIFE_DAYS);
    draft
}

/// Lists the corrections of a status, oldest first.
pub(super) async fn list_map_edits(
    reader: &ProjectReader,
    status: MemoryStatus,
) -> Result<Vec<Memory>, Error> {
    let filter = MemoryFilter {
        tag: Some(MAP_TAG.to_owned()),
        statuses: vec![status],
        ..MemoryFilter::active(MAX_MAP_EDITS)
    };
    let found = list_memories(reader, &filter, Some(NotebookScope::Project)).await?;
    let mut edits: Vec<Memory> = found.into_iter().map(|it| it.memory).collect();
    edits.sort_by_key(|it| (it.updated_at, it.id));
    Ok(edits)
}

fn find_module<'a>(map: &'a ModuleMap, id: &str) -> Result<&'a MappedModule, Error> {
    map.find_module(id).ok_or_else(|| map.unknown_module(id))
}

/// The text of a correction, and the files that its memory names.
fn to_statement(module: &Module, edit: &MapEdit) -> Result<(String, Vec<ProjectPath>), Error> {
    let identifying_files = || {
        let paths = module.core_files.iter().chain(&module.files);
        paths.filter_map(|it| ProjectPath::parse(it).ok()).take(MAX_IDENTIFYING_FILES).collect()
    };
    let id = &module.id;
    match edit {
        MapEdit::Name(name) => {
            let name = clean_label(name, MAX_LABEL);
            if name.is_empty() {
                return Err(Error::refuse("a name is empty", "say what the module is called"));
            }
            Ok((format!("The module `{id}` {NAME_PHRASE}{name}"), identifying_files()))
        }
        MapEdit::Description(text) if text.trim().is_empty() => {
            Err(Error::refuse("a description is empty", "say what the module is for"))
        }
        MapEdit::Description(text) => Ok((text.trim().to_owned(), identifying_files())),
        MapEdit::Members(files) => Ok((members_statement(id, files), files.clone())),
    }
}

fn members_statement(id: &str, files: &[ProjectPath]) -> String {
    let files: Vec<String> =
        files.iter().take(MAX_FILES_IN_TEXT).map(|it| format!("`{it}`")).collect();
    format!("These files belong to the module `{id}`: {}", files.join(", "))
}

fn merge_files(before: &[ProjectPath], more: &[ProjectPath]) -> Vec<ProjectPath> {
    let mut files = before.to_vec();
    files.extend(more.iter().filter(|it| !before.contains(it)).cloned());
    files
}

/// Applies corrections and drops modules that lost all their files. Returns the modules, and the
/// ids of those that were named or described.
pub(super) fn edit_modules(
    mut modules: Vec<Module>,
    edits: &[Memory],
) -> (Vec<Module>, BTreeSet<String>) {
    let edited = apply_edits(&mut modules, edits);
    modules.retain(|it| !it.files.is_empty());
    (modules, edited)
}

/// Applies corrections in order. Returns the ids of modules that were named or described.
pub(super) fn apply_edits(modules: &mut [Module], edits: &[Memory]) -> BTreeSet<String> {
    let mut edited = BTreeSet::new();
    for edit in edits {
        let has_tag = |tag: &str| edit.tags.iter().any(|it| it == tag);
        // The module may no longer exist. The correction stays, in case it comes back.
        let Some(position) = find_edited_module(modules, edit) else { continue };
        let module = &mut modules[position];
        if has_tag(NAME_TAG) {
            if let Some((_, name)) = edit.content.split_once(NAME_PHRASE) {
                name.clone_into(&mut module.name);
                edited.insert(module.id.clone());
            }
        } else if has_tag(DESCRIPTION_TAG) {
            module.description.clone_from(&edit.content);
            edited.insert(module.id.clone());
        } else if has_tag(FILES_TAG) {
            move_files(modules, position, edit);
        }
    }
    edited
}

/// Moves the files that a correction names from their modules to the one at position `to`.
fn move_files(modules: &mut [Module], to: usize, edit: &Memory) {
    let moved: BTreeSet<&str> = edit.files.iter().map(ProjectPath::as_str).collect();
    // Only files that are in a module now: a file of the correction may be gone.
    let mut present = Vec::new();
    for module in modules.iter_mut() {
        present.extend(module.files.iter().filter(|it| moved.contains(it.as_str())).cloned());
        module.files.retain(|it| !moved.contains(it.as_str()));
        for list in [&mut module.core_files, &mut module.entry_points] {
            list.retain(|it| !moved.contains(it.as_str()));
        }
    }
    modules[to].files.extend(present);
    modules[to].files.sort_unstable();
}

/// Finds the module of a correction: by its id, otherwise by the majority of the files that the
/// correction names. An outline lists core files only.
fn find_edited_module(modules: &[Module], edit: &Memory) -> Option<usize> {
    let by_id = modules.iter().position(|it| edit.modules.contains(&it.id));
    // A list of files names members, which may have been in other modules before. It cannot
    // identify the module.
    let is_file_list = edit.tags.iter().any(|it| it == FILES_TAG);
    if by_id.is_some() || is_file_list {
        return by_id;
    }
    // The number of the correction's files in each module, by position.
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for file in &edit.files {
        let file = file.as_str();
        let holds = |it: &Module| {
            it.files.binary_search_by(|it| it.as_str().cmp(file)).is_ok()
                || (it.files.is_empty() && it.core_files.iter().any(|it| it == file))
        };
        if let Some(position) = modules.iter().position(holds) {
            *counts.entry(position).or_default() += 1;
        }
    }
    // Ties go to the first module.
    let by_count = |(position, n_files): &(usize, usize)| (*n_files, std::cmp::Reverse(*position));
    let (position, n_files) = counts.into_iter().max_by_key(by_count)?;
    let is_majority = 2 * n_files > edit.files.len();
    is_majority.then_some(position)
}
