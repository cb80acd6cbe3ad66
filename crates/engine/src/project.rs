//! [`Project`], the handle on one project, and [`ProjectReader`], its reading half.
//!
//! `cli` opens a project once per command, the daemon once per project; both then call the
//! capabilities that [`Project`] hands out ([`Retriever`], [`Injector`] and so on). A project has two
//! notebooks, its own and the user's, each one database, and a third database for the code graph.
//! None of the files exists until something is stored: a project that is seen for the first time is
//! registered by its first write.
//!
//! The type decides who may write a notebook. Every capability that only reads gets a
//! [`ProjectReader`], and the database handles inside it are private to this file. The names of the
//! methods that hand them out show who may use them. The code graph is no notebook but derived data,
//! so a reader may write it too:
//!
//! | database | to read, from [`ProjectReader`] | to write, from [`Project`] |
//! |---|---|---|
//! | the user's notebook, with the registry | `user_store_reader` | `user_store_writer` |
//! | the project's notebook | `project_store_reader` | `project_store_writer` |
//! | either notebook, in a [`Notebook`] | `notebooks`, `project_notebook` | `ensure_notebook`, then `notebook_writer` or `write` |
//! | the notebook of any project | | `open_store_writer` |
//! | the code graph | `graph_reader`, `existing_graph_writer` | `open_graph_writer` |

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use model::{CustomType, HybridTimestamp, ProjectId, ProjectPath, Timestamp};
use source::ProjectPlace;
use store::{
    AppliedBatch, AuditAction, BackupContents, DataDir, EncryptionKey, GraphReader, GraphStore,
    Store, StoreChange, StoreReader, WriteBatch,
};

use crate::code_graph::{CodeGraph, CodeIndexer};
use crate::code_index::LoadedGraph;
use crate::doctor::unregistered_projects;
use crate::editing::user_batch;
use crate::embedding_indexer::EmbeddingIndexer;
use crate::file_cache::{FileCaches, ProjectWordsCache};
use crate::injector::Injector;
use crate::learner::Learner;
use crate::maintenance::Maintenance;
use crate::models::ModelSet;
use crate::notebook_editor::NotebookEditor;
use crate::policy::{LlmAccess, MemoryState, ProjectPolicy};
use crate::project_identity::{
    ProjectRecognition, ProjectState, identity_settings, read_fingerprint, recognise_project,
    register_project,
};
use crate::retrieval::{SharedIndex, UnmergedBranches};
use crate::retriever::Retriever;
use crate::session_history::SessionHistory;
use crate::session_journal::SessionJournal;
use crate::{
    Error, PurgeReport, SETTINGS, SettingScope, backups, check_setting, memory_texts, purge,
};

/// Everything a project is opened with. The engine reads no environment and no settings file.
#[derive(Clone)]
pub struct Config {
    /// The data folder, which holds the databases, journals and backups of all projects.
    pub data: PathBuf,
    /// The key of the databases; `None` if they are not encrypted.
    pub key: Option<EncryptionKey>,
    /// The user's home directory. The search for a project root does not go above it.
    pub home: Option<PathBuf>,
    /// Memory types that methodologies declare.
    pub types: Vec<CustomType>,
    /// MCP servers that the user trusts: their results do not taint a session.
    pub trusted_servers: Vec<String>,
    /// Models for embedding, reranking and text generation.
    pub models: ModelSet,
    /// Returns ten fresh random bytes, the random part of a new id.
    pub random: fn() -> [u8; 10],
}

/// The two notebooks a project sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotebookScope {
    Project,
    /// The user's own notebook, shared by all their projects.
    User,
}

/// One notebook, for reading. [`Project::notebook_writer`] gives its writing handle.
#[derive(Clone)]
pub struct Notebook {
    pub scope: NotebookScope,
    /// The project it belongs to; `None` for the user's notebook.
    pub project: Option<ProjectId>,
    pub store: StoreReader,
}

/// Read access to one project: its notebooks, its files, its code graph and the models.
///
/// Clones share the open databases and caches; each has its own `now`. Nothing reachable from here
/// changes a notebook: the writing handles are private to this file, and only [`Project`] gives
/// them out.
#[derive(Clone)]
pub struct ProjectReader {
    pub config: Config,
    pub place: ProjectPlace,
    /// The settings that decide what may be stored, sent to a model and injected.
    pub policy: ProjectPolicy,
    /// The user's store, which also holds the registry of all projects.
    user_db: Store,
    /// The entry of this project in the registry, or what is needed to register it.
    pub(crate) state: ProjectState,
    /// The project's own store, opened once for all clones.
    project_db: Arc<OnceLock<Store>>,
    /// The database of the code graph, opened once for all clones.
    graph_db: Arc<OnceLock<GraphStore>>,
    /// The code graph as it was last loaded.
    pub(crate) loaded_graph: Arc<Mutex<Option<LoadedGraph>>>,
    /// The search index of each database, by its path.
    pub(crate) indexes: Arc<Mutex<HashMap<PathBuf, SharedIndex>>>,
    /// Held while an index of this process is read for the first time.
    pub(crate) index_loading: Arc<tokio::sync::Mutex<()>>,
    /// Values derived from files, valid while the file is unchanged.
    pub(crate) file_caches: Arc<FileCaches>,
    /// The words of the project's files, as learning last read them.
    pub(crate) project_words: Arc<ProjectWordsCache>,
    /// The last answer of git about branches.
    pub(crate) branches: Arc<Mutex<Option<UnmergedBranches>>>,
    /// The project looks new although the data folder holds projects that the registry does not
    /// list.
    pub(crate) has_unregistered_data: bool,
    /// The current time of the caller; the engine reads no clock.
    pub(crate) now: Timestamp,
}

/// One project, opened for reading and writing. Hands out the capabilities; see each of them.
#[derive(Clone)]
pub struct Project {
    reader: ProjectReader,
}

impl Deref for Project {
    type Target = ProjectReader;

    fn deref(&self) -> &ProjectReader {
        &self.reader
    }
}

impl ProjectReader {
    pub fn data_dir(&self) -> DataDir {
        DataDir::new(&self.config.data)
    }

    pub fn project_state(&self) -> &ProjectState {
        &self.state
    }

    /// The evidence by which the project was recognised, if not by its path.
    pub fn recognition(&self) -> Option<&ProjectRecognition> {
        match &self.state {
            ProjectState::Known { recognition, .. } => recognition.as_ref(),
            ProjectState::New { .. } => None,
        }
    }

    /// Returns whether the code of this project has been indexed.
    pub fn is_indexed(&self) -> bool {
        self.state.id().is_some_and(|it| self.data_dir().graph_paths(it).database().exists())
    }

    /// The notebooks that exist, the project's first.
    pub fn notebooks(&self) -> Vec<Notebook> {
        let user =
            Notebook { scope: NotebookScope::User, project: None, store: self.user_store_reader() };
        let user = Some(user).filter(|it| it.store.exists());
        self.project_notebook().into_iter().chain(user).collect()
    }

    /// The project's notebook, if one exists.
    pub fn project_notebook(&self) -> Option<Notebook> {
        // A registered project has no file until something is stored.
        let (scope, project) = (NotebookScope::Project, self.state.id());
        let store = self.project_store_reader().filter(StoreReader::exists)?;
        Some(Notebook { scope, project, store })
    }

    /// The user's store, to read. Its file may not exist yet.
    pub(crate) fn user_store_reader(&self) -> StoreReader {
        self.user_db.reader()
    }

    /// The project's store, to read; `None` until the project is registered. Its file may not exist
    /// yet.
    pub(crate) fn project_store_reader(&self) -> Option<StoreReader> {
        self.state.id().map(|it| self.own_store_writer(it).reader())
    }

    /// The graph database of the project, to read, if the code has been indexed.
    pub(crate) fn graph_reader(&self) -> Option<GraphReader> {
        self.existing_graph_writer().map(|it| it.reader())
    }

    /// The same with write access. A reader may have it, because this database holds derived data
    /// only: a query that meets new commits stores them for the queries after it.
    pub(crate) fn existing_graph_writer(&self) -> Option<GraphStore> {
        let id = self.state.id()?;
        let store = self.graph_db.get_or_init(|| open_graph(self, id));
        Some(store.clone()).filter(|it| it.exists())
    }

    /// The shared handle of this project's store. It can write, so it stays private to this file.
    fn own_store_writer(&self, id: ProjectId) -> &Store {
        self.project_db.get_or_init(|| open_store(self, id))
    }

    /// The projects in the data folder that have a store, registered or not. A project's folder can
    /// outlive its store: files in it that are not ours are never removed.
    pub(crate) fn stored_projects(&self) -> Vec<ProjectId> {
        let mut projects = self.data_dir().list_projects();
        projects.retain(|it| open_store(self, *it).exists());
        projects
    }

    /// The settings stored for this project. A project's own file cannot override settings that are
    /// the user's alone, such as the location of keys and the servers that texts are sent to.
    pub async fn project_settings(&self) -> Result<Vec<(String, String)>, Error> {
        let Some(store) = self.project_store_reader().filter(StoreReader::exists) else {
            return Ok(Vec::new());
        };
        let mut settings = store.settings().await?;
        settings.retain(|(key, _)| {
            let spec = SETTINGS.iter().find(|it| it.key == *key);
            // The store also holds keys that are no settings of this version. They stay in the
            // result, because nothing reads them.
            spec.is_none_or(|it| it.scope == SettingScope::Any)
        });
        Ok(settings)
    }

    pub fn is_memory_disabled(&self) -> bool {
        self.policy.memory == MemoryState::Disabled
    }

    pub(crate) fn is_llm_allowed(&self) -> bool {
        self.policy.llm == LlmAccess::Allowed
    }

    /// Refuses to store text while memory is turned off.
    pub(crate) fn require_memory_enabled(&self) -> Result<(), Error> {
        if !self.is_memory_disabled() {
            return Ok(());
        }
        Err(Error::refuse(
            "memory is turned off in this project",
            "`waylore config set memory.enabled true --for-project` turns it on",
        ))
    }

    /// Converts a path as typed in `cwd` to a path of the project.
    pub fn project_path(&self, given: &Path, cwd: &Path) -> Result<ProjectPath, Error> {
        Ok(ProjectPath::parse(&source::relative_path(&self.place.root, given, cwd)?)?)
    }

    /// Damage found so far in the given notebooks and the user's, with the file it was found in.
    pub fn findings(&self, notebooks: &[Notebook]) -> Vec<(PathBuf, store::DamageFinding)> {
        let mut stores: Vec<&StoreReader> = notebooks.iter().map(|it| &it.store).collect();
        // Always with the user's database: opening the project read the registry in it.
        stores.push(&self.user_db);
        let mut findings = Vec::new();
        for store in stores {
            for finding in store.findings() {
                let located = (store.path(), finding);
                // The user's database may also be among the notebooks.
                if !findings.contains(&located) {
                    findings.push(located);
                }
            }
        }
        findings
    }
}

impl Project {
    /// Opens the project that `start` lies in. Creates no file.
    pub async fn open(config: Config, start: &Path, now: Timestamp) -> Result<Self, Error> {
        match Self::open_for_repair(config, start, now).await? {
            (project, None) => Ok(project),
            (_, Some(error)) => Err(error),
        }
    }

    /// Opens the project even if the registry cannot be read, for commands that repair it. The
    /// project is then treated as new, and the error is returned beside it.
    pub async fn open_for_repair(
        config: Config,
        start: &Path,
        now: Timestamp,
    ) -> Result<(Self, Option<Error>), Error> {
        let place = source::locate_project(start, config.home.as_deref())?;
        let user_paths = DataDir::new(&config.data).user_paths();
        let user_db = Store::user(user_paths, config.key.clone(), now);
        let (state, error) = match recognise_project(&user_db, &place, now).await {
            Ok(state) => (state, None),
            Err(error) => {
                (ProjectState::New { fingerprint: read_fingerprint(&place) }, Some(error))
            }
        };
        let reader = ProjectReader {
            config,
            place,
            policy: ProjectPolicy::default(),
            user_db,
            state,
            project_db: Arc::default(),
            graph_db: Arc::default(),
            loaded_graph: Arc::default(),
            indexes: Arc::default(),
            index_loading: Arc::default(),
            file_caches: Arc::default(),
            project_words: Arc::default(),
            branches: Arc::default(),
            has_unregistered_data: false,
            now,
        };
        let mut project = Self { reader };

        // A project whose registry entry was lost would look like a new one. The user should repair
        // the entry before new memories start a second notebook.
        if project.state.id().is_none() && project.user_db.exists() && error.is_none() {
            project.reader.has_unregistered_data =
                !unregistered_projects(&project).await.is_empty();
        }
        Ok((project, error))
    }

    // The capabilities. Those that take `&mut self` may register the project. Those that take `&self`
    // may write too: `Project` itself may, and only `ProjectReader` cannot.

    /// Searches and lists memories; cannot write.
    pub fn retriever(&self) -> Retriever<'_> {
        Retriever::new(self)
    }

    /// Selects the notes that an agent gets without asking.
    pub fn injector(&self) -> Injector<'_> {
        Injector::new(self)
    }

    /// Computes missing vectors and keeps the vector index in order.
    pub fn embedding_indexer(&self) -> EmbeddingIndexer<'_> {
        EmbeddingIndexer::new(self)
    }

    /// Turns sessions into memories.
    pub fn learner(&mut self) -> Learner<'_> {
        Learner::new(self)
    }

    /// Journals the events of running sessions.
    pub fn session_journal(&mut self) -> SessionJournal<'_> {
        SessionJournal::new(self)
    }

    /// Reads earlier sessions and predicts from them; cannot write.
    pub fn session_history(&self) -> SessionHistory<'_> {
        SessionHistory::new(self)
    }

    /// Answers questions about the code: callers, dependencies, symbols, modules.
    pub fn code_graph(&self) -> CodeGraph<'_> {
        CodeGraph::new(self)
    }

    /// Reads the code, its history and its modules into the graph database.
    pub fn code_indexer(&mut self) -> CodeIndexer<'_> {
        CodeIndexer::new(self)
    }

    /// Adds, changes, corrects and removes memories.
    pub fn editor(&mut self) -> NotebookEditor<'_> {
        NotebookEditor::new(self)
    }

    /// Checks, backs up, measures and erases what is stored.
    pub fn maintenance(&self) -> Maintenance<'_> {
        Maintenance::new(self)
    }

    // The handle itself: its time, its policy, its databases.

    /// Sets the current time. Processes that outlive one command call this before each piece of
    /// work.
    pub fn set_now(&mut self, now: Timestamp) {
        self.reader.now = now;
    }

    /// Sets everything that the user's settings decide about this project.
    pub fn set_policy(&mut self, policy: ProjectPolicy) {
        self.reader.policy = policy;
    }

    /// Uses the open databases and search indexes of another project handle on the same data
    /// folder. Within one process a database has one writer, and its search index is loaded once.
    pub fn share_databases(&mut self, other: &Self) {
        let reader = &mut self.reader;
        // The user's database is the same for all projects.
        reader.user_db = other.user_db.clone();
        if reader.state.id().is_some() && reader.state.id() == other.state.id() {
            reader.project_db = Arc::clone(&other.project_db);
            reader.graph_db = Arc::clone(&other.graph_db);
        }
        reader.indexes = Arc::clone(&other.indexes);
        reader.index_loading = Arc::clone(&other.index_loading);
    }

    /// The notebook of a scope, for a caller that is about to write to it. Registers a project that is
    /// seen for the first time, and so makes sure that the notebook exists.
    pub async fn ensure_notebook(&mut self, scope: NotebookScope) -> Result<Notebook, Error> {
        if scope == NotebookScope::User {
            return Ok(Notebook { scope, project: None, store: self.user_store_reader() });
        }
        if let ProjectState::New { fingerprint } = &self.state {
            // Another process may register the project first; `registered` then has its id.
            let id = ProjectId::new(self.now, (self.config.random)());
            let registered =
                register_project(&self.user_db, &self.place, id, fingerprint, self.now).await?;
            let (id, name) = (registered.project, registered.name.clone());
            self.reader.state = ProjectState::Known { id, name, recognition: None };
            // The registry can be lost with the user's database, so each project stores a copy of
            // its own entry.
            let changes = identity_settings(&registered);
            self.write(scope, user_batch(AuditAction::Settings, self.now, changes)).await?;
        }
        let project = self.state.id();
        let store = self.project_store_reader().expect("the project was registered above");
        Ok(Notebook { scope, project, store })
    }

    /// The writing handle of a notebook.
    pub fn notebook_writer(&self, notebook: &Notebook) -> Store {
        match notebook.project {
            Some(id) => self.own_store_writer(id).clone(),
            None => self.user_db.clone(),
        }
    }

    /// The writing handle of the project's notebook; `None` until the project is registered.
    pub(crate) fn project_store_writer(&self) -> Option<Store> {
        self.state.id().map(|it| self.own_store_writer(it).clone())
    }

    pub(crate) fn user_store_writer(&self) -> Store {
        self.user_db.clone()
    }

    /// A new writing handle of any project's store, closed when it is dropped. To write to this
    /// project's own store use `project_store_writer`: a process may have one writer per database.
    pub(crate) fn open_store_writer(&self, id: ProjectId) -> Store {
        open_store(self, id)
    }

    /// A new writing handle of the graph database, which need not exist. Not the shared one of
    /// `existing_graph_writer`: the threads of this one end with the indexing pass.
    pub(crate) fn open_graph_writer(&self, id: ProjectId) -> GraphStore {
        open_graph(self, id)
    }

    /// Applies a batch to a notebook, ordered after everything in the other notebook: `undo`
    /// without an id must know which of the two changed last, and the wall clock can go back.
    pub(crate) async fn write(
        &self,
        scope: NotebookScope,
        mut batch: WriteBatch,
    ) -> Result<AppliedBatch, Error> {
        memory_texts::mask_batch(&mut batch);
        let store = match scope {
            NotebookScope::User => Some(self.user_store_writer()),
            NotebookScope::Project => self.project_store_writer(),
        };
        let store =
            store.ok_or_else(|| Error::nothing_to_do("nothing is stored for this project"))?;
        // A hybrid clock never goes back: it is the wall clock, or the last timestamp plus a counter.
        // The new batch gets a timestamp after the last one of the other notebook.
        let after_clock = match self.notebooks().into_iter().find(|it| it.scope != scope) {
            // A notebook that cannot be read cannot be undone either, so it must not block writing.
            Some(other) => other.store.history().hybrid_clock().await.unwrap_or_default(),
            None => HybridTimestamp::default(),
        };
        Ok(store.apply(WriteBatch { after_clock, ..batch }).await?)
    }

    /// Sets or unsets a value for this project.
    pub async fn set_setting(&mut self, key: &str, value: Option<&str>) -> Result<(), Error> {
        // A key that no version knows can still be unset.
        if let Some(value) = value {
            let refuse = |it| Error::refuse(it, "`waylore config` lists the settings");
            let setting = check_setting(key, value).map_err(refuse)?;
            // A project setting that is never read would only confuse.
            if setting.scope == SettingScope::User {
                let what = format!("`{key}` cannot differ between projects");
                return Err(Error::refuse(what, "set it for yourself"));
            }
        }
        // Registers a new project, so that it has a database to write to.
        self.ensure_notebook(NotebookScope::Project).await?;
        let change = StoreChange::Setting { key: key.to_owned(), value: value.map(str::to_owned) };
        let batch = user_batch(AuditAction::Settings, self.now, vec![change]);
        self.write(NotebookScope::Project, batch).await?;
        Ok(())
    }

    /// Puts a backup in the place of a notebook's database. The database before is set aside.
    pub fn restore_backup(
        &mut self,
        scope: NotebookScope,
        name: &str,
    ) -> Result<BackupContents, Error> {
        backups::restore_backup(self, scope, name)
    }

    /// Erases everything stored for this project, its entry in the registry included.
    pub async fn purge_project(&mut self) -> Result<PurgeReport, Error> {
        purge::purge_project(self).await
    }

    /// Erases everything of ours in the data folder, and the folder itself if nothing else is in
    /// it. Takes the handle: no database may be open.
    pub async fn purge_everything(self) -> Result<PurgeReport, Error> {
        purge::purge_everything(self).await
    }

    /// Encrypts every database with `to`, or decrypts them all. Returns their number. Takes the
    /// handle: no database may be open.
    pub fn change_encryption(self, to: Option<&EncryptionKey>) -> Result<usize, Error> {
        backups::change_encryption(self, to)
    }

    /// Closes the project's databases, so that their files can be removed or replaced. Clones of
    /// this handle keep theirs open; the caller must have none.
    pub(crate) fn close_project(&mut self) {
        let reader = &mut self.reader;
        (reader.project_db, reader.graph_db) = (Arc::default(), Arc::default());
        reader.loaded_graph = Arc::default();
    }

    /// Treats the project as never seen. For use after its data was erased.
    pub(crate) fn unregister(&mut self) {
        let fingerprint = read_fingerprint(&self.place);
        self.reader.state = ProjectState::New { fingerprint };
    }
}

fn open_graph(reader: &ProjectReader, id: ProjectId) -> GraphStore {
    GraphStore::new(reader.data_dir().graph_paths(id), reader.config.key.clone())
}

fn open_store(reader: &ProjectReader, id: ProjectId) -> Store {
    Store::project(reader.data_dir().project_paths(id), reader.config.key.clone(), reader.now)
}
