//! The scratchpad: everything the observer knows of a session, a fold over its events.
//!
//! Each event costs a few lookups, whatever came before; nothing is read or written. What was said is
//! looked at once and only findings are kept. Bounded in every part: a session of any length stays
//! within 50 MB.

mod call;
mod take;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use model::{
    Envelope, Event, Outcome, RecordedNote, SessionId, SessionType, Timestamp, Validation,
    ValidationKind, WorkUnit,
};

pub use call::{Call, Does, State, Touch};

use crate::names::{Name, Names};

/// Calls kept; later ones are only counted. A million events have fewer.
pub const MAX_CALLS: usize = 450_000;
/// Notes an agent may record in one session.
pub const MAX_NOTES: usize = 50;
const MAX_SUBTASKS: usize = 1_000;
const MAX_FAILURES: usize = 1_000;
const MAX_REMARKS: usize = 400;
const MAX_MESSAGES: usize = 400;
const MAX_LISTINGS: usize = 200;
/// Ids kept to recognise repeats: those come soon after, or not at all.
const MAX_SEEN: usize = 1 << 15;

/// What is known of a session so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scratchpad {
    pub session: Option<SessionId>,
    pub parent: Option<SessionId>,
    pub agent: String,
    pub root: String,
    pub task: String,
    pub said_type: Option<SessionType>,
    pub planned_steps: Option<u32>,
    pub work_unit: Option<WorkUnit>,
    /// The host's own name for the session.
    pub host_session: Option<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,

    pub names: Names,
    /// The log: every call in order, small.
    pub calls: Vec<Call>,
    /// What calls did to files, in order; a call's touches are consecutive.
    pub touches: Vec<Touch>,
    pub failures: Vec<FailureAt>,
    /// Every call that failed, with the beginning of what it answered.
    pub stumbles: Vec<Stumble>,
    pub remarks: Vec<Remark>,
    pub messages: Vec<Message>,
    pub listings: Vec<Listing>,
    pub undone: Vec<Undone>,
    /// A file was read, then one it imports.
    pub chases: Vec<(Name, Name)>,
    /// Calls before which the host compacted.
    pub compactions: Vec<u32>,
    pub notes: Vec<(u32, RecordedNote)>,
    /// The notes that the agent named as what it relied on, by the end of their ids.
    pub cited: BTreeSet<String>,
    pub validations: Vec<Validation>,
    /// The events with which one of several subtasks succeeded.
    pub subtasks: Vec<u32>,
    pub outcome: Option<Outcome>,
    pub tokens: Tokens,
    /// The first event that brought in text from outside, and what it was.
    pub external: Option<(u32, String)>,
    pub trouble: Trouble,

    n_events: u32,
    n_calls: u32,
    open: HashMap<String, u32>,
    seen: HashSet<u64>,
    seen_order: VecDeque<u64>,
    edits: HashMap<(Name, u64, u64), u32>,
    imports: VecDeque<(u32, Name, Vec<String>)>,
    last_said: String,
}

/// An error that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureAt {
    pub call: u32,
    pub order: u32,
    pub fingerprint: String,
    pub message: String,
    pub shown: String,
    /// What the agent said to it.
    pub reply: String,
}

/// A call that failed, as far as the next session should expect it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stumble {
    pub at: Timestamp,
    /// The program and its subcommand, or the tool.
    pub head: String,
    /// How the answer began, without what is accidental in it.
    pub beginning: String,
}

/// Something said that may become a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub kind: RemarkKind,
    /// Calls that were made before.
    pub call: u32,
    pub order: u32,
    /// The event in which it was said.
    pub event: String,
    /// The sentence, with those around it where the kind needs them.
    pub text: String,
    pub context: [String; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    Correction,
    DeadEnd,
    Causal,
    Wish,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub call: u32,
    pub event: String,
    pub interrupts: bool,
    pub corrects: bool,
    pub text: String,
}

/// A list of files that a call returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub call: u32,
    pub pattern: Name,
    pub files: Vec<Name>,
}

/// An edit that took back another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    pub call: u32,
    pub order: u32,
    pub file: Name,
    /// What the agent said before.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub peak: u64,
    pub steps: u32,
}

/// What went wrong while observing, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// Results without a call.
    pub orphans: u32,
    /// Events whose id was seen before.
    pub repeats: u32,
    /// Calls beyond what is kept.
    pub over: u32,
    /// Events of another session.
    pub strangers: u32,
    /// The clock went back by more than a minute.
    pub clock: u32,
}

impl Scratchpad {
    pub fn new() -> Self {
        Self::default()
    }

    /// Folds one event in.
    pub fn observe(&mut self, envelope: &Envelope) {
        if self.session.is_some_and(|it| it != envelope.session) {
            self.trouble.strangers += 1;
            return;
        }
        if self.is_repeat(&envelope.id) {
            self.trouble.repeats += 1;
            return;
        }
        self.session = Some(envelope.session);
        self.n_events = self.n_events.saturating_add(1);
        self.note_time(envelope.at);
        match &envelope.event {
            Event::SessionStart(start) => self.start(start),
            Event::UserMessage(said) => self.hear(&envelope.id, said),
            Event::ToolCall(call) => self.call(call, envelope.at),
            Event::ToolResult(result) => self.result(result, envelope.at),
            Event::Reasoning(said) => self.listen(&envelope.id, &said.text),
            Event::StepComplete(step) => {
                let usage = step.usage.unwrap_or_default();
                self.tokens.steps += 1;
                self.tokens.input = self.tokens.input.saturating_add(usage.input);
                self.tokens.output = self.tokens.output.saturating_add(usage.output);
                self.tokens.peak = self.tokens.peak.max(usage.input);
            }
            Event::Record(note) if self.notes.len() < MAX_NOTES => {
                self.notes.push((self.n_events, note.clone()));
            }
            Event::Validation(validation) => self.check(validation),
            Event::Compaction(_) if self.compactions.len() < 1_000 => {
                self.compactions.push(self.n_calls);
            }
            Event::Record(_) | Event::Compaction(_) => {}
            Event::SessionEnd(end) => self.outcome = end.outcome.or(self.outcome),
        }
    }

    fn check(&mut self, validation: &Validation) {
        let of_a_part = validation.kind == ValidationKind::SubtaskSucceeded;
        if of_a_part && validation.ok && self.subtasks.len() < MAX_SUBTASKS {
            self.subtasks.push(self.n_events);
        } else if !of_a_part && self.validations.len() < 100 {
            self.validations.push(validation.clone());
        }
    }

    /// Events folded in so far.
    pub const fn n_events(&self) -> u32 {
        self.n_events
    }

    /// Steps so far: what the host counted as one, else calls.
    pub fn n_steps(&self) -> u32 {
        self.n_calls
    }

    /// Whether text of this moment may come from outside.
    pub fn is_tainted(&self, order: u32) -> bool {
        self.external.as_ref().is_some_and(|it| order > it.0)
    }

    /// The touches of one call.
    pub fn touches_of(&self, call: &Call) -> &[Touch] {
        let first = call.first_touch as usize;
        &self.touches[first..first + usize::from(call.n_touches)]
    }

    /// Successful touches with the number of their call, in order.
    pub fn good_touches(&self) -> impl Iterator<Item = &Touch> {
        self.touches.iter().filter(|it| self.calls[it.call as usize].state == State::Ok)
    }

    fn is_repeat(&mut self, id: &str) -> bool {
        let mark = mark(id);
        if !self.seen.insert(mark) {
            return true;
        }
        self.seen_order.push_back(mark);
        if self.seen_order.len() > MAX_SEEN
            && let Some(oldest) = self.seen_order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        false
    }

    fn note_time(&mut self, at: Timestamp) {
        if at.0 <= 0 {
            return;
        }
        self.started = Some(self.started.map_or(at, |it| it.min(at)));
        if self.ended.is_some_and(|it| it.since(at) > 60_000) {
            self.trouble.clock += 1;
        }
        self.ended = Some(self.ended.map_or(at, |it| it.max(at)));
    }
}

/// A number for an id or a text.
pub(crate) fn mark(text: &str) -> u64 {
    let mix = |acc: u64, it: u8| (acc ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests;
