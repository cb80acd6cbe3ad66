//! The JSON of events: which fields are written, which lines are rejected with which error, and that any
//! event is parsed again from its own line.
//!
//! The tests with `check` parse a line and write it again. Both the given and the expected text are the part
//! of the line after the envelope, `{"event_id":"e1","session_id":"…","at":5,`.

use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    MemoryKind, MemoryScope, MemoryType, Phase, ProjectPath, SessionOutcome, SessionType, Tool,
    ToolKind, ValidationKind, WorkUnit,
};

const SESSION: &str = "019a0000-0000-7000-8000-000000000001";

/// Parses an event, given by the fields after a fixed envelope, and checks the same fields as written again.
fn check(fields: &str, expect: Expect) {
    let envelope = format!(r#"{{"event_id":"e1","session_id":"{SESSION}","at":5,"#);
    let shown = match EventEnvelope::parse_line(&format!("{envelope}{fields}}}")) {
        Ok(event) => event.to_line().strip_prefix(&envelope).unwrap().to_owned(),
        Err(error) => format!("error: {error}"),
    };
    expect.assert_eq(&shown);
}

#[test]
fn absent_and_unknown_fields_are_not_written() {
    check(
        r#""event":"session_start","project_root":"/p","agent":"codex""#,
        expect![[r#""event":"session_start","project_root":"/p","agent":"codex"}"#]],
    );
    // `later` is unknown.
    check(
        r#""event":"tool_call","call_id":"c","tool":"read","later":[1]"#,
        expect![[r#""event":"tool_call","call_id":"c","tool":"read","args":{}}"#]],
    );
    check(
        r#""event":"tool_result","call_id":"c","tool":"read","ok":true,"matches":null"#,
        expect![[r#""event":"tool_result","call_id":"c","tool":"read","ok":true}"#]],
    );
    check(r#""event":"session_end""#, expect![[r#""event":"session_end"}"#]]);
    // All fields of the token usage are written, and an absent one is 0.
    check(
        r#""event":"step_complete","usage":{"input":9}"#,
        expect![[r#""event":"step_complete","usage":{"input":9,"output":0,"cached":0}}"#]],
    );
}

#[test]
fn known_fields_are_kept_and_normalised() {
    // The fields are written in a fixed order, and the word of a methodology becomes its phase.
    check(
        r#""phase":"qa_fix","event":"session_start","project_root":"/p","agent":"a","type":"build","planned_steps":4"#,
        expect![[
            r#""event":"session_start","project_root":"/p","agent":"a","type":"build","planned_steps":4,"phase":"refine"}"#
        ]],
    );
    // The path is normalised, and the unknown argument `own` is left out.
    check(
        r#""event":"tool_call","call_id":"c","tool":"mcp:db/query","args":{"query":"x","paths":["./src/a.rs"],"own":1},"step":3,"planning":true"#,
        expect![[
            r#""event":"tool_call","call_id":"c","tool":"mcp:db/query","args":{"paths":["src/a.rs"],"query":"x"},"step":3,"planning":true}"#
        ]],
    );
    // A custom type and its payload are kept without a check.
    check(
        r#""event":"record","type":"custom:acme.ritual","content":"sing","payload":{"a":[1]}"#,
        expect![[
            r#""event":"record","type":"custom:acme.ritual","content":"sing","payload":{"a":[1]}}"#
        ]],
    );
}

#[test]
fn the_kind_of_a_message_and_of_a_text_is_written_only_if_it_is_not_the_usual_one() {
    // A prompt, a message of the agent and an edit keep the form that older journals have.
    for unchanged in [
        r#""event":"user_message","text":"a","interrupts":true"#,
        r#""event":"reasoning","text":"b","step":2"#,
        r#""event":"tool_call","call_id":"c","tool":"edit","args":{"paths":["a.rs"],"added":"e07b9d13"}"#,
        r#""event":"user_message","text":"no","kind":"answer","reply_to":"Delete it?""#,
        r#""event":"user_message","text":"use B","kind":"refusal""#,
        r#""event":"reasoning","text":"hm","thinking":true"#,
        r#""event":"tool_call","call_id":"c","tool":"edit","args":{"names":["foo_bar"]}"#,
    ] {
        let line = format!(r#"{{"event_id":"e1","session_id":"{SESSION}","at":5,{unchanged}}}"#);
        assert_eq!(EventEnvelope::parse_line(&line).unwrap().to_line(), line);
    }
    check(
        r#""event":"user_message","text":"a","kind":"prompt","reply_to":null"#,
        expect![[r#""event":"user_message","text":"a"}"#]],
    );
}

#[test]
fn a_line_that_is_no_event_gives_an_error_with_the_reason() {
    // An unknown event.
    check(
        r#""event":"tool_cal""#,
        expect!["error: unknown event `tool_cal` (did you mean `tool_call`?)"],
    );
    check(
        r#""event":"lunch""#,
        expect![
            "error: unknown event `lunch` (one of: session_start, user_message, tool_call, tool_result, reasoning, step_complete, record, validation, compaction, session_end)"
        ],
    );

    // A known event with a missing field or an unknown word in a field.
    check(
        r#""event":"user_message""#,
        expect![
            "error: the event `user_message` is malformed: missing field `text` at line 1 column 99"
        ],
    );
    check(
        r#""event":"tool_call","call_id":"c","tool":"Bash""#,
        expect![
            "error: the event `tool_call` is malformed: unknown tool `Bash` (one of: read, edit, write, search, list, shell, web_fetch, web_search, mcp, task, other) at line 1 column 124"
        ],
    );
    check(
        r#""event":"record","type":"gotch","content":"x""#,
        expect![
            "error: the event `record` is malformed: unknown type `gotch` (did you mean `gotcha`?) at line 1 column 107"
        ],
    );

    // Without an event, or with two.
    check(r#""x":1"#, expect!["error: not an event: missing field `event` at line 1 column 82"]);
    check(
        r#""event":"session_end","event":"record""#,
        expect!["error: not an event: duplicate field `event` at line 1 column 105"],
    );
}

#[test]
fn ids_and_lines_have_a_limited_length() {
    let line = |id: &str| {
        format!(r#"{{"event":"session_end","event_id":"{id}","session_id":"{SESSION}","at":0}}"#)
    };
    assert!(EventEnvelope::parse_line(&line("x")).is_ok());
    assert_eq!(EventEnvelope::parse_line(&line("")), Err(EventError::Id { bytes: 0 }));
    assert_eq!(
        EventEnvelope::parse_line(&line(&"x".repeat(129))),
        Err(EventError::Id { bytes: 129 })
    );
    let endless = " ".repeat(MAX_EVENT_LINE_BYTES + 1);
    assert_eq!(
        EventEnvelope::parse_line(&endless),
        Err(EventError::TooLong { bytes: MAX_EVENT_LINE_BYTES + 1 })
    );
}

#[test]
fn an_excerpt_is_truncated_between_characters() {
    let text = format!("x{}", "é".repeat(MAX_EXCERPT));
    let excerpt = TextExcerpt::new(text.as_str());
    assert_eq!(excerpt.as_str().len(), MAX_EXCERPT - 1);
    let stored: TextExcerpt = serde_json::from_value(json!(text)).unwrap();
    assert_eq!(stored, excerpt, "a longer stored text is truncated, not rejected");
}

#[test]
fn a_line_end_in_a_text_is_escaped() {
    let event = Event::UserMessage(UserMessage {
        text: "a\nb\r\u{2028}".to_owned(),
        ..UserMessage::default()
    });
    let session = SESSION.parse().unwrap();
    let line = EventEnvelope { id: "e".to_owned(), session, at: Timestamp(0), event }.to_line();
    assert!(!line.contains(['\n', '\r']), "{line}");
}

// Strategies for arbitrary events. The tuples of proptest have up to twelve values, so that large events are
// built from two groups.

fn path() -> impl Strategy<Value = ProjectPath> {
    "[a-z]{1,4}(/[a-z.]{0,3}x){0,2}".prop_map(|it| ProjectPath::parse(&it).unwrap())
}

fn any_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(all)
}

fn tool() -> impl Strategy<Value = Tool> {
    prop_oneof![
        any_of(ToolKind::ALL).prop_map(|it| Tool::parse(it.slug()).unwrap()),
        (".*", ".*").prop_map(|(server, tool)| Tool::mcp_tool(&server, &tool)),
    ]
}

fn work_unit() -> impl Strategy<Value = WorkUnit> {
    (".*", vec(".*", 0..3), ".*").prop_map(|(methodology, hierarchy, label)| WorkUnit {
        methodology,
        hierarchy,
        label,
    })
}

fn session_start() -> impl Strategy<Value = Event> {
    let first =
        (".*", ".*", option::of(".*"), option::of(any_of(SessionType::ALL)), option::of(".*"));
    let second = (
        option::of(any::<u32>()),
        option::of(any_of(Phase::ALL)),
        option::of(".*"),
        option::of(any::<u128>()),
        option::of(work_unit()),
        option::of(".*"),
    );
    (first, second).prop_map(|(first, second)| {
        let (project_root, agent, host_session, session_type, task) = first;
        let (planned_steps, phase, role, parent, work_unit, transcript) = second;
        Event::SessionStart(SessionStart {
            project_root,
            agent,
            host_session,
            session_type,
            task,
            planned_steps,
            phase,
            role,
            parent: parent.map(|it| SessionId(uuid::Uuid::from_u128(it))),
            work_unit,
            transcript,
        })
    })
}

fn tool_args() -> impl Strategy<Value = ToolArgs> {
    let text = || option::of(".*");
    let lines = option::of((any::<u32>(), any::<u32>()));
    let edit = (text(), text(), vec(".*", 0..3));
    (vec(path(), 0..3), lines, text(), text(), text(), edit, any::<bool>()).prop_map(
        |(paths, lines, query, command, url, (removed, added, names), vendored)| {
            let lines = lines.map(|(first, last)| LineSpan { first, last });
            ToolArgs { paths, lines, vendored, query, command, url, removed, added, names }
        },
    )
}

fn tool_events() -> impl Strategy<Value = Event> {
    let call = (".*", tool(), tool_args(), option::of(any::<u32>()), any::<bool>()).prop_map(
        |(call_id, tool, args, step, planning)| {
            Event::ToolCall(ToolCall { call_id, tool, args, step, planning })
        },
    );
    let counts = (option::of(any::<u64>()), option::of(any::<u64>()), option::of(any::<u32>()));
    let verdict = (any::<bool>(), any::<bool>());
    let result = (".*", tool(), verdict, counts, ".*", vec(path(), 0..3)).prop_map(
        |(call_id, tool, (ok, rejected), (duration_ms, size, matches), excerpt, paths)| {
            let excerpt = TextExcerpt::new(excerpt);
            Event::ToolResult(ToolResult {
                call_id,
                tool,
                ok,
                rejected,
                duration_ms,
                size,
                excerpt,
                paths,
                matches,
            })
        },
    );
    prop_oneof![call, result]
}

fn record() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        any_of(MemoryKind::ALL).prop_map(MemoryType::Core),
        "[a-z]{1,5}\\.[a-z0-9_]{1,5}".prop_map(|it| MemoryType::Custom(format!("custom:{it}"))),
    ];
    let payload =
        option::of((any::<i64>(), ".*").prop_map(|(n, text)| json!({"n": n, "t": [text]})));
    let words = || vec(".*", 0..3);
    let scope = option::of(any_of(MemoryScope::ALL));
    (kind, ".*", scope, words(), vec(path(), 0..3), words(), payload, option::of(any::<u32>()))
        .prop_map(|(kind, content, scope, tags, files, modules, payload, step)| {
            Event::Record(RecordedNote {
                kind,
                content,
                scope,
                tags,
                files,
                modules,
                payload,
                step,
            })
        })
}

fn small_events() -> impl Strategy<Value = Event> {
    let step = || option::of(any::<u32>());
    let usage = (any::<u64>(), any::<u64>(), any::<u64>())
        .prop_map(|(input, output, cached)| TokenUsage { input, output, cached });
    prop_oneof![
        (".*", any::<bool>(), any_of(UserMessageKind::ALL), option::of(".*")).prop_map(
            |(text, interrupts, kind, reply_to)| {
                Event::UserMessage(UserMessage { text, interrupts, kind, reply_to })
            }
        ),
        Just(Event::Compaction(ContextCompaction {})),
        (".*", any::<bool>(), step()).prop_map(|(text, thinking, step)| {
            Event::Reasoning(AgentReasoning { text, thinking, step })
        }),
        (step(), option::of(usage))
            .prop_map(|(step, usage)| Event::StepComplete(StepComplete { step, usage })),
        (any_of(ValidationKind::ALL), any::<bool>(), option::of(work_unit())).prop_map(
            |(kind, ok, work_unit)| Event::Validation(ValidationResult { kind, ok, work_unit })
        ),
        (option::of(any_of(SessionOutcome::ALL)), step())
            .prop_map(|(outcome, steps)| Event::SessionEnd(SessionEnd { outcome, steps })),
    ]
}

fn envelope() -> impl Strategy<Value = EventEnvelope> {
    let event = prop_oneof![session_start(), tool_events(), record(), small_events()];
    ("\\PC{1,30}", any::<u128>(), any::<i64>(), event).prop_map(|(id, session, at, event)| {
        EventEnvelope {
            id,
            session: SessionId(uuid::Uuid::from_u128(session)),
            at: Timestamp(at),
            event,
        }
    })
}

proptest! {
    #[test]
    fn every_event_is_parsed_again_from_its_line(envelope in envelope()) {
        let line = envelope.to_line();
        prop_assert_eq!(EventEnvelope::parse_line(&line).unwrap(), envelope);
    }

    #[test]
    fn any_line_is_parsed_or_rejected(line in "\\PC*") {
        let _ = EventEnvelope::parse_line(&line);
    }
}
