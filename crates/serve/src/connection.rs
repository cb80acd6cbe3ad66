//! One connection: lines in, replies out, in order. A line is answered before the next is read, which
//! applies backpressure to fast clients.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::MAX_EVENT_LINE_BYTES;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::open_projects::lock;
use crate::requests::answer_request;
use crate::wire::{self, ErrorCode, LineError, RequestFailure, WireMessage, reply_error, reply_ok};

/// Size of the read buffer.
const READ_BUFFER_BYTES: usize = 16 << 10;
/// A line buffer that grew beyond this is shrunk again.
const MAX_KEPT_BUFFER_BYTES: usize = 256 << 10;

/// Serves until the client disconnects or the daemon exits.
pub(crate) async fn serve_connection(
    daemon: Arc<Daemon>,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(READ_BUFFER_BYTES, input);
    let mut line = Vec::new();
    loop {
        let reply = match next_line(&mut input, &mut line).await? {
            NextLine::End => return Ok(()),
            NextLine::TooLong => Some(reply_error(None, &wire::too_long())),
            NextLine::Whole => answer_counted(&daemon, &line).await,
        };
        if let Some(mut reply) = reply {
            reply.push('\n');
            output.write_all(reply.as_bytes()).await?;
            output.flush().await?;
        }
        line.clear();
        line.shrink_to(MAX_KEPT_BUFFER_BYTES);
    }
}

async fn answer_counted(daemon: &Arc<Daemon>, line: &[u8]) -> Option<String> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    *lock(&daemon.counts.last) = Instant::now();
    daemon.counts.busy.fetch_add(1, Ordering::Relaxed);
    let _busy = BusyGuard(daemon);
    answer_line(daemon, line).await
}

/// Decrements the count of busy lines on drop.
struct BusyGuard<'a>(&'a Daemon);

impl Drop for BusyGuard<'_> {
    fn drop(&mut self) {
        self.0.counts.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn answer_line(daemon: &Arc<Daemon>, line: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(line) else {
        let why = RequestFailure::new(ErrorCode::Malformed, "the line is not UTF-8");
        return Some(reply_error(None, &why));
    };
    match wire::parse_line(text) {
        Err(LineError { of, why }) => {
            Some(reply_error(of.as_ref().map(|(name, value)| (*name, value)), &why))
        }
        Ok(WireMessage::Event(event)) => {
            let id = serde_json::Value::from(event.id.as_str());
            let why = daemon.accept_event(*event).await.err()?;
            Some(reply_error(Some(("event_id", &id)), &why))
        }
        Ok(WireMessage::Request { id, kind, body }) => {
            Some(match answer_request(daemon, kind, body).await {
                Ok(answer) => reply_ok(&id, answer),
                Err(why) => reply_error(Some(("id", &id)), &why),
            })
        }
    }
}

enum NextLine {
    Whole,
    /// Skipped up to its end.
    TooLong,
    End,
}

/// The next line without its line break; a rest without one counts as a line.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<NextLine> {
    let mut is_too_long = false;
    loop {
        let piece = input.fill_buf().await?;
        if piece.is_empty() {
            let is_rest = !line.is_empty() || is_too_long;
            return Ok(if !is_rest {
                NextLine::End
            } else if is_too_long {
                NextLine::TooLong
            } else {
                NextLine::Whole
            });
        }
        let end = piece.iter().position(|it| *it == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        is_too_long |= line.len() + part.len() > MAX_EVENT_LINE_BYTES;
        if is_too_long {
            *line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let n = part.len() + usize::from(end.is_some());
        input.consume(n);
        if end.is_some() {
            return Ok(if is_too_long { NextLine::TooLong } else { NextLine::Whole });
        }
    }
}
