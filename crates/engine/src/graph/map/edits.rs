//! What somebody said about the map. Each statement is a memory: it has a source, it can be undone, and
//! it outlives every index.

use std::collections::{BTreeMap, BTreeSet};

use ::graph::Module;
use model::{
    Actor, Kind, MAX_LABEL, Memory, MemoryType, ProjectPath, Scope, Source, Status, clean_label,
};
use store::{Action, Batch, Change, Filter};

use super::{MappedModule, ModuleMap};
use crate::admit::{self, OnSecret};
use crate::change::{by_user, reword};
use crate::{AgentSession, Engine, Error, Reach};

/// What is to be said about a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapEdit {
    Name(String),
    Description(String),
    /// Files that belong to it, whatever was found.
    Members(Vec<ProjectPath>),
}

/// Marks memories that speak about the map.
const TAG: &str = "module-map";
/// Marks what they say.
const NAMED: &str = "map-name";
const DESCRIBED: &str = "map-description";
const MOVED: &str = "map-files";
/// How many files of a module stand in a memory about it: by them it is found again under another id.
const WITNESSES: usize = 8;
/// More statements than this nobody made.
const MOST: u32 = 1_000;

impl MapEdit {
    const fn tag(&self) -> &'static str {
        match self {
            Self::Name(_) => NAMED,
            Self::Description(_) => DESCRIBED,
            Self::Members(_) => MOVED,
        }
    }
}

impl Engine {
    /// A person says something about a module; what was said about the same before is replaced. Returns
    /// the memory that holds it.
    pub async fn update_module_map(&mut self, id: &str, edit: MapEdit) -> Result<Memory, Error> {
        self.state(id, edit, None).await
    }

    /// An agent says something about a module. It waits for a person's review, and until then the map
    /// stays as it is. What the agent proposed before about the same is replaced.
    pub async fn propose_map(
        &mut self,
        session: &AgentSession,
        id: &str,
        edit: MapEdit,
    ) -> Result<Memory, Error> {
        let agent = Actor::Agent(admit::masked(&session.agent, MAX_LABEL));
        self.state(id, edit, Some(agent)).await
    }

    async fn state(
        &mut self,
        id: &str,
        edit: MapEdit,
        agent: Option<Actor>,
    ) -> Result<Memory, Error> {
        self.refuse_closed()?;
        let map = self.module_map().await?;
        let mapped = named(&map, id)?;
        let (content, files) = said(&mapped.module, &edit)?;
        let content = admit::content(&content, OnSecret::Refuse)?.text;
        let notebook = self.notebook(Reach::Project).await?;
        let status = if agent.is_some() { Status::NeedsReview } else { Status::Live };
        let mine = |it: &&Memory| {
            let is_own = agent.as_ref().is_none_or(|agent| it.created_by == *agent);
            let is_same = it.tags.iter().any(|tag| tag == edit.tag());
            is_own && is_same && it.modules.contains(&mapped.module.id)
        };
        let known = self.map_edits(status).await?.iter().find(|it| mine(it)).cloned();
        let (memory, change) = if let Some(before) = known {
            let mut after = before.clone();
            reword(&mut after, content);
            after.files = match &edit {
                MapEdit::Members(more) => with(&before.files, more),
                _ => files,
            };
            if matches!(edit, MapEdit::Members(_)) {
                let text = belongs(&mapped.module.id, &after.files);
                reword(&mut after, text);
            }
            // Files that somebody moved on meanwhile come back: the last statement counts.
            if after == before && !matches!(edit, MapEdit::Members(_)) {
                return Ok(before);
            }
            after.updated_at = self.now;
            (after.id, Change::Replace(Box::new(after)))
        } else {
            let fresh = self.statement(&content, files, &edit, &mapped.module.id, agent.as_ref());
            (fresh.id, Change::Insert(Box::new(fresh)))
        };
        let is_new = matches!(change, Change::Insert(_));
        let action = if is_new { Action::Remember } else { Action::Edit };
        let actor = agent.unwrap_or(Actor::User);
        let batch = Batch { actor, ..by_user(action, self.now, vec![change]) };
        self.write(&notebook.store, batch).await?;
        let saved = notebook.store.get(memory).await?;
        saved.ok_or_else(|| Error::NotFound { id: memory.short() })
    }

    /// A memory that says something about a module.
    fn statement(
        &self,
        content: &str,
        files: Vec<ProjectPath>,
        edit: &MapEdit,
        module: &str,
        agent: Option<&Actor>,
    ) -> Memory {
        let mut res = self.draft(Reach::Project, MemoryType::Core(Kind::ModuleInsight), content);
        res.scope = Scope::Module;
        res.flags.user_verified = agent.is_none();
        res.flags.needs_review = agent.is_some() || promote::instruction_like(content).is_some();
        if let Some(agent) = agent {
            res.source = Source::AgentExplicit;
            res.created_by = agent.clone();
        }
        res.tags = vec![TAG.to_owned(), edit.tag().to_owned()];
        res.modules = vec![module.to_owned()];
        res.files = files;
        // What somebody called a thing does not fade.
        res.flags.pinned = false;
        res.half_life_days = Some(10_000);
        res
    }

    /// Everything of this status that was said about the map, oldest first.
    pub(super) async fn map_edits(&self, status: Status) -> Result<Vec<Memory>, Error> {
        let filter =
            Filter { tag: Some(TAG.to_owned()), statuses: vec![status], ..Filter::standing(MOST) };
        let found = self.list(&filter, Some(Reach::Project)).await?;
        let mut res: Vec<Memory> = found.into_iter().map(|it| it.memory).collect();
        res.sort_by_key(|it| (it.updated_at, it.id));
        Ok(res)
    }
}

fn named<'a>(map: &'a ModuleMap, id: &str) -> Result<&'a MappedModule, Error> {
    map.find(id).ok_or_else(|| {
        Error::refused(format!("no module is called `{id}`"), "`waylore map` lists them")
    })
}

/// What is said as a sentence, and the files it is said about.
fn said(module: &Module, edit: &MapEdit) -> Result<(String, Vec<ProjectPath>), Error> {
    let witnesses = || {
        let paths =
            module.core.iter().chain(&module.files).filter_map(|it| ProjectPath::parse(it).ok());
        paths.take(WITNESSES).collect()
    };
    let id = &module.id;
    match edit {
        MapEdit::Name(name) => {
            let name = clean_label(name, MAX_LABEL);
            if name.is_empty() {
                return Err(Error::refused("a name is empty", "say what the module is called"));
            }
            Ok((format!("The module `{id}` is called: {name}"), witnesses()))
        }
        MapEdit::Description(text) if text.trim().is_empty() => {
            Err(Error::refused("a description is empty", "say what the module is for"))
        }
        MapEdit::Description(text) => Ok((text.trim().to_owned(), witnesses())),
        MapEdit::Members(files) => Ok((belongs(id, files), files.clone())),
    }
}

fn belongs(id: &str, files: &[ProjectPath]) -> String {
    let some: Vec<String> = files.iter().take(20).map(|it| format!("`{it}`")).collect();
    format!("These files belong to the module `{id}`: {}", some.join(", "))
}

fn with(before: &[ProjectPath], more: &[ProjectPath]) -> Vec<ProjectPath> {
    let mut res = before.to_vec();
    res.extend(more.iter().filter(|it| !before.contains(it)).cloned());
    res
}

/// The map with everything that was said about it, and the modules somebody named or described.
pub(super) fn applied(
    mut modules: Vec<Module>,
    edits: &[Memory],
) -> (Vec<Module>, BTreeSet<String>) {
    let edited = apply(&mut modules, edits);
    modules.retain(|it| !it.files.is_empty());
    (modules, edited)
}

/// Lays what was said over modules; those that somebody named or described.
pub(super) fn apply(modules: &mut [Module], edits: &[Memory]) -> BTreeSet<String> {
    let mut edited = BTreeSet::new();
    for edit in edits {
        let has = |tag: &str| edit.tags.iter().any(|it| it == tag);
        let Some(at) = target(modules, edit, has(MOVED)) else { continue };
        if has(NAMED) {
            if let Some((_, name)) = edit.content.split_once("is called: ") {
                name.clone_into(&mut modules[at].name);
                edited.insert(modules[at].id.clone());
            }
        } else if has(DESCRIBED) {
            modules[at].description.clone_from(&edit.content);
            edited.insert(modules[at].id.clone());
        } else if has(MOVED) {
            let moved: BTreeSet<&str> = edit.files.iter().map(ProjectPath::as_str).collect();
            let mut known = Vec::new();
            for module in modules.iter_mut() {
                known.extend(module.files.iter().filter(|it| moved.contains(it.as_str())).cloned());
                module.files.retain(|it| !moved.contains(it.as_str()));
                for list in [&mut module.core, &mut module.entries] {
                    list.retain(|it| !moved.contains(it.as_str()));
                }
            }
            modules[at].files.extend(known);
            modules[at].files.sort_unstable();
        }
    }
    edited
}

/// The module that is meant: by its id; else the one that holds most of the files it was said about. Of
/// an outline, only the files that matter most are known.
fn target(modules: &[Module], edit: &Memory, by_id_only: bool) -> Option<usize> {
    let by_id = modules.iter().position(|it| edit.modules.contains(&it.id));
    if by_id.is_some() || by_id_only {
        return by_id;
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for file in &edit.files {
        let file = file.as_str();
        let holds = |it: &Module| {
            it.files.binary_search_by(|it| it.as_str().cmp(file)).is_ok()
                || (it.files.is_empty() && it.core.iter().any(|it| it == file))
        };
        if let Some(at) = modules.iter().position(holds) {
            *counts.entry(at).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|it| (it.1, usize::MAX - it.0))?;
    (2 * most.1 > edit.files.len()).then_some(most.0)
}
