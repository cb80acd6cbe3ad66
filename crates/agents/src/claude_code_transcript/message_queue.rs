//! Messages that the user of Claude Code typed while the agent worked.
//!
//! The host logs them in records of their own: `enqueue` with the text, then `remove` once the agent has read
//! it in the middle of its turn, or `dequeue` if it becomes the next prompt, which is a user record. `popAll`
//! puts the text back into the input field. Newer versions also write an attachment when the agent reads it.
//!
//! ```text
//! {"type":"queue-operation","operation":"enqueue","content":"no users yet"}
//! {"type":"queue-operation","operation":"remove"}                             queued message: no users yet
//! ```
//!
//! Only `enqueue` always has the text, and the host takes its own notices out of order. A message is therefore
//! taken for read when any is removed, and the same text in the next record of the other kind is skipped.

use std::borrow::Cow;
use std::collections::VecDeque;

use model::{UserMessageKind, fingerprint_text};
use serde_json::Value;

use super::typed_text::{UserText, classify_user_text};
use crate::event_log::EventLog;
use crate::tool_output;

/// Most messages that wait at once.
const MAX_WAITING: usize = 256;

/// The queue of one session.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue {
    waiting: VecDeque<WaitingMessage>,
    /// Texts that became events since the last prompt. One may come again in another record.
    read: Vec<String>,
}

#[derive(Debug)]
struct WaitingMessage {
    id: String,
    text: String,
}

impl MessageQueue {
    /// Reads a record of the queue.
    pub(crate) fn read_operation(&mut self, log: &mut EventLog, record: &Value) {
        let content = record["content"].as_str();
        match (record["operation"].as_str().unwrap_or_default(), content) {
            ("enqueue", Some(text)) => {
                let time = record["timestamp"].as_str().unwrap_or_default();
                let id = format!("queued {}", fingerprint_text(&format!("{time} {text}")));
                if self.waiting.len() == MAX_WAITING {
                    self.waiting.pop_front();
                }
                self.waiting.push_back(WaitingMessage { id, text: text.to_owned() });
            }
            ("remove", Some(text)) => {
                let taken = self.take_waiting(|it| it.text == text);
                self.push_read(log, taken);
            }
            ("remove", None) => {
                let taken = self.take_waiting(|_| true);
                self.push_read(log, taken);
            }
            // The user takes the texts back to edit them.
            ("popAll", Some(text)) => drop(self.take_waiting(|it| it.text == text)),
            ("popAll", None) => self.waiting.clear(),
            // After `dequeue` comes a user record with the text.
            _ => log.counts.n_ignored += 1,
        }
    }

    /// Reads the attachment that holds a message which the agent has read in the middle of its turn.
    pub(crate) fn read_attachment(&mut self, log: &mut EventLog, id: &str, attachment: &Value) {
        let text = tool_output::extract_text(&attachment["prompt"]);
        let is_prompt = attachment["commandMode"].as_str().unwrap_or("prompt") == "prompt";
        let is_copy = self.read.contains(&text);
        let waiting = self.take_waiting(|it| it.text == text);
        if is_prompt && !is_copy {
            let id = id.to_owned();
            self.push_read(log, waiting.or(Some(WaitingMessage { id, text })));
        }
    }

    /// Takes note of a prompt, which may hold waiting messages. Returns whether it is known already.
    pub(crate) fn read_prompt(&mut self, text: &str) -> bool {
        let typed = match classify_user_text(text) {
            UserText::Typed(typed) => typed,
            _ => Cow::Borrowed(text),
        };
        // The queue has a slash command as it was typed.
        self.waiting.retain(|it| !has_lines(text, &it.text) && !has_lines(&typed, &it.text));
        let is_known = self.read.iter().any(|it| it.trim() == typed.trim());
        self.read.clear();
        is_known
    }

    /// Adds what still waits at the end of the transcript: the user has said it all the same.
    pub(crate) fn finish(&mut self, log: &mut EventLog) {
        while let Some(waiting) = self.waiting.pop_front() {
            self.push_read(log, Some(waiting));
        }
    }

    fn take_waiting(
        &mut self,
        matches: impl Fn(&WaitingMessage) -> bool,
    ) -> Option<WaitingMessage> {
        let position = self.waiting.iter().position(matches)?;
        self.waiting.remove(position)
    }

    /// Adds a message that the agent has read, if the user typed it.
    fn push_read(&mut self, log: &mut EventLog, message: Option<WaitingMessage>) {
        let Some(WaitingMessage { id, text }) = message else { return };
        if !is_host_object(&text)
            && !is_bare_command(&text)
            && let UserText::Typed(typed) = classify_user_text(&text)
        {
            log.push_typed(&id, UserMessageKind::Queued, &typed);
        }
        self.read.push(text);
    }
}

/// True for the report of a background task, which older versions queue as JSON.
fn is_host_object(text: &str) -> bool {
    text.starts_with('{') && text.contains("\"task_id\"")
}

/// True for a command of the host such as `/ide`, which says nothing to the agent.
fn is_bare_command(text: &str) -> bool {
    text.starts_with('/') && !text.trim().contains(char::is_whitespace)
}

/// Returns whether a text consists of these lines or has them among others: several messages become one prompt,
/// joined by line ends.
fn has_lines(text: &str, lines: &str) -> bool {
    let (text, lines) = (text.trim(), lines.trim());
    text.match_indices(lines).any(|(start, found)| {
        let (before, behind) = (&text[..start], &text[start + found.len()..]);
        (before.is_empty() || before.ends_with('\n'))
            && (behind.is_empty() || behind.starts_with('\n'))
    })
}
