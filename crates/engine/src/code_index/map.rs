//! The module map: the parts of a project, what each is for, and how they depend on one another.
//!
//! Modules are detected from the index, the history and the manifests (`detection`). Detected modules
//! are derived data and stored with the graph. Users and agents can correct them (`map_edits`); a
//! correction is knowledge, so it is stored as a memory and applied to the detected modules at every
//! read. [`module_map`] returns the map for people and models, [`load_modules`] the corrected modules
//! for learning.

mod detection;
mod input_fingerprint;
mod map_edits;
mod module_descriptions;
mod project_folders;
mod rendering;

use std::collections::{BTreeMap, BTreeSet};

use model::MemoryStatus;
use modules::{Module, ProjectTool, ProjectToolKind, decode_module};

pub(crate) use detection::detect_modules;
pub(super) use detection::is_module_file;
pub use map_edits::MapEdit;
use map_edits::{apply_edits, edit_modules, list_map_edits};
pub(crate) use map_edits::{propose_map_edit, record_map_edit};

use super::queries::did_you_mean;
use crate::{Error, ProjectReader};

/// A module with its corrections and the number of its memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedModule {
    pub module: Module,
    pub n_memories: usize,
    /// Its name or description was given by a user.
    pub is_edited: bool,
}

/// The modules of a project and its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleMap {
    pub modules: Vec<MappedModule>,
    pub tools: Vec<ProjectTool>,
}

/// The stored modules with their corrections.
pub(crate) struct DetectedModules {
    pub(crate) modules: Vec<Module>,
    /// Ids of modules whose name or description was given by a user.
    edited: BTreeSet<String>,
    tools: Vec<ProjectTool>,
}

impl ModuleMap {
    /// Finds a module by its id, name or root, or by a suffix of its id that no other shares.
    pub fn find_module(&self, word: &str) -> Option<&MappedModule> {
        let word = word.trim_matches('/');
        // An exact id wins: ids may differ in case only.
        if let Some(exact) = self.modules.iter().find(|it| it.module.id == word) {
            return Some(exact);
        }
        let matches = |it: &str| it.eq_ignore_ascii_case(word);
        let is_named = |it: &&MappedModule| {
            matches(&it.module.id) || matches(&it.module.name) || it.module.root == word
        };
        if let Some(named) = self.modules.iter().find(is_named) {
            return Some(named);
        }
        // `store` for the id `crates/store`. A suffix that two modules share identifies neither.
        let suffix = format!("/{}", word.to_lowercase());
        let mut with_suffix =
            self.modules.iter().filter(|it| it.module.id.to_lowercase().ends_with(&suffix));
        let first = with_suffix.next()?;
        with_suffix.next().is_none().then_some(first)
    }

    /// The error for a word that names no module, with the ids that look like it.
    pub fn unknown_module(&self, word: &str) -> Error {
        let ids = self.modules.iter().map(|it| it.module.id.as_str());
        let close = graph::suggest_names(ids, word).into_iter();
        let hint = did_you_mean(close, "`waylore map` lists them");
        Error::refuse(format!("no module is called `{word}`"), hint)
    }

    /// The module of a file.
    pub fn module_of_file(&self, path: &str) -> Option<&MappedModule> {
        self.modules
            .iter()
            .find(|it| it.module.files.binary_search_by(|it| it.as_str().cmp(path)).is_ok())
    }

    /// The modules that are worth listing for a newcomer.
    pub fn listed_modules(&self) -> impl Iterator<Item = &MappedModule> {
        rendering::listed_modules(self)
    }

    /// The whole map as notes for a model.
    pub fn to_notes(&self) -> String {
        rendering::render_map(self)
    }
}

impl MappedModule {
    /// Everything about the module as notes for a model.
    pub fn to_notes(&self) -> String {
        rendering::render_module(self)
    }
}

/// The module map with its corrections.
pub(crate) async fn module_map(reader: &ProjectReader) -> Result<ModuleMap, Error> {
    let Some(DetectedModules { modules, edited, tools }) = load_modules(reader).await? else {
        return Err(Error::refuse(
            "the modules of this project are not detected yet",
            "`waylore index` detects them",
        ));
    };
    let counts = count_memories(reader, &modules).await?;
    let to_mapped = |module: Module| MappedModule {
        n_memories: counts.get(&module.id).copied().unwrap_or_default(),
        is_edited: edited.contains(&module.id),
        module,
    };
    Ok(ModuleMap { modules: modules.into_iter().map(to_mapped).collect(), tools })
}

/// Loads the detected modules and applies the corrections. `None` if none were detected yet.
pub(crate) async fn load_modules(reader: &ProjectReader) -> Result<Option<DetectedModules>, Error> {
    let Some(store) = reader.graph_reader() else { return Ok(None) };
    let rows = store.module_map().await?;
    if rows.modules.is_empty() {
        return Ok(None);
    }
    // Members are stored apart from the modules, sorted by path.
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, id) in rows.members {
        files.entry(id).or_default().push(path);
    }
    // A module that cannot be decoded is left out; the next detection writes it again.
    let decode = |(id, body): &(String, Vec<u8>)| {
        let files = files.get(id).cloned().unwrap_or_default();
        Some(Module { files, ..decode_module(id, body)? })
    };
    let modules: Vec<Module> = rows.modules.iter().filter_map(decode).collect();
    let edits = list_map_edits(reader, MemoryStatus::Live).await?;
    let (modules, edited) = edit_modules(modules, &edits);
    let mut tools = Vec::new();
    for (kind, value, declared_in) in rows.tools {
        if let Some(kind) = ProjectToolKind::from_slug(&kind) {
            tools.push(ProjectTool { kind, value, declared_in });
        }
    }
    Ok(Some(DetectedModules { modules, edited, tools }))
}

/// Applies the corrections to modules that were loaded without their files, as a summary needs them.
pub(crate) async fn apply_map_edits(
    reader: &ProjectReader,
    mut outline: Vec<Module>,
) -> Result<Vec<Module>, Error> {
    apply_edits(&mut outline, &list_map_edits(reader, MemoryStatus::Live).await?);
    Ok(outline)
}

/// Counts the memories of each module: those that name it, and those about a file in it.
async fn count_memories(
    reader: &ProjectReader,
    modules: &[Module],
) -> Result<BTreeMap<String, usize>, Error> {
    let module_of_file: BTreeMap<&str, &str> = modules
        .iter()
        .flat_map(|it| it.files.iter().map(|file| (file.as_str(), it.id.as_str())))
        .collect();
    let ids: BTreeSet<&str> = modules.iter().map(|it| it.id.as_str()).collect();
    let Some(store) = reader.project_store_reader().filter(store::StoreReader::exists) else {
        return Ok(BTreeMap::new());
    };
    let subjects = store.memories().list_subjects().await?;
    // Pairs of a module and the number of a memory about it. A set, so that a memory that names the
    // module and a file in it counts once.
    let mut pairs: BTreeSet<(&str, i64)> = BTreeSet::new();
    for (path, memory) in &subjects.files {
        if let Some(id) = module_of_file.get(path.as_str()) {
            pairs.insert((*id, *memory));
        }
    }
    for (name, memory) in &subjects.modules {
        if let Some(id) = ids.get(name.as_str()) {
            pairs.insert((*id, *memory));
        }
    }
    let mut counts = BTreeMap::new();
    for (id, _) in pairs {
        *counts.entry(id.to_owned()).or_default() += 1;
    }
    Ok(counts)
}
