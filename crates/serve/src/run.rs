//! From the lock to the last answer: how a daemon begins, lives and ends.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::Timestamp;
use serde_json::json;
use tokio::time::Instant;

use crate::background::{self, Task};
use crate::client::{self, Silence};
use crate::connection;
use crate::daemon::Daemon;
use crate::os;
use crate::project::{Open, Resolve};
use crate::version::is_newer;
use crate::{Address, Error};

/// Everything the daemon must be told; it looks nothing up by itself.
#[derive(Clone)]
pub struct Config {
    pub data: PathBuf,
    pub version: String,
    /// After so long without a word it ends.
    pub idle: Duration,
    /// After so long without a word about it a project is closed.
    pub quiet: Duration,
    pub now: fn() -> Timestamp,
    pub open: Open,
    pub resolve: Resolve,
    /// Whether what it was told is no longer true, so that another should take its place.
    pub is_outdated: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Those that projects are opened with; let go of when nobody asks.
    pub models: engine::Models,
    pub backup_every_days: u32,
}

/// Why it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is one already, of this version or a newer one.
    AlreadyThere {
        version: String,
    },
    Stopped,
}

/// How many may be connected at once.
const CONNECTIONS: usize = 512;
/// How long another is waited for that steps down.
const STEPPING_DOWN: Duration = Duration::from_secs(5);
/// How long those who are being answered are waited for, and then whatever else is going on.
const FAREWELL: Duration = Duration::from_millis(600);
const CLOSING: Duration = Duration::from_millis(250);
/// How often it looks after itself, and after how many such looks into the inbox.
const LOOK: Duration = Duration::from_secs(1);
const INBOX: u64 = 60;
/// After how many the index follows what was edited.
const EDITS: u64 = 15;

/// Serves until it is asked to stop, has nothing to do, or is outdated.
pub async fn run(config: Config) -> Result<Ended, Error> {
    let address = Address::of(&config.data);
    let place = |path: &std::path::Path, why| Error::Place { path: path.to_owned(), why };
    for folder in address.folders() {
        os::private_dir(folder).map_err(|it| place(folder, it))?;
    }
    let lock = match acquire(&config, &address).await? {
        Ok(lock) => lock,
        Err(version) => return Ok(Ended::AlreadyThere { version }),
    };
    let listener = os::bind(&address.socket).map_err(|it| place(&address.socket, it))?;
    let ours = os::identity(&address.socket);
    let daemon = Arc::new(Daemon::new(config));
    background::start(&daemon).map_err(|it| place(&address.lock, it))?;
    daemon.background.add(Task::TakeIn, None);
    let syncing = Arc::clone(&daemon);
    let syncing = tokio::spawn(async move { syncing.keep_syncing().await });
    listen(&daemon, &listener, || os::identity(&address.socket) == ours).await;
    drop(listener);
    // Another may have put its own there meanwhile.
    if os::identity(&address.socket) == ours {
        let _ = std::fs::remove_file(&address.socket);
    }
    farewell(&daemon).await;
    syncing.abort();
    drop(lock);
    Ok(Ended::Stopped)
}

/// Serves one program over standard input and output, until it closes its end.
pub async fn run_stdio(config: Config) -> std::io::Result<()> {
    let daemon = Arc::new(Daemon::new(config));
    background::start(&daemon)?;
    let served =
        connection::serve(Arc::clone(&daemon), tokio::io::stdin(), tokio::io::stdout()).await;
    // Who told us about a session wants it learned from; nobody else is here to do it.
    while !daemon.background.is_idle() && !daemon.stop.is_asked() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    farewell(&daemon).await;
    served
}

/// The lock, or the version of who holds it. An older one is asked to step down first.
async fn acquire(config: &Config, address: &Address) -> Result<Result<File, String>, Error> {
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
                // It holds the lock and does not listen yet, or no more.
                None => {}
            }
        }
        if began.elapsed() > STEPPING_DOWN {
            return Err(Error::Busy { lock: address.lock.clone() });
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn version_of(address: &Address) -> Option<String> {
    let answer = aside(address, json!({ "id": 1, "request": "hello" })).await.ok()?;
    answer["version"].as_str().map(str::to_owned)
}

async fn ask_to_step_down(config: &Config, address: &Address) -> bool {
    let request = json!({ "id": 1, "request": "stop", "for_version": config.version });
    aside(address, request).await.is_ok()
}

async fn aside(
    address: &Address,
    request: serde_json::Value,
) -> Result<serde_json::Value, Silence> {
    let address = address.clone();
    let ask = move || client::ask(&address, &request.to_string(), Duration::from_secs(1));
    tokio::task::spawn_blocking(ask).await.unwrap_or(Err(Silence::Nobody))
}

/// Takes connections until it is time to end.
async fn listen(daemon: &Arc<Daemon>, listener: &os::Listener, is_ours: impl Fn() -> bool) {
    let mut asked = Box::pin(os::asked_to_stop());
    let mut tick = tokio::time::interval(LOOK);
    let mut n_looks = 0_u64;
    loop {
        tokio::select! {
            biased;
            () = &mut asked => return,
            () = daemon.stop.asked() => return,
            _ = tick.tick() => {
                n_looks += 1;
                if n_looks.is_multiple_of(INBOX) {
                    daemon.background.add(Task::TakeIn, None);
                }
                if n_looks.is_multiple_of(EDITS) {
                    daemon.follow_edits();
                }
                if !is_ours() || daemon.look_around() {
                    return;
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => welcome(daemon, stream),
                // Too many files are open: those who are here must go first.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }
}

/// Serves a connection, unless it is a stranger's or one too many.
fn welcome(daemon: &Arc<Daemon>, stream: os::Stream) {
    let counts = &daemon.counts.connections;
    if !os::is_ours(&stream) || counts.load(Ordering::Relaxed) >= CONNECTIONS {
        return;
    }
    counts.fetch_add(1, Ordering::Relaxed);
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        let _leaving = Leaving(Arc::clone(&daemon));
        let (input, output) = tokio::io::split(stream);
        // The other end went away in the middle; that is its right.
        let _ = connection::serve(daemon, input, output).await;
    });
}

/// Counts a connection out, however it ends.
struct Leaving(Arc<Daemon>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.counts.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets those who are being answered have their answer, then closes what is open. All of it is
/// bounded: what is cut off here is what a crash would cut off, and is found again.
async fn farewell(daemon: &Arc<Daemon>) {
    daemon.background.end();
    let began = Instant::now();
    while daemon.counts.busy.load(Ordering::Relaxed) > 0 && began.elapsed() < FAREWELL {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (closing, syncing) = (Arc::clone(daemon), Arc::clone(daemon));
    let close = tokio::task::spawn_blocking(move || closing.shelf.clear());
    let all = async {
        syncing.sync_now().await;
        let _ = close.await;
    };
    let _ = tokio::time::timeout(CLOSING, all).await;
}
