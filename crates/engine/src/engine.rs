//! The engine: one data folder, the user's notebook, and the project one stands in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use model::{CustomType, Hlc, ProjectId, ProjectPath, Timestamp, TrustLevel};
use source::Place;
use store::{Action, Applied, Batch, Change, DataDir, GraphStore, Key, Store};

use crate::change::by_user;
use crate::graph::Charted;
use crate::mind::KeptInMind;
use crate::models::Models;
use crate::project::{self, ProjectState, Recognised};
use crate::recall::{Branches, Shared};
use crate::{Error, SETTINGS, SettingScope, check_setting};

/// Everything the engine must be told; it looks nothing up by itself.
#[derive(Clone)]
pub struct Config {
    pub data: PathBuf,
    pub key: Option<Key>,
    /// The user's home, above which no project is looked for.
    pub home: Option<PathBuf>,
    /// Types that methodologies declare.
    pub types: Vec<CustomType>,
    /// Where vectors come from, and who reranks and writes.
    pub models: Models,
    /// Ten fresh random bytes.
    pub random: fn() -> [u8; 10],
}

/// Whose memories are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Project,
    /// The user's own, which follow them across projects.
    User,
}

/// A store and whose it is.
#[derive(Clone)]
pub struct Notebook {
    pub reach: Reach,
    pub project: Option<ProjectId>,
    pub store: Store,
}

/// A handle: clones share the stores and what is kept in mind, and each has a moment of its own.
#[derive(Clone)]
pub struct Engine {
    pub config: Config,
    pub place: Place,
    pub(crate) user: Store,
    pub(crate) project: ProjectState,
    /// The project's store, opened once for all clones: its threads and what they found are shared.
    own: Arc<OnceLock<Store>>,
    /// The project's index, opened once, for questions about what is next to what.
    pub(crate) near: Arc<OnceLock<GraphStore>>,
    /// The project's graph as it was last asked.
    pub(crate) charted: Arc<Mutex<Option<Charted>>>,
    /// What is kept in mind of each database, by its path.
    pub(crate) indexes: Arc<Mutex<HashMap<PathBuf, Shared>>>,
    /// What is kept in mind of files, by their paths.
    pub(crate) kept: Arc<KeptInMind>,
    /// What git last said about branches.
    pub(crate) branches: Arc<Mutex<Option<Branches>>>,
    /// The project is taken for new while others lie here that the registry does not know.
    pub(crate) perhaps_known: bool,
    pub(crate) now: Timestamp,
    /// Memory is turned off in this project: what is here can be read, judged and taken away, but
    /// no text comes in.
    pub closed: bool,
    /// Whether learning may ask the language model, where there is one: the person said so.
    pub may_ask: bool,
    pub manners: Manners,
}

/// How memory speaks unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// How far it may.
    pub level: TrustLevel,
    /// Whether it is on trial: some sessions are told less.
    pub on_trial: bool,
}

impl Engine {
    /// Opens the engine even when the registry cannot be read, for those who come to mend it: the
    /// project is then taken for new, and the reason comes back beside the engine.
    pub async fn open_anyway(
        config: Config,
        start: &Path,
        now: Timestamp,
    ) -> Result<(Self, Option<Error>), Error> {
        let place = source::locate(start, config.home.as_deref())?;
        let user = Store::user(DataDir::new(&config.data).user(), config.key.clone(), now);
        let (project, trouble) = match project::recognise(&user, &place, now).await {
            Ok(project) => (project, None),
            Err(error) => (ProjectState::New { print: project::fingerprint(&place) }, Some(error)),
        };
        let (own, near, perhaps_known) = (Arc::default(), Arc::default(), false);
        let (indexes, kept, branches) = (Arc::default(), Arc::default(), Arc::default());
        let mut res = Self {
            config,
            place,
            user,
            project,
            own,
            near,
            charted: Arc::default(),
            indexes,
            kept,
            branches,
            perhaps_known,
            now,
            closed: false,
            may_ask: false,
            manners: Manners { level: TrustLevel::Standard, on_trial: false },
        };
        if res.project.id().is_none() && res.user.exists() && trouble.is_none() {
            res.perhaps_known = !res.orphans().await.is_empty();
        }
        Ok((res, trouble))
    }

    /// Goes on to another moment; whoever lives longer than one command tells the time.
    pub fn set_now(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Works with the stores of another engine on the same data: a database has one writer here, and
    /// what is kept in mind of it is kept once.
    pub fn join(&mut self, other: &Self) {
        self.user = other.user.clone();
        if self.project.id().is_some() && self.project.id() == other.project.id() {
            self.own = Arc::clone(&other.own);
            self.near = Arc::clone(&other.near);
        }
        self.indexes = Arc::clone(&other.indexes);
    }

    /// Whether the code of this project was read into a graph.
    pub fn is_indexed(&self) -> bool {
        self.project.id().is_some_and(|it| self.data().graph(it).database().exists())
    }

    /// Opens the engine for the project that `start` lies in. Nothing is created by looking.
    pub async fn open(config: Config, start: &Path, now: Timestamp) -> Result<Self, Error> {
        match Self::open_anyway(config, start, now).await? {
            (engine, None) => Ok(engine),
            (_, Some(trouble)) => Err(trouble),
        }
    }

    pub fn data(&self) -> DataDir {
        DataDir::new(&self.config.data)
    }

    pub fn project(&self) -> &ProjectState {
        &self.project
    }

    /// How the project was recognised, when that was not simply by its place.
    pub fn recognised(&self) -> Option<&Recognised> {
        match &self.project {
            ProjectState::Known { recognised, .. } => recognised.as_ref(),
            ProjectState::New { .. } => None,
        }
    }

    /// The notebooks that can be read, the project's first.
    pub fn notebooks(&self) -> Vec<Notebook> {
        let project = self.project_store().filter(Store::exists);
        let user = Some(self.user.clone()).filter(Store::exists);
        let named = |reach, project, store| Notebook { reach, project, store };
        let own = project.map(|it| named(Reach::Project, self.project.id(), it));
        own.into_iter().chain(user.map(|it| named(Reach::User, None, it))).collect()
    }

    /// The notebook to write to; a project seen for the first time is registered now.
    pub async fn notebook(&mut self, reach: Reach) -> Result<Notebook, Error> {
        if reach == Reach::User {
            return Ok(Notebook { reach, project: None, store: self.user.clone() });
        }
        let id = match &self.project {
            ProjectState::Known { id, .. } => *id,
            ProjectState::New { print } => {
                let id = ProjectId::new(self.now, (self.config.random)());
                let print = print.clone();
                let row = project::begin(&self.user, &self.place, id, &print, self.now).await?;
                let id = row.project;
                self.project = ProjectState::Known { id, name: print.name, recognised: None };
                // The registry can be lost with the user's file; each project can say who it is.
                let changes = project::identity(&row);
                self.write(&self.own(id), by_user(Action::Settings, self.now, changes)).await?;
                id
            }
        };
        Ok(Notebook { reach, project: Some(id), store: self.own(id) })
    }

    /// Applies a batch so that it comes after whatever the other notebook holds, too: `undo` without
    /// a name must know which of the two was changed last, and the wall clock does not.
    pub(crate) async fn write(&self, store: &Store, batch: Batch) -> Result<Applied, Error> {
        let is_other = |it: &Notebook| it.store.path() != store.path();
        let after = match self.notebooks().into_iter().find(is_other) {
            // One that cannot be read cannot be undone either, and keeps nobody from writing here.
            Some(other) => other.store.clock().await.unwrap_or_default(),
            None => Hlc::default(),
        };
        Ok(store.apply(Batch { after, ..batch }).await?)
    }

    pub(crate) fn project_store(&self) -> Option<Store> {
        self.project.id().map(|it| self.own(it))
    }

    fn own(&self, id: ProjectId) -> Store {
        self.own.get_or_init(|| self.store_of(id)).clone()
    }

    /// Closes the project's store, so that its files can be removed or replaced.
    pub(crate) fn close_project(&mut self) {
        // Clones have what they hold to themselves; whoever closes has none.
        (self.own, self.near) = (Arc::default(), Arc::default());
        self.charted = Arc::default();
    }

    pub(crate) fn store_of(&self, id: ProjectId) -> Store {
        Store::project(self.data().project(id), self.config.key.clone(), self.now)
    }

    /// The projects of which something is kept. A folder may outlive its project: files in it that
    /// are not ours are never removed.
    pub(crate) fn kept_projects(&self) -> Vec<ProjectId> {
        let mut res = self.data().projects();
        res.retain(|it| self.store_of(*it).exists());
        res
    }

    /// What is set for this project. A project decides only what is its own affair: where keys are
    /// and where texts are sent is the person's, whatever stands in the project's file.
    pub async fn project_settings(&self) -> Result<Vec<(String, String)>, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else {
            return Ok(Vec::new());
        };
        let mut res = store.settings().await?;
        res.retain(|it| {
            let setting = SETTINGS.iter().find(|setting| setting.key == it.0);
            setting.is_none_or(|it| it.scope == SettingScope::Any)
        });
        Ok(res)
    }

    /// Sets or unsets a value for this project.
    pub async fn set(&mut self, key: &str, value: Option<&str>) -> Result<(), Error> {
        if let Some(value) = value {
            let wrong = |it| Error::refused(it, "`waylore config` lists the settings");
            let setting = check_setting(key, value).map_err(wrong)?;
            if setting.scope == SettingScope::User {
                let what = format!("`{key}` cannot differ between projects");
                return Err(Error::refused(what, "set it for yourself"));
            }
        }
        let notebook = self.notebook(Reach::Project).await?;
        let change = Change::Setting { key: key.to_owned(), value: value.map(str::to_owned) };
        self.write(&notebook.store, by_user(Action::Settings, self.now, vec![change])).await?;
        Ok(())
    }

    /// The door is shut for text while memory is turned off.
    pub(crate) fn refuse_closed(&self) -> Result<(), Error> {
        if !self.closed {
            return Ok(());
        }
        Err(Error::refused(
            "memory is turned off in this project",
            "`waylore config set memory.enabled true --for-project` turns it on",
        ))
    }

    /// A path as typed, as a path of the project.
    pub fn path(&self, given: &Path, cwd: &Path) -> Result<ProjectPath, Error> {
        Ok(ProjectPath::parse(&source::relative(&self.place.root, given, cwd)?)?)
    }

    /// Damage met in any notebook so far, with the file it was met in.
    pub fn findings(&self, notebooks: &[Notebook]) -> Vec<(PathBuf, store::Finding)> {
        let of = |it: &Store| {
            it.findings().into_iter().map(|found| (it.path(), found)).collect::<Vec<_>>()
        };
        let mut res: Vec<_> = notebooks.iter().flat_map(|it| of(&it.store)).collect();
        for found in of(&self.user) {
            if !res.contains(&found) {
                res.push(found);
            }
        }
        res
    }
}
