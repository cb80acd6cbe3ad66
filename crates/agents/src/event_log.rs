//! Collects the events of one session while a transcript or a hook message is read.
//!
//! An *event* is one thing that happened in a session: a user message, a text of the model, a tool call,
//! its result. Every reader of a format pushes its events here. The log starts the session before the
//! first event, assigns event ids and times, bounds texts, removes our own notes (text that Waylore
//! injected) from them, matches results with their calls, and counts what was skipped. The owner of the
//! log takes the events from `acc`.
//!
//! ```text
//! start_session(Some("s1"), None, "/p")            event `start`
//! push_call("t1", "Bash", {"command": "make"})     event `t1`
//! push_result("t1", Failed, "no rule")             event `t1!`
//! ```
//!
//! A *subagent* is an agent that another one started; it has a session of its own. A *step* is one call
//! of the model; its token usage is added when the next step begins.

use std::collections::HashMap;

use model::{
    AgentReasoning, Event, EventEnvelope, MAX_EVENT_ID_BYTES, SessionEnd, SessionId, SessionStart,
    StepComplete, Timestamp, TokenUsage, Tool, ToolCall, ToolResult, UserMessage, UserMessageKind,
    elide_middle,
};
use serde_json::Value;
use uuid::Uuid;

use crate::own_notes::strip_own_notes;
use crate::path_resolver::PathResolver;
use crate::user_replies::AwaitedReply;
use crate::{tool_args, tool_names, tool_output};

/// Longest user message or reasoning text stored, in bytes.
const MAX_SPEECH_BYTES: usize = 64 << 10;
/// Most calls that may wait for their results at once.
const MAX_OPEN_CALLS: usize = 4096;

/// Counts of a transcript that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    pub n_lines: u64,
    /// Lines that are damaged or too long.
    pub n_damaged: u64,
    /// Records of kinds that produce no event.
    pub n_ignored: u64,
}

/// Result of a tool call, as far as the host reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Ok,
    Failed,
    /// The user did not allow the call.
    Rejected,
}

impl CallOutcome {
    /// `Ok` or `Failed`, for hosts that do not report rejections here.
    pub(crate) fn from_success(is_success: bool) -> Self {
        if is_success { Self::Ok } else { Self::Failed }
    }
}

/// The events of one session, in the order in which they were read.
#[derive(Debug)]
pub(crate) struct EventLog {
    pub(crate) counts: ReadCounts,
    pub(crate) resolver: PathResolver,
    /// The agent is in plan mode.
    pub(crate) planning: bool,
    /// Path of the host's own transcript or database, if the host names it.
    pub(crate) transcript: Option<String>,
    agent: &'static str,
    project: Option<String>,
    /// Host session id used when the transcript names none.
    fallback_session_id: String,
    /// `None` until the session has started.
    session: Option<SessionId>,
    /// The session that started this one, for a subagent.
    parent: Option<SessionId>,
    /// Time of the events that follow.
    now: Timestamp,
    /// Calls without a result yet, by call id.
    open_calls: HashMap<String, Tool>,
    /// Replies that calls without a result wait for, by call id.
    awaited_replies: HashMap<String, AwaitedReply>,
    /// Latest token usage of the current step, with the id of that step.
    usage: Option<(String, TokenUsage)>,
    /// Events so far, including those already taken from `acc`.
    n_events: u64,
    /// Events that the owner has not taken yet.
    pub(crate) acc: Vec<EventEnvelope>,
}

impl EventLog {
    /// An empty log. `project` is the root on this machine; `fallback_session_id` is used if the host
    /// names no session.
    pub(crate) fn new(
        agent: &'static str,
        project: Option<String>,
        fallback_session_id: String,
    ) -> Self {
        Self {
            counts: ReadCounts::default(),
            resolver: PathResolver::new(project.as_deref(), ""),
            planning: false,
            transcript: None,
            agent,
            project,
            fallback_session_id,
            session: None,
            parent: None,
            now: Timestamp(0),
            open_calls: HashMap::new(),
            awaited_replies: HashMap::new(),
            usage: None,
            n_events: 0,
            acc: Vec::new(),
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.session.is_some()
    }

    /// Sets the time of the events that follow; a record without a time keeps the previous one.
    pub(crate) fn set_time(&mut self, at: Option<Timestamp>) {
        self.now = at.unwrap_or(self.now);
    }

    /// Starts the session under the host's id for it. For a subagent, `host_session` is the id of its
    /// parent, and its own session id is derived from that and its name. Does nothing if the session
    /// has started.
    pub(crate) fn start_session(
        &mut self,
        host_session: Option<&str>,
        subagent: Option<&str>,
        cwd: &str,
    ) {
        if self.has_started() {
            return;
        }
        let host_id = host_session.unwrap_or(&self.fallback_session_id).to_owned();
        let main_session = derive_session_id(&host_id);
        self.session = Some(match subagent {
            // Subagents of different sessions may have the same name.
            Some(agent) => derive_session_id(&format!("{host_id}/{agent}")),
            None => main_session,
        });
        self.parent = subagent.map(|_| main_session);
        self.resolver = PathResolver::new(self.project.as_deref(), cwd);
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
        self.push_event("start", Event::SessionStart(start));
    }

    /// Adds an event under the host's id for it, which identifies the event when the same session
    /// is read again. Events without an id are numbered.
    pub(crate) fn push_event(&mut self, id: &str, event: Event) {
        if !self.has_started() {
            self.start_session(None, None, "");
        }
        let session = self.session.expect("a session has started before its first event");
        self.n_events += 1;
        let id = if id.is_empty() { format!("n{}", self.n_events) } else { id.to_owned() };
        let id = id[..id.floor_char_boundary(MAX_EVENT_ID_BYTES)].to_owned();
        self.acc.push(EventEnvelope { id, session, at: self.now, event });
    }

    /// A message of the agent.
    pub(crate) fn push_reasoning(&mut self, id: &str, text: &str) {
        self.push_agent_text(
            id,
            AgentReasoning { text: bound_speech(text), thinking: false, step: None },
        );
    }

    /// A thought of the agent, which the host shows apart from its messages.
    pub(crate) fn push_thought(&mut self, id: &str, text: &str) {
        self.push_agent_text(
            id,
            AgentReasoning { text: bound_speech(text), thinking: true, step: None },
        );
    }

    fn push_agent_text(&mut self, id: &str, reasoning: AgentReasoning) {
        if !reasoning.text.trim().is_empty() {
            self.push_event(id, Event::Reasoning(reasoning));
        }
    }

    /// A message that the user typed while the agent waited.
    pub(crate) fn push_user_message(&mut self, id: &str, text: &str) {
        self.push_typed(id, UserMessageKind::Prompt, text);
    }

    /// Text that the user typed.
    pub(crate) fn push_typed(&mut self, id: &str, kind: UserMessageKind, text: &str) {
        let text = bound_speech(&strip_own_notes(text));
        if !text.trim().is_empty() {
            let message = UserMessage { text, kind, ..UserMessage::default() };
            self.push_event(id, Event::UserMessage(message));
        }
    }

    /// The user stopped the agent. Hosts mark that with words of their own, which are not the user's.
    pub(crate) fn push_interrupt(&mut self, id: &str) {
        let message = UserMessage { interrupts: true, ..UserMessage::default() };
        self.push_event(id, Event::UserMessage(message));
    }

    pub(crate) fn push_session_end(&mut self) {
        self.push_event("end", Event::SessionEnd(SessionEnd { outcome: None, steps: None }));
    }

    /// A call of the tool that the host names `tool_name`.
    pub(crate) fn push_call(&mut self, call_id: &str, tool_name: &str, input: &Value) -> Tool {
        if let Some(reply) = AwaitedReply::from_call(tool_name, input)
            && self.awaited_replies.len() < MAX_OPEN_CALLS
        {
            self.awaited_replies.insert(call_id.to_owned(), reply);
        }
        self.push_tool_call(call_id, tool_names::find_host_tool(self.agent, tool_name), input)
    }

    /// The reply that a call waits for, if it asked the user.
    pub(crate) fn take_awaited_reply(&mut self, call_id: &str) -> Option<AwaitedReply> {
        self.awaited_replies.remove(call_id)
    }

    /// A call of a known tool. Returns the tool, which the arguments may have made more specific.
    pub(crate) fn push_tool_call(&mut self, call_id: &str, mut tool: Tool, input: &Value) -> Tool {
        let args = tool_args::parse_args(&mut tool, input, &self.resolver);
        // A transcript with calls that never end must not grow this map without bound.
        if self.open_calls.len() < MAX_OPEN_CALLS {
            self.open_calls.insert(call_id.to_owned(), tool.clone());
        }
        // Calls made while planning are exploration; later records may change the mode.
        let (call_id, planning) = (call_id.to_owned(), self.planning);
        let call =
            ToolCall { call_id: call_id.clone(), tool: tool.clone(), args, step: None, planning };
        self.push_event(&call_id, Event::ToolCall(call));
        tool
    }

    /// The result of a call. A result without a known call belongs to `Tool::Other`.
    pub(crate) fn push_result(&mut self, call_id: &str, outcome: CallOutcome, text: &str) {
        let tool = self.open_calls.remove(call_id).unwrap_or(Tool::Other);
        let text = &*strip_own_notes(text);
        let ok = outcome == CallOutcome::Ok;
        // The text of a failed call names the files of an error message, not what was found.
        let (mut paths, mut matches) = (Vec::new(), None);
        if ok {
            paths = tool_output::listed_paths(&tool, text, &self.resolver);
            matches = tool_output::count_matches(&tool, text);
        }
        let result = ToolResult {
            call_id: call_id.to_owned(),
            ok,
            rejected: outcome == CallOutcome::Rejected,
            duration_ms: None,
            size: u64::try_from(text.len()).ok(),
            excerpt: tool_output::make_excerpt(text),
            paths,
            matches,
            tool,
        };
        // The host gives call and result one id; the suffix keeps their event ids apart.
        self.push_event(&format!("{call_id}!"), Event::ToolResult(result));
    }

    /// Token usage of one model step. Of several records of the same step the last one counts.
    pub(crate) fn record_usage(&mut self, step: &str, usage: TokenUsage) {
        let is_next_step = self.usage.as_ref().is_some_and(|(current, _)| current != step);
        if is_next_step {
            self.end_step();
        }
        self.usage = Some((step.to_owned(), usage));
    }

    /// Completes the current step, if its usage is known.
    pub(crate) fn end_step(&mut self) {
        if let Some((step, usage)) = self.usage.take() {
            let complete = StepComplete { step: None, usage: Some(usage) };
            self.push_event(&format!("{step}$"), Event::StepComplete(complete));
        }
    }
}

/// The session id for a host's id: the same id if that is a UUID, otherwise one derived from its
/// text.
pub fn derive_session_id(host_id: &str) -> SessionId {
    if let Ok(id) = host_id.parse::<SessionId>() {
        return id;
    }
    // A fingerprint has 64 bits, as hex digits; a UUID has 128. Two salted fingerprints fill it.
    let salted_hash = |salt: &str| {
        let hex = model::fingerprint_text(&format!("{salt}{host_id}"));
        u64::from_str_radix(&hex, 16).unwrap_or(0)
    };
    let bits = (u128::from(salted_hash("a")) << 64) | u128::from(salted_hash("b"));
    SessionId(uuid::Builder::from_custom_bytes(Uuid::from_u128(bits).into_bytes()).into_uuid())
}

/// Bounds a text and replaces NUL characters. Of a longer text both ends stay: what the user asks stands
/// before or after a pasted log.
pub(crate) fn bound_speech(text: &str) -> String {
    elide_middle(text, MAX_SPEECH_BYTES, MAX_SPEECH_BYTES / 2).replace('\0', "\u{fffd}")
}
