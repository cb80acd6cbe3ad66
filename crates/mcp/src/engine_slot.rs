//! The project behind the server, opened on first use and locked for one call at a time.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{AgentSession, Project};
use model::{SessionId, Timestamp};
use tokio::sync::{Mutex, MutexGuard};

/// The future of an opened project.
pub type OpenFuture = Pin<Box<dyn Future<Output = Result<Project, String>> + Send>>;
/// Opens the project that contains a folder; the error message says what to do.
pub type ProjectOpener = Arc<dyn Fn(PathBuf) -> OpenFuture + Send + Sync>;

/// Dependencies of the server, which reads no clock and no environment itself.
#[derive(Clone)]
pub struct Config {
    pub open: ProjectOpener,
    pub now: fn() -> Timestamp,
    pub random: fn() -> [u8; 10],
    /// The folder given by the host or the user. If absent, the client is asked for its roots.
    pub folder: Option<PathBuf>,
    /// The working directory, used if no folder is given.
    pub current_dir: PathBuf,
    /// The session id of the host that started this process, if known.
    pub host_session: Option<String>,
}

/// A lazily opened project and the session of this process, shared by all requests.
#[derive(Clone)]
pub(crate) struct EngineSlot(Arc<SlotState>);

struct SlotState {
    config: Config,
    session: SessionId,
    project: Mutex<Option<Project>>,
    n_notes: AtomicU64,
}

/// Exclusive access to the project for one call.
pub(crate) struct EngineGuard<'a> {
    guard: MutexGuard<'a, Option<Project>>,
}

impl EngineSlot {
    pub(crate) fn new(config: Config) -> Self {
        let session = SessionId::new((config.now)(), (config.random)());
        let (engine, n_notes) = (Mutex::new(None), AtomicU64::new(0));
        Self(Arc::new(SlotState { config, session, project: engine, n_notes }))
    }

    /// True if the client should be asked for its folder.
    pub(crate) fn needs_folder(&self) -> bool {
        self.0.config.folder.is_none()
    }

    /// The agent session of this process.
    pub(crate) fn agent_session(&self, agent: String) -> AgentSession {
        AgentSession { id: self.0.session, agent, host_session: self.0.config.host_session.clone() }
    }

    /// A fresh id for a recorded note.
    pub(crate) fn next_note_id(&self) -> String {
        format!("note-{}", self.0.n_notes.fetch_add(1, Ordering::Relaxed))
    }

    /// Locks the project and opens it if needed; `folder` is awaited only then. An unregistered project
    /// is opened again each time, because another process may have registered it.
    pub(crate) async fn lock_project(
        &self,
        folder: impl Future<Output = Option<PathBuf>>,
    ) -> Result<EngineGuard<'_>, String> {
        let mut guard = self.0.project.lock().await;
        let is_known = guard.as_ref().is_some_and(|it| it.project_state().id().is_some());
        if !is_known {
            let config = &self.0.config;
            let folder = match &config.folder {
                Some(folder) => folder.clone(),
                None => folder.await.unwrap_or_else(|| config.current_dir.clone()),
            };
            *guard = Some((config.open)(folder).await?);
        }
        if let Some(engine) = guard.as_mut() {
            engine.set_now((self.0.config.now)());
        }
        Ok(EngineGuard { guard })
    }

    /// Ends the journal of this process, if a note was recorded.
    pub(crate) async fn end_session(&self) {
        if self.0.n_notes.load(Ordering::Relaxed) == 0 {
            return;
        }
        let session = self.agent_session(String::new());
        // Notes recorded under the session of a host end with that session.
        if let Ok(mut turn) = self.lock_project(async { None }).await {
            // On failure the journal has no end event; it is still learned from, only later.
            let _ = turn.project().session_journal().end_agent_session(&session).await;
        }
    }
}

impl EngineGuard<'_> {
    pub(crate) fn project(&mut self) -> &mut Project {
        self.guard.as_mut().expect("`lock_project` opened the project")
    }
}
