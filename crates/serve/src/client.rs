//! Blocking client of the daemon: one connection, one request line, one reply, with a timeout. Used
//! by commands, by `waylore hook` and `waylore mcp`, by `waylore serve --status` and `--stop`, and by a new daemon that replaces an
//! older one.
//!
//! Opens no project, loads no model and needs no async runtime, so that hooks stay fast: a host (the
//! program that runs an agent) starts a hook at each event of a session and waits for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use engine::HookMessage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::DaemonAddress;
use crate::os;
use crate::wire::{CommandRequest, ErrorCode, McpRequest, RequestKind};

/// The longest reply that is read.
const MAX_REPLY_BYTES: u64 = 8 << 20;
/// Time for a reply that needs no project: `hello`, `status`, `stop`.
pub(crate) const CONTROL_TIMEOUT: Duration = Duration::from_secs(1);
/// Time that a daemon which hung before has to show that it is back.
const HANG_PROBE_TIMEOUT: Duration = Duration::from_millis(20);
/// Longest time that it then has for the request of a hook.
const HANG_RETRY_TIMEOUT: Duration = Duration::from_millis(100);
/// Time that a stopping daemon has to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The client's end of a connection.
pub type ClientStream = os::BlockingStream;

/// Reasons why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// No daemon is listening.
    NotRunning,
    /// The daemon did not reply in time.
    TimedOut,
    /// The daemon did not reply to an earlier hook in time and does not reply now, either.
    Hanging,
    /// The daemon closed the connection, or its reply is an error or invalid.
    Failed(String),
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRunning => f.write_str("it is not running"),
            Self::TimedOut | Self::Hanging => f.write_str("no reply in time"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// Sends one request and returns the `ok` part of the reply.
pub fn send_request(
    address: &DaemonAddress,
    request: &str,
    timeout: Duration,
) -> Result<Value, ClientError> {
    let (_, line) = exchange_line(address, request, timeout)?;
    parse_answer(&line)
}

/// The `ok` part of a reply.
fn parse_answer(line: &str) -> Result<Value, ClientError> {
    let failed = |why: &str| ClientError::Failed(why.to_owned());
    let mut reply: Value = serde_json::from_str(line).map_err(|it| failed(&it.to_string()))?;
    if let Some(message) = reply["error"]["message"].as_str() {
        return Err(failed(message));
    }
    match reply["ok"].take() {
        Value::Null => Err(failed("the reply has no `ok`")),
        answer => Ok(answer),
    }
}

/// As [`send_request`], for a hook: if the daemon hangs, only the first hook waits for it.
///
/// The first one that waits in vain leaves a marker ([`DaemonAddress::hang_marker`]). The next ones
/// only ask whether the daemon is back, with a request that it answers at once, and give their own
/// request little time; the first reply removes the marker.
pub fn send_hook_request(
    address: &DaemonAddress,
    request: &str,
    timeout: Duration,
) -> Result<Value, ClientError> {
    let marker = address.hang_marker();
    if !marker.exists() {
        let res = send_request(address, request, timeout);
        if res == Err(ClientError::TimedOut) {
            // Without the marker, on a full disk for example, the next hook waits as this one did.
            let _ = std::fs::write(&marker, "");
        }
        return res;
    }
    let hello = json!({ "id": 1, "request": "hello" }).to_string();
    let res = send_request(address, &hello, HANG_PROBE_TIMEOUT)
        .and_then(|_| send_request(address, request, timeout.min(HANG_RETRY_TIMEOUT)));
    if res == Err(ClientError::TimedOut) {
        return Err(ClientError::Hanging);
    }
    let _ = std::fs::remove_file(&marker);
    res
}

/// Reasons why the daemon does not work for this process. Nothing was started then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoverError {
    /// No daemon is listening.
    NotRunning,
    /// It does not answer in time.
    Hanging,
    /// It does not fit this process or is shutting down; the text says why.
    Refused(String),
}

/// The outcome of a command that was handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The result, as the daemon's `CommandService` returned it.
    Done(Value),
    /// The daemon has not started the command.
    NotStarted(HandoverError),
    /// The daemon has failed or disappeared during the command, which may have been carried out or not.
    Interrupted,
}

/// Hands a command over to the daemon and waits for its result. `patience` limits the time until the
/// daemon is ready; from then on the caller waits as long as the command takes.
pub fn run_command(
    address: &DaemonAddress,
    request: &CommandRequest,
    patience: Duration,
) -> CommandOutcome {
    let mut stream = match hand_over(address, RequestKind::Command, request, patience) {
        Ok(stream) => stream,
        Err(error) => return CommandOutcome::NotStarted(error),
    };
    let run = format!("{}\n", json!({ "id": 2, "request": RequestKind::Run.slug() }));
    if let Err(error) = stream.write_all(run.as_bytes()) {
        // So short a line is written whole or not at all.
        return CommandOutcome::NotStarted(HandoverError::Refused(error.to_string()));
    }
    let mut reply = String::new();
    let read = BufReader::new(stream).read_line(&mut reply);
    let Some(reply) = read.ok().and_then(|_| serde_json::from_str::<CommandReply>(&reply).ok())
    else {
        return CommandOutcome::Interrupted;
    };
    match (reply.ok, reply.error) {
        (Some(result), _) => CommandOutcome::Done(result),
        (None, Some(error)) if error.code != ErrorCode::Failed.slug() => {
            CommandOutcome::NotStarted(HandoverError::Refused(error.message))
        }
        (None, _) => CommandOutcome::Interrupted,
    }
}

/// Opens a connection of the Model Context Protocol, which the daemon serves from then on.
pub fn connect_mcp(
    address: &DaemonAddress,
    request: &McpRequest,
    patience: Duration,
) -> Result<ClientStream, HandoverError> {
    hand_over(address, RequestKind::Mcp, request, patience)
}

/// Device and inode of a folder, for the request of a caller.
pub fn folder_identity(folder: &Path) -> Option<(u64, u64)> {
    os::file_identity(folder)
}

/// The reply to `run`.
#[derive(Deserialize)]
struct CommandReply {
    ok: Option<Value>,
    error: Option<ReplyError>,
}

#[derive(Deserialize)]
struct ReplyError {
    code: String,
    message: String,
}

/// A request of this process with the fields of `fields`.
#[derive(Serialize)]
struct HandoverLine<'a, T> {
    id: u32,
    request: &'static str,
    #[serde(flatten)]
    fields: &'a T,
}

/// Sends a request and waits until the daemon is ready for this process. An error means that the daemon
/// does nothing: it starts work only when it reads another line of the connection.
fn hand_over<T: Serialize>(
    address: &DaemonAddress,
    kind: RequestKind,
    fields: &T,
    patience: Duration,
) -> Result<ClientStream, HandoverError> {
    let refused = |it: &dyn std::fmt::Display| HandoverError::Refused(it.to_string());
    let line = HandoverLine { id: 1, request: kind.slug(), fields };
    let line = serde_json::to_string(&line).map_err(|it| refused(&it))?;
    // A daemon that a hook found hanging only has to show that it is back.
    let is_hanging = address.hang_marker().exists();
    let patience = if is_hanging { patience.min(HANG_PROBE_TIMEOUT) } else { patience };
    let (stream, reply) = exchange_line(address, &line, patience).map_err(|it| match it {
        ClientError::NotRunning => HandoverError::NotRunning,
        ClientError::TimedOut | ClientError::Hanging => HandoverError::Hanging,
        ClientError::Failed(why) => HandoverError::Refused(why),
    })?;
    parse_answer(&reply).map_err(|it| refused(&it))?;
    Ok(stream)
}

/// A `hook` request. It carries the host's message unchanged and the daemon parses it again: a hook
/// and a daemon of different versions then share only the protocol, not our structs.
#[derive(Serialize)]
struct HookRequestLine<'a> {
    id: u32,
    request: &'static str,
    host: &'a str,
    message: &'a Value,
}

/// The request line that passes a hook message on to the daemon. `requests/hook.rs` answers it.
pub fn format_hook_request(host: &str, message: &HookMessage) -> Option<String> {
    let request = RequestKind::Hook.slug();
    let line = HookRequestLine { id: 1, request, host, message: message.body() };
    serde_json::to_string(&line).ok()
}

/// Requests the status of a running daemon.
pub fn daemon_status(address: &DaemonAddress) -> Result<Value, ClientError> {
    let request = json!({ "id": 1, "request": "status" });
    send_request(address, &request.to_string(), CONTROL_TIMEOUT)
}

/// The version of a running daemon.
pub fn daemon_version(address: &DaemonAddress) -> Option<String> {
    let request = json!({ "id": 1, "request": "hello" });
    let answer = send_request(address, &request.to_string(), CONTROL_TIMEOUT).ok()?;
    answer["version"].as_str().map(str::to_owned)
}

/// Asks the daemon to exit and waits for it; false if none was running.
pub fn stop_daemon(address: &DaemonAddress) -> bool {
    let request = json!({ "id": 1, "request": "stop" }).to_string();
    if send_request(address, &request, CONTROL_TIMEOUT) == Err(ClientError::NotRunning) {
        return false;
    }
    // The daemon holds the lock until it exits, so getting the lock means that it has exited.
    if let Ok(lock) = std::fs::File::open(&address.lock) {
        let _ = run_with_timeout(EXIT_TIMEOUT, move || lock.lock());
    }
    true
}

/// Sends one line and reads one line. Returns the connection, too, on which nothing more was read.
fn exchange_line(
    address: &DaemonAddress,
    request: &str,
    timeout: Duration,
) -> Result<(ClientStream, String), ClientError> {
    let (socket, line) = (address.socket.clone(), format!("{request}\n"));
    // Even connecting to a hanging daemon may block forever, so everything runs on a thread.
    let exchange = move || -> Result<(ClientStream, String), ClientError> {
        let failed = |it: std::io::Error| ClientError::Failed(it.to_string());
        let mut stream = os::connect_socket(&socket).map_err(|it| match it.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => {
                ClientError::NotRunning
            }
            _ => failed(it),
        })?;
        stream.write_all(line.as_bytes()).map_err(failed)?;
        let mut reply = String::new();
        // The daemon sends one line and then waits, so the buffer holds nothing of a later one.
        let mut reader = BufReader::new((&stream).take(MAX_REPLY_BYTES));
        reader.read_line(&mut reply).map_err(failed)?;
        if reply.ends_with('\n') {
            Ok((stream, reply))
        } else {
            // The daemon exited half-way, or the reply exceeds the limit.
            Err(ClientError::Failed("the connection closed early".to_owned()))
        }
    };
    run_with_timeout(timeout, exchange).unwrap_or(Err(ClientError::TimedOut))
}

/// Runs work on a thread; `None` after the timeout, and the thread is abandoned.
fn run_with_timeout<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Fails only after the timeout, when the result is no longer wanted.
        let _ = sender.send(work());
    });
    receiver.recv_timeout(timeout).ok()
}
