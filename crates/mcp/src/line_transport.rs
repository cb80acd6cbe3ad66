//! The protocol over stdio: one JSON-RPC message per line. Every request line gets a response,
//! however malformed it is; the transport of the `rmcp` library drops a line that is not JSON.
//!
//! Two threads read and write lines, because a read may block forever. Channels connect them with the
//! server, which runs on the async runtime.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::project_slot::{Config, ProjectSlot};
use crate::server::McpServer;

/// Input and output of the transport, normally stdin and stdout.
pub type LineReader = Box<dyn BufRead + Send>;
pub type LineWriter = Box<dyn Write + Send>;

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 8 << 20;
/// Lines that wait for a response before reading pauses.
const MAX_QUEUED_LINES: usize = 64;

/// Serves until the client closes its end. All requests of the client use one `ProjectSlot`: the
/// project, opened on first use, and the session under which notes are recorded.
pub async fn serve_lines(
    config: Config,
    incoming: LineReader,
    outgoing: LineWriter,
) -> Result<(), String> {
    let slot = ProjectSlot::new(config);
    let (transport, all_written) = LineTransport::new(incoming, outgoing);
    loop {
        // Returns after the handshake, with a running server or an error.
        match rmcp::serve_server(McpServer::new(slot.clone()), transport.clone()).await {
            Ok(running) => {
                // Whatever the result, the session is ended and responses are flushed below.
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
    // The writer thread ends when the last sender is dropped.
    drop(transport);
    let _ = all_written.await;
    Ok(())
}

/// The server's ends of the channels to the two threads. Clones share them: after a failed handshake a
/// new server continues with the next line.
#[derive(Clone)]
struct LineTransport {
    incoming: Arc<Mutex<mpsc::Receiver<InputLine>>>,
    /// `None` once the transport is closed.
    outgoing: Option<mpsc::UnboundedSender<String>>,
}

/// A line of the client, as the reader thread passes it on.
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
    /// Starts the two threads. The receiver gets a value when all responses are written.
    fn new(mut reader: LineReader, mut writer: LineWriter) -> (Self, oneshot::Receiver<()>) {
        let (request_sender, request_receiver) = mpsc::channel(MAX_QUEUED_LINES);
        let (response_sender, mut response_receiver) = mpsc::unbounded_channel::<String>();
        let (written_sender, all_written) = oneshot::channel();
        thread::spawn(move || {
            while let Some(line) = read_line(&mut *reader, MAX_LINE_BYTES) {
                // Fails if the server was dropped: no one reads the lines any more.
                if request_sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        thread::spawn(move || {
            while let Some(line) = response_receiver.blocking_recv() {
                let written = writer.write_all(line.as_bytes()).and_then(|()| writer.flush());
                // The client has closed its end, so no report can reach it.
                if written.is_err() {
                    break;
                }
            }
            // Fails only if the server was dropped, which is fine.
            let _ = written_sender.send(());
        });
        let incoming = Arc::new(Mutex::new(request_receiver));
        (Self { incoming, outgoing: Some(response_sender) }, all_written)
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
            match parse_json_rpc(line) {
                ParsedLine::Message(message) => return Some(*message),
                ParsedLine::Ignored => {}
                // The library sees valid messages only, so the error response is written here.
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
    /// The error to respond with, and the id of the request if the line has a valid one.
    Invalid(ErrorData, Option<RequestId>),
}

/// Parses a line:
///
/// ```text
/// {"jsonrpc":"2.0","id":1,"method":"ping"}      a message
/// an empty line                                 ignored
/// {"jsonrpc":"2.0","method":"no/such/thing"}    ignored: a notification, because it has no id
/// {"id":5}                                      an error for request 5
/// {   or   []                                   an error without an id
/// ```
fn parse_json_rpc(line: InputLine) -> ParsedLine {
    let InputLine::Whole(line) = line else {
        let what = format!("a message has at most {MAX_LINE_BYTES} bytes, this one had more");
        return ParsedLine::Invalid(ErrorData::invalid_request(what, None), None);
    };
    if line.trim_ascii().is_empty() {
        return ParsedLine::Ignored;
    }
    // Parsed as plain JSON first, to tell apart the reasons why it may be no message.
    let json: Value = match serde_json::from_slice(&line) {
        Ok(json) => json,
        Err(error) => {
            let what = format!("the line is not JSON: {error}");
            return ParsedLine::Invalid(ErrorData::parse_error(what, None), None);
        }
    };
    let is_notification = json["method"].is_string() && json.get("id").is_none();
    let id = serde_json::from_value(json["id"].clone()).ok();
    match serde_json::from_slice(&line) {
        Ok(message) => ParsedLine::Message(Box::new(message)),
        // JSON-RPC forbids a response to a notification, even to an invalid one.
        Err(_) if is_notification => ParsedLine::Ignored,
        Err(_) if json.is_array() => {
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

/// The next line with its line break; `None` at the end of the input or after a read error. A line of
/// more than `max_bytes` is skipped up to its end.
fn read_line(input: &mut dyn BufRead, max_bytes: usize) -> Option<InputLine> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let available = match input.fill_buf() {
            Ok([]) if line.is_empty() && !is_too_long => return None,
            // The last line may have no line break.
            Ok([]) => break,
            Ok(available) => available,
            // A signal arrived during the read; nothing is lost.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let line_break = available.iter().position(|it| *it == b'\n');
        let n_taken = line_break.map_or(available.len(), |it| it + 1);
        is_too_long |= line.len() + n_taken > max_bytes;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(&available[..n_taken]);
        }
        input.consume(n_taken);
        if line_break.is_some() {
            break;
        }
    }
    Some(if is_too_long { InputLine::TooLong } else { InputLine::Whole(line) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let text = format!("short\n{}\nnext\r\nlast", "x".repeat(50));
        // A small buffer, so that lines span several reads.
        let mut input = BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input, 20) {
            lines.push(match line {
                InputLine::Whole(line) => String::from_utf8(line).unwrap(),
                InputLine::TooLong => "too long".to_owned(),
            });
        }
        assert_eq!(lines, ["short\n", "too long", "next\r\n", "last"]);
    }
}
