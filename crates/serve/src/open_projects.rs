//! The open projects of the daemon: opened by the first request, closed when idle.
//!
//! A request gets a [`Project`] handle, a clone that shares the databases and caches of the open
//! project and has the time and the policy of this moment. So requests of one project run
//! side by side.
//!
//! The *policy* is what the user's settings allow in this project, for instance whether memory is
//! disabled. A *notebook* is the database with the memories of a project; the first write creates it
//! and *registers* the project, that is, gives it an id.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use engine::{NotebookScope, Project, ProjectPolicy};
use model::Timestamp;
use tokio::sync::RwLock;
use tokio::time::Instant;

use crate::mutex::lock_mutex;
use crate::run::Config;
use crate::wire::{ErrorCode, RequestFailure};

/// Opens the project of a folder at the given time. `daemon_config` in `cli/src/command/serve.rs` makes
/// this function: it knows the settings and the models.
pub type OpenProjectFn = Arc<
    dyn Fn(
            PathBuf,
            Timestamp,
        ) -> Pin<Box<dyn Future<Output = Result<Project, engine::Error>> + Send>>
        + Send
        + Sync,
>;
/// Computes the policy of a project (is memory enabled, what may be injected) from the settings stored
/// for it, as pairs of key and value.
pub type ResolvePolicyFn = Arc<dyn Fn(&[(String, String)]) -> ProjectPolicy + Send + Sync>;

/// Age up to which a cached policy serves [`PolicyFreshness::Recent`]. Many events may arrive in one
/// second, and each would read the settings.
const POLICY_CACHE_TIME: Duration = Duration::from_secs(1);
/// Beyond this number the longest idle projects are closed.
const MAX_OPEN_PROJECTS: usize = 64;

/// An open project.
pub(crate) struct OpenProject {
    pub(crate) root: PathBuf,
    /// The handle that all others are cloned from. Locked for writing only to register the project.
    project: RwLock<Project>,
    /// The policy, with the time when it was computed.
    cached_policy: Mutex<Option<(Instant, ProjectPolicy)>>,
    last_used: Mutex<Instant>,
    /// Files were edited since the last indexing pass.
    pub(crate) has_edits: AtomicBool,
    /// The background work that follows the opening was scheduled.
    pub(crate) has_upkeep: AtomicBool,
}

/// Required freshness of a project's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyFreshness {
    /// Read from the settings now: the user may have changed them a moment ago.
    Current,
    /// May be up to [`POLICY_CACHE_TIME`] old.
    Recent,
}

impl OpenProject {
    fn new(project: Project) -> Self {
        Self {
            root: project.place.root.clone(),
            project: RwLock::new(project),
            cached_policy: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            has_edits: AtomicBool::new(false),
            has_upkeep: AtomicBool::new(false),
        }
    }

    /// A project handle for one piece of work, with the current time and policy.
    pub(crate) async fn handle(&self, config: &Config, freshness: PolicyFreshness) -> Project {
        *lock_mutex(&self.last_used) = Instant::now();
        let mut project = self.project.read().await.clone();
        project.set_now((config.now)());

        let cached = *lock_mutex(&self.cached_policy);
        if freshness == PolicyFreshness::Recent
            && let Some((computed_at, policy)) = cached
            && computed_at.elapsed() < POLICY_CACHE_TIME
        {
            project.set_policy(policy);
            return project;
        }
        let policy = match (project.project_settings().await, cached) {
            (Ok(stored), _) => (config.resolve_policy)(&stored),
            // The settings cannot be read: the last known policy stays. The work itself meets the
            // same error and reports it.
            (Err(_), Some((_, policy))) => policy,
            (Err(_), None) => (config.resolve_policy)(&[]),
        };
        *lock_mutex(&self.cached_policy) = Some((Instant::now(), policy));
        project.set_policy(policy);
        project
    }

    /// Like [`Self::handle`], for a caller that may write the first data of a project: a project
    /// without a notebook is registered first, unless memory is disabled.
    pub(crate) async fn writable_handle(
        &self,
        config: &Config,
        freshness: PolicyFreshness,
    ) -> Result<Project, RequestFailure> {
        let project = self.handle(config, freshness).await;
        let is_registered = project.project_state().id().is_some();
        if is_registered || project.is_memory_disabled() {
            return Ok(project);
        }
        {
            // Opening the notebook registers the project. This happens in the shared handle, so
            // that all later clones are registered too.
            let mut shared_project = self.project.write().await;
            shared_project.set_now((config.now)());
            shared_project.ensure_notebook(NotebookScope::Project).await?;
        }
        Ok(self.handle(config, freshness).await)
    }

    /// A project handle without time and policy of its own.
    pub(crate) async fn new_handle(&self) -> Project {
        *lock_mutex(&self.last_used) = Instant::now();
        self.project.read().await.clone()
    }

    /// Takes over the registration from a handle that was cloned from this project, so that all later
    /// clones are registered, too.
    pub(crate) async fn adopt_registration(&self, handle: &Project) {
        if handle.project_state().id().is_none() {
            return;
        }
        let mut shared_project = self.project.write().await;
        if shared_project.project_state().id().is_none() {
            *shared_project = handle.clone();
        }
    }

    pub(crate) fn idle_time(&self) -> Duration {
        lock_mutex(&self.last_used).elapsed()
    }

    /// Frees memory that the next query fills again.
    pub(crate) fn release_memory(&self) {
        // A held write lock means that the project is in use.
        if let Ok(project) = self.project.try_read() {
            project.code_graph().release_graph();
        }
    }
}

/// All open projects.
#[derive(Default)]
pub(crate) struct OpenProjects {
    /// By the folders that requests named; several folders may lie in one project.
    by_folder: Mutex<HashMap<PathBuf, Arc<OpenProject>>>,
    /// Serialises opening: the second request for a project finds it open.
    opening: tokio::sync::Mutex<()>,
}

impl OpenProjects {
    /// The project of a folder, and true if it was opened just now.
    pub(crate) async fn get_or_open(
        &self,
        config: &Config,
        folder: &Path,
    ) -> Result<(Arc<OpenProject>, bool), RequestFailure> {
        if let Some(known) = self.get(folder) {
            return Ok((known, false));
        }
        let _guard = self.opening.lock().await;
        // Another request may have opened it while this one waited.
        if let Some(known) = self.get(folder) {
            return Ok((known, false));
        }
        let failure = |what: String| RequestFailure::new(ErrorCode::NoProject, what);
        if !folder.is_absolute() || !folder.is_dir() {
            return Err(failure(format!(
                "`{}` is not the whole path of a folder",
                folder.display()
            )));
        }
        let opened = (config.open_project)(folder.to_owned(), (config.now)()).await;
        let mut project = opened.map_err(|it| failure(format!("`{}`: {it}", folder.display())))?;
        // The folder may lie in a project that is open under another folder.
        let others = self.list();
        if let Some(same) = others.iter().find(|it| it.root == project.place.root) {
            self.lock_map().insert(folder.to_owned(), Arc::clone(same));
            return Ok((Arc::clone(same), false));
        }
        share_open_databases(&mut project, &others).await;
        let open_project = Arc::new(OpenProject::new(project));
        self.lock_map().insert(folder.to_owned(), Arc::clone(&open_project));
        Ok((open_project, true))
    }

    /// As [`Self::get_or_open`], but a project that is not registered yet is opened again: another process
    /// may have registered it. True also if that was the case.
    pub(crate) async fn get_or_open_registered(
        &self,
        config: &Config,
        folder: &Path,
    ) -> Result<(Arc<OpenProject>, bool), RequestFailure> {
        let (open_project, is_new) = self.get_or_open(config, folder).await?;
        let is_registered = open_project.new_handle().await.project_state().id().is_some();
        if is_new || is_registered {
            return Ok((open_project, is_new));
        }
        let mut project = (config.open_project)(folder.to_owned(), (config.now)()).await?;
        if project.project_state().id().is_none() {
            return Ok((open_project, false));
        }
        let mut others = self.list();
        others.retain(|it| !Arc::ptr_eq(it, &open_project));
        share_open_databases(&mut project, &others).await;
        open_project.adopt_registration(&project).await;
        Ok((open_project, true))
    }

    /// The open projects, each once, sorted by root.
    pub(crate) fn list(&self) -> Vec<Arc<OpenProject>> {
        let mut projects: Vec<Arc<OpenProject>> = self.lock_map().values().cloned().collect();
        projects.sort_by(|a, b| a.root.cmp(&b.root));
        projects.dedup_by(|a, b| Arc::ptr_eq(a, b));
        projects
    }

    /// Closes projects that were idle for `limit`, the longest idle ones beyond the maximum, and
    /// those whose folder is gone.
    pub(crate) fn close_idle(&self, limit: Duration) {
        let mut idle_times: Vec<Duration> = self.list().iter().map(|it| it.idle_time()).collect();
        // The most recently used come first.
        idle_times.sort_unstable();
        let limit = match idle_times.get(MAX_OPEN_PROJECTS) {
            // This project is the first one too many: its idle time is a limit that keeps exactly
            // those before it.
            Some(idle_time) => limit.min(*idle_time),
            None => limit,
        };
        self.lock_map().retain(|folder, it| it.idle_time() < limit && folder.is_dir());
    }

    pub(crate) fn clear(&self) {
        self.lock_map().clear();
    }

    fn get(&self, folder: &Path) -> Option<Arc<OpenProject>> {
        self.lock_map().get(folder).cloned()
    }

    fn lock_map(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<OpenProject>>> {
        lock_mutex(&self.by_folder)
    }
}

/// Two working trees of one repository are two open projects with the same databases, which must be
/// shared: a database has one writer in a process.
async fn share_open_databases(project: &mut Project, others: &[Arc<OpenProject>]) {
    for other in others {
        project.share_databases(&*other.project.read().await);
    }
}
