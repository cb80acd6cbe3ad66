//! The protocol over lines: one JSON-RPC message a line. Every line that asks for something gets an
//! answer, whatever it holds.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::desk::{Config, Desk};
use crate::server::Server;

/// Where lines come from and go to.
pub type Incoming = Box<dyn BufRead + Send>;
pub type Outgoing = Box<dyn Write + Send>;

/// The longest line that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// How many lines wait for an answer before no more are read.
const WAITING: usize = 64;

/// Answers until the other end is closed.
pub async fn serve_lines(
    config: Config,
    incoming: Incoming,
    outgoing: Outgoing,
) -> Result<(), String> {
    let desk = Desk::new(config);
    let (lines, written) = Lines::new(incoming, outgoing);
    loop {
        match rmcp::serve_server(Server::new(desk.clone()), lines.clone()).await {
            Ok(running) => {
                // However it ends, what was answered is written and what was recorded is kept.
                let _ = running.waiting().await;
                break;
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => break,
            // A message that asks for nothing came too early, or the handshake was refused: the client
            // may begin again.
            Err(
                ServerInitializeError::ExpectedInitializeRequest(_)
                | ServerInitializeError::InitializeFailed(_),
            ) => {}
            Err(error) => return Err(format!("the client cannot be served: {error}")),
        }
    }
    desk.close().await;
    drop(lines);
    // The writer ends when nobody can write any more.
    let _ = written.await;
    Ok(())
}

/// Lines on two threads of their own: reading one may take for ever.
#[derive(Clone)]
struct Lines {
    incoming: Arc<Mutex<mpsc::Receiver<Line>>>,
    outgoing: Option<mpsc::UnboundedSender<String>>,
}

enum Line {
    Whole(Vec<u8>),
    /// Longer than we read.
    TooLong,
}

/// Nobody reads any more.
#[derive(Debug)]
struct Gone;

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the client is gone")
    }
}

impl std::error::Error for Gone {}

impl Lines {
    fn new(mut incoming: Incoming, mut outgoing: Outgoing) -> (Self, oneshot::Receiver<()>) {
        let (to_us, from_them) = mpsc::channel(WAITING);
        let (to_them, mut from_us) = mpsc::unbounded_channel::<String>();
        let (done, written) = oneshot::channel();
        thread::spawn(move || {
            while let Some(line) = next_line(&mut *incoming, LONGEST) {
                if to_us.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        thread::spawn(move || {
            while let Some(line) = from_us.blocking_recv() {
                let all = outgoing.write_all(line.as_bytes()).and_then(|()| outgoing.flush());
                if all.is_err() {
                    break;
                }
            }
            // Nobody waits when the server was dropped.
            let _ = done.send(());
        });
        let incoming = Arc::new(Mutex::new(from_them));
        (Self { incoming, outgoing: Some(to_them) }, written)
    }

    fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> Result<(), Gone> {
        let line = serde_json::to_string(message).map_err(|_| Gone)? + "\n";
        self.outgoing.as_ref().ok_or(Gone)?.send(line).map_err(|_| Gone)
    }
}

impl Transport<RoleServer> for Lines {
    type Error = Gone;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        std::future::ready(self.write(&item))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.incoming.lock().await.recv().await?;
            match read(line) {
                Read::Message(message) => return Some(*message),
                Read::Nothing => {}
                Read::Wrong(error, id) => {
                    self.write(&TxJsonRpcMessage::<RoleServer>::error(error, id)).ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Gone> {
        self.outgoing = None;
        Ok(())
    }
}

enum Read {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// An empty line, or a notification that we do not know: nobody waits for an answer.
    Nothing,
    Wrong(ErrorData, Option<RequestId>),
}

fn read(line: Line) -> Read {
    let Line::Whole(line) = line else {
        let what = format!("a message has at most {LONGEST} bytes, this one had more");
        return Read::Wrong(ErrorData::invalid_request(what, None), None);
    };
    if line.trim_ascii().is_empty() {
        return Read::Nothing;
    }
    let whole: Value = match serde_json::from_slice(&line) {
        Ok(whole) => whole,
        Err(error) => {
            let what = format!("this line is no JSON: {error}");
            return Read::Wrong(ErrorData::parse_error(what, None), None);
        }
    };
    let is_notification = whole["method"].is_string() && whole.get("id").is_none();
    let id = serde_json::from_value(whole["id"].clone()).ok();
    match serde_json::from_slice(&line) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) if is_notification => Read::Nothing,
        Err(_) if whole.is_array() => {
            let what = "batches are not part of the protocol; send one message a line";
            Read::Wrong(ErrorData::invalid_request(what, None), None)
        }
        Err(_) => {
            let what = "this is no JSON-RPC 2.0 request: it needs `jsonrpc`, an `id` that is a string or \
                        a whole number, a `method`, and `params` as the method has them";
            Read::Wrong(ErrorData::invalid_request(what, None), id)
        }
    }
}

/// The next line without its end; `None` at the end or when nothing can be read any more.
fn next_line(from: &mut dyn BufRead, longest: usize) -> Option<Line> {
    let (mut acc, mut is_long) = (Vec::new(), false);
    loop {
        let part = match from.fill_buf() {
            Ok([]) if acc.is_empty() && !is_long => return None,
            // The last line may have no end.
            Ok([]) => break,
            Ok(part) => part,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let end = part.iter().position(|it| *it == b'\n');
        let taken = end.map_or(part.len(), |it| it + 1);
        is_long |= acc.len() + taken > longest;
        if is_long {
            acc.clear();
        } else {
            acc.extend_from_slice(&part[..taken]);
        }
        from.consume(taken);
        if end.is_some() {
            break;
        }
    }
    Some(if is_long { Line::TooLong } else { Line::Whole(acc) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let text = format!("short\n{}\nnext\r\nlast", "x".repeat(50));
        let mut from = BufReader::with_capacity(7, text.as_bytes());
        let mut seen = Vec::new();
        while let Some(line) = next_line(&mut from, 20) {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8(line).unwrap(),
                Line::TooLong => "too long".to_owned(),
            });
        }
        assert_eq!(seen, ["short\n", "too long", "next\r\n", "last"]);
    }
}
