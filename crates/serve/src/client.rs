//! Asking the daemon, for those who must not wait: one connection, one line, one answer, and a limit.
//!
//! Opens nothing and loads nothing, and needs no runtime: this is what a hook can afford.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Address, os};

/// The longest answer that is read.
const LONGEST: u64 = 8 << 20;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nobody listens there.
    Nobody,
    /// Somebody does, and does not answer in time, or not sensibly.
    Trouble(String),
}

/// What a daemon answers to one request, and which version it is of.
pub fn ask(address: &Address, request: &str, patience: Duration) -> Result<Value, Silence> {
    let line = exchange(address, request, patience)?;
    let trouble = |it: &str| Silence::Trouble(it.to_owned());
    let mut reply: Value = serde_json::from_str(&line).map_err(|it| trouble(&it.to_string()))?;
    if let Some(message) = reply["error"]["message"].as_str() {
        return Err(trouble(message));
    }
    match reply["ok"].take() {
        Value::Null => Err(trouble("it answers something else")),
        answer => Ok(answer),
    }
}

/// The request that carries a host's words. They are put in as they are: a line end outside of a text is
/// but a blank, and inside there is none.
pub fn hook_request(host: &str, message: &str) -> String {
    let message = message.replace(['\n', '\r'], " ");
    format!("{{\"id\":1,\"request\":\"hook\",\"host\":\"{host}\",\"message\":{message}}}")
}

/// How the daemon is, when there is one.
pub fn status(address: &Address) -> Result<Value, Silence> {
    let request = json!({ "id": 1, "request": "status" });
    ask(address, &request.to_string(), Duration::from_secs(1))
}

/// Asks the daemon to end, and waits until it has: whether there was one.
pub fn stop(address: &Address) -> bool {
    let request = json!({ "id": 1, "request": "stop" });
    if ask(address, &request.to_string(), Duration::from_secs(1)) == Err(Silence::Nobody) {
        return false;
    }
    // It holds the lock as long as it works.
    if let Ok(lock) = std::fs::File::open(&address.lock) {
        let _ = within(Duration::from_secs(5), move || lock.lock());
    }
    true
}

fn exchange(address: &Address, request: &str, patience: Duration) -> Result<String, Silence> {
    let (socket, line) = (address.socket.clone(), format!("{request}\n"));
    // Connecting to one that hangs may itself never end, so that all of it is done aside.
    let work = move || -> Result<String, Silence> {
        let trouble = |it: std::io::Error| Silence::Trouble(it.to_string());
        let mut stream = os::connect(&socket).map_err(|it| match it.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => Silence::Nobody,
            _ => trouble(it),
        })?;
        stream.write_all(line.as_bytes()).map_err(trouble)?;
        let mut reply = String::new();
        BufReader::new(stream.take(LONGEST)).read_line(&mut reply).map_err(trouble)?;
        if reply.ends_with('\n') {
            Ok(reply)
        } else {
            Err(Silence::Trouble("it broke off".to_owned()))
        }
    };
    within(patience, work).unwrap_or_else(|| Err(Silence::Trouble("it takes too long".to_owned())))
}

/// What work comes to, if it is done in time; otherwise it is left to itself.
fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody waits any more when sending fails, and that is fine.
        let _ = answer.send(work());
    });
    answered.recv_timeout(patience).ok()
}
