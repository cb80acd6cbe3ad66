//! The host GitHub Copilot CLI: its row in the table of hosts, its settings and its hook messages.
//!
//! Hooks (programs that the host starts at events, here `waylore hook copilot`) are installed in a file
//! of our own and our MCP server (tools that the agent may call) in its server list. A message does not
//! name its event; the hook gets the name as an argument. Messages have no call ids either, so the
//! events of a session are read from the host's transcript (`copilot_transcript.rs`).

use model::{EventEnvelope, Timestamp, Tool};
use serde_json::{Value, json};

use super::mcp_servers::{self, JsonFlavor};
use super::{
    FilePlace, HookProtocol, Host, HostSetup, SettingsBase, SettingsError, SettingsFile,
    claude_code, runs_waylore, shell, start_log,
};
use crate::hook_message::{EVENT_KEY, HookEvent, HookMessage, SessionSource, bound_text};
use crate::{tool_names, tool_output};

const HOST_NAME: &str = "copilot";

pub(super) const COPILOT: Host = Host {
    name: HOST_NAME,
    aliases: &["copilot-cli"],
    title: "GitHub Copilot CLI",
    bases: &[
        SettingsBase { variable: Some("COPILOT_HOME"), folder: "" },
        SettingsBase { variable: None, folder: ".copilot" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("hooks/waylore.json"),
            backup_name: "copilot-hooks",
            install: install_hooks,
            uninstall: uninstall_hooks,
        },
        SettingsFile {
            place: FilePlace::Folder("mcp-config.json"),
            backup_name: "copilot-mcp",
            install: install_server,
            uninstall: uninstall_server,
        },
        SettingsFile {
            place: FilePlace::Project(".github/hooks/waylore.json"),
            backup_name: "copilot-project-hooks",
            install: install_hooks,
            uninstall: uninstall_hooks,
        },
        // Claude Code reads the same file with the same entry.
        SettingsFile {
            place: FilePlace::Project(".mcp.json"),
            backup_name: "copilot-project-mcp",
            install: claude_code::install_server,
            uninstall: claude_code::uninstall_server,
        },
    ],
    hook_protocol: Some(HookProtocol { read_body, build_events, build_answer }),
    plugin: None,
    hook_trust: None,
    shell_variables: &["COPILOT_CLI"],
    is_tested: true,
};

/// Events to install a hook for. An answer to an event before a tool call would arrive one step
/// late. `agentStop` is installed because its message names the transcript.
const HOOK_EVENTS: &[&str] = &[
    "sessionStart",
    "userPromptSubmitted",
    "postToolUse",
    "postToolUseFailure",
    "agentStop",
    "sessionEnd",
];
/// Time after which the host stops waiting. The hook's own limit is far below.
const HOOK_TIMEOUT_SECONDS: u64 = 5;
const SERVERS_KEY: &str = "mcpServers";

/// Writes the file, which holds nothing but our hooks.
fn install_hooks(text: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    if !text.trim().is_empty() && !is_own_file(text)? {
        return Err(SettingsError::UnexpectedShape("hooks"));
    }
    let mut hooks = json!({});
    for event in HOOK_EVENTS {
        let line = shell::hook_command(setup.program, &format!("hook {HOST_NAME} {event}"));
        hooks[event] =
            json!([{ "type": "command", "bash": line, "timeoutSec": HOOK_TIMEOUT_SECONDS }]);
    }
    Ok(format!("{:#}\n", json!({ "version": 1, "hooks": hooks })))
}

fn uninstall_hooks(text: &str) -> Result<String, SettingsError> {
    Ok(if text.trim().is_empty() || is_own_file(text)? { String::new() } else { text.to_owned() })
}

/// True if all hooks in a file are ours.
fn is_own_file(text: &str) -> Result<bool, SettingsError> {
    let value: Value =
        serde_json::from_str(text).map_err(|it| SettingsError::Unreadable(it.to_string()))?;
    let lists = value["hooks"].as_object().ok_or(SettingsError::UnexpectedShape("hooks"))?.values();
    let mut hooks = lists.flat_map(|it| it.as_array().into_iter().flatten());
    Ok(hooks.all(|hook| {
        let words = shell::split_words(hook["bash"].as_str().unwrap_or_default());
        runs_waylore(&json!({ "command": words }), "hook")
    }))
}

fn install_server(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    let server =
        json!({ "type": "local", "command": setup.program, "args": ["mcp"], "tools": ["*"] });
    mcp_servers::install(JsonFlavor::Strict, settings, SERVERS_KEY, &server)
}

fn uninstall_server(settings: &str) -> Result<String, SettingsError> {
    mcp_servers::uninstall(JsonFlavor::Strict, settings, SERVERS_KEY)
}

/// Interprets the body of a message.
fn read_body(body: Value) -> Option<HookMessage> {
    let text = |name: &str| body[name].as_str();
    let event_name = text(EVENT_KEY)?.to_owned();
    let event = match event_name.as_str() {
        "sessionStart" => HookEvent::SessionStart { compacted: false },
        "userPromptSubmitted" => {
            HookEvent::Prompt { text: bound_text(text("prompt").unwrap_or_default()) }
        }
        "postToolUse" => tool_event(&body),
        "postToolUseFailure" => failure_event(&body, &result_text(&body)),
        "sessionEnd" => HookEvent::SessionEnd,
        // `agentStop`, and events of other versions.
        _ => HookEvent::Other,
    };
    let (host_session, cwd) = (text("sessionId")?.to_owned(), text("cwd")?.to_owned());
    let source = SessionSource::from_transcript(text("transcriptPath"));
    Some(HookMessage { host: Some(HOST_NAME), event_name, host_session, cwd, source, event, body })
}

fn build_answer(_: &HookMessage, text: &str) -> String {
    json!({ "additionalContext": text }).to_string()
}

/// Output of a tool, or the error that ended it.
fn result_text(body: &Value) -> String {
    let result = &body["toolResult"];
    let text = result["textResultForLlm"].as_str().or(body["error"]["message"].as_str());
    text.map_or_else(|| tool_output::extract_text(&body["error"]), str::to_owned)
}

/// The host reports a failed command as a success; the exit code is part of the output text.
fn tool_event(body: &Value) -> HookEvent {
    let output = result_text(body);
    let tool = tool_names::find_tool(body["toolName"].as_str().unwrap_or_default());
    let exit_code = tool_output::find_exit_code(&output).filter(|_| tool == Tool::Shell);
    if exit_code.is_some_and(|it| it != 0) || body["toolResult"]["resultType"] == "failure" {
        return failure_event(body, &output);
    }
    let works_on_file = matches!(tool, Tool::Read | Tool::Edit | Tool::Write);
    match body["toolArgs"]["path"].as_str() {
        Some(path) if works_on_file => HookEvent::FilesTouched { paths: vec![path.to_owned()] },
        Some(_) | None => HookEvent::Other,
    }
}

fn failure_event(body: &Value, output: &str) -> HookEvent {
    let tool = tool_names::find_tool(body["toolName"].as_str().unwrap_or_default());
    HookEvent::CallFailed {
        tool: tool.slug().into_owned(),
        command: body["toolArgs"]["command"].as_str().map(str::to_owned),
        output: bound_text(output),
    }
}

/// Session start, the path of the transcript, and session end; everything else is in the
/// transcript.
fn build_events(message: &HookMessage, project: Option<&str>, at: Timestamp) -> Vec<EventEnvelope> {
    let mut log = start_log(HOST_NAME, message, project, at);
    if message.source != SessionSource::JournalOnly {
        // The session started before, without this path. Another id keeps the event from being
        // dropped as a repetition.
        log.acc.iter_mut().for_each(|it| "start with log".clone_into(&mut it.id));
    }
    if message.event == HookEvent::SessionEnd {
        log.push_session_end();
    }
    log.acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the event of a message with these fields and, in a list behind it, the ids of the
    /// events to journal.
    fn check(event: &str, body: &str, expect: Expect) {
        let input = format!(r#"{{"hook_event_name":"{event}","sessionId":"s1","cwd":"/p"{body}}}"#);
        let message = COPILOT.parse_message(input.as_bytes(), None).unwrap();
        let events = COPILOT.build_journal_events(&message, Some("/p"), Timestamp(7));
        let ids: Vec<String> = events.into_iter().map(|it| it.id).collect();
        expect.assert_eq(&format!("{:?} {ids:?}", message.event));
    }

    #[test]
    fn events_are_read_from_the_messages_of_copilot() {
        check(
            "sessionStart",
            r#","source":"new""#,
            expect![[r#"SessionStart { compacted: false } ["start"]"#]],
        );
        check(
            "userPromptSubmitted",
            r#","prompt":"fix it""#,
            expect![[r#"Prompt { text: "fix it" } ["start"]"#]],
        );
        check(
            "postToolUse",
            r#","toolName":"view","toolArgs":{"path":"/p/a.rs"},"toolResult":{"resultType":"success","textResultForLlm":"exit code 3"}"#,
            expect![[r#"FilesTouched { paths: ["/p/a.rs"] } ["start"]"#]],
        );
        check(
            "postToolUse",
            r#","toolName":"bash","toolArgs":{"command":"make"},"toolResult":{"resultType":"success","textResultForLlm":"boom\n<shellId: 0 completed with exit code 3>"}"#,
            expect![[
                r#"CallFailed { tool: "shell", command: Some("make"), output: "boom\n<shellId: 0 completed with exit code 3>" } ["start"]"#
            ]],
        );
        check(
            "agentStop",
            r#","transcriptPath":"/t/events.jsonl""#,
            expect![[r#"Other ["start with log"]"#]],
        );
        check("sessionEnd", "", expect![[r#"SessionEnd ["start", "end"]"#]]);
    }

    #[test]
    fn a_hook_file_of_another_program_is_not_changed() {
        let setup = HostSetup { program: "/my tools/waylore", version: None };
        let ours = install_hooks("", &setup).unwrap();
        assert!(ours.contains("'/my tools/waylore' hook copilot sessionStart"), "{ours}");
        assert_eq!(install_hooks(&ours, &setup).unwrap(), ours);
        assert_eq!(uninstall_hooks(&ours).unwrap(), "");
        let theirs =
            r#"{"version":1,"hooks":{"sessionEnd":[{"type":"command","bash":"say done"}]}}"#;
        assert_eq!(install_hooks(theirs, &setup), Err(SettingsError::UnexpectedShape("hooks")));
        assert_eq!(uninstall_hooks(theirs).unwrap(), theirs);
        assert!(install_hooks("{", &setup).is_err());
    }
}
