//! The protocol over stdio: one JSON-RPC message per line. Every request line gets a response,
//! however malformed it is.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::engine_slot::{Config, EngineSlot};
use crate::server::McpServer;

/// Input and output of the transport.
pub type LineReader = Box<dyn BufRead + Send>;
pub type LineWriter = Box<dyn Write + Send>;

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 8 << 20;
/// Lines that wait for a response before reading pauses.
const MAX_QUEUED_LINES: usize = 64;

/// Serves until the client closes its end.
pub async fn serve_lines(
    config: Config,
    incoming: LineReader,
    outgoing: LineWriter,
) -> Result<(), String> {
    let slot = EngineSlot::new(config);
    let (lines, written) = LineTransport::new(incoming, outgoing);
    loop {
        match rmcp::serve_server(McpServer::new(slot.clone()), lines.clone()).await {
            Ok(running) => {
                // Whatever the result: responses are flushed and recorded notes kept below.
                let _ = running.waiting().await;
                break;
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => break,
            // A notification came before the handshake, or the handshake was refused: the client
            // may start again.
            Err(
                ServerInitializeError::ExpectedInitializeRequest(_)
                | ServerInitializeError::InitializeFailed(_),
            ) => {}
            Err(error) => return Err(format!("the client cannot be served: {error}")),
        }
    }
    slot.end_session().await;
    drop(lines);
    // The writer thread ends when the last sender is dropped.
    let _ = written.await;
    Ok(())
}

/// Reads and writes lines on two threads, because a read may block forever.
#[derive(Clone)]
struct LineTransport {
    incoming: Arc<Mutex<mpsc::Receiver<InputLine>>>,
    outgoing: Option<mpsc::UnboundedSender<String>>,
}

enum InputLine {
    Whole(Vec<u8>),
    /// Longer than [`MAX_LINE_BYTES`].
    TooLong,
}

/// The client closed its input.
#[derive(Debug)]
struct ClientGone;

impl std::fmt::Display for ClientGone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the client is gone")
    }
}

impl std::error::Error for ClientGone {}

impl LineTransport {
    fn new(mut incoming: LineReader, mut outgoing: LineWriter) -> (Self, oneshot::Receiver<()>) {
        let (to_us, from_them) = mpsc::channel(MAX_QUEUED_LINES);
        let (to_them, mut from_us) = mpsc::unbounded_channel::<String>();
        let (done, written) = oneshot::channel();
        thread::spawn(move || {
            while let Some(line) = next_line(&mut *incoming, MAX_LINE_BYTES) {
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
            // Fails only if the server was dropped, which is fine.
            let _ = done.send(());
        });
        let incoming = Arc::new(Mutex::new(from_them));
        (Self { incoming, outgoing: Some(to_them) }, written)
    }

    fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> Result<(), ClientGone> {
        let line = serde_json::to_string(message).map_err(|_| ClientGone)? + "\n";
        self.outgoing.as_ref().ok_or(ClientGone)?.send(line).map_err(|_| ClientGone)
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = ClientGone;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), ClientGone>> + Send + 'static {
        std::future::ready(self.write(&item))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.incoming.lock().await.recv().await?;
            match parse_line(line) {
                ParsedLine::Message(message) => return Some(*message),
                ParsedLine::Ignored => {}
                ParsedLine::Invalid(error, id) => {
                    self.write(&TxJsonRpcMessage::<RoleServer>::error(error, id)).ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), ClientGone> {
        self.outgoing = None;
        Ok(())
    }
}

enum ParsedLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// An empty line or an unknown notification; neither expects a response.
    Ignored,
    Invalid(ErrorData, Option<RequestId>),
}

fn parse_line(line: InputLine) -> ParsedLine {
    let InputLine::Whole(line) = line else {
        let what = format!("a message has at most {MAX_LINE_BYTES} bytes, this one had more");
        return ParsedLine::Invalid(ErrorData::invalid_request(what, None), None);
    };
    if line.trim_ascii().is_empty() {
        return ParsedLine::Ignored;
    }
    let whole: Value = match serde_json::from_slice(&line) {
        Ok(whole) => whole,
        Err(error) => {
            let what = format!("the line is not JSON: {error}");
            return ParsedLine::Invalid(ErrorData::parse_error(what, None), None);
        }
    };
    let is_notification = whole["method"].is_string() && whole.get("id").is_none();
    let id = serde_json::from_value(whole["id"].clone()).ok();
    match serde_json::from_slice(&line) {
        Ok(message) => ParsedLine::Message(Box::new(message)),
        Err(_) if is_notification => ParsedLine::Ignored,
        Err(_) if whole.is_array() => {
            let what = "batches are not part of the protocol; send one message per line";
            ParsedLine::Invalid(ErrorData::invalid_request(what, None), None)
        }
        Err(_) => {
            let what = "not a JSON-RPC 2.0 request: it needs `jsonrpc`, an `id` that is a string or \
                        a whole number, a `method`, and `params` as the method has them";
            ParsedLine::Invalid(ErrorData::invalid_request(what, None), id)
        }
    }
}

/// The next line without its end; `None` at the end or when nothing can be read any more.
fn next_line(from: &mut dyn BufRead, longest: usize) -> Option<InputLine> {
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
    Some(if is_long { InputLine::TooLong } else { InputLine::Whole(acc) })
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
                InputLine::Whole(line) => String::from_utf8(line).unwrap(),
                InputLine::TooLong => "too long".to_owned(),
            });
        }
        assert_eq!(seen, ["short\n", "too long", "next\r\n", "last"]);
    }
}
