//! The module map: found from the index, the history and the manifests; corrected by people and agents.
//!
//! What is found is derived and kept with the graph. What somebody said about it is knowledge: it is
//! kept as memories, and laid over what is found whenever somebody looks.

mod about;
mod edits;
mod survey;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use ::graph::{Module, Tool, ToolKind, decode_module};
use store::GraphStore;

pub use edits::MapEdit;
pub(super) use survey::is_site;

use crate::{Engine, Error};

/// A module with what people said about it and what is remembered of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedModule {
    pub module: Module,
    pub n_memories: usize,
    /// Its name or its description was given by somebody.
    pub is_edited: bool,
}

/// The parts of a project and its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleMap {
    pub modules: Vec<MappedModule>,
    pub tools: Vec<Tool>,
}

/// What the index found, corrections included.
pub(crate) struct Found {
    pub(crate) modules: Vec<Module>,
    edited: BTreeSet<String>,
    tools: Vec<Tool>,
}

impl ModuleMap {
    /// The module of an id, a name, or the only one whose name ends so.
    pub fn find(&self, word: &str) -> Option<&MappedModule> {
        let word = word.trim_matches('/');
        let is = |it: &str| it.eq_ignore_ascii_case(word);
        let named =
            |it: &&MappedModule| is(&it.module.id) || is(&it.module.name) || it.module.root == word;
        let ending = format!("/{}", word.to_lowercase());
        let mut like =
            self.modules.iter().filter(|it| it.module.id.to_lowercase().ends_with(&ending));
        let only = like.next().filter(|_| like.next().is_none());
        self.modules
            .iter()
            .find(|it| it.module.id == word)
            .or_else(|| self.modules.iter().find(named))
            .or(only)
    }

    /// The module of a file.
    pub fn of(&self, path: &str) -> Option<&MappedModule> {
        self.modules
            .iter()
            .find(|it| it.module.files.binary_search_by(|it| it.as_str().cmp(path)).is_ok())
    }
}

impl Engine {
    /// The module map with everything that was said about it.
    pub async fn module_map(&self) -> Result<ModuleMap, Error> {
        let Some(Found { modules, edited, tools }) = self.found_modules().await? else {
            return Err(Error::refused(
                "the modules of this project are not known yet",
                "`waylore index` finds them",
            ));
        };
        let counts = self.counts(&modules).await?;
        let mapped = |module: Module| MappedModule {
            n_memories: counts.get(&module.id).copied().unwrap_or_default(),
            is_edited: edited.contains(&module.id),
            module,
        };
        Ok(ModuleMap { modules: modules.into_iter().map(mapped).collect(), tools })
    }

    /// What the index found, as people and agents corrected it; `None` when nothing was found yet.
    pub(crate) async fn found_modules(&self) -> Result<Option<Found>, Error> {
        let store = self.project.id().map(|it| self.graph_store(it)).filter(GraphStore::exists);
        let Some(store) = store else { return Ok(None) };
        let rows = store.map().await?;
        if rows.modules.is_empty() {
            return Ok(None);
        }
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, id) in rows.members {
            files.entry(id).or_default().push(path);
        }
        let read = |(id, body): &(String, Vec<u8>)| {
            let files = files.get(id).cloned().unwrap_or_default();
            Some(Module { files, ..decode_module(id, body)? })
        };
        let modules: Vec<Module> = rows.modules.iter().filter_map(read).collect();
        let (modules, edited) =
            edits::applied(modules, &self.map_edits(model::Status::Live).await?);
        let tool = |(kind, value, from): (String, String, String)| {
            Some(Tool { kind: ToolKind::from_slug(&kind)?, value, from })
        };
        let tools = rows.tools.into_iter().filter_map(tool).collect();
        Ok(Some(Found { modules, edited, tools }))
    }

    /// The modules of an outline, as people and agents corrected them.
    pub(crate) async fn corrected(&self, mut outline: Vec<Module>) -> Result<Vec<Module>, Error> {
        edits::apply(&mut outline, &self.map_edits(model::Status::Live).await?);
        Ok(outline)
    }

    /// How many memories speak of each module: by name, or of a file in it.
    async fn counts(&self, modules: &[Module]) -> Result<BTreeMap<String, usize>, Error> {
        let of: BTreeMap<&str, &str> = modules
            .iter()
            .flat_map(|it| it.files.iter().map(|file| (file.as_str(), it.id.as_str())))
            .collect();
        let known: BTreeSet<&str> = modules.iter().map(|it| it.id.as_str()).collect();
        let Some(store) = self.project_store().filter(store::Store::exists) else {
            return Ok(BTreeMap::new());
        };
        let said = store.subjects().await?;
        let by_file = said.files.iter().filter_map(|it| Some((*of.get(it.0.as_str())?, it.1)));
        let by_name = said.modules.iter().filter_map(|it| Some((*known.get(it.0.as_str())?, it.1)));
        let pairs: BTreeSet<(&str, i64)> = by_file.chain(by_name).collect();
        let mut res = BTreeMap::new();
        for (id, _) in pairs {
            *res.entry(id.to_owned()).or_default() += 1;
        }
        Ok(res)
    }
}
