//! Blocking client of the daemon: one connection, one request line, one reply, with a timeout.
//!
//! Opens no project, loads no model and needs no async runtime, so that hooks stay fast.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use engine::HookMessage;
use serde::Serialize;
use serde_json::{Value, json};

use crate::wire::RequestKind;
use crate::{DaemonAddress, os};

/// The longest reply that is read.
const MAX_REPLY_BYTES: u64 = 8 << 20;

/// Reasons why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// No daemon is listening.
    NotRunning,
    /// The daemon did not reply in time, or the reply is invalid.
    Failed(String),
}

/// Sends one request and returns the `ok` part of the reply.
pub fn send_request(
    address: &DaemonAddress,
    request: &str,
    patience: Duration,
) -> Result<Value, ClientError> {
    let line = exchange_line(address, request, patience)?;
    let trouble = |it: &str| ClientError::Failed(it.to_owned());
    let mut reply: Value = serde_json::from_str(&line).map_err(|it| trouble(&it.to_string()))?;
    if let Some(message) = reply["error"]["message"].as_str() {
        return Err(trouble(message));
    }
    match reply["ok"].take() {
        Value::Null => Err(trouble("the reply has no `ok`")),
        answer => Ok(answer),
    }
}

/// A `hook` request. Its shape is a promise of the protocol, so that a hook and a daemon of
/// different versions understand each other: the daemon receives the host's message and parses it
/// itself.
#[derive(Serialize)]
struct HookRequestLine<'a> {
    id: u32,
    request: &'static str,
    host: &'a str,
    message: &'a Value,
}

/// The request that passes a hook message on to the daemon, on one line.
pub fn hook_request(host: &str, message: &HookMessage) -> Option<String> {
    let request = RequestKind::Hook.slug();
    let line = HookRequestLine { id: 1, request, host, message: message.body() };
    serde_json::to_string(&line).ok()
}

/// Requests the status of a running daemon.
pub fn daemon_status(address: &DaemonAddress) -> Result<Value, ClientError> {
    let request = json!({ "id": 1, "request": "status" });
    send_request(address, &request.to_string(), Duration::from_secs(1))
}

/// Asks the daemon to exit and waits for it; false if none was running.
pub fn stop_daemon(address: &DaemonAddress) -> bool {
    let request = json!({ "id": 1, "request": "stop" });
    if send_request(address, &request.to_string(), Duration::from_secs(1))
        == Err(ClientError::NotRunning)
    {
        return false;
    }
    // The daemon holds the lock until it exits.
    if let Ok(lock) = std::fs::File::open(&address.lock) {
        let _ = run_within(Duration::from_secs(5), move || lock.lock());
    }
    true
}

fn exchange_line(
    address: &DaemonAddress,
    request: &str,
    patience: Duration,
) -> Result<String, ClientError> {
    let (socket, line) = (address.socket.clone(), format!("{request}\n"));
    // Even connecting to a hanging daemon may block forever, so everything runs on a thread.
    let work = move || -> Result<String, ClientError> {
        let trouble = |it: std::io::Error| ClientError::Failed(it.to_string());
        let mut stream = os::connect_socket(&socket).map_err(|it| match it.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => {
                ClientError::NotRunning
            }
            _ => trouble(it),
        })?;
        stream.write_all(line.as_bytes()).map_err(trouble)?;
        let mut reply = String::new();
        BufReader::new(stream.take(MAX_REPLY_BYTES)).read_line(&mut reply).map_err(trouble)?;
        if reply.ends_with('\n') {
            Ok(reply)
        } else {
            Err(ClientError::Failed("the connection closed early".to_owned()))
        }
    };
    run_within(patience, work)
        .unwrap_or_else(|| Err(ClientError::Failed("no reply in time".to_owned())))
}

/// Runs work on a thread; `None` after the timeout, and the thread is abandoned.
fn run_within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        // Fails only after the timeout, when the result is no longer wanted.
        let _ = answer.send(work());
    });
    answered.recv_timeout(patience).ok()
}
