//! The engine behind the server: opened when it is first needed, one call at a time.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{AgentSession, Engine};
use model::{SessionId, Timestamp};
use tokio::sync::{Mutex, MutexGuard};

/// An engine on its way.
pub type Opening = Pin<Box<dyn Future<Output = Result<Engine, String>> + Send>>;
/// Opens the engine for the project a folder lies in; an error says what to do.
pub type Opener = Arc<dyn Fn(PathBuf) -> Opening + Send + Sync>;

/// What the server must be told; it reads no clock and no environment.
#[derive(Clone)]
pub struct Config {
    pub open: Opener,
    pub now: fn() -> Timestamp,
    pub random: fn() -> [u8; 10],
    /// The folder the host or the person named; the client is asked for one when there is none.
    pub folder: Option<PathBuf>,
    /// The folder the process stands in, when nobody names one.
    pub cwd: PathBuf,
    /// The host's name for the conversation it started the process for, where it says so.
    pub host_session: Option<String>,
}

/// One engine and the session of one process, shared by everything that answers.
#[derive(Clone)]
pub(crate) struct Desk(Arc<Inner>);

struct Inner {
    config: Config,
    session: SessionId,
    engine: Mutex<Option<Engine>>,
    n_notes: AtomicU64,
}

/// The engine, for one call.
pub(crate) struct Turn<'a> {
    guard: MutexGuard<'a, Option<Engine>>,
}

impl Desk {
    pub(crate) fn new(config: Config) -> Self {
        let session = SessionId::new((config.now)(), (config.random)());
        let (engine, n_notes) = (Mutex::new(None), AtomicU64::new(0));
        Self(Arc::new(Inner { config, session, engine, n_notes }))
    }

    /// Whether a client should be asked where it works.
    pub(crate) fn wants_folder(&self) -> bool {
        self.0.config.folder.is_none()
    }

    /// Who speaks in this process.
    pub(crate) fn session(&self, agent: String) -> AgentSession {
        AgentSession { id: self.0.session, agent, host: self.0.config.host_session.clone() }
    }

    /// The name of the next note.
    pub(crate) fn next_note(&self) -> String {
        format!("note-{}", self.0.n_notes.fetch_add(1, Ordering::Relaxed))
    }

    /// Waits for the engine. `folder` is asked for one only when the engine is not open yet. A project
    /// that nobody has registered is looked for again: another process may have.
    pub(crate) async fn turn(
        &self,
        folder: impl Future<Output = Option<PathBuf>>,
    ) -> Result<Turn<'_>, String> {
        let mut guard = self.0.engine.lock().await;
        let is_known = guard.as_ref().is_some_and(|it| it.project().id().is_some());
        if !is_known {
            let config = &self.0.config;
            let folder = match &config.folder {
                Some(folder) => folder.clone(),
                None => folder.await.unwrap_or_else(|| config.cwd.clone()),
            };
            *guard = Some((config.open)(folder).await?);
        }
        if let Some(engine) = guard.as_mut() {
            engine.set_now((self.0.config.now)());
        }
        Ok(Turn { guard })
    }

    /// Closes the journal of this process, if anything was recorded in it.
    pub(crate) async fn close(&self) {
        if self.0.n_notes.load(Ordering::Relaxed) == 0 {
            return;
        }
        let session = self.session(String::new());
        // What a host's conversation recorded ends with that.
        if let Ok(mut turn) = self.turn(async { None }).await {
            // A journal without an end is learned from as well, only later.
            let _ = turn.engine().end_notes(&session).await;
        }
    }
}

impl Turn<'_> {
    pub(crate) fn engine(&mut self) -> &mut Engine {
        self.guard.as_mut().expect("a turn begins with an engine")
    }
}
