//! Tests that the words of users reach the events of every host, whole and with their kind, and that texts of
//! the host do not. The notation of the expected events is that of [`crate::tests`].

use expect_test::expect;
use model::{Event, UserMessageKind};

use crate::tests::{check, read, show};
use crate::{OpenCodeMessage, OpenCodePart, OpenCodeReader, OpenCodeSession, TranscriptFormat};

/// The first record of a session of Claude Code.
const CLAUDE_CODE_START: &str = r#"{"type":"user","sessionId":"s","uuid":"u1","cwd":"/p","message":{"content":"round the total"}}"#;
const CODEX_START: &str = r#"{"type":"session_meta","payload":{"id":"s","cwd":"/p"}}"#;
const COPILOT_START: &str =
    r#"{"type":"session.start","data":{"sessionId":"s","context":{"cwd":"/p"}},"id":"1"}"#;

#[test]
fn claude_code_tells_why_a_call_was_refused() {
    check(
        &format!(
            r#"{CLAUDE_CODE_START}
{{"type":"assistant","uuid":"a1","message":{{"content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"make"}}}}]}}}}
{{"type":"user","uuid":"u2","toolUseResult":"User rejected tool use","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse the cache,\nnot make\n\nNote: The user's next message may contain a correction or preference. Pay close attention."}}]}}}}
{{"type":"assistant","uuid":"a2","message":{{"content":[{{"type":"tool_use","id":"t2","name":"Bash","input":{{"command":"rm x"}}}}]}}}}
{{"type":"user","uuid":"u3","message":{{"content":[{{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait for the user to tell you how to proceed."}},{{"type":"text","text":"[Request interrupted by user for tool use]"}}]}}}}
{{"type":"user","uuid":"u4","message":{{"content":"keep x"}}}}
{{"type":"assistant","uuid":"a3","message":{{"content":[{{"type":"tool_use","id":"t3","name":"Bash","input":{{"command":"cat y"}}}}]}}}}
{{"type":"user","uuid":"u5","toolDenialKind":"permission-rule","message":{{"content":[{{"type":"tool_result","tool_use_id":"t3","is_error":true,"content":"Permission to use Bash has been denied."}}]}}}}
"#
        ),
        expect![[r#"
            start claude_code in /p
            user round the total
            call shell {"command":"make"}
            rejected shell "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse the cache,\nnot make\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
            refusal (t1) use the cache,
            not make
            call shell {"command":"rm x"}
            rejected shell "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait for the user to tell you how to proceed."
            interrupt
            user keep x
            call shell {"command":"cat y"}
            failed shell "Permission to use Bash has been denied."
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn claude_code_tells_the_answers_to_questions() {
    check(
        &format!(
            r#"{CLAUDE_CODE_START}
{{"type":"assistant","uuid":"a1","message":{{"content":[{{"type":"tool_use","id":"q1","name":"AskUserQuestion","input":{{"questions":[{{"question":"Per line?"}},{{"question":"Which mode?"}}]}}}}]}}}}
{{"type":"user","uuid":"u2","toolUseResult":{{"questions":[{{"question":"Per line?","options":[{{"label":"Yes"}}]}},{{"question":"Which mode?"}}],"answers":{{"Which mode?":"half even, as the bank does","Per line?":"Yes"}},"annotations":{{"Per line?":{{"notes":"only for orders"}}}}}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"q1","content":"User has answered your questions."}}]}}}}
{{"type":"assistant","uuid":"a2","message":{{"content":[{{"type":"tool_use","id":"q2","name":"AskUserQuestion","input":{{"questions":[{{"question":"Where?"}},{{"question":"When?"}}]}}}}]}}}}
{{"type":"user","uuid":"u3","message":{{"content":[{{"type":"tool_result","tool_use_id":"q2","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n    This means they may have additional information, context or questions for you.\n\n    Questions asked:\n- \"Where?\"\n  Answer: in the cart\n- \"When?\"\n  (No answer provided)"}}]}}}}
"#
        ),
        expect![[r#"
            start claude_code in /p
            user round the total
            call other {}
            ok other "User has answered your questions."
            answer (Per line?) Yes
            only for orders
            answer (Which mode?) half even, as the bank does
            call other {}
            rejected other "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n    This means they may have additional information, context or questions for you.\n\n    Questions asked:\n- \"Where?\"\n  Answer: in the cart\n- \"When?\"\n  (No answer provided)"
            answer (Where?) in the cart
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn claude_code_tells_the_plans_that_were_accepted() {
    check(
        &format!(
            r##"{CLAUDE_CODE_START}
{{"type":"user","uuid":"u0","planContent":"# Rounding","message":{{"content":"Implement the following plan:\n\n# Rounding"}}}}
{{"type":"user","uuid":"u2","message":{{"content":"Implement the following plan:\n\n# Totals"}}}}
{{"type":"assistant","uuid":"a1","message":{{"content":[{{"type":"tool_use","id":"p1","name":"ExitPlanMode","input":{{"plan":"# Carts"}}}}]}}}}
{{"type":"user","uuid":"u3","message":{{"content":[{{"type":"tool_result","tool_use_id":"p1","content":"User has approved your plan. You can now start coding.\n\n## Approved Plan (edited by user):\n# Carts and orders"}}]}}}}
{{"type":"assistant","uuid":"a2","message":{{"content":[{{"type":"tool_use","id":"p2","name":"ExitPlanMode","input":{{"plan":"# Taxes"}}}}]}}}}
{{"type":"user","uuid":"u4","message":{{"content":[{{"type":"tool_result","tool_use_id":"p2","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nwithout the tax table"}}]}}}}
"##
        ),
        expect![[r#"
            start claude_code in /p
            user round the total
            accepted_plan (–) # Rounding
            accepted_plan (–) # Totals
            call other {}
            ok other "User has approved your plan. You can now start coding.\n\n## Approved Plan (edited by user):\n# Carts and orders"
            accepted_plan (p1) # Carts and orders
            call other {}
            rejected other "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nwithout the tax table"
            refusal (p2) without the tax table
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn claude_code_tells_what_was_typed_while_the_agent_worked() {
    let operation = |operation: &str, content: &str| {
        let content =
            if content.is_empty() { String::new() } else { format!(r#","content":{content:?}"#) };
        format!(
            r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-01-05T00:00:00Z"{content}}}"#
        )
    };
    let lines = [
        CLAUDE_CODE_START.to_owned(),
        // Read in the middle of the turn.
        operation("enqueue", "no users yet,\nso no migration"),
        operation("enqueue", "<agent-notification>done</agent-notification>"),
        operation("remove", ""),
        operation("remove", ""),
        // Read, and written once more as an attachment.
        operation("enqueue", "use tabs"),
        operation("remove", ""),
        r#"{"type":"attachment","uuid":"x1","attachment":{"type":"queued_command","prompt":"use tabs","commandMode":"prompt"}}"#.to_owned(),
        r#"{"type":"attachment","uuid":"x2","attachment":{"type":"queued_command","prompt":"a task ended","commandMode":"task-notification"}}"#.to_owned(),
        r#"{"type":"attachment","uuid":"x3","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"see the picture"}],"origin":{"kind":"human"}}}"#.to_owned(),
        // Becomes the next prompt.
        operation("enqueue", "commit it"),
        operation("enqueue", "/remember use tabs"),
        operation("dequeue", ""),
        r#"{"type":"user","uuid":"u2","message":{"content":"commit it"}}"#.to_owned(),
        r#"{"type":"user","uuid":"u3","promptSource":"queued","message":{"content":"<command-name>/remember</command-name><command-args>use tabs</command-args>"}}"#.to_owned(),
        r#"{"type":"user","uuid":"u4","promptSource":"system","message":{"content":"Background agent \"x\" was stopped by the user"}}"#.to_owned(),
        // Taken back.
        operation("enqueue", "wait"),
        operation("popAll", "wait"),
        // Never read.
        operation("enqueue", "{\"task_id\":\"b1\"}"),
        operation("enqueue", "/ide"),
        operation("enqueue", "and push it"),
    ];
    check(
        &lines.join("\n"),
        expect![[r"
            start claude_code in /p
            user round the total
            queued (–) no users yet,
            so no migration
            queued (–) use tabs
            queued (–) see the picture
            user commit it
            queued (–) /remember use tabs
            queued (–) and push it
            0 damaged, 1 ignored
        "]],
    );
}

#[test]
fn codex_tells_answers_plans_and_what_was_typed_while_the_agent_worked() {
    check(
        &format!(
            r##"{CODEX_START}
{{"type":"event_msg","payload":{{"type":"task_started"}}}}
{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"# AGENTS.md instructions for /p"}}]}}}}
{{"type":"event_msg","payload":{{"type":"user_message","message":"round it"}}}}
{{"type":"response_item","payload":{{"type":"reasoning","summary":[{{"type":"summary_text","text":"Per line?"}}]}}}}
{{"type":"event_msg","payload":{{"type":"user_message","message":"don’t touch the cart"}}}}
{{"type":"response_item","payload":{{"type":"function_call","name":"request_user_input","arguments":"{{\"questions\":[{{\"id\":\"m\",\"question\":\"Which mode?\",\"options\":[]}}]}}","call_id":"q1"}}}}
{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"q1","output":"{{\"answers\":{{\"m\":{{\"answers\":[\"Half even\",\"user_note: as the bank does\"]}}}}}}"}}}}
{{"type":"response_item","payload":{{"type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"make\"}}","call_id":"c1"}}}}
{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"c1","output":"exec command rejected by user"}}}}
{{"type":"event_msg","payload":{{"type":"turn_aborted","reason":"interrupted"}}}}
{{"type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"<proposed_plan>\n# Rounding\n</proposed_plan>"}}]}}}}
{{"type":"event_msg","payload":{{"type":"user_message","message":"Implement the plan."}}}}
{{"type":"event_msg","payload":{{"type":"turn_aborted","reason":"replaced"}}}}
{{"type":"compacted","payload":{{"replacement_history":[{{"role":"user","content":[{{"text":"round it"}}]}},{{"role":"user","content":[{{"text":"said in an earlier file"}}]}},{{"role":"user","content":[{{"text":"<environment_context>"}}]}},{{"role":"assistant","content":[{{"text":"Done."}}]}}]}}}}
"##
        ),
        expect![[r#"
            start codex in /p
            user round it
            think Per line?
            queued (–) don’t touch the cart
            call other {}
            ok other "{\"answers\":{\"m\":{\"answers\":[\"Half even\",\"user_note: as the bank does\"]}}}"
            answer (Which mode?) Half even
            as the bank does
            call shell {"command":"make"}
            rejected shell "exec command rejected by user"
            interrupt
            say <proposed_plan>
            # Rounding
            </proposed_plan>
            accepted_plan (–) # Rounding
            user said in an earlier file
            compaction
            0 damaged, 1 ignored
        "#]],
    );
}

#[test]
fn the_exit_code_of_a_long_command_of_codex_belongs_to_the_call_that_started_it() {
    let call = |id: &str, name: &str, arguments: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"function_call","name":"{name}","arguments":{arguments:?},"call_id":"{id}"}}}}"#
        )
    };
    let output = |id: &str, output: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"{id}","output":{output:?}}}}}"#
        )
    };
    let running =
        |text: &str| format!("Chunk ID: 1\nProcess running with session ID 7\nOutput:\n{text}");
    let lines = [
        CODEX_START.to_owned(),
        call("c1", "exec_command", r#"{"cmd":"make"}"#),
        output("c1", &running("compiling\n")),
        call("c2", "exec_command", r#"{"cmd":"ls"}"#),
        output("c2", "Process exited with code 0\nOutput:\na.ts"),
        call("c3", "write_stdin", r#"{"session_id":7,"chars":""}"#),
        output("c3", &running("linking\n")),
        call("c4", "write_stdin", r#"{"session_id":7,"chars":"y"}"#),
        output("c4", "Process exited with code 2\nOutput:\nno rule"),
        // Never ends.
        call("c5", "exec_command", r#"{"cmd":"serve"}"#),
        output("c5", "Process running with session ID 8\nOutput:\nlistening"),
    ];
    check(
        &lines.join("\n"),
        expect![[r#"
            start codex in /p
            call shell {"command":"make"}
            call shell {"command":"ls"}
            ok shell "a.ts"
            failed shell "compiling\nlinking\nno rule"
            call shell {"command":"serve"}
            ok shell "listening"
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn copilot_tells_answers_and_why_a_call_was_refused() {
    check(
        &format!(
            r#"{COPILOT_START}
{{"type":"user.message","data":{{"content":"round it","transformedContent":"<now>1</now> round it"}},"id":"2"}}
{{"type":"user.message","data":{{"content":"the body of a skill","source":"skill-pdf"}},"id":"3"}}
{{"type":"tool.execution_start","data":{{"toolCallId":"q1","toolName":"ask_user","arguments":{{"question":"Per line?","choices":["Yes"]}}}},"id":"4"}}
{{"type":"tool.execution_complete","data":{{"toolCallId":"q1","success":true,"result":{{"content":"User responded: only for orders"}}}},"id":"5"}}
{{"type":"tool.execution_start","data":{{"toolCallId":"c1","toolName":"bash","arguments":{{"command":"make"}}}},"id":"6"}}
{{"type":"permission.completed","data":{{"toolCallId":"c1","result":{{"kind":"denied-interactively-by-user","feedback":"use the cache"}}}},"id":"7"}}
{{"type":"tool.execution_complete","data":{{"toolCallId":"c1","success":false,"error":{{"message":"The user rejected this tool call. User feedback: use the cache"}}}},"id":"8"}}
{{"type":"permission.completed","data":{{"toolCallId":"c2","result":{{"kind":"approved"}}}},"id":"9"}}
{{"type":"abort","data":{{"reason":"user_initiated"}},"id":"10"}}
"#
        ),
        expect![[r#"
            start copilot in /p
            user round it
            call other {}
            ok other "User responded: only for orders"
            answer (Per line?) only for orders
            call shell {"command":"make"}
            refusal (c1) use the cache
            rejected shell "The user rejected this tool call. User feedback: use the cache"
            interrupt
            0 damaged, 2 ignored
        "#]],
    );
}

#[test]
fn gemini_tells_answers_and_why_a_plan_was_refused() {
    let call = |id: &str, name: &str, args: &str, status: &str, output: &str| {
        format!(
            r#"{{"id":"g{id}","type":"gemini","content":"","toolCalls":[{{"id":"{id}","name":"{name}","args":{args},"status":"{status}","result":[{{"functionResponse":{{"response":{{"output":{output:?}}}}}}}]}}]}}"#
        )
    };
    let lines = [
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-06-25T01:50:34Z"}"#.to_owned(),
        call(
            "q1",
            "ask_user",
            r#"{"questions":[{"question":"Per line?"},{"question":"Which mode?"}]}"#,
            "success",
            r#"{"answers":{"0":"Yes","1":"half even"}}"#,
        ),
        call(
            "p1",
            "exit_plan_mode",
            r#"{"plan_path":"/t/plan.md"}"#,
            "success",
            "Plan rejected. User feedback: without the tax table\n\nThe plan is stored at: /t/plan.md\nRevise the plan based on the feedback.",
        ),
        call(
            "c1",
            "run_shell_command",
            r#"{"command":"make"}"#,
            "cancelled",
            "[Operation Cancelled] Reason: User denied execution.",
        ),
        r#"{"id":"i1","type":"info","content":"Request cancelled."}"#.to_owned(),
    ];
    check(
        &lines.join("\n"),
        expect![[r#"
            start gemini in 
            call other {}
            ok other "{\"answers\":{\"0\":\"Yes\",\"1\":\"half even\"}}"
            answer (Per line?) Yes
            answer (Which mode?) half even
            call other {}
            rejected other "Plan rejected. User feedback: without the tax table\n\nThe plan is stored at: /t/plan.md\nRevise the plan based on the feedback."
            refusal (p1) without the tax table
            call shell {"command":"make"}
            rejected shell "[Operation Cancelled] Reason: User denied execution."
            interrupt
            0 damaged, 0 ignored
        "#]],
    );
}

#[test]
fn opencode_tells_answers_and_why_a_call_was_refused() {
    let session = OpenCodeSession {
        id: "ses_1".to_owned(),
        directory: "/p".to_owned(),
        parent: None,
        created: model::Timestamp(5),
    };
    let parts = [
        r#"{"type":"reasoning","text":"Per line?"}"#,
        r#"{"type":"tool","callID":"q1","tool":"question","state":{"status":"completed","input":{"questions":[{"question":"Per line?"}]},"output":"User has answered your questions.","metadata":{"answers":[["Yes","but not for refunds"]]}}}"#,
        r#"{"type":"tool","callID":"c1","tool":"bash","state":{"status":"error","input":{"command":"make"},"error":"The user rejected permission to use this specific tool call with the following feedback: use the cache"}}"#,
        r#"{"type":"tool","callID":"q2","tool":"question","state":{"status":"error","input":{"questions":[{"question":"When?"}]},"error":"Error: The user dismissed this question"}}"#,
        r#"{"type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{"command":"ls"},"error":"The user has specified a rule which prevents you from using this specific tool call."}}"#,
    ];
    let part = |(nth, data): (usize, &&str)| OpenCodePart {
        id: format!("p{nth}"),
        data: (*data).to_owned(),
    };
    let parts: Vec<OpenCodePart> = parts.iter().enumerate().map(part).collect();
    let row = OpenCodeMessage {
        id: "m1".to_owned(),
        created: model::Timestamp(6),
        data: r#"{"role":"assistant","error":{"name":"MessageAbortedError"}}"#.to_owned(),
    };
    let (mut reader, mut events) = (OpenCodeReader::new(None, &session), Vec::new());
    reader.read_message(&mut events, &row, &parts);
    expect![[r#"
        start opencode in /p
        think Per line?
        call other {}
        ok other "User has answered your questions."
        answer (Per line?) Yes
        but not for refunds
        call shell {"command":"make"}
        rejected shell "The user rejected permission to use this specific tool call with the following feedback: use the cache"
        refusal (c1) use the cache
        call other {}
        rejected other "Error: The user dismissed this question"
        call shell {"command":"ls"}
        failed shell "The user has specified a rule which prevents you from using this specific tool call."
        interrupt
    "#]]
    .assert_eq(&show(&events));
}

#[test]
fn a_text_of_eight_kilobytes_is_whole_and_a_longer_one_keeps_both_ends() {
    let words = |text: &str| {
        let line = CLAUDE_CODE_START.replace("round the total", text);
        let (events, _) = read(TranscriptFormat::ClaudeCode, line.as_bytes());
        events.into_iter().find_map(|it| match it.event {
            Event::UserMessage(message) if message.kind == UserMessageKind::Prompt => {
                Some(message.text)
            }
            _ => None,
        })
    };
    let eight = "ä".repeat(4 << 10);
    assert_eq!(words(&eight), Some(eight));
    let log = "log line, ".repeat(50_000);
    let text = words(&format!("why does it fail? {log} only on Mondays")).unwrap();
    assert!(
        text.starts_with("why does it fail? log") && text.ends_with("log line,  only on Mondays")
    );
    assert!(text.len() < 70_000);
}
