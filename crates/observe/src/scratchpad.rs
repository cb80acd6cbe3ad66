//! The scratchpad: everything that is observed about one session, built by folding its events.
//!
//! The events (messages, tool calls and their results) come from a live session or from a journal file; the
//! signal detectors and the session summary read the result. Example: the events "call `cat a.rs`" and its
//! result become one [`LoggedCall`] with one [`LoggedTouch`], the read of `a.rs`.
//!
//! - The *host* is the program that runs the agent and reports the events.
//! - Two kinds of position occur throughout. A *call number* is an index into [`Scratchpad::calls`]. An
//!   `order` counts all events, so that it tells which of two things came first.
//! - *Tainted* is what may repeat text from outside the project, such as a fetched page. From the first call
//!   that brings in such text, everything is tainted.
//! - A *compaction* is the host's summary of a conversation that has become too long.
//!
//! An event costs a few lookups, however many came before it. Text is scanned once and only the
//! findings are stored. Every collection is bounded, so that a session of any length stays within
//! 50 MB.

mod call;
mod external_text;
mod fold;
mod message;
mod spoken;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use model::{
    ContentChannel, Event, EventEnvelope, RecordedNote, SessionId, SessionOutcome, SessionType,
    Timestamp, TokenUsage, Tool, ToolKind, ValidationResult, WorkUnit,
};

pub use call::{CallEffects, CallState, LoggedCall, LoggedTouch};
pub use message::LoggedMessage;
pub use spoken::{AgentReply, AgentText, Speaker, SpokenSentence, pad_words, states_cause};

use crate::error_line::{ErrorKind, ToolFamily};
use crate::person::WishKind;
use crate::strings::{SessionStrings, StringId};

/// Calls that are logged; later ones are only counted. A million events have fewer.
pub const MAX_CALLS: usize = 450_000;
/// Notes that an agent may record in one session.
pub const MAX_NOTES: usize = 50;
// Bounds of the collections; further entries are dropped.
const MAX_SUBTASKS: usize = 1_000;
const MAX_ERRORS: usize = 1_000;
const MAX_EDIT_NAMES: usize = 50_000;
const MAX_STATEMENTS: usize = 400;
const MAX_MESSAGES: usize = 400;
const MAX_LISTINGS: usize = 200;
const MAX_REVERTED_EDITS: usize = 200;
const MAX_IMPORT_CHASES: usize = 1_000;
const MAX_COMPACTIONS: usize = 1_000;
const MAX_VALIDATIONS: usize = 100;
/// Edits remembered to recognise their reversal.
const MAX_REMEMBERED_EDITS: usize = MAX_CALLS / 8;
/// Calls that wait for their result. A host that answers nothing must not grow the table.
const MAX_PENDING_CALLS: usize = 4_096;
/// Event ids remembered to recognise repeats, which come soon after the original or not at all.
const MAX_SEEN_IDS: usize = 1 << 15;
/// A timestamp that is earlier than the latest one by more counts as a clock jump. Smaller steps back are
/// ordinary, because the events of parallel calls arrive in any order.
const MAX_CLOCK_DRIFT_MS: i64 = 60_000;

/// Everything that is known about a session so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scratchpad {
    /// `None` before the first event.
    pub session: Option<SessionId>,
    /// The session that started this one as a subagent.
    pub parent: Option<SessionId>,
    pub agent: String,
    /// Absolute path of the project, without a slash at the end.
    pub root: String,
    /// The task that the host declared, else the first message of the user.
    pub task: String,
    /// The type and the number of steps that the host declared at the start.
    pub declared_type: Option<SessionType>,
    pub planned_steps: Option<u32>,
    pub work_unit: Option<WorkUnit>,
    /// The host's own name for the session.
    pub host_session: Option<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,

    pub strings: SessionStrings,
    /// The calls, in order.
    pub calls: Vec<LoggedCall>,
    /// File reads and writes, in order. The touches of one call are consecutive.
    pub touches: Vec<LoggedTouch>,
    pub errors: Vec<ErrorOccurrence>,
    /// The calls that failed, each with the start of its output.
    pub failed_calls: Vec<FailedCall>,
    pub statements: Vec<SessionStatement>,
    pub messages: Vec<LoggedMessage>,
    /// Sentences that may be claims, in order.
    pub spoken_sentences: Vec<SpokenSentence>,
    pub agent_texts: Vec<AgentText>,
    /// The agent's first words after each message.
    pub agent_replies: Vec<AgentReply>,
    pub listings: Vec<FileListing>,
    pub reverted_edits: Vec<RevertedEdit>,
    /// Identifiers in the text that edits added or removed, each with the number of its call, in order.
    pub edit_names: Vec<(u32, StringId)>,
    /// Pairs of a file that was read and an import of it that was read soon after.
    pub import_chases: Vec<(StringId, StringId)>,
    /// One entry per compaction of the context: the number of the next call.
    pub compactions: Vec<u32>,
    /// Notes that the agent recorded, each with its position among the events.
    pub notes: Vec<(u32, RecordedNote)>,
    /// Short ids of the memories that the agent cited.
    pub cited_ids: BTreeSet<String>,
    pub validations: Vec<ValidationResult>,
    /// Positions of the events that reported a subtask as succeeded.
    pub succeeded_subtasks: Vec<u32>,
    pub outcome: Option<SessionOutcome>,
    pub tokens: TokenTotals,
    /// The first text from outside the project, if there was any.
    pub external: Option<ExternalSource>,
    pub anomalies: EventAnomalies,

    server_trust: ServerTrust,
    n_events: u32,
    /// Calls so far, also those beyond [`MAX_CALLS`].
    n_calls: u32,
    /// Numbers of the calls without a result, by the host's call id.
    pending_calls: HashMap<String, u32>,
    /// Hashes of event ids: as a set, and in the order of arrival.
    seen_ids: HashSet<u64>,
    seen_order: VecDeque<u64>,
    /// Edits so far: the file, and the hashes of the removed and the added text.
    edits_by_text: HashSet<(StringId, u64, u64)>,
    /// The files that were read last.
    recent_reads: VecDeque<RecentRead>,
    /// The last sentence of the agent.
    last_sentence: String,
    /// A person has spoken since the agent's last message.
    turn_ended: bool,
    /// The message that the agent has not replied to yet: the calls before it, and its position.
    unanswered_message: Option<(u32, u32)>,
}

/// The first source of external text in a session. Statements after it may repeat that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSource {
    /// Everything at a later position is tainted.
    pub tainted_after: u32,
    pub at: Timestamp,
    pub channel: ContentChannel,
    /// The address, else the command, else the tool.
    pub source: String,
}

/// A subagent of a session, as far as its record shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentRecord {
    pub started: Timestamp,
    /// The external text that it read, if it did.
    pub external: Option<String>,
}

/// A file that was read, remembered to see whether its imports are read next.
#[derive(Clone, Debug, PartialEq)]
struct RecentRead {
    call: u32,
    file: StringId,
    import_words: Vec<String>,
}

/// An error in the output of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorOccurrence {
    pub call: u32,
    pub order: u32,
    pub fingerprint: String,
    pub normalised_message: String,
    pub display_line: String,
    pub family: ToolFamily,
    pub kind: ErrorKind,
    /// The name that the error is about, if any.
    pub subject: Option<String>,
    /// The sentence in which the agent explained it; empty if there is none.
    pub explanation: String,
    /// The position of the explanation; 0 if there is none.
    pub explained_at: u32,
}

/// A call that failed. Later sessions are warned of such failures (`expected_errors.rs`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    pub at: Timestamp,
    /// The program and its subcommand, or the tool.
    pub head: String,
    /// The line that names the error, else the first line of the output.
    pub message: String,
}

/// A sentence of the agent or the user that may become a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStatement {
    pub kind: StatementKind,
    /// The number of calls before it, which is also the number of the next call.
    pub call: u32,
    pub order: u32,
    /// Id of the event that contains it.
    pub event: String,
    pub text: String,
    /// Two texts that the kind needs: neighbouring sentences, or the two ends of a dependency.
    pub context: [String; 2],
}

/// Kind of a [`SessionStatement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// The agent corrects itself. Context: the two sentences after it.
    Correction,
    /// The agent gives up an approach. Context: the sentences before and after it.
    DeadEnd,
    /// One change requires another. Context: the two things, as they are named.
    Causal,
    /// A person wants it to be remembered. No context.
    Wish(WishKind),
}

/// A list of files that a call returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileListing {
    pub call: u32,
    pub pattern: StringId,
    pub files: Vec<StringId>,
}

/// An edit that reverted an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedEdit {
    pub call: u32,
    pub order: u32,
    pub file: StringId,
    /// The last sentence of the agent before it.
    pub reason: String,
}

/// Token usage that the host reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenTotals {
    pub input: u64,
    pub output: u64,
    /// The largest input of one step.
    pub peak: u64,
    pub steps: u32,
}

/// Counts of malformed or unexpected events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventAnomalies {
    /// Results whose call was never seen.
    pub orphan_results: u32,
    /// Events with an id that was seen before.
    pub repeated_ids: u32,
    /// Calls beyond [`MAX_CALLS`].
    pub calls_over_limit: u32,
    /// Events of another session.
    pub foreign_events: u32,
    /// Timestamps that went back by more than a minute.
    pub clock_jumps: u32,
}

/// The MCP servers whose results are trusted like the project's own text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTrust {
    /// Servers that the user trusts, by name.
    pub trusted_servers: Vec<String>,
    /// A server of another program has the name of Waylore's own, which then proves nothing.
    pub has_foreign_namesake: bool,
}

impl Scratchpad {
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty scratchpad of a project with these MCP servers.
    pub fn with_server_trust(server_trust: ServerTrust) -> Self {
        Self { server_trust, ..Self::default() }
    }

    /// Folds one event in.
    pub fn observe(&mut self, envelope: &EventEnvelope) {
        if self.session.is_some_and(|it| it != envelope.session) {
            self.anomalies.foreign_events += 1;
            return;
        }
        if self.is_repeated_id(&envelope.id) {
            self.anomalies.repeated_ids += 1;
            return;
        }
        self.session = Some(envelope.session);
        self.n_events = self.n_events.saturating_add(1);
        self.extend_time_span(envelope.at);
        match &envelope.event {
            Event::SessionStart(start) => fold::add_session_start(self, start),
            Event::UserMessage(message) => {
                spoken::add_person_words(self, message);
                message::add_user_message(self, &envelope.id, message);
            }
            Event::ToolCall(call) => fold::add_call(self, call, envelope.at),
            Event::ToolResult(result) => fold::add_result(self, result, envelope.at),
            Event::Reasoning(it) => {
                fold::add_reasoning(self, &envelope.id, &it.text);
                spoken::add_text(self, it);
            }
            Event::StepComplete(step) => self.tokens.add(step.usage.unwrap_or_default()),
            Event::Validation(validation) => fold::add_validation(self, validation),
            Event::Record(note) if self.notes.len() < MAX_NOTES => {
                // Notes of a journal are added after the host's record. The time tells whether one was
                // written before the external text was read.
                let before = self.external.as_ref().filter(|it| envelope.at < it.at);
                let order = before.map_or(self.n_events, |it| it.tainted_after);
                self.notes.push((order, note.clone()));
            }
            Event::Compaction(_) if self.compactions.len() < MAX_COMPACTIONS => {
                self.compactions.push(self.n_calls);
            }
            // Beyond the limits.
            Event::Record(_) | Event::Compaction(_) => {}
            // A session can end twice; an end without an outcome does not erase an earlier one.
            Event::SessionEnd(end) => self.outcome = end.outcome.or(self.outcome),
        }
    }

    /// Events folded in so far.
    pub const fn n_events(&self) -> u32 {
        self.n_events
    }

    /// Steps so far. A step is a call, because not every host reports steps.
    pub const fn n_steps(&self) -> u32 {
        self.n_calls
    }

    /// Returns whether text at this position may come from outside the project.
    pub fn is_tainted(&self, order: u32) -> bool {
        self.external.as_ref().is_some_and(|it| order > it.tainted_after)
    }

    /// Returns whether results of an MCP tool are no external text: it belongs to Waylore's own server or to
    /// one that the user trusts.
    fn is_trusted_tool(&self, tool: &Tool) -> bool {
        let trust = &self.server_trust;
        let is_trusted = |server: &String| trust.trusted_servers.contains(server);
        (tool.is_own_server() && !trust.has_foreign_namesake)
            || matches!(tool, Tool::Mcp { server, .. } if is_trusted(server))
    }

    /// Returns whether the session started a subagent.
    pub fn starts_subagents(&self) -> bool {
        self.calls.iter().any(|it| it.tool == ToolKind::Task)
    }

    /// Taints the session by what its subagents read: from the call on that started the first subagent with
    /// external text. A subagent of which no record is known may have read anything, so that too few
    /// `subagents` taint the session from its first such call on.
    pub fn add_subagents(&mut self, subagents: &[SubagentRecord]) {
        let ran = |it: &&LoggedCall| it.tool == ToolKind::Task && it.state != CallState::Rejected;
        let calls: Vec<(u32, Timestamp)> =
            self.calls.iter().filter(ran).map(|it| (it.order, it.at)).collect();
        let Some(&first) = calls.first() else { return };
        let unknown = (subagents.len() < calls.len()).then(|| (first, "a subagent".to_owned()));
        let tainted = subagents.iter().filter_map(|it| {
            // The latest call before the subagent started.
            let call = calls.iter().rev().find(|(_, at)| *at <= it.started).unwrap_or(&first);
            it.external.as_ref().map(|source| (*call, format!("a subagent: {source}")))
        });
        let earliest = unknown.into_iter().chain(tainted).min_by_key(|((order, _), _)| *order);
        if let Some(((order, at), source)) = earliest {
            self.taint_from(order.saturating_sub(1), at, ContentChannel::Subagent, source);
        }
    }

    /// Taints the whole session: the agent that started it had read external text and wrote its task.
    pub fn inherit_taint(&mut self, source: &str) {
        self.taint_whole(ContentChannel::Subagent, format!("the parent: {source}"));
    }

    /// Taints the whole session by text of a channel.
    pub fn taint_whole(&mut self, channel: ContentChannel, source: String) {
        self.taint_from(0, self.started.unwrap_or_default(), channel, source);
    }

    /// Returns whether the record of the session itself is external: its author is unknown.
    pub fn is_foreign(&self) -> bool {
        self.external.as_ref().is_some_and(|it| it.channel == ContentChannel::Transcript)
    }

    fn taint_from(
        &mut self,
        tainted_after: u32,
        at: Timestamp,
        channel: ContentChannel,
        source: String,
    ) {
        if self.external.as_ref().is_none_or(|it| it.tainted_after > tainted_after) {
            self.external = Some(ExternalSource { tainted_after, at, channel, source });
            // Their outputs were stored before the taint was known.
            self.failed_calls.retain(|it| it.at < at);
        }
    }

    /// The touches of one call.
    pub fn touches_of_call(&self, call: &LoggedCall) -> &[LoggedTouch] {
        let first = call.first_touch as usize;
        &self.touches[first..first + usize::from(call.n_touches)]
    }

    /// The identifiers in the text that the edit of a call added or removed.
    pub fn names_of_edit(&self, call: &LoggedCall) -> impl Iterator<Item = &str> {
        let number = self.calls.partition_point(|it| it.order < call.order);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let first = self.edit_names.partition_point(|it| it.0 < number);
        let of_call = self.edit_names[first..].iter().take_while(move |it| it.0 == number);
        of_call.map(|it| self.strings.text(it.1))
    }

    /// The touches of successful calls, in order.
    pub fn successful_touches(&self) -> impl Iterator<Item = &LoggedTouch> {
        self.touches.iter().filter(|it| self.calls[it.call as usize].state == CallState::Ok)
    }

    /// Returns whether an event id was seen before, and remembers it.
    fn is_repeated_id(&mut self, id: &str) -> bool {
        let hash = hash_text(id);
        if !self.seen_ids.insert(hash) {
            return true;
        }
        // The oldest id makes room for the new one.
        self.seen_order.push_back(hash);
        if self.seen_order.len() > MAX_SEEN_IDS
            && let Some(oldest) = self.seen_order.pop_front()
        {
            self.seen_ids.remove(&oldest);
        }
        false
    }

    /// Moves the start and the end of the session so that they include a time.
    fn extend_time_span(&mut self, at: Timestamp) {
        // Some hosts write events without a time; these count for nothing here.
        if at.0 <= 0 {
            return;
        }
        self.started = Some(self.started.map_or(at, |it| it.min(at)));
        if self.ended.is_some_and(|it| it.millis_since(at) > MAX_CLOCK_DRIFT_MS) {
            self.anomalies.clock_jumps += 1;
        }
        self.ended = Some(self.ended.map_or(at, |it| it.max(at)));
    }
}

impl TokenTotals {
    const fn add(&mut self, usage: TokenUsage) {
        self.steps += 1;
        self.input = self.input.saturating_add(usage.input);
        self.output = self.output.saturating_add(usage.output);
        if usage.input > self.peak {
            self.peak = usage.input;
        }
    }
}

/// FNV-1a, 64 bits. A collision drops one event or reports one reverted edit too many, so that a
/// stronger hash is not needed.
fn hash_text(text: &str) -> u64 {
    let mix = |acc: u64, it: u8| (acc ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests;
