//! One connection: lines in, answers out, in order. A line is answered before the next is read, so that
//! whoever sends faster than we work waits at their end of the socket.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::MAX_LINE;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::project::lock;
use crate::wire::{self, Code, Failure, Message, Misunderstood, reply_error, reply_ok};

/// What is read at once.
const BUFFER: usize = 16 << 10;
/// A buffer that grew for one long line is not kept for the short ones after it.
const KEPT: usize = 256 << 10;

/// Serves until the other end closes, or the daemon ends.
pub(crate) async fn serve(
    daemon: Arc<Daemon>,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut line = Vec::new();
    loop {
        let reply = match next_line(&mut input, &mut line).await? {
            Line::End => return Ok(()),
            Line::TooLong => Some(reply_error(None, &wire::too_long())),
            Line::Whole => answered(&daemon, &line).await,
        };
        if let Some(mut reply) = reply {
            reply.push('\n');
            output.write_all(reply.as_bytes()).await?;
            output.flush().await?;
        }
        line.clear();
        line.shrink_to(KEPT);
    }
}

async fn answered(daemon: &Arc<Daemon>, line: &[u8]) -> Option<String> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    *lock(&daemon.counts.last) = Instant::now();
    daemon.counts.busy.fetch_add(1, Ordering::Relaxed);
    let _busy = Busy(daemon);
    answer(daemon, line).await
}

/// Counts an answer out, however it ends.
struct Busy<'a>(&'a Daemon);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.counts.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn answer(daemon: &Arc<Daemon>, line: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(line) else {
        let why = Failure::new(Code::Malformed, "the line is not UTF-8");
        return Some(reply_error(None, &why));
    };
    match wire::read(text) {
        Err(Misunderstood { of, why }) => {
            Some(reply_error(of.as_ref().map(|(name, value)| (*name, value)), &why))
        }
        Ok(Message::Event(event)) => {
            let id = serde_json::Value::from(event.id.as_str());
            let why = daemon.take(*event).await.err()?;
            Some(reply_error(Some(("event_id", &id)), &why))
        }
        Ok(Message::Request { id, kind, line }) => Some(match daemon.answer(kind, line).await {
            Ok(answer) => reply_ok(&id, answer),
            Err(why) => reply_error(Some(("id", &id)), &why),
        }),
    }
}

enum Line {
    Whole,
    /// Its end was found, and the rest thrown away.
    TooLong,
    End,
}

/// The next line, without its end; what is left when the stream ends is a line, too.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<Line> {
    let mut is_too_long = false;
    loop {
        let piece = input.fill_buf().await?;
        if piece.is_empty() {
            let is_rest = !line.is_empty() || is_too_long;
            return Ok(if !is_rest {
                Line::End
            } else if is_too_long {
                Line::TooLong
            } else {
                Line::Whole
            });
        }
        let end = piece.iter().position(|it| *it == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        is_too_long |= line.len() + part.len() > MAX_LINE;
        if is_too_long {
            *line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let n = part.len() + usize::from(end.is_some());
        input.consume(n);
        if end.is_some() {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
        }
    }
}
