//! One connection of a client: reads lines, writes one reply per request, in order. A line is
//! answered before the next one is read, which applies backpressure to fast clients.
//!
//! `run.rs` starts one task per connection. `wire` parses a line, `requests` answers a request, and
//! the daemon journals an event (appends it to the file of its session). A valid event gets no reply.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::MAX_EVENT_LINE_BYTES;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::command_service::{
    CommandCall, McpCall, admit_command, admit_mcp, ready_json, run_command,
};
use crate::daemon::Daemon;
use crate::project_pool::InProgressGuard;
use crate::requests::{answer_request, parse_fields};
use crate::wire::{
    self, ErrorCode, LineError, ReplyTarget, RequestFailure, RequestKind, WireMessage, reply_error,
    reply_ok,
};

const READ_BUFFER_BYTES: usize = 16 << 10;
/// A line buffer that grew beyond this is shrunk again, so that one long line does not hold its
/// memory as long as the connection lasts.
const MAX_KEPT_BUFFER_BYTES: usize = 256 << 10;

/// The reason why a connection is no longer served here.
pub(crate) enum ConnectionEnd<R, W> {
    /// The client has disconnected.
    Closed,
    /// The connection is one of the Model Context Protocol from now on.
    Mcp { call: McpCall, input: R, output: W },
}

/// The transport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientTransport {
    Socket,
    /// The pipes of this process, which serve the protocol of the daemon only.
    Stdio,
}

/// State of one connection between two lines.
struct ConnectionState {
    transport: ClientTransport,
    /// A command that was checked and waits for the `run` of its caller.
    announced: Option<CommandCall>,
    /// An MCP server that starts after this reply.
    mcp: Option<McpCall>,
}

/// Serves until the client disconnects or the daemon exits.
pub(crate) async fn serve_connection<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    daemon: Arc<Daemon>,
    input: R,
    mut output: W,
    transport: ClientTransport,
) -> std::io::Result<ConnectionEnd<R, W>> {
    let mut input = BufReader::with_capacity(READ_BUFFER_BYTES, input);
    let mut line = Vec::new();
    let mut state = ConnectionState { transport, announced: None, mcp: None };
    loop {
        let reply = match read_line(&mut input, &mut line).await? {
            ReadLine::End => return Ok(ConnectionEnd::Closed),
            ReadLine::TooLong => Some(reply_error(&ReplyTarget::Unknown, &wire::line_too_long())),
            ReadLine::Whole => answer_line(&daemon, &line, &mut state).await,
        };
        if let Some(mut reply) = reply {
            reply.push('\n');
            output.write_all(reply.as_bytes()).await?;
            output.flush().await?;
        }
        if let Some(call) = state.mcp.take() {
            // A client that sent more without waiting for the reply would lose it.
            if !input.buffer().is_empty() {
                return Ok(ConnectionEnd::Closed);
            }
            return Ok(ConnectionEnd::Mcp { call, input: input.into_inner(), output });
        }
        line.clear();
        line.shrink_to(MAX_KEPT_BUFFER_BYTES);
    }
}

/// The reply to a line; `None` for a blank line and for an event without error.
async fn answer_line(
    daemon: &Arc<Daemon>,
    line: &[u8],
    state: &mut ConnectionState,
) -> Option<String> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let _in_progress = InProgressGuard::new(daemon);
    let Ok(text) = std::str::from_utf8(line) else {
        let why = RequestFailure::new(ErrorCode::Malformed, "the line is not UTF-8");
        return Some(reply_error(&ReplyTarget::Unknown, &why));
    };
    match wire::parse_wire_message(text) {
        Err(LineError { target, why }) => Some(reply_error(&target, &why)),
        Ok(WireMessage::Event(event)) => {
            let target = ReplyTarget::Event(event.id.as_str().into());
            // An accepted event gets no reply, so without an error the result is `None`.
            let why = daemon.accept_event(*event).await.err()?;
            Some(reply_error(&target, &why))
        }
        Ok(WireMessage::Request { id, kind, body }) => {
            let answer = match kind {
                RequestKind::Command | RequestKind::Run | RequestKind::Mcp => {
                    answer_caller(daemon, kind, body.line, state).await
                }
                _ => answer_request(daemon, kind, body).await,
            };
            Some(match answer {
                Ok(answer) => reply_ok(&id, answer),
                Err(why) => reply_error(&ReplyTarget::Request(id), &why),
            })
        }
    }
}

/// Answers a request that changes the state of its connection.
async fn answer_caller(
    daemon: &Arc<Daemon>,
    kind: RequestKind,
    line: &str,
    state: &mut ConnectionState,
) -> Result<Value, RequestFailure> {
    daemon.counts.requests.fetch_add(1, Ordering::Relaxed);
    // An earlier announcement ends with any of these requests.
    let announced = state.announced.take();
    match kind {
        RequestKind::Run => match announced {
            Some(call) => run_command(daemon, call).await,
            None => Err(RequestFailure::new(ErrorCode::Malformed, "`run` follows a `command`")),
        },
        RequestKind::Mcp if state.transport == ClientTransport::Stdio => {
            Err(RequestFailure::new(ErrorCode::Refused, "`mcp` is served over the socket only"))
        }
        RequestKind::Mcp => {
            state.mcp = Some(admit_mcp(daemon, parse_fields(line)?)?);
            Ok(ready_json())
        }
        _ => {
            state.announced = Some(admit_command(daemon, parse_fields(line)?)?);
            Ok(ready_json())
        }
    }
}

enum ReadLine {
    /// The line is in the buffer.
    Whole,
    /// The line was longer than [`MAX_EVENT_LINE_BYTES`] and was skipped up to its end.
    TooLong,
    /// The client has closed its end.
    End,
}

/// Reads the next line into an empty buffer, without its line break. Text before the end of the
/// input counts as a line even without a line break.
async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<ReadLine> {
    let mut is_too_long = false;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(if is_too_long {
                ReadLine::TooLong
            } else if line.is_empty() {
                ReadLine::End
            } else {
                ReadLine::Whole
            });
        }
        let line_break = available.iter().position(|it| *it == b'\n');
        let part = &available[..line_break.unwrap_or(available.len())];
        is_too_long |= line.len() + part.len() > MAX_EVENT_LINE_BYTES;
        if is_too_long {
            // The line is rejected anyway: free its memory and skip the rest.
            *line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let n_consumed = part.len() + usize::from(line_break.is_some());
        input.consume(n_consumed);
        if line_break.is_some() {
            return Ok(if is_too_long { ReadLine::TooLong } else { ReadLine::Whole });
        }
    }
}
