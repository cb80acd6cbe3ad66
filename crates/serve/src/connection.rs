//! One connection of a client: reads lines, writes one reply per request, in order. A line is
//! answered before the next one is read, which applies backpressure to fast clients.
//!
//! `run.rs` starts one task per connection. `wire` parses a line, `requests` answers a request, and
//! the daemon journals an event (appends it to the file of its session). A valid event gets no reply.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::MAX_EVENT_LINE_BYTES;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::mutex::lock_mutex;
use crate::requests::answer_request;
use crate::wire::{
    self, ErrorCode, LineError, ReplyTarget, RequestFailure, WireMessage, reply_error, reply_ok,
};

const READ_BUFFER_BYTES: usize = 16 << 10;
/// A line buffer that grew beyond this is shrunk again, so that one long line does not hold its
/// memory as long as the connection lasts.
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
        let reply = match read_line(&mut input, &mut line).await? {
            ReadLine::End => return Ok(()),
            ReadLine::TooLong => Some(reply_error(&ReplyTarget::Unknown, &wire::line_too_long())),
            ReadLine::Whole => answer_line(&daemon, &line).await,
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

/// The reply to a line; `None` for a blank line and for an event without error.
async fn answer_line(daemon: &Arc<Daemon>, line: &[u8]) -> Option<String> {
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
            Some(match answer_request(daemon, kind, body).await {
                Ok(answer) => reply_ok(&id, answer),
                Err(why) => reply_error(&ReplyTarget::Request(id), &why),
            })
        }
    }
}

/// Counts a line as in progress until it is dropped. The daemon waits for lines in progress before
/// it exits. Its idle time is counted from the arrival of the last line.
struct InProgressGuard<'a>(&'a Daemon);

impl<'a> InProgressGuard<'a> {
    fn new(daemon: &'a Daemon) -> Self {
        *lock_mutex(&daemon.counts.last_line_at) = Instant::now();
        daemon.counts.lines_in_progress.fetch_add(1, Ordering::Relaxed);
        Self(daemon)
    }
}

impl Drop for InProgressGuard<'_> {
    fn drop(&mut self) {
        self.0.counts.lines_in_progress.fetch_sub(1, Ordering::Relaxed);
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
