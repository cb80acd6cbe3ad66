//! Life cycle of the daemon: lock, serve, drain, exit.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::Timestamp;
use serde_json::json;
use tokio::time::Instant;

use crate::background_worker::{self, BackgroundTask};
use crate::client::{self, ClientError};
use crate::connection;
use crate::daemon::Daemon;
use crate::open_projects::{OpenProjectFn, ResolvePolicyFn};
use crate::os;
use crate::version::is_newer;
use crate::{DaemonAddress, Error};

/// Dependencies and limits of the daemon, which reads no settings or clock itself.
#[derive(Clone)]
pub struct Config {
    pub data: PathBuf,
    pub version: String,
    /// Idle time after which the daemon exits.
    pub idle: Duration,
    /// Idle time after which a project is closed.
    pub quiet: Duration,
    pub now: fn() -> Timestamp,
    pub open: OpenProjectFn,
    pub resolve: ResolvePolicyFn,
    /// True if the settings changed since the start; the daemon then exits and a new one starts.
    pub is_outdated: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The models of all projects; released when idle.
    pub models: engine::ModelSet,
    pub backup_every_days: u32,
}

/// The reason why the daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DaemonExit {
    /// A daemon of the same or a newer version is running.
    AlreadyThere {
        version: String,
    },
    Stopped,
}

/// Most concurrent connections.
const MAX_CONNECTIONS: usize = 512;
/// Time that an older daemon has to exit.
const STEPPING_DOWN: Duration = Duration::from_secs(5);
/// Time limits at exit: for replies in progress, then for everything else.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(600);
const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);
/// Interval of the housekeeping tick, and ticks between looks at the inbox.
const TICK_INTERVAL: Duration = Duration::from_secs(1);
const INBOX_TICKS: u64 = 60;
/// Ticks between indexing passes over edited files.
const EDIT_TICKS: u64 = 15;

/// Serves until it is asked to stop, is idle, or is outdated.
pub async fn run(config: Config) -> Result<DaemonExit, Error> {
    let address = DaemonAddress::for_data_dir(&config.data);
    let place = |path: &std::path::Path, why| Error::Place { path: path.to_owned(), why };
    for folder in address.parent_folders() {
        os::private_dir(folder).map_err(|it| place(folder, it))?;
    }
    let lock = match acquire_lock(&config, &address).await? {
        Ok(lock) => lock,
        Err(version) => return Ok(DaemonExit::AlreadyThere { version }),
    };
    let listener = os::bind_socket(&address.socket).map_err(|it| place(&address.socket, it))?;
    let ours = os::file_identity(&address.socket);
    let daemon = Arc::new(Daemon::new(config));
    background_worker::start_worker(&daemon).map_err(|it| place(&address.lock, it))?;
    daemon.background.enqueue(BackgroundTask::TakeIn, None);
    let syncing = Arc::clone(&daemon);
    let syncing = tokio::spawn(async move { syncing.sync_journals_forever().await });
    accept_connections(&daemon, &listener, || os::file_identity(&address.socket) == ours).await;
    drop(listener);
    // Another daemon may have replaced the socket meanwhile.
    if os::file_identity(&address.socket) == ours {
        let _ = std::fs::remove_file(&address.socket);
    }
    drain(&daemon).await;
    syncing.abort();
    drop(lock);
    Ok(DaemonExit::Stopped)
}

/// Serves one client over standard input and output until it disconnects.
pub async fn run_stdio(config: Config) -> std::io::Result<()> {
    let daemon = Arc::new(Daemon::new(config));
    background_worker::start_worker(&daemon)?;
    let served =
        connection::serve_connection(Arc::clone(&daemon), tokio::io::stdin(), tokio::io::stdout())
            .await;
    // Learn from the session of this client now; no other daemon will.
    while !daemon.background.is_idle() && !daemon.stop.is_asked() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drain(&daemon).await;
    served
}

/// Acquires the lock, or returns the version of its holder. An older daemon is asked to exit first.
async fn acquire_lock(
    config: &Config,
    address: &DaemonAddress,
) -> Result<Result<File, String>, Error> {
    let place = |why| Error::Place { path: address.lock.clone(), why };
    let file = os::private_file(&address.lock).map_err(place)?;
    let began = Instant::now();
    let mut has_asked = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Ok(file)),
            Err(TryLockError::Error(why)) => return Err(place(why)),
            Err(TryLockError::WouldBlock) => {}
        }
        if !has_asked {
            match version_of(address).await {
                Some(version) if !is_newer(&config.version, &version) => return Ok(Err(version)),
                Some(_) => has_asked = ask_to_step_down(config, address).await,
                // The holder does not listen yet, or no longer.
                None => {}
            }
        }
        if began.elapsed() > STEPPING_DOWN {
            return Err(Error::Busy { lock: address.lock.clone() });
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn version_of(address: &DaemonAddress) -> Option<String> {
    let answer = run_periodically(address, json!({ "id": 1, "request": "hello" })).await.ok()?;
    answer["version"].as_str().map(str::to_owned)
}

async fn ask_to_step_down(config: &Config, address: &DaemonAddress) -> bool {
    let request = json!({ "id": 1, "request": "stop", "for_version": config.version });
    run_periodically(address, request).await.is_ok()
}

async fn run_periodically(
    address: &DaemonAddress,
    request: serde_json::Value,
) -> Result<serde_json::Value, ClientError> {
    let address = address.clone();
    let ask = move || client::send_request(&address, &request.to_string(), Duration::from_secs(1));
    tokio::task::spawn_blocking(ask).await.unwrap_or(Err(ClientError::NotRunning))
}

/// Accepts connections until the daemon exits.
async fn accept_connections(
    daemon: &Arc<Daemon>,
    listener: &os::SocketListener,
    is_ours: impl Fn() -> bool,
) {
    let mut asked = Box::pin(os::asked_to_stop());
    let mut tick = tokio::time::interval(TICK_INTERVAL);
    let mut n_looks = 0_u64;
    loop {
        tokio::select! {
            biased;
            () = &mut asked => return,
            () = daemon.stop.wait_for_stop() => return,
            _ = tick.tick() => {
                n_looks += 1;
                if n_looks.is_multiple_of(INBOX_TICKS) {
                    daemon.background.enqueue(BackgroundTask::TakeIn, None);
                }
                if n_looks.is_multiple_of(EDIT_TICKS) {
                    daemon.follow_edits();
                }
                if !is_ours() || daemon.tidy_up() {
                    return;
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => accept_connection(daemon, stream),
                // Out of file descriptors: wait until connections close.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }
}

/// Serves a connection, unless it belongs to another user or exceeds the limit.
fn accept_connection(daemon: &Arc<Daemon>, stream: os::SocketStream) {
    let counts = &daemon.counts.connections;
    if !os::is_ours(&stream) || counts.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
        return;
    }
    counts.fetch_add(1, Ordering::Relaxed);
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        let _leaving = ConnectionGuard(Arc::clone(&daemon));
        let (input, output) = tokio::io::split(stream);
        // The client disconnected early; nothing to do.
        let _ = connection::serve_connection(daemon, input, output).await;
    });
}

/// Decrements the connection count on drop.
struct ConnectionGuard(Arc<Daemon>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.counts.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for replies in progress, then closes everything, within time limits. What is cut off here is
/// recovered like after a crash.
async fn drain(daemon: &Arc<Daemon>) {
    daemon.background.shut_down();
    let began = Instant::now();
    while daemon.counts.busy.load(Ordering::Relaxed) > 0 && began.elapsed() < DRAIN_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (closing, syncing) = (Arc::clone(daemon), Arc::clone(daemon));
    let close = tokio::task::spawn_blocking(move || closing.open_projects.clear());
    let all = async {
        syncing.sync_journals().await;
        let _ = close.await;
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, all).await;
}
