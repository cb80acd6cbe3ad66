//! A small notation for sessions, so that tests are data: `"read a.rs\nedit a.rs\nrun make test"`. One line
//! per message or call; a call gives two events, the call and its result.
//!
//! | line | event |
//! |---|---|
//! | `user TEXT`, `queued TEXT`, `interrupt` | a message of the user; one typed while the agent works; an interruption |
//! | `answer QUESTION → TEXT`, `plan TEXT` | an answer to the agent; a plan that the user accepted |
//! | `say TEXT` | a text of the agent |
//! | `read FILE`, `read FILE: CONTENT` | a read |
//! | `edit FILE`, `write FILE` | an edit; a new file |
//! | `swap FILE OLD NEW` | an edit that replaces `OLD` with `NEW` |
//! | `grep QUERY → FILE`, `list PATTERN → FILE FILE` | a search or a list, and the files it returned |
//! | `run COMMAND` | a command that succeeds |
//! | `print COMMAND: OUTPUT` | a command that succeeds with an output |
//! | `fail COMMAND: OUTPUT`, `failread FILE: OUTPUT`, `failedit FILE: OUTPUT` | a command, a read or an edit that fails |
//! | `refuse FILE`, `refuse FILE: REASON` | an edit that the user refused, and why |
//! | `web URL` | a fetched page |
//! | `commit` | `git commit` |
//! | `compact`, `tokens N`, `tick MS` | a compaction; input tokens of a step; time that passes |

use model::{
    AgentReasoning, ContextCompaction, Event, EventEnvelope, ProjectPath, SessionId, SessionStart,
    StepComplete, TextExcerpt, Timestamp, TokenUsage, Tool, ToolArgs, ToolCall, ToolResult,
    UserMessage, UserMessageKind,
};

use crate::Scratchpad;

/// Folds the events of a script.
pub(crate) fn pad_from_script(script: &str) -> Scratchpad {
    let mut pad = Scratchpad::new();
    for envelope in &events_from_script(script) {
        pad.observe(envelope);
    }
    pad
}

/// The events of a script, after a session start.
pub(crate) fn events_from_script(script: &str) -> Vec<EventEnvelope> {
    let mut acc = ScriptBuilder { events: Vec::new(), at: 1_000_000 };
    acc.push(Event::SessionStart(SessionStart {
        project_root: "/p".to_owned(),
        agent: "test".to_owned(),
        host_session: None,
        session_type: None,
        task: None,
        planned_steps: None,
        phase: None,
        role: None,
        parent: None,
        work_unit: None,
        transcript: None,
    }));
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let is_known = acc.push_message(verb, rest) || acc.push_call(verb, rest);
        assert!(is_known, "unknown verb {verb}");
    }
    acc.events
}

struct ScriptBuilder {
    events: Vec<EventEnvelope>,
    /// Time of the last event, in milliseconds.
    at: i64,
}

/// The result of a scripted call.
#[derive(Default)]
struct ScriptResult<'a> {
    text: &'a str,
    paths: Vec<ProjectPath>,
    failed: bool,
    rejected: bool,
}

impl ScriptBuilder {
    /// Adds an event one second after the last.
    fn push(&mut self, event: Event) {
        self.at += 1000;
        let session = SessionId::new(Timestamp(5), [1; 10]);
        let id = format!("e{}", self.events.len());
        self.events.push(EventEnvelope { id, session, at: Timestamp(self.at), event });
    }

    /// Adds an event that is not a call; `false` if the verb is none of these.
    fn push_message(&mut self, verb: &str, rest: &str) -> bool {
        let user = |text: &str, interrupts| {
            Event::UserMessage(UserMessage {
                text: text.to_owned(),
                interrupts,
                ..UserMessage::default()
            })
        };
        match verb {
            "user" => self.push(user(rest, false)),
            "interrupt" => self.push(user("", true)),
            "queued" => self.push_words(UserMessageKind::Queued, None, rest),
            "plan" => self.push_words(UserMessageKind::AcceptedPlan, None, rest),
            "answer" => {
                let (question, answer) = rest.split_once(" → ").unwrap_or(("", rest));
                self.push_words(UserMessageKind::Answer, Some(question.to_owned()), answer);
            }
            "say" => {
                self.push(Event::Reasoning(AgentReasoning {
                    text: rest.to_owned(),
                    thinking: false,
                    step: None,
                }));
            }
            "compact" => self.push(Event::Compaction(ContextCompaction {})),
            "tick" => self.at += rest.parse::<i64>().unwrap(),
            "tokens" => {
                let usage = TokenUsage { input: rest.parse().unwrap(), ..TokenUsage::default() };
                self.push(Event::StepComplete(StepComplete { step: None, usage: Some(usage) }));
            }
            _ => return false,
        }
        true
    }

    /// Adds a call and its result; `false` if the verb is no call.
    fn push_call(&mut self, verb: &str, rest: &str) -> bool {
        // `X: text` gives the call an output.
        let (subject, output) = rest.split_once(": ").unwrap_or((rest, ""));
        // The results of calls: success without an output, a failure, and success with an output.
        let silent = ScriptResult::default;
        let failed = ScriptResult { text: output, failed: true, ..silent() };
        let done = ScriptResult { text: "ok", ..silent() };
        match verb {
            "read" => {
                let text = if output.is_empty() { "text" } else { output };
                self.add_call(Tool::Read, with_paths(subject), ScriptResult { text, ..silent() });
            }
            "edit" => self.add_call(Tool::Edit, with_paths(rest), silent()),
            "write" => self.add_call(Tool::Write, with_paths(rest), silent()),
            "refuse" => {
                let refused = ScriptResult { failed: true, rejected: true, ..silent() };
                let call_id = self.next_call_id();
                self.add_call(Tool::Edit, with_paths(subject), refused);
                if !output.is_empty() {
                    self.push_words(UserMessageKind::Refusal, Some(call_id), output);
                }
            }
            "swap" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let (removed, added) = (Some(words[1].to_owned()), Some(words[2].to_owned()));
                let args = ToolArgs { removed, added, ..with_paths(words[0]) };
                self.add_call(Tool::Edit, args, silent());
            }
            "grep" | "list" => {
                let tool = if verb == "grep" { Tool::Search } else { Tool::List };
                let (query, hits) = rest.split_once(" → ").unwrap_or((rest, ""));
                let args = ToolArgs { query: Some(query.to_owned()), ..ToolArgs::default() };
                let paths = parse_paths(hits);
                self.add_call(tool, args, ScriptResult { text: hits, paths, ..silent() });
            }
            "run" => self.add_call(Tool::Shell, with_command(rest), done),
            "commit" => self.add_call(Tool::Shell, with_command("git commit -m x"), done),
            "fail" => self.add_call(Tool::Shell, with_command(subject), failed),
            "print" => {
                let printed = ScriptResult { text: output, ..silent() };
                self.add_call(Tool::Shell, with_command(subject), printed);
            }
            "failedit" => self.add_call(Tool::Edit, with_paths(subject), failed),
            "failread" => self.add_call(Tool::Read, with_paths(subject), failed),
            "web" => {
                let args = ToolArgs { url: Some(rest.to_owned()), ..ToolArgs::default() };
                self.add_call(Tool::WebFetch, args, ScriptResult { text: "page", ..silent() });
            }
            _ => return false,
        }
        true
    }

    fn push_words(&mut self, kind: UserMessageKind, reply_to: Option<String>, text: &str) {
        let text = text.to_owned();
        self.push(Event::UserMessage(UserMessage { text, interrupts: false, kind, reply_to }));
    }

    fn next_call_id(&self) -> String {
        format!("c{}", self.events.len())
    }

    /// Adds a call and its result.
    fn add_call(&mut self, tool: Tool, args: ToolArgs, result: ScriptResult<'_>) {
        let call_id = self.next_call_id();
        self.push(Event::ToolCall(ToolCall {
            call_id: call_id.clone(),
            tool: tool.clone(),
            args,
            step: None,
            planning: false,
        }));
        let has_matches = matches!(tool, Tool::Search | Tool::List);
        let matches = has_matches.then(|| u32::try_from(result.paths.len()).unwrap());
        self.push(Event::ToolResult(ToolResult {
            call_id,
            tool,
            ok: !result.failed,
            rejected: result.rejected,
            duration_ms: None,
            size: Some(u64::try_from(result.text.len()).unwrap()),
            excerpt: TextExcerpt::new(result.text),
            paths: result.paths,
            matches,
        }));
    }
}

fn parse_paths(text: &str) -> Vec<ProjectPath> {
    text.split_whitespace().map(|it| ProjectPath::parse(it).unwrap()).collect()
}

fn with_paths(text: &str) -> ToolArgs {
    ToolArgs { paths: parse_paths(text), ..ToolArgs::default() }
}

fn with_command(command: &str) -> ToolArgs {
    ToolArgs { command: Some(command.to_owned()), ..ToolArgs::default() }
}
