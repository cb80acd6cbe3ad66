//! Life cycle of the daemon: take the lock, accept connections, drain (finish the work in progress),
//! exit.
//!
//! One daemon runs per data folder: the holder of the lock file. A newer program asks an older
//! daemon to exit and takes over. The daemon exits on a signal, on a `stop` request, when it is idle,
//! when the settings file changed, and when another process has replaced its socket.
//!
//! Clients are mostly *hooks*: short processes that a host (the program that runs an agent) starts at
//! each event of a session. A hook that reaches no daemon stores its message in the *inbox*, a folder
//! that the daemon imports later. So a daemon may exit at any time without losing an event.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::background_worker::{self, BackgroundTask};
use crate::client::{self, ClientError};
use crate::command_service::{CommandService, McpCall, McpConnection};
use crate::connection::{self, ClientTransport, ConnectionEnd};
use crate::daemon::Daemon;
use crate::open_projects::{OpenProjectFn, ResolvePolicyFn};
use crate::os;
use crate::project_pool::ProjectPool;
use crate::version::is_newer;
use crate::{DaemonAddress, Error};

/// Dependencies and limits of the daemon, which reads no settings or clock itself.
#[derive(Clone)]
pub struct Config {
    pub data_dir: PathBuf,
    /// Opens the journals and the inbox if the data is encrypted.
    pub key: Option<engine::EncryptionKey>,
    /// Version of this program.
    pub version: String,
    /// Idle time after which the daemon exits.
    pub daemon_idle_timeout: Duration,
    /// Idle time after which a project is closed.
    pub project_idle_timeout: Duration,
    pub now: fn() -> Timestamp,
    pub open_project: OpenProjectFn,
    pub resolve_policy: ResolvePolicyFn,
    /// True if the settings changed since the start. The daemon then exits, and the next hook starts a
    /// new one.
    pub is_outdated: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Runs the commands of the command line, and MCP servers.
    pub commands: Arc<dyn CommandService>,
    /// The models of all projects; released when idle.
    pub models: engine::ModelSet,
    pub backup_every_days: u32,
}

/// The reason why the daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DaemonExit {
    /// A daemon of the same or a newer version is running; this one did not start.
    AlreadyRunning { version: String },
    /// It served and has stopped.
    Stopped,
}

const MAX_CONNECTIONS: usize = 512;
/// Time that an older daemon has to exit, and the interval at which the lock is tried meanwhile.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// Time limits at exit: for replies in progress, then for syncing journals and closing databases.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(600);
const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);
/// Time after which an idle thread for the blocking calls of an MCP server ends.
const MCP_THREAD_KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Interval of the checks whether running work has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Pause after a failure to accept a connection.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// Interval of the housekeeping tick, and ticks between checks of the inbox.
const TICK_INTERVAL: Duration = Duration::from_secs(1);
const TICKS_PER_INBOX_CHECK: u64 = 60;
/// Ticks between indexing passes over projects with edited files.
const TICKS_PER_EDIT_CHECK: u64 = 15;

/// Serves until a reason to exit arises (see the header of this file).
pub async fn run(config: Config) -> Result<DaemonExit, Error> {
    let address = DaemonAddress::for_data_dir(&config.data_dir);
    let io_error = |path: &Path, why| Error::Io { path: path.to_owned(), why };
    for folder in address.parent_folders() {
        os::create_private_dir(folder).map_err(|it| io_error(folder, it))?;
    }
    let lock = match acquire_lock(&config, &address).await? {
        LockAttempt::Acquired(lock) => lock,
        LockAttempt::HeldBy { version } => return Ok(DaemonExit::AlreadyRunning { version }),
    };
    let listener = os::bind_socket(&address.socket).map_err(|it| io_error(&address.socket, it))?;
    let socket_identity = os::file_identity(&address.socket);
    // False if another process has put its own socket at this path.
    let is_socket_ours = || os::file_identity(&address.socket) == socket_identity;

    let daemon = Arc::new(Daemon::new(config));
    // Starting a thread concerns no file; the path only shows which daemon failed.
    background_worker::start_worker(&daemon).map_err(|it| io_error(&address.lock, it))?;
    // Hooks may have stored messages while no daemon ran.
    daemon.background.enqueue(BackgroundTask::ImportInbox, None);
    let syncing_daemon = Arc::clone(&daemon);
    let sync_task = tokio::spawn(async move { syncing_daemon.sync_journals_forever().await });

    accept_connections(&daemon, &listener, is_socket_ours).await;
    // Whatever the reason to exit: open connections start no more commands.
    daemon.stop.request_stop();

    // From here on new hooks find no daemon and answer by themselves.
    drop(listener);
    // Another daemon may have replaced the socket meanwhile; that one stays.
    if is_socket_ours() {
        let _ = std::fs::remove_file(&address.socket);
    }
    drain(&daemon).await;
    daemon.store_last_error();
    sync_task.abort();
    // Last of all: the next daemon starts when the lock is free.
    drop(lock);
    Ok(DaemonExit::Stopped)
}

/// Serves one client over standard input and output until it disconnects.
pub async fn run_stdio(config: Config) -> std::io::Result<()> {
    let daemon = Arc::new(Daemon::new(config));
    background_worker::start_worker(&daemon)?;
    let syncing_daemon = Arc::clone(&daemon);
    let sync_task = tokio::spawn(async move { syncing_daemon.sync_journals_forever().await });
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let transport = ClientTransport::Stdio;
    let served = connection::serve_connection(Arc::clone(&daemon), input, output, transport).await;
    // Finish learning from the session of this client: perhaps no other daemon ever runs here.
    while !daemon.background.is_idle() && !daemon.stop.is_requested() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    drain(&daemon).await;
    sync_task.abort();
    served.map(|_| ())
}

/// The outcome of [`acquire_lock`].
enum LockAttempt {
    /// The lock is released when the file is dropped.
    Acquired(File),
    /// A daemon of the same or a newer version holds the lock.
    HeldBy { version: String },
}

/// Acquires the lock. If an older daemon holds it, that one is asked to exit first, and the lock is
/// tried again until the daemon has released it.
async fn acquire_lock(config: &Config, address: &DaemonAddress) -> Result<LockAttempt, Error> {
    let io_error = |why| Error::Io { path: address.lock.clone(), why };
    let file = os::open_private_file(&address.lock).map_err(io_error)?;
    let started_at = Instant::now();
    // Set once the holder has agreed to exit: it then needs time, not a second request.
    let mut is_holder_stopping = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(LockAttempt::Acquired(file)),
            Err(TryLockError::Error(why)) => return Err(io_error(why)),
            Err(TryLockError::WouldBlock) => {}
        }
        if !is_holder_stopping {
            match holder_version(address).await {
                Some(version) if is_newer(&config.version, &version) => {
                    is_holder_stopping = request_takeover(config, address).await;
                }
                Some(version) => return Ok(LockAttempt::HeldBy { version }),
                // The holder does not listen yet, or no longer: try again below.
                None => {}
            }
        }
        if started_at.elapsed() > TAKEOVER_TIMEOUT {
            return Err(Error::Busy { lock: address.lock.clone() });
        }
        tokio::time::sleep(LOCK_RETRY_INTERVAL).await;
    }
}

/// The version of the daemon that holds the lock; `None` if it does not answer.
async fn holder_version(address: &DaemonAddress) -> Option<String> {
    let answer = send_to_holder(address, json!({ "id": 1, "request": "hello" })).await.ok()?;
    answer["version"].as_str().map(str::to_owned)
}

/// Asks the holder to exit for a newer version; true if it agreed.
async fn request_takeover(config: &Config, address: &DaemonAddress) -> bool {
    let request = json!({ "id": 1, "request": "stop", "for_version": config.version });
    send_to_holder(address, request).await.is_ok()
}

/// Sends a request to the daemon that holds the lock. The client blocks, so it runs on a thread.
async fn send_to_holder(address: &DaemonAddress, request: Value) -> Result<Value, ClientError> {
    let address = address.clone();
    let send =
        move || client::send_request(&address, &request.to_string(), client::CONTROL_TIMEOUT);
    // The outer error means that the thread panicked.
    tokio::task::spawn_blocking(send).await.unwrap_or(Err(ClientError::NotRunning))
}

/// Accepts connections, and does the housekeeping once per tick, until the daemon should exit.
async fn accept_connections(
    daemon: &Arc<Daemon>,
    listener: &os::SocketListener,
    is_socket_ours: impl Fn() -> bool,
) {
    let mut termination = Box::pin(os::termination_signal());
    let mut tick = tokio::time::interval(TICK_INTERVAL);
    let mut n_ticks = 0_u64;
    loop {
        tokio::select! {
            // Branches are polled in this order: many connections must not delay the exit.
            biased;
            () = &mut termination => return,
            () = daemon.stop.wait_for_stop() => return,
            _ = tick.tick() => {
                n_ticks += 1;
                // Hooks that did not get a reply in time store their message in the inbox.
                if n_ticks.is_multiple_of(TICKS_PER_INBOX_CHECK) {
                    daemon.background.enqueue(BackgroundTask::ImportInbox, None);
                }
                if n_ticks.is_multiple_of(TICKS_PER_EDIT_CHECK) {
                    daemon.index_edited_projects();
                }
                daemon.release_idle();
                // With another socket at its path no client can reach this daemon.
                if !is_socket_ours() || daemon.should_exit() {
                    return;
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => spawn_connection(daemon, stream),
                // Out of file descriptors: wait until connections close.
                Err(_) => tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await,
            }
        }
    }
}

/// Serves a connection on a task of its own. Drops it if the client belongs to another user or if
/// there are too many connections; a hook whose connection is dropped stores its message in the inbox.
fn spawn_connection(daemon: &Arc<Daemon>, stream: os::SocketStream) {
    let n_connections = &daemon.counts.connections;
    let is_full = n_connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS;
    if is_full || !os::is_peer_same_user(&stream) {
        return;
    }
    n_connections.fetch_add(1, Ordering::Relaxed);
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        let _counted = ConnectionGuard(Arc::clone(&daemon));
        let (input, output) = tokio::io::split(stream);
        // An error means that the client disconnected early; nothing to do.
        let transport = ClientTransport::Socket;
        let served =
            connection::serve_connection(Arc::clone(&daemon), input, output, transport).await;
        let Ok(end) = served else { return };
        if let ConnectionEnd::Mcp { call, input, output } = end {
            let _ = serve_mcp(&daemon, call, input.unsplit(output)).await;
        }
    });
}

/// Serves the Model Context Protocol on a connection. The server has a thread and a runtime of its own: with
/// several threads, two calls that a client sends one after the other could change places.
async fn serve_mcp(
    daemon: &Arc<Daemon>,
    call: McpCall,
    stream: os::SocketStream,
) -> std::io::Result<()> {
    let (input, output) = os::into_blocking(stream)?;
    let client = McpConnection {
        reader: Box::new(std::io::BufReader::new(input)),
        writer: Box::new(output),
    };
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let daemon = Arc::clone(daemon);
    let serve = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .thread_keep_alive(MCP_THREAD_KEEP_ALIVE)
            .build();
        if let Ok(runtime) = runtime {
            let projects = ProjectPool::new(Arc::clone(&daemon));
            runtime.block_on(daemon.config.commands.serve_mcp(call, client, projects));
        }
        // Fails only if the daemon exits.
        let _ = sender.send(());
    };
    std::thread::Builder::new().name("waylore-mcp".to_owned()).spawn(serve)?;
    // An error means that the server has panicked; the connection is closed then, too.
    let _ = receiver.await;
    Ok(())
}

/// Decrements the connection count on drop.
struct ConnectionGuard(Arc<Daemon>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.counts.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for replies in progress, then syncs the journals and closes the projects side by side, within
/// time limits. A sync writes a journal (the file with the events of a session) through to the disk.
/// Work that is cut off here is recovered as after a crash.
async fn drain(daemon: &Arc<Daemon>) {
    daemon.background.shut_down();
    let started_at = Instant::now();
    let n_in_progress = &daemon.counts.lines_in_progress;
    while n_in_progress.load(Ordering::Relaxed) > 0 && started_at.elapsed() < DRAIN_TIMEOUT {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let closing_daemon = Arc::clone(daemon);
    // Closing a database blocks.
    let closing = tokio::task::spawn_blocking(move || closing_daemon.open_projects.clear());
    let sync_and_close = async {
        daemon.sync_journals().await;
        let _ = closing.await;
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, sync_and_close).await;
}
