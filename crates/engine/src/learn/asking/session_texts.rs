//! The texts of a session that its scratchpad does not keep: what the person and the agent said, whole,
//! and the commands and outputs of calls.
//!
//! The scratchpad keeps findings, because it is folded for every session. The few sessions that a language
//! model is asked about are read a second time, event by event, and this fold runs beside the
//! scratchpad's. `dossier` is composed from both. Events come masked, so no secret is in these texts.

use std::collections::HashMap;

use model::{Event, EventEnvelope, ToolArgs, UserMessageKind};
use observe::Scratchpad;

/// The longest text of a person or an agent that is kept, in bytes. Longer ones are pasted files.
const MAX_SPOKEN_BYTES: usize = 16 << 10;
/// Bytes of all spoken texts together; later ones are dropped.
const MAX_ALL_SPOKEN_BYTES: usize = 8 << 20;
/// The longest command that is kept, in bytes: room for the message of a commit.
const MAX_COMMAND_BYTES: usize = 1_200;
/// The longest output of a call that is kept, in bytes.
const MAX_OUTPUT_BYTES: usize = 1_600;
/// Calls whose texts are kept.
const MAX_CALLS_WITH_TEXT: usize = 20_000;

/// The texts of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionTexts {
    pub(super) spoken: Vec<SpokenText>,
    /// By the number of the call in the scratchpad.
    pub(super) calls: HashMap<u32, CallText>,
    /// The number of each call, by the id that the host gave it.
    numbers_by_id: HashMap<String, u32>,
    n_spoken_bytes: usize,
}

/// A text of a person or of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpokenText {
    /// Its position among all events, as in the scratchpad.
    pub(super) order: u32,
    /// The number of calls before it.
    pub(super) call: u32,
    pub(super) speaker: Speaker,
    pub(super) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    Person { kind: UserMessageKind, reply_to: Option<String>, interrupts: bool },
    Agent { thinking: bool },
}

/// The texts of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallText {
    pub(super) command: String,
    /// Identifiers in the text that an edit changes.
    pub(super) names: Vec<String>,
    /// The beginning of the output, for calls that failed.
    pub(super) output: String,
}

impl SessionTexts {
    /// Folds in an event that the scratchpad has just observed.
    pub(super) fn observe(&mut self, pad: &Scratchpad, envelope: &EventEnvelope) {
        match &envelope.event {
            Event::UserMessage(message) => {
                let speaker = Speaker::Person {
                    kind: message.kind,
                    reply_to: message.reply_to.clone(),
                    interrupts: message.interrupts,
                };
                self.add_spoken(pad, speaker, &message.text);
            }
            Event::Reasoning(it) => {
                self.add_spoken(pad, Speaker::Agent { thinking: it.thinking }, &it.text);
            }
            Event::ToolCall(call) => self.add_call(pad, &call.call_id, &call.args),
            Event::ToolResult(result) => {
                if let Some(number) = self.numbers_by_id.remove(&result.call_id)
                    && let Some(text) = self.calls.get_mut(&number)
                    && pad.calls.get(number as usize).is_some_and(observe::LoggedCall::has_failed)
                {
                    text.output = truncate(result.excerpt.as_str(), MAX_OUTPUT_BYTES);
                }
            }
            Event::SessionStart(_)
            | Event::StepComplete(_)
            | Event::Record(_)
            | Event::Validation(_)
            | Event::Compaction(_)
            | Event::SessionEnd(_) => {}
        }
    }

    fn add_spoken(&mut self, pad: &Scratchpad, speaker: Speaker, text: &str) {
        let text = truncate(text.trim(), MAX_SPOKEN_BYTES);
        self.n_spoken_bytes += text.len();
        // Hosts report some texts twice, as a message and as the last one of a turn.
        let is_repeated = self.spoken.last().is_some_and(|it| it.text == text);
        if !text.is_empty() && !is_repeated && self.n_spoken_bytes <= MAX_ALL_SPOKEN_BYTES {
            let (order, call) = (pad.n_events(), pad.n_steps());
            self.spoken.push(SpokenText { order, call, speaker, text });
        }
    }

    fn add_call(&mut self, pad: &Scratchpad, id: &str, args: &ToolArgs) {
        // The scratchpad has counted the call already.
        let Some(number) = pad.n_steps().checked_sub(1) else { return };
        if self.calls.len() < MAX_CALLS_WITH_TEXT {
            let command = args.command.as_deref().unwrap_or_default();
            let text = CallText {
                command: truncate(command, MAX_COMMAND_BYTES),
                names: args.names.clone(),
                output: String::new(),
            };
            self.calls.insert(number, text);
            self.numbers_by_id.insert(id.to_owned(), number);
        }
    }
}

/// The beginning of a text, in whole characters.
pub(super) fn truncate(text: &str, max_bytes: usize) -> String {
    text[..text.floor_char_boundary(max_bytes)].to_owned()
}
