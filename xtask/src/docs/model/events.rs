//! The sections about events: tools, signals (patterns in the events of a session), and events with one
//! example each, as the JSON line that a host would send.

use model::{
    AgentReasoning, ContextCompaction, Event, EventEnvelope, EventKind, ExternalContent, FileTouch,
    LineSpan, MAX_EVENT_ID_BYTES, MAX_EVENT_LINE_BYTES, MAX_EXCERPT, MemoryKind, MemoryType,
    Methodology, Phase, RecordedNote, SessionEnd, SessionOutcome, SessionStart, SessionType,
    SignalKind, StepComplete, TextExcerpt, Timestamp, TokenUsage, Tool, ToolArgs, ToolCall,
    ToolKind, ToolResult, UserMessage, ValidationKind, ValidationResult,
};

use super::payloads::{path, session};
use crate::docs::markdown::{code, json, section, subsection, table};

/// Time of every example.
pub(super) const AT: Timestamp = Timestamp(1_767_225_600_000);

pub(super) fn render(acc: &mut String) {
    section(
        acc,
        "Tools",
        "Tools of every host under one set of names. An MCP tool is `mcp:<server>/<tool>`. What comes from \
         outside taints what is learned after it; discovery is what memory should make needless.",
    );
    let row = |it: &ToolKind| {
        let row = it.row();
        let discovery = if row.discovery { "yes" } else { "–" }.to_owned();
        let touch = touch(row.touch).to_owned();
        [
            tool_word(*it),
            row.description.to_owned(),
            touch,
            external(row.external).to_owned(),
            discovery,
        ]
    };
    table(
        acc,
        ["tool", "does", "files of the project", "external text", "discovery"],
        ToolKind::ALL.iter().map(row),
    );
    render_signals(acc);
    render_events(acc);
}

fn render_signals(acc: &mut String) {
    section(
        acc,
        "Signals",
        "What the observer sees in sessions. A pattern becomes a memory when it was seen in enough sessions and can \
         say what to do; text that was said after something came in from outside is tainted.",
    );
    let row = |it: &SignalKind| {
        let row = it.row();
        let text = if row.textual { "yes" } else { "–" }.to_owned();
        [
            code(it),
            row.description.to_owned(),
            row.score.to_string(),
            code(row.becomes),
            row.sessions.to_string(),
            text,
        ]
    };
    let columns = ["signal", "seen when", "score", "becomes", "sessions", "based on text"];
    table(acc, columns, SignalKind::ALL.iter().map(row));
}

fn render_events(acc: &mut String) {
    section(
        acc,
        "Events",
        &format!(
            "What a host tells, one JSON object a line. Every event has an `event_id` (1 to {MAX_EVENT_ID_BYTES} bytes; a \
             repeated id counts once), a `session_id` (UUID) and `at`. Unknown fields are ignored, an unknown event is \
             an error. A line has at most {} MiB; an `excerpt` is cut at {} KiB.",
            MAX_EVENT_LINE_BYTES >> 20,
            MAX_EXCERPT >> 10
        ),
    );
    let rows = EventKind::ALL.iter().map(|it| [code(it), it.description().to_owned()]);
    table(acc, ["event", "says"], rows);
    for (number, kind) in (1..).zip(EventKind::ALL) {
        subsection(acc, &code(kind), fields(*kind));
        let id = format!("e{number}");
        json(
            acc,
            &EventEnvelope { id, session: session(), at: AT, event: example(*kind) }.to_line(),
        );
    }
}

fn tool_word(kind: ToolKind) -> String {
    if kind == ToolKind::Mcp { code("mcp:<server>/<tool>") } else { code(kind) }
}

const fn touch(touch: FileTouch) -> &'static str {
    match touch {
        FileTouch::Nothing => "–",
        FileTouch::Names => "names",
        FileTouch::Reads => "reads",
        FileTouch::Writes => "writes",
        FileTouch::Unknown => "depends on the call",
    }
}

const fn external(external: ExternalContent) -> &'static str {
    match external {
        ExternalContent::Never => "–",
        ExternalContent::Always => "always",
        ExternalContent::UnlessTrusted => "unless the server is trusted",
        ExternalContent::ByCommand => "commands that fetch",
        ExternalContent::ByPath => "files of dependencies",
        ExternalContent::BySubagent => "unless the subagent read none",
        ExternalContent::ByAddress => "calls that name an address",
    }
}

/// Required and optional fields, in words.
const fn fields(kind: EventKind) -> &'static str {
    match kind {
        EventKind::SessionStart => {
            "Needs `project_root` and `agent`; everything else may be left out. `phase` takes the words of any \
             methodology. `parent` is the session that started this one as a subagent."
        }
        EventKind::UserMessage => {
            "Needs `text`. `interrupts` means that the user stopped the agent. `kind` says how the words came: `prompt` \
             (if absent), `queued` while the agent worked, `refusal` of a call, `answer` to a question of the agent, \
             `accepted_plan`. `reply_to` is the question, or the id of the call."
        }
        EventKind::Reasoning => {
            "Needs `text`. `thinking` says that the host shows it as a thought, not as a message to the user."
        }
        EventKind::ToolCall => {
            "Needs `call_id` and `tool`. `args` may hold `paths`, `lines`, `query`, `command`, `url`, and for edits \
             `removed` and `added`: fingerprints of the text taken out and put in, and `names`: the identifiers in \
             both. `planning` says that the host is in its plan mode."
        }
        EventKind::ToolResult => {
            "Needs `call_id`, `tool` and `ok`. `size` counts the bytes of the whole answer, `excerpt` is its \
             beginning (and its end, where it is long), `paths` and `matches` are what it names and finds. `rejected` \
             says that a person refused the call."
        }
        EventKind::StepComplete => {
            "Needs nothing. `input` counts all input tokens of the model, `cached` the part of them from a cache."
        }
        EventKind::Record => {
            "Needs `type` and `content`. `scope`, `tags`, `files`, `modules` and `payload` are optional."
        }
        EventKind::Validation => {
            "Needs `kind` and `ok`. Without `work_unit` it refers to the whole session."
        }
        EventKind::Compaction | EventKind::SessionEnd => "Needs nothing.",
    }
}

fn example(kind: EventKind) -> Event {
    match kind {
        EventKind::SessionStart => session_start(),
        EventKind::UserMessage => Event::UserMessage(UserMessage {
            text: "Round totals per line, not at the end".to_owned(),
            ..UserMessage::default()
        }),
        EventKind::ToolCall => Event::ToolCall(ToolCall {
            call_id: "c7".to_owned(),
            tool: Tool::Edit,
            args: ToolArgs {
                paths: vec![path("src/cart/total.ts")],
                lines: Some(LineSpan { first: 40, last: 52 }),
                removed: Some("51f0c2aa".to_owned()),
                added: Some("e07b9d13".to_owned()),
                ..ToolArgs::default()
            },
            step: Some(6),
            planning: false,
        }),
        EventKind::ToolResult => Event::ToolResult(ToolResult {
            call_id: "c8".to_owned(),
            tool: Tool::Shell,
            ok: false,
            rejected: false,
            duration_ms: Some(2_140),
            size: Some(43),
            excerpt: TextExcerpt::new("FAIL total.test.ts: expected 9.98, got 9.99"),
            paths: vec![path("src/cart/total.test.ts")],
            matches: None,
        }),
        EventKind::Reasoning => Event::Reasoning(AgentReasoning {
            text: "I was wrong about the rounding: it happens per line, not per cart.".to_owned(),
            thinking: false,
            step: Some(7),
        }),
        EventKind::StepComplete => Event::StepComplete(StepComplete {
            step: Some(7),
            usage: Some(TokenUsage { input: 18_200, output: 310, cached: 17_000 }),
        }),
        EventKind::Record => Event::Record(RecordedNote {
            kind: MemoryType::Core(MemoryKind::Gotcha),
            content: "Totals round per line; rounding the sum is off by a cent.".to_owned(),
            scope: None,
            tags: vec!["money".to_owned()],
            files: vec![path("src/cart/total.ts")],
            modules: vec!["cart".to_owned()],
            payload: None,
            step: Some(8),
        }),
        EventKind::Validation => Event::Validation(ValidationResult {
            kind: ValidationKind::QaPassed,
            ok: true,
            work_unit: None,
        }),
        EventKind::Compaction => Event::Compaction(ContextCompaction {}),
        EventKind::SessionEnd => {
            Event::SessionEnd(SessionEnd { outcome: Some(SessionOutcome::Success), steps: Some(9) })
        }
    }
}

fn session_start() -> Event {
    Event::SessionStart(SessionStart {
        project_root: "/home/user/shop".to_owned(),
        agent: "my_agent".to_owned(),
        host_session: None,
        session_type: Some(SessionType::Build),
        task: Some("Fix the rounding of totals".to_owned()),
        planned_steps: Some(10),
        phase: Some(Phase::Implement),
        role: Some("coder".to_owned()),
        parent: None,
        work_unit: Methodology::from_slug("native").and_then(|it| it.work_unit(&["042", "3"])),
        transcript: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_of_their_kind_and_read_back() {
        for kind in EventKind::ALL {
            let event = example(*kind);
            assert_eq!(event.kind(), *kind);
            let envelope = EventEnvelope { id: "e".to_owned(), session: session(), at: AT, event };
            assert_eq!(EventEnvelope::parse_line(&envelope.to_line()), Ok(envelope));
        }
    }
}
