//! The events of one session while they are read: ids, moments, counts.

use std::collections::HashMap;

use model::{
    Envelope, Event, MAX_EVENT_ID, Reasoning, SessionId, SessionStart, StepComplete, Timestamp,
    TokenUsage, Tool, ToolCall, ToolResult, UserMessage,
};
use serde_json::Value;
use uuid::Uuid;

use crate::notes::without_notes;
use crate::path::Root;
use crate::{answer, args, name};

/// The longest message or thought kept, in bytes.
const MAX_SPEECH: usize = 64 << 10;
/// Calls that may wait for their results at once.
const MAX_OPEN: usize = 4096;

/// What was met on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lines: u64,
    /// Lines that are damaged or too long.
    pub damaged: u64,
    /// Records of kinds that say nothing to us.
    pub ignored: u64,
    /// Strings that were cut.
    pub cut: u64,
}

/// Collects the events of one session.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) counts: Counts,
    pub(crate) root: Root,
    pub(crate) planning: bool,
    /// Where the host keeps its own log, when it says so.
    pub(crate) transcript: Option<String>,
    agent: &'static str,
    project: Option<String>,
    fallback: String,
    session: Option<SessionId>,
    parent: Option<SessionId>,
    now: Timestamp,
    open: HashMap<String, Tool>,
    usage: Option<(String, TokenUsage)>,
    n_events: u64,
    pub(crate) acc: Vec<Envelope>,
}

impl Log {
    /// `fallback` names the session when the host does not.
    pub(crate) fn new(agent: &'static str, project: Option<String>, fallback: String) -> Self {
        Self {
            counts: Counts::default(),
            root: Root::new(project.as_deref(), ""),
            planning: false,
            transcript: None,
            agent,
            project,
            fallback,
            session: None,
            parent: None,
            now: Timestamp(0),
            open: HashMap::new(),
            usage: None,
            n_events: 0,
            acc: Vec::new(),
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.session.is_some()
    }

    pub(crate) fn at(&mut self, at: Option<Timestamp>) {
        self.now = at.unwrap_or(self.now);
    }

    /// Begins the session under the host's id for it. A subagent has its own, made of both.
    pub(crate) fn start(&mut self, host_session: Option<&str>, subagent: Option<&str>, cwd: &str) {
        if self.has_started() {
            return;
        }
        let named = host_session.unwrap_or(&self.fallback).to_owned();
        let whole = session_id(&named);
        self.session = Some(match subagent {
            Some(agent) => session_id(&format!("{named}/{agent}")),
            None => whole,
        });
        self.parent = subagent.map(|_| whole);
        self.root = Root::new(self.project.as_deref(), cwd);
        let start = SessionStart {
            project_root: cwd.to_owned(),
            agent: self.agent.to_owned(),
            host_session: host_session.map(str::to_owned),
            session_type: None,
            task: None,
            planned_steps: None,
            phase: None,
            role: None,
            parent: self.parent,
            work_unit: None,
            transcript: self.transcript.clone(),
        };
        self.push("start", Event::SessionStart(start));
    }

    pub(crate) fn push(&mut self, id: &str, event: Event) {
        if !self.has_started() {
            self.start(None, None, "");
        }
        let session = self.session.expect("a session has begun before its first event");
        self.n_events += 1;
        let id = if id.is_empty() { format!("n{}", self.n_events) } else { id.to_owned() };
        let id = id[..id.floor_char_boundary(MAX_EVENT_ID)].to_owned();
        self.acc.push(Envelope { id, session, at: self.now, event });
    }

    pub(crate) fn say(&mut self, id: &str, text: &str) {
        let text = speech(text);
        if !text.trim().is_empty() {
            self.push(id, Event::Reasoning(Reasoning { text, step: None }));
        }
    }

    pub(crate) fn hear(&mut self, id: &str, text: &str, interrupts: bool) {
        let text = speech(&without_notes(text));
        if interrupts || !text.trim().is_empty() {
            self.push(id, Event::UserMessage(UserMessage { text, interrupts }));
        }
    }

    pub(crate) fn call(&mut self, call_id: &str, tool_name: &str, input: &Value) -> Tool {
        self.call_tool(call_id, name::tool(tool_name), input)
    }

    pub(crate) fn call_tool(&mut self, call_id: &str, mut tool: Tool, input: &Value) -> Tool {
        let args = args::args(&mut tool, input, &self.root);
        if self.open.len() < MAX_OPEN {
            self.open.insert(call_id.to_owned(), tool.clone());
        }
        let (call_id, planning) = (call_id.to_owned(), self.planning);
        let call =
            ToolCall { call_id: call_id.clone(), tool: tool.clone(), args, step: None, planning };
        self.push(&call_id, Event::ToolCall(call));
        tool
    }

    /// The answer to a call; one that was never seen is an answer of an unknown tool.
    pub(crate) fn answer(&mut self, call_id: &str, ok: bool, rejected: bool, text: &str) {
        let tool = self.open.remove(call_id).unwrap_or(Tool::Other);
        let text = &*without_notes(text);
        let result = ToolResult {
            call_id: call_id.to_owned(),
            ok,
            rejected,
            duration_ms: None,
            size: u64::try_from(text.len()).ok(),
            excerpt: answer::excerpt(text),
            paths: if ok { answer::paths(&tool, text, &self.root) } else { Vec::new() },
            matches: answer::matches(&tool, ok, text),
            tool,
        };
        self.push(&format!("{call_id}!"), Event::ToolResult(result));
    }

    /// Tokens of one model step; several records of one step count once, the last of them.
    pub(crate) fn usage(&mut self, step: &str, usage: TokenUsage) {
        if self.usage.as_ref().is_some_and(|it| it.0 != step) {
            self.end_step();
        }
        self.usage = Some((step.to_owned(), usage));
    }

    pub(crate) fn end_step(&mut self) {
        if let Some((step, usage)) = self.usage.take() {
            let complete = StepComplete { step: None, usage: Some(usage) };
            self.push(&format!("{step}$"), Event::StepComplete(complete));
        }
    }
}

/// The session a host's id stands for: the id itself where it is a UUID, else one made of its text.
pub fn session_id(host: &str) -> SessionId {
    if let Ok(id) = host.parse::<SessionId>() {
        return id;
    }
    let half = |salt: &str| {
        u64::from_str_radix(&model::fingerprint(&format!("{salt}{host}")), 16).unwrap_or(0)
    };
    let bits = (u128::from(half("a")) << 64) | u128::from(half("b"));
    SessionId(uuid::Builder::from_custom_bytes(Uuid::from_u128(bits).into_bytes()).into_uuid())
}

fn speech(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_SPEECH)].replace('\0', "\u{fffd}")
}
