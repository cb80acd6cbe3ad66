//! Tests of the transcript readers: a small transcript of every format with the events it becomes,
//! damaged and oversized input, and random bytes, which must not make a reader fail.
//!
//! Expected events have one line each, in the words of [`show`]:
//!
//! ```text
//! start codex in /p                      a session, and the folder it was started in
//! user go                                a user message
//! answer (Which?) the first              words of another kind, and what they reply to
//! say Looking.                           a text of the model
//! think Let me see.                      a thought of the model
//! call shell {"command":"cat a.ts"}      a tool call with its arguments
//! failed shell "no such file"            its result: `ok`, `failed` or `rejected`, and an excerpt
//! tokens 10 2 7                          input, output and cached tokens of a step
//! 1 damaged, 2 ignored                   counts at the end
//! ```

use expect_test::{Expect, expect};
use model::{Event, EventEnvelope, UserMessageKind};
use proptest::prelude::*;

use crate::{
    LineSplitter, OpenCodeMessage, OpenCodePart, OpenCodeReader, OpenCodeSession, TranscriptFormat,
    TranscriptOrigin, TranscriptReader, detect_format,
};

/// The events of a transcript, and the counts of damaged and ignored records as text.
pub(crate) fn read(format: TranscriptFormat, text: &[u8]) -> (Vec<EventEnvelope>, String) {
    let origin =
        TranscriptOrigin { project: None, fallback_session_id: "file".to_owned(), subagent: None };
    read_as(format, origin, text)
}

/// As `read`, with an origin other than the default.
fn read_as(
    format: TranscriptFormat,
    origin: TranscriptOrigin,
    text: &[u8],
) -> (Vec<EventEnvelope>, String) {
    let mut reader = TranscriptReader::new(format, origin);
    let mut splitter = LineSplitter::new(format.layout());
    let mut acc = Vec::new();
    for piece in text.chunks(1000) {
        splitter.feed(piece, |line| reader.read_line(&mut acc, line));
    }
    splitter.finish(|line| reader.read_line(&mut acc, line));
    reader.finish(&mut acc);
    let counts = reader.counts();
    (acc, format!("{} damaged, {} ignored", counts.n_damaged, counts.n_ignored))
}

/// One line per event. `say` is text of the model, `tokens` the input, output and cached tokens of a
/// step; a result begins with `ok`, `failed` or `rejected`.
pub(crate) fn show(events: &[EventEnvelope]) -> String {
    let mut acc = String::new();
    for it in events {
        let line = match &it.event {
            Event::SessionStart(start) => {
                let parent = start.parent.map(|_| " of a parent").unwrap_or_default();
                format!("start {} in {}{parent}", start.agent, start.project_root)
            }
            Event::UserMessage(message) if message.interrupts => "interrupt".to_owned(),
            Event::UserMessage(message) if message.kind == UserMessageKind::Prompt => {
                format!("user {}", message.text)
            }
            Event::UserMessage(message) => {
                let reply_to = message.reply_to.as_deref().unwrap_or("–");
                format!("{} ({reply_to}) {}", message.kind, message.text)
            }
            Event::Reasoning(reasoning) => {
                format!("{} {}", if reasoning.thinking { "think" } else { "say" }, reasoning.text)
            }
            Event::ToolCall(call) => {
                let args = serde_json::to_string(&call.args).unwrap();
                format!("call {} {}{args}", call.tool, if call.planning { "planning " } else { "" })
            }
            Event::ToolResult(result) => {
                let verdict = match (result.ok, result.rejected) {
                    (true, _) => "ok",
                    (false, true) => "rejected",
                    (false, false) => "failed",
                };
                format!("{verdict} {} {:?}", result.tool, result.excerpt.as_str())
            }
            Event::StepComplete(step) => {
                let usage = step.usage.unwrap_or_default();
                format!("tokens {} {} {}", usage.input, usage.output, usage.cached)
            }
            other => other.kind().slug().to_owned(),
        };
        acc.push_str(&line);
        acc.push('\n');
    }
    acc
}

/// Detects the format of a transcript and compares its events and counts.
pub(crate) fn check(text: &str, expect: Expect) {
    let format = detect_format(text.as_bytes()).unwrap();
    let (events, counts) = read(format, text.as_bytes());
    expect.assert_eq(&format!("{}{counts}\n", show(&events)));
}

#[test]
fn claude_code_is_read() {
    check(
        r#"{"type":"summary","summary":"x"}
{"type":"user","sessionId":"019a0000-0000-7000-8000-000000000001","uuid":"u1","cwd":"/p","timestamp":"2026-01-05T00:00:00Z","message":{"content":"fix the total"},"permissionMode":"plan"}
{"type":"user","uuid":"u2","isMeta":true,"message":{"content":"hidden"}}
{"type":"assistant","uuid":"a1","message":{"id":"m1","content":[{"type":"thinking","thinking":"Let me see."},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/p/a.rs"}}],"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":2}}}
{"type":"user","uuid":"u3","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"fn a"}]}]}}
{"type":"assistant","uuid":"s1","isSidechain":true,"message":{"content":[{"type":"text","text":"another's"}]}}
not json
{"type":"assistant","uuid":"a2","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"make"}}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"user","uuid":"u4","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"The user doesn't want to proceed with this tool use."}]}}
{"type":"user","uuid":"u5","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"c1"}
{"type":"user","isCompactSummary":true,"uuid":"c2","message":{"content":"summary"}}
{"type":"progress","data":{}}
"#,
        expect![[r#"
            start claude_code in /p
            user fix the total
            think Let me see.
            call read planning {"paths":["a.rs"]}
            ok read "fn a"
            tokens 10 2 7
            call shell planning {"command":"make"}
            rejected shell "The user doesn't want to proceed with this tool use."
            interrupt
            compaction
            tokens 1 1 0
            1 damaged, 2 ignored
        "#]],
    );
}

#[test]
fn a_subagent_has_a_session_of_its_own() {
    let text = r#"{"type":"assistant","isSidechain":true,"agentId":"a7","sessionId":"019a0000-0000-7000-8000-000000000001","cwd":"/p","uuid":"x","message":{"content":[{"type":"text","text":"found it"}]}}"#;
    let origin = TranscriptOrigin {
        project: None,
        fallback_session_id: "f".to_owned(),
        subagent: Some("agent-a7".to_owned()),
    };
    let (events, _) = read_as(TranscriptFormat::ClaudeCode, origin, text.as_bytes());
    expect![[r"
        start claude_code in /p of a parent
        say found it
    "]]
    .assert_eq(&show(&events));
    assert_ne!(events[0].session.to_string(), "019a0000-0000-7000-8000-000000000001");
}

#[test]
fn codex_is_read() {
    check(
        r#"{"timestamp":"2026-06-18T02:34:50.278Z","type":"session_meta","payload":{"id":"019ed893-d2a6-7c30-a8b8-5a8a49cfa23e","cwd":"/p"}}
{"timestamp":"2026-06-18T02:34:52.046Z","type":"event_msg","payload":{"type":"user_message","message":"go"}}
{"timestamp":"2026-06-18T02:34:53.046Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking."}]}}
{"timestamp":"2026-06-18T02:34:53.046Z","type":"event_msg","payload":{"type":"agent_message","message":"Looking."}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat a.ts\"}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Process exited with code 1\nOutput:\ncat: a.ts: No such file"}}
{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: b.ts\n*** End Patch","call_id":"c2"}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}}
{"type":"response_item","payload":{"type":"function_call","name":"_get_issue","namespace":"mcp__github","arguments":"{}","call_id":"c3"}}
{"type":"compacted","payload":{"message":""}}
{"type":"event_msg","payload":{"type":"turn_aborted"}}
"#,
        expect![[r#"
            start codex in /p
            user go
            say Looking.
            call shell {"command":"cat a.ts"}
            failed shell "cat: a.ts: No such file"
            call edit {"paths":["b.ts"]}
            ok edit "Success"
            call mcp:github/get_issue {}
            compaction
            interrupt
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn copilot_is_read() {
    check(
        r#"{"type":"session.start","data":{"sessionId":"10fb4666-56f0-4352-90fc-715caf95b418","context":{"cwd":"/p/web","gitRoot":"/p"}},"id":"1","timestamp":"2026-06-25T01:50:34.403Z"}
{"type":"user.message","data":{"content":"why"},"id":"2"}
{"type":"assistant.message","data":{"content":"","reasoningText":"Let me look."},"id":"3"}
{"type":"tool.execution_start","data":{"toolCallId":"t","toolName":"bash","arguments":{"command":"false"}},"id":"4"}
{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"\n<exited with exit code 1>"}},"id":"5"}
{"type":"tool.execution_start","data":{"toolCallId":"v","toolName":"view","arguments":{"path":"/p/a.json"}},"id":"6"}
{"type":"tool.execution_complete","data":{"toolCallId":"v","success":true,"result":{"content":"{}"}},"id":"7"}
{"type":"hook.start","data":{},"id":"8"}
"#,
        expect![[r#"
            start copilot in /p
            user why
            think Let me look.
            call shell {"command":"false"}
            failed shell "\n<exited with exit code 1>"
            call read {"paths":["a.json"]}
            ok read "{}"
            0 damaged, 1 ignored
        "#]],
    );
}

#[test]
fn gemini_is_read_whole_or_by_lines() {
    let message = r#"{"id":"g1","timestamp":"2026-06-25T01:50:35Z","type":"gemini","content":"Done.","thoughts":[{"subject":"S","description":"I read first."}],"toolCalls":[{"id":"t1","name":"read_file","args":{"absolute_path":"src/a.py"},"status":"success","result":[{"functionResponse":{"response":{"output":"x = 1"}}}]}],"tokens":{"input":9,"output":1,"cached":4}}"#;
    let expected = expect![[r#"
        start gemini in 
        user hi
        think I read first.
        say Done.
        call read {"paths":["src/a.py"]}
        ok read "x = 1"
        tokens 9 1 4
        0 damaged, 0 ignored
    "#]];
    let head = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-06-25T01:50:34Z"}"#;
    let prompt = r#"{"id":"u1","type":"user","content":"hi"}"#;
    let by_lines = format!("{head}\n{prompt}\n{message}\n");
    let (events, _) = read(TranscriptFormat::Gemini, by_lines.as_bytes());
    let whole = format!(
        "{{\n\"sessionId\":\"s\",\n\"projectHash\":\"h\",\n\"messages\":[\n{prompt},\n{message}\n]}}"
    );
    let format = detect_format(whole.as_bytes()).unwrap();
    let (of_whole, _) = read(format, whole.as_bytes());
    assert_eq!(show(&of_whole), show(&events));
    check(&by_lines, expected);
}

#[test]
fn text_that_gemini_adds_for_hooks_and_tools_is_removed_from_prompts() {
    let head = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-06-25T01:50:34Z"}"#;
    // An update record of the host, which produces no event.
    let set = r#"{"$set":{"messages":[{"id":"c","type":"user","content":"<session_context>"}]}}"#;
    let prompt = r#"{"id":"u1","type":"user","content":[{"text":"<hook_context>a note</hook_context>\n\nfix it"},{"text":"<hook_context>another</hook_context>"}]}"#;
    let ran = r#"{"id":"g1","type":"gemini","content":"","toolCalls":[{"id":"t1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"<untrusted_context>\nOutput: boom\nExit Code: 3\n</untrusted_context>\n\n<hook_context>a note</hook_context>"}}}]}]}"#;
    // The output again, as the host passes it on to the model.
    let passed_on = r#"{"id":"u2","type":"user","content":[{"functionResponse":{"response":{"output":"Output: boom"}}}]}"#;
    check(
        &format!("{head}\n{set}\n{prompt}\n{ran}\n{passed_on}\n"),
        expect![[r#"
            start gemini in 
            user fix it
            call shell {"command":"make"}
            failed shell "boom\nExit Code: 3"
            0 damaged, 2 ignored
        "#]],
    );
}

#[test]
fn markdown_histories_are_read() {
    check(
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n<!-- Claude Code Session 0a57f201-e967-4d94-a191-eef5c4419091 (2026-01-16 16:26:02Z) -->\n\n_**User (2026-01-16 16:26:02Z)**_\n\nfix it\n\n_**Agent (opus 2026-01-16 16:26:05Z)**_\n\n<tool-use data-tool-type=\"shell\" data-tool-name=\"Bash\"><details>\n<summary>Tool use: **Bash**</summary>\nRun\n\n`go test ./...`\n\n```text\nExit code 1\nFAIL\n```\n</details></tool-use>\n\n_**Agent (opus 2026-01-16 16:26:06Z)**_\n\nNow I see.\n",
        expect![[r#"
            start specstory in 
            user fix it
            call shell {"command":"go test ./..."}
            failed shell "Exit code 1\nFAIL"
            say Now I see.
            0 damaged, 0 ignored
        "#]],
    );
    check(
        "\n# aider chat started at 2024-05-21 16:25:44\n\n> Aider v0.35.1\n\n#### support headers  \n#### please  \n\nI will edit it.\n\n> Applied edit to astropy/io/rst.py\n> Running pytest -q\n",
        expect![[r#"
            start aider in 
            user support headers
            please
            say I will edit it.
            call edit {"paths":["astropy/io/rst.py"]}
            ok edit "Applied edit to astropy/io/rst.py"
            call shell {"command":"pytest -q"}
            ok shell "Running pytest -q"
            0 damaged, 1 ignored
        "#]],
    );
}

#[test]
fn documents_of_research_agents_are_read() {
    check(
        r#"{
  "environment": "main",
  "trajectory": [
    {"action":"open \"/r/a.py\"","observation":"[File: a.py]","thought":"Open it.","state":{"open_file":"/r/a.py","working_dir":"/r"}},
    {"action":"edit 1:1\nx\nend_of_edit","observation":"Your proposed edit has introduced new syntax error(s).","thought":"","state":"{\"open_file\":\"/r/a.py\"}"},
    {"action":"python a.py","observation":"ok","thought":""}
  ]
}"#,
        expect![[r#"
            start swe_agent in /r
            say Open it.
            call read {"paths":["a.py"]}
            ok read "[File: a.py]"
            call edit {"paths":["a.py"]}
            failed edit "Your proposed edit has introduced new syntax error(s)."
            call shell {"command":"python a.py"}
            ok shell "ok"
            0 damaged, 0 ignored
        "#]],
    );
    check(
        r#"{
  "metadata": {"instance_id": "django-1"}, "max_iterations": 30,
  "nodes": [
    {"node_id":0,"message":"the task"},
    {"node_id":1,"action":{"scratch_pad":"Find it.","class_name":"Tests","action_args_class":"moatless.actions.find_class.FindClassArgs"},"observation":{"message":"Found 6","expect_correction":false}},
    {"node_id":2,"action":{"path":"a.py","old_str":"x","new_str":"y","action_args_class":"moatless.actions.string_replace.StringReplaceArgs"},"observation":{"message":"no","expect_correction":true}}
  ]
}"#,
        expect![[r#"
            start moatless in 
            user the task
            say Find it.
            call search {"query":"Tests"}
            ok search "Found 6"
            call edit {"paths":["a.py"]}
            failed edit "no"
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn rows_of_a_database_are_read() {
    let session = OpenCodeSession {
        id: "ses_1".to_owned(),
        directory: "/p".to_owned(),
        parent: None,
        created: model::Timestamp(5),
    };
    let message = |id: &str, data: &str| OpenCodeMessage {
        id: id.to_owned(),
        created: model::Timestamp(6),
        data: data.to_owned(),
    };
    let part = |id: &str, data: &str| OpenCodePart { id: id.to_owned(), data: data.to_owned() };
    let tool = r#"{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"make"},"output":"no rule","metadata":{"exit":2}}}"#;

    // A prompt, then a message of the model with a failed call and a damaged part.
    let (mut reader, mut events) = (OpenCodeReader::new(None, &session), Vec::new());
    let prompt = [part("p1", r#"{"type":"text","text":"hi"}"#)];
    reader.read_message(&mut events, &message("m1", r#"{"role":"user"}"#), &prompt);
    let done = [part("p2", tool), part("p3", "broken")];
    reader.read_message(&mut events, &message("m2", r#"{"role":"assistant"}"#), &done);
    let counts = reader.finish(&mut events);

    expect![[r#"
        start opencode in /p
        user hi
        call shell {"command":"make"}
        failed shell "no rule"
    "#]]
    .assert_eq(&show(&events));
    assert_eq!(counts.n_damaged, 1);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let text = b"\xef\xbb\xbf{\"type\":\"user\",\"sessionId\":\"s\",\"cwd\":\"/p\",\"message\":{\"content\":\"hi\"}}\r\n";
    assert_eq!(detect_format(text), Some(TranscriptFormat::ClaudeCode));
    let (events, counts) = read(TranscriptFormat::ClaudeCode, text);
    assert_eq!((events.len(), counts.as_str()), (2, "0 damaged, 0 ignored"));
}

#[test]
fn a_journal_gives_the_events_that_were_written() {
    let (events, _) = read(
        TranscriptFormat::ClaudeCode,
        br#"{"type":"user","sessionId":"s","uuid":"u1","cwd":"/p","message":{"content":"hi"}}"#,
    );
    let text: String = events.iter().map(|it| it.to_line() + "\n").collect();
    assert_eq!(detect_format(text.as_bytes()), Some(TranscriptFormat::Journal));
    let (again, _) = read(TranscriptFormat::Journal, format!("{text}{{\"event\":").as_bytes());
    assert_eq!(again, events);
}

/// A lone surrogate, an oversized number, NUL and invalid UTF-8 are repaired; only lines that are
/// no JSON at all count as damaged.
#[test]
fn json_of_lenient_writers_is_read() {
    let lines: &[&[u8]] = &[
        br#"{"type":"user","sessionId":"s","uuid":"1","cwd":"/p","timestamp":1e400,"message":{"content":"one"}}"#,
        br#"{"type":"user","uuid":"2","message":{"content":"\ud800 lone \u0000 nul"}}"#,
        b"{\"type\":\"user\",\"uuid\":\"3\",\"message\":{\"content\":\"bytes \xff\xfe\"}}",
        &[0; 300],
        br#"{"type":"user","uuid":"4","message":{"content":"cut o"#,
        br#"{"type":"user","uuid":"5","message":{"content":"the rest"}}"#,
    ];
    let (events, counts) = read(TranscriptFormat::ClaudeCode, &lines.join(&b'\n'));
    expect![[r"
        start claude_code in /p
        user one
        user \u{fffd} lone \u{fffd} nul
        user bytes \u{fffd}\u{fffd}
        user the rest
        2 damaged, 0 ignored
    "]]
    .assert_eq(&format!("{}{counts}\n", show(&events).replace('\u{fffd}', "\\u{fffd}")));
}

/// Checks that the input of a reader is bounded however long one result is, and that the records after
/// it are intact.
fn check_long(format: TranscriptFormat, text: &str) {
    let mut reader = TranscriptReader::new(format, TranscriptOrigin::default());
    let mut splitter = LineSplitter::new(format.layout());
    let (mut acc, mut longest) = (Vec::new(), 0);
    for piece in text.as_bytes().chunks(1 << 16) {
        splitter.feed(piece, |it| {
            longest = longest.max(it.len());
            reader.read_line(&mut acc, it);
        });
    }
    splitter.finish(|it| reader.read_line(&mut acc, it));
    reader.finish(&mut acc);
    // One truncated string of 64 KiB and the rest of its record.
    assert!(longest < 70_000 && splitter.n_truncated == 1, "{longest} {}", splitter.n_truncated);
    assert_eq!((reader.counts().n_damaged, splitter.n_dropped), (0, 0));
    assert!(show(&acc).contains("after the answer"));
}

#[test]
fn a_result_of_fifty_megabytes_is_truncated_and_the_rest_is_intact() {
    let long = "x\\n".repeat((50 << 20) / 3);
    check_long(
        TranscriptFormat::ClaudeCode,
        &format!(
            "{{\"type\":\"user\",\"sessionId\":\"s\",\"cwd\":\"/p\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"{long}\"}}]}}}}\n{{\"type\":\"user\",\"message\":{{\"content\":\"after the answer\"}}}}\n"
        ),
    );
    let step = |text: &str| format!(r#"{{"action":"ls","observation":"{text}","thought":""}}"#);
    let steps = [step(&long[..3_000_000]), step("after the answer")];
    check_long(TranscriptFormat::SweAgent, &format!("{{\"trajectory\":[{}]}}", steps.join(",")));
}

/// Every format; `TranscriptFormat::ALL` has one per slug and lacks `GeminiChat`.
const ALL_FORMATS: &[TranscriptFormat] = &[
    TranscriptFormat::ClaudeCode,
    TranscriptFormat::Codex,
    TranscriptFormat::Copilot,
    TranscriptFormat::Gemini,
    TranscriptFormat::GeminiChat,
    TranscriptFormat::SpecStory,
    TranscriptFormat::Aider,
    TranscriptFormat::SweAgent,
    TranscriptFormat::Moatless,
    TranscriptFormat::Journal,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Results before calls, missing ids, NUL, invalid UTF-8, records of the wrong shape.
    #[test]
    fn no_bytes_make_a_reader_fail(lines in proptest::collection::vec(
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..60),
            "\\{\"type\":\"(user|assistant|response_item|event_msg|tool.execution_complete)\",\"(message|payload|data)\":(\\{\\}|null|7|\\{\"content\":\\[7,\\{\"type\":\"tool_result\"\\}\\]\\})\\}".prop_map(String::into_bytes),
        ], 0..12)) {
        let text = lines.join(&b'\n');
        for format in ALL_FORMATS {
            read(*format, &text);
        }
        let _ = detect_format(&text);
    }
}
