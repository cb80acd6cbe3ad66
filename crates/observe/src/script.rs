//! A small notation for sessions, so that tests are data. One event a line:
//! `user …`, `say …`, `read F`, `edit F`, `write F`, `swap F A B`, `grep Q → F`, `list Q → F G`, `run C`,
//! `fail C: message`, `failread F: message`, `web U`, `refuse F`, `compact`, `commit`, `tokens N`, `tick MS`.

use model::{
    Compaction, Envelope, Event, Excerpt, ProjectPath, Reasoning, SessionId, SessionStart,
    StepComplete, Timestamp, TokenUsage, Tool, ToolArgs, ToolCall, ToolResult, UserMessage,
};

use crate::Scratchpad;

pub(crate) fn pad(script: &str) -> Scratchpad {
    let mut res = Scratchpad::new();
    for it in &events(script) {
        res.observe(it);
    }
    res
}

pub(crate) fn events(script: &str) -> Vec<Envelope> {
    let mut acc = Acc { res: Vec::new(), at: 1_000_000 };
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
        acc.line(verb, rest);
    }
    acc.res
}

struct Acc {
    res: Vec<Envelope>,
    at: i64,
}

impl Acc {
    fn push(&mut self, event: Event) {
        self.at += 1000;
        let session = SessionId::new(Timestamp(5), [1; 10]);
        let id = format!("e{}", self.res.len());
        self.res.push(Envelope { id, session, at: Timestamp(self.at), event });
    }

    fn line(&mut self, verb: &str, rest: &str) {
        let paths = |it: &str| -> Vec<ProjectPath> {
            it.split_whitespace().map(|it| ProjectPath::parse(it).unwrap()).collect()
        };
        let named = |it: &str| ToolArgs { paths: paths(it), ..ToolArgs::default() };
        let commands = |it: &str| ToolArgs { command: Some(it.to_owned()), ..ToolArgs::default() };
        match verb {
            "user" => self
                .push(Event::UserMessage(UserMessage { text: rest.to_owned(), interrupts: false })),
            "interrupt" => {
                self.push(Event::UserMessage(UserMessage {
                    text: String::new(),
                    interrupts: true,
                }));
            }
            "say" => self.push(Event::Reasoning(Reasoning { text: rest.to_owned(), step: None })),
            "compact" => self.push(Event::Compaction(Compaction {})),
            "tick" => self.at += rest.parse::<i64>().unwrap(),
            "tokens" => {
                let usage = TokenUsage { input: rest.parse().unwrap(), ..TokenUsage::default() };
                self.push(Event::StepComplete(StepComplete { step: None, usage: Some(usage) }));
            }
            "read" => {
                let (file, text) = rest.split_once(": ").unwrap_or((rest, "text"));
                self.call(Tool::Read, named(file), true, text, &[]);
            }
            "edit" => self.call(Tool::Edit, named(rest), true, "", &[]),
            "write" => self.call(Tool::Write, named(rest), true, "", &[]),
            "refuse" => {
                self.call(Tool::Edit, named(rest), false, "", &[]);
                if let Some(Event::ToolResult(it)) = self.res.last_mut().map(|it| &mut it.event) {
                    it.rejected = true;
                }
            }
            "swap" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let (removed, added) = (Some(words[1].to_owned()), Some(words[2].to_owned()));
                self.call(
                    Tool::Edit,
                    ToolArgs { removed, added, ..named(words[0]) },
                    true,
                    "",
                    &[],
                );
            }
            "grep" | "list" => {
                let tool = if verb == "grep" { Tool::Search } else { Tool::List };
                let (query, hits) = rest.split_once(" → ").unwrap_or((rest, ""));
                let args = ToolArgs { query: Some(query.to_owned()), ..ToolArgs::default() };
                self.call(tool, args, true, hits, &paths(hits));
            }
            "run" => self.call(Tool::Shell, commands(rest), true, "ok", &[]),
            "commit" => self.call(Tool::Shell, commands("git commit -m x"), true, "ok", &[]),
            "fail" => {
                let (command, message) = rest.split_once(": ").unwrap_or((rest, ""));
                self.call(Tool::Shell, commands(command), false, message, &[]);
            }
            "failread" => {
                let (file, message) = rest.split_once(": ").unwrap_or((rest, ""));
                self.call(Tool::Read, named(file), false, message, &[]);
            }
            "web" => {
                let args = ToolArgs { url: Some(rest.to_owned()), ..ToolArgs::default() };
                self.call(Tool::WebFetch, args, true, "page", &[]);
            }
            other => panic!("unknown verb {other}"),
        }
    }

    fn call(&mut self, tool: Tool, args: ToolArgs, ok: bool, text: &str, paths: &[ProjectPath]) {
        let call_id = format!("c{}", self.res.len());
        let call = ToolCall {
            call_id: call_id.clone(),
            tool: tool.clone(),
            args,
            step: None,
            planning: false,
        };
        self.push(Event::ToolCall(call));
        let matches =
            matches!(tool, Tool::Search | Tool::List).then(|| u32::try_from(paths.len()).unwrap());
        self.push(Event::ToolResult(ToolResult {
            call_id,
            tool,
            ok,
            rejected: false,
            duration_ms: None,
            size: Some(u64::try_from(text.len()).unwrap()),
            excerpt: Excerpt::new(text),
            paths: paths.to_vec(),
            matches,
        }));
    }
}
