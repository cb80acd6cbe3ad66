//! The project behind the server, opened on first use and locked for one call at a time. Also the
//! session under which this process records the notes of its agent.
//!
//! A note is an event in the *journal* of a session, a file that learning reads when the session has
//! ended. The notes go to the journal of the *host's* session (the host is the program that runs the
//! agent and started this process) if it is known, else to a journal of this process.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{AgentSession, Project};
use model::{SessionId, Timestamp};
use tokio::sync::{Mutex, MutexGuard};

/// A project that another owner has open, for one call.
pub trait BorrowedProject: Send {
    fn project(&mut self) -> &mut Project;

    /// Called after the call. A call that is cancelled drops the value instead.
    fn give_back(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// An opened project.
pub enum OpenedProject {
    /// For all calls of this server, once the project is registered.
    Owned(Box<Project>),
    /// For one call: the next one opens it again.
    Borrowed(Box<dyn BorrowedProject>),
}

/// The future of an opened project, or of a message that explains why there is none.
pub type OpenFuture = Pin<Box<dyn Future<Output = Result<OpenedProject, String>> + Send>>;
/// Opens the project that contains a folder; the error message says what to do.
pub type ProjectOpener = Arc<dyn Fn(PathBuf) -> OpenFuture + Send + Sync>;

/// Dependencies of the server, which reads no clock and no environment itself.
#[derive(Clone)]
pub struct Config {
    pub open: ProjectOpener,
    pub now: fn() -> Timestamp,
    /// Random bytes for the id of the session.
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
pub(crate) struct ProjectSlot(Arc<SlotState>);

struct SlotState {
    config: Config,
    session: SessionId,
    project: Mutex<SlotProject>,
    /// Ids given to calls of tools that write. Not every such call records a note.
    n_note_ids: AtomicU64,
}

/// The project between two calls.
#[derive(Default)]
struct SlotProject {
    owned: Option<Box<Project>>,
    /// The folder in which a registered project was borrowed, so that the client is asked for it once.
    borrowed_folder: Option<PathBuf>,
}

/// Exclusive access to the project for one call.
pub(crate) struct ProjectGuard<'a> {
    guard: MutexGuard<'a, SlotProject>,
    borrowed: Option<Box<dyn BorrowedProject>>,
}

impl ProjectSlot {
    pub(crate) fn new(config: Config) -> Self {
        let session = SessionId::new((config.now)(), (config.random)());
        let (project, n_note_ids) = (Mutex::default(), AtomicU64::new(0));
        Self(Arc::new(SlotState { config, session, project, n_note_ids }))
    }

    /// The agent session of this process.
    pub(crate) fn agent_session(&self, agent: String) -> AgentSession {
        AgentSession { id: self.0.session, agent, host_session: self.0.config.host_session.clone() }
    }

    /// A fresh id for a recorded note: `note-0`, `note-1` …
    pub(crate) fn next_note_id(&self) -> String {
        format!("note-{}", self.0.n_note_ids.fetch_add(1, Ordering::Relaxed))
    }

    /// Locks the project and opens it if needed. `client_folder` asks the client for its folder; it is
    /// awaited only if the project must be opened and the configuration names no folder.
    pub(crate) async fn lock_project(
        &self,
        client_folder: impl Future<Output = Option<PathBuf>>,
    ) -> Result<ProjectGuard<'_>, String> {
        let config = &self.0.config;
        let mut guard = self.0.project.lock().await;
        // A project gets its id (is registered) at the first write to it. Until then it is opened again
        // each time, because another process may have registered it.
        let is_registered = |it: &Project| it.project_state().id().is_some();
        let mut borrowed = None;
        if !guard.owned.as_deref().is_some_and(is_registered) {
            let folder = match guard.borrowed_folder.as_ref().or(config.folder.as_ref()) {
                Some(folder) => folder.clone(),
                None => client_folder.await.unwrap_or_else(|| config.current_dir.clone()),
            };
            match (config.open)(folder.clone()).await? {
                OpenedProject::Owned(project) => guard.owned = Some(project),
                OpenedProject::Borrowed(mut project) => {
                    if is_registered(project.project()) {
                        guard.borrowed_folder = Some(folder);
                    }
                    borrowed = Some(project);
                }
            }
        }
        let mut res = ProjectGuard { guard, borrowed };
        res.project().set_now((config.now)());
        Ok(res)
    }

    /// Ends the journal of this process, if a note may have been recorded.
    pub(crate) async fn end_session(&self) {
        if self.0.n_note_ids.load(Ordering::Relaxed) == 0 {
            return;
        }
        // Ends only the session of this process. Notes in the journal of the host's session are not
        // concerned: the host ends that one.
        let session = self.agent_session(String::new());
        if let Ok(mut guard) = self.lock_project(async { None }).await {
            // On failure the journal has no end event; it is still learned from, only later.
            let _ = guard.project().session_journal().end_agent_session(&session).await;
            guard.give_back().await;
        }
    }
}

impl ProjectGuard<'_> {
    pub(crate) fn project(&mut self) -> &mut Project {
        match &mut self.borrowed {
            Some(borrowed) => borrowed.project(),
            None => self.guard.owned.as_mut().expect("`lock_project` opened the project"),
        }
    }

    /// Ends the call.
    pub(crate) async fn give_back(self) {
        if let Some(borrowed) = self.borrowed {
            borrowed.give_back().await;
        }
    }
}
