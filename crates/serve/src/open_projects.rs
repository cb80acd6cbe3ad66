//! The open projects of the daemon: opened by the first request, closed when idle.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::{NotebookScope, Project, ProjectPolicy};
use model::Timestamp;
use tokio::sync::RwLock;
use tokio::time::Instant;

use crate::run::Config;
use crate::wire::{ErrorCode, RequestFailure};

/// Opens the project of a folder.
pub type OpenProjectFn = Arc<
    dyn Fn(
            PathBuf,
            Timestamp,
        ) -> Pin<Box<dyn Future<Output = Result<Project, engine::Error>> + Send>>
        + Send
        + Sync,
>;
/// Computes the policy of a project from the settings stored for it.
pub type ResolvePolicyFn = Arc<dyn Fn(&[(String, String)]) -> ProjectPolicy + Send + Sync>;

/// Age up to which a cached policy serves [`Freshness::Recent`]: events come many a second.
const POLICY_CACHE_TIME: Duration = Duration::from_secs(1);
/// Open projects, at most. The longest idle ones are closed first.
const MAX_OPEN_PROJECTS: usize = 64;

/// An open project.
pub(crate) struct OpenProject {
    pub(crate) root: PathBuf,
    engine: RwLock<Project>,
    /// The policy, with the time when it was computed.
    cached_policy: Mutex<Option<(Instant, ProjectPolicy)>>,
    last_used: Mutex<Instant>,
    /// Files were edited since the last indexing pass.
    pub(crate) has_edits: AtomicBool,
}

/// Required freshness of a project's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Read from the settings now.
    Current,
    /// May be cached.
    Recent,
}

impl OpenProject {
    fn new(engine: Project) -> Self {
        Self {
            root: engine.place.root.clone(),
            engine: RwLock::new(engine),
            cached_policy: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            has_edits: AtomicBool::new(false),
        }
    }

    /// A project handle for one piece of work, with the current time and policy.
    pub(crate) async fn handle(&self, config: &Config, freshness: Freshness) -> Project {
        *lock(&self.last_used) = Instant::now();
        let mut engine = self.engine.read().await.clone();
        engine.set_now((config.now)());
        let cached = *lock(&self.cached_policy);
        if freshness == Freshness::Recent
            && let Some((at, policy)) = cached
            && at.elapsed() < POLICY_CACHE_TIME
        {
            engine.set_policy(policy);
            return engine;
        }
        // If the settings cannot be read, the last known policy stays. The work meets the same
        // error and reports it.
        let stored = engine.project_settings().await.ok();
        let policy = match (stored, cached) {
            (None, Some((_, policy))) => policy,
            (stored, _) => (config.resolve)(&stored.unwrap_or_default()),
        };
        *lock(&self.cached_policy) = Some((Instant::now(), policy));
        engine.set_policy(policy);
        engine
    }

    /// Like [`Self::handle`], for a caller that writes: a project without a notebook is registered
    /// first, unless memory is disabled. One handle serves for the check and for the work.
    pub(crate) async fn writable_handle(
        &self,
        config: &Config,
        freshness: Freshness,
    ) -> Result<Project, RequestFailure> {
        let engine = self.handle(config, freshness).await;
        if engine.project_state().id().is_some() || engine.is_memory_disabled() {
            return Ok(engine);
        }
        {
            let mut own = self.engine.write().await;
            own.set_now((config.now)());
            own.notebook(NotebookScope::Project).await?;
        }
        Ok(self.handle(config, freshness).await)
    }

    pub(crate) fn idle_time(&self) -> Duration {
        lock(&self.last_used).elapsed()
    }

    /// Frees memory that the next query fills again.
    pub(crate) fn release_memory(&self) {
        // A held write lock means that the project is in use.
        if let Ok(engine) = self.engine.try_read() {
            engine.code_graph().release_graph();
        }
    }
}

/// All open projects, by the folders that requests named.
#[derive(Default)]
pub(crate) struct OpenProjects {
    by_folder: Mutex<HashMap<PathBuf, Arc<OpenProject>>>,
    /// Serialises opening: the second request for a project finds it open.
    opening: tokio::sync::Mutex<()>,
}

impl OpenProjects {
    /// The project of a folder, and whether it was opened just now.
    pub(crate) async fn project(
        &self,
        config: &Config,
        folder: &Path,
    ) -> Result<(Arc<OpenProject>, bool), RequestFailure> {
        if let Some(known) = self.get(folder) {
            return Ok((known, false));
        }
        let _guard = self.opening.lock().await;
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
        let opened = (config.open)(folder.to_owned(), (config.now)()).await;
        let mut engine = opened.map_err(|it| failure(format!("`{}`: {it}", folder.display())))?;
        // Two folders of one project share a handle. Two working trees of one project have a handle
        // each, but share the databases: a database has one writer in a process.
        let others = self.list();
        if let Some(same) = others.iter().find(|it| it.root == engine.place.root) {
            self.lock().insert(folder.to_owned(), Arc::clone(same));
            return Ok((Arc::clone(same), false));
        }
        for other in &others {
            engine.share_databases(&*other.engine.read().await);
        }
        let project = Arc::new(OpenProject::new(engine));
        self.lock().insert(folder.to_owned(), Arc::clone(&project));
        Ok((project, true))
    }

    /// The open projects, each once, sorted by root.
    pub(crate) fn list(&self) -> Vec<Arc<OpenProject>> {
        let mut projects: Vec<Arc<OpenProject>> = self.lock().values().cloned().collect();
        projects.sort_by(|a, b| a.root.cmp(&b.root));
        projects.dedup_by(|a, b| Arc::ptr_eq(a, b));
        projects
    }

    /// Closes projects that were idle for `limit`, the longest idle ones beyond the maximum, and
    /// those whose folder is gone.
    pub(crate) fn close_idle(&self, limit: Duration) {
        let mut idle: Vec<Duration> = self.list().iter().map(|it| it.idle_time()).collect();
        idle.sort_unstable();
        let limit = idle.get(MAX_OPEN_PROJECTS).copied().unwrap_or(limit).min(limit);
        self.lock().retain(|folder, it| it.idle_time() < limit && folder.is_dir());
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn get(&self, folder: &Path) -> Option<Arc<OpenProject>> {
        self.lock().get(folder).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<OpenProject>>> {
        lock(&self.by_folder)
    }
}

/// Locks a mutex. Values are only read and assigned under it, so a poisoned one does no harm.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
