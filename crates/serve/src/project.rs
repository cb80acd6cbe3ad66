//! The projects that are open: one engine each, opened when first spoken of, closed when quiet.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::{Engine, Manners, Reach};
use model::Timestamp;
use tokio::sync::RwLock;
use tokio::time::Instant;

use crate::run::Config;
use crate::wire::{Code, Failure};

/// Opens the project of a folder.
pub type Open = Arc<
    dyn Fn(
            PathBuf,
            Timestamp,
        ) -> Pin<Box<dyn Future<Output = Result<Engine, engine::Error>> + Send>>
        + Send
        + Sync,
>;
/// What counts in a project, by what is set for it.
pub type Resolve = Arc<dyn Fn(&[(String, String)]) -> Resolved + Send + Sync>;

#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// Memory is turned off.
    pub closed: bool,
    pub manners: Manners,
}

impl Resolved {
    fn set(self, engine: &mut Engine) {
        (engine.closed, engine.manners) = (self.closed, self.manners);
    }
}

/// How long it is believed that memory is still turned on, or off, while events pour in.
const BELIEVED: Duration = Duration::from_secs(1);
/// The most that are open at once; the one that was quiet longest goes first.
const MOST: usize = 64;

/// A project that is open.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    engine: RwLock<Engine>,
    /// What counted when it was last looked at.
    checked: Mutex<Option<(Instant, Resolved)>>,
    used: Mutex<Instant>,
    /// Files were edited since the index was last looked after.
    pub(crate) edited: AtomicBool,
}

/// How sure one must be whether memory is turned on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Now,
    Lately,
}

impl Project {
    fn new(engine: Engine) -> Self {
        Self {
            root: engine.place.root.clone(),
            engine: RwLock::new(engine),
            checked: Mutex::default(),
            used: Mutex::new(Instant::now()),
            edited: AtomicBool::new(false),
        }
    }

    /// An engine for one piece of work.
    pub(crate) async fn handle(&self, config: &Config, look: Look) -> Engine {
        *lock(&self.used) = Instant::now();
        let mut engine = self.engine.read().await.clone();
        engine.set_now((config.now)());
        let known = *lock(&self.checked);
        if let Some((_, known)) =
            known.filter(|it| look == Look::Lately && it.0.elapsed() < BELIEVED)
        {
            known.set(&mut engine);
            return engine;
        }
        // Settings that cannot be read change nothing; whatever is wrong is met again.
        let stored = engine.project_settings().await.ok();
        let found = match (stored, known) {
            (None, Some((_, known))) => known,
            (stored, _) => (config.resolve)(&stored.unwrap_or_default()),
        };
        *lock(&self.checked) = Some((Instant::now(), found));
        found.set(&mut engine);
        engine
    }

    /// As `handle`, of a project that has a notebook: one that is new is registered now, unless memory
    /// is turned off.
    pub(crate) async fn for_writing(&self, config: &Config) -> Result<Engine, Failure> {
        let engine = self.handle(config, Look::Lately).await;
        if engine.project().id().is_some() || engine.closed {
            return Ok(engine);
        }
        {
            let mut own = self.engine.write().await;
            own.set_now((config.now)());
            own.notebook(Reach::Project).await?;
        }
        Ok(self.handle(config, Look::Lately).await)
    }

    pub(crate) fn quiet(&self) -> Duration {
        lock(&self.used).elapsed()
    }

    /// Lets go of what is loaded again when it is asked for.
    pub(crate) fn rest(&self) {
        // Who is about to register the project is at work, not at rest.
        if let Ok(engine) = self.engine.try_read() {
            engine.release_graph();
        }
    }
}

/// All that are open, by the folders they were asked for.
#[derive(Default)]
pub(crate) struct Shelf {
    by_folder: Mutex<HashMap<PathBuf, Arc<Project>>>,
    /// One is opened at a time: who comes second finds it open.
    opening: tokio::sync::Mutex<()>,
}

impl Shelf {
    /// The project of a folder, and whether it was opened just now.
    pub(crate) async fn project(
        &self,
        config: &Config,
        folder: &Path,
    ) -> Result<(Arc<Project>, bool), Failure> {
        if let Some(known) = self.known(folder) {
            return Ok((known, false));
        }
        let _turn = self.opening.lock().await;
        if let Some(known) = self.known(folder) {
            return Ok((known, false));
        }
        let wrong = |what: String| Failure::new(Code::NoProject, what);
        if !folder.is_absolute() || !folder.is_dir() {
            return Err(wrong(format!("`{}` is not the whole path of a folder", folder.display())));
        }
        let opened = (config.open)(folder.to_owned(), (config.now)()).await;
        let mut engine = opened.map_err(|it| wrong(format!("`{}`: {it}", folder.display())))?;
        let others = self.all();
        if let Some(same) = others.iter().find(|it| it.root == engine.place.root) {
            self.lock().insert(folder.to_owned(), Arc::clone(same));
            return Ok((Arc::clone(same), false));
        }
        for other in &others {
            engine.join(&*other.engine.read().await);
        }
        let project = Arc::new(Project::new(engine));
        self.lock().insert(folder.to_owned(), Arc::clone(&project));
        Ok((project, true))
    }

    /// The open ones, each once.
    pub(crate) fn all(&self) -> Vec<Arc<Project>> {
        let mut res: Vec<Arc<Project>> = self.lock().values().cloned().collect();
        res.sort_by(|a, b| a.root.cmp(&b.root));
        res.dedup_by(|a, b| Arc::ptr_eq(a, b));
        res
    }

    /// Closes those that have been quiet, and the quietest of too many; folders that are gone take
    /// theirs with them.
    pub(crate) fn close_quiet(&self, limit: Duration) {
        let all = self.all();
        let mut quiet: Vec<Duration> = all.iter().map(|it| it.quiet()).collect();
        quiet.sort_unstable();
        let limit = quiet.get(MOST).copied().unwrap_or(limit).min(limit);
        self.lock().retain(|folder, it| it.quiet() < limit && folder.is_dir());
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn known(&self, folder: &Path) -> Option<Arc<Project>> {
        self.lock().get(folder).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Project>>> {
        lock(&self.by_folder)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
