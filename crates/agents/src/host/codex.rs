//! The host Codex: its row in the table of hosts, its settings and its hook messages.
//!
//! Hooks (programs that the host starts at events, here `waylore hook codex`) are installed in a file of
//! their own and our MCP server (tools that the agent may call) in its configuration. It runs only hooks
//! that its user trusts and ignores all others silently. Its messages lack the exit code of a
//! command, which its transcript has; so the events of a session are read from there
//! (`codex_transcript.rs`).

use model::{EventEnvelope, Timestamp, fingerprint_text};
use serde_json::{Value, json};

use super::mcp_servers::JsonFlavor;
use super::{
    FilePlace, HookProtocol, HookTrust, Host, HostSetup, InstalledHook, SettingsBase,
    SettingsError, SettingsFile, build_common_answer, hook_settings, runs_waylore, shell,
    start_log, toml_config,
};
use crate::event_log::{CallOutcome, EventLog};
use crate::hook_message::{
    EVENT_KEY, HookEvent, HookMessage, SessionSource, bound_text, truncate_text,
};
use crate::{patch, tool_names, tool_output};

const HOST_NAME: &str = "codex";

pub(super) const CODEX: Host = Host {
    name: HOST_NAME,
    aliases: &["codex-cli"],
    title: "Codex",
    bases: &[
        SettingsBase { variable: Some("CODEX_HOME"), folder: "" },
        SettingsBase { variable: None, folder: ".codex" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("hooks.json"),
            backup_name: "codex",
            install: install_hooks,
            uninstall: uninstall_hooks,
        },
        SettingsFile {
            place: FilePlace::Folder("config.toml"),
            backup_name: "codex-mcp",
            install: toml_config::install,
            uninstall: toml_config::uninstall,
        },
        SettingsFile {
            place: FilePlace::Project(".codex/hooks.json"),
            backup_name: "codex-project",
            install: install_hooks,
            uninstall: uninstall_hooks,
        },
        SettingsFile {
            place: FilePlace::Project(".codex/config.toml"),
            backup_name: "codex-project-mcp",
            install: toml_config::install,
            uninstall: toml_config::uninstall,
        },
    ],
    hook_protocol: Some(HookProtocol {
        read_body,
        build_events,
        build_answer: build_common_answer,
    }),
    plugin: None,
    hook_trust: Some(HookTrust {
        file: "config.toml",
        program: &["codex", "app-server"],
        list_requests,
        parse_hook_list,
        manual_hint: "`/hooks` inside of Codex shows them and asks",
        write_trust: toml_config::write_trust,
    }),
    shell_variables: &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"],
    is_tested: true,
};

/// Events to install a hook for.
const HOOK_EVENTS: &[&str] = &["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"];
/// Time after which the host stops waiting. At the end of a session it never waits longer than 3 s.
const HOOK_TIMEOUT_SECONDS: u64 = 5;
const END_HOOK_TIMEOUT_SECONDS: u64 = 3;
/// Size from which the host moves an answer into a file, which models do not open.
const MAX_CONTEXT_TOKENS: u64 = 9_000;

fn uninstall_hooks(settings: &str) -> Result<String, SettingsError> {
    hook_settings::uninstall(JsonFlavor::Strict, settings)
}

fn install_hooks(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    let command = shell::hook_command(setup.program, &format!("hook {HOST_NAME}"));
    let entry = |event: &&'static str| {
        let is_end = *event == "SessionEnd";
        let timeout = if is_end { END_HOOK_TIMEOUT_SECONDS } else { HOOK_TIMEOUT_SECONDS };
        let mut hook = json!({ "type": "command", "command": command, "timeout": timeout });
        // At the end of a session nothing is injected.
        if !is_end {
            hook["additionalContextLimit"] = MAX_CONTEXT_TOKENS.into();
        }
        (*event, json!({ "hooks": [hook] }))
    };
    hook_settings::install_entries(
        JsonFlavor::Strict,
        settings,
        &HOOK_EVENTS.iter().map(entry).collect::<Vec<_>>(),
    )
}

/// Requests that list the hooks. Only the host itself knows the keys and checksums under which it
/// looks up trust.
fn list_requests(folder: &str) -> Vec<String> {
    let client = json!({ "name": "waylore", "version": env!("CARGO_PKG_VERSION") });
    [
        json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": HOOK_LIST_ID, "method": "hooks/list", "params": { "cwds": [folder] } }),
    ]
    .iter()
    .map(Value::to_string)
    .collect()
}

/// Id of the request whose reply lists the hooks.
const HOOK_LIST_ID: u64 = 2;

/// Our hooks in the reply to the list request; `None` for any other line.
fn parse_hook_list(line: &str) -> Option<Vec<InstalledHook>> {
    let value: Value = serde_json::from_str(line).ok()?;
    if value["id"] != HOOK_LIST_ID {
        return None;
    }
    let mut acc = Vec::new();
    for folder in value["result"]["data"].as_array().into_iter().flatten() {
        for hook in folder["hooks"].as_array().into_iter().flatten() {
            let is_ours = hook["source"] == "user" && runs_waylore(hook, "hook");
            if is_ours {
                let text = |name: &str| hook[name].as_str().unwrap_or_default().to_owned();
                let is_trusted = hook["trustStatus"] == "trusted";
                acc.push(InstalledHook { key: text("key"), hash: text("currentHash"), is_trusted });
            }
        }
    }
    Some(acc)
}

/// Interprets the body of a message.
fn read_body(body: Value) -> Option<HookMessage> {
    let text = |name: &str| body[name].as_str();
    let event_name = text(EVENT_KEY)?.to_owned();
    let event = match event_name.as_str() {
        "SessionStart" => HookEvent::SessionStart { compacted: body["source"] == "compact" },
        "UserPromptSubmit" => {
            HookEvent::Prompt { text: bound_text(text("prompt").unwrap_or_default()) }
        }
        "PostToolUse" => tool_event(&body),
        "SessionEnd" => HookEvent::SessionEnd,
        _ => HookEvent::Other,
    };
    let (host_session, cwd) = (text("session_id")?.to_owned(), text("cwd")?.to_owned());
    let source = SessionSource::from_transcript(text("transcript_path"));
    Some(HookMessage { host: Some(HOST_NAME), event_name, host_session, cwd, source, event, body })
}

/// Files are read through shell commands; edits are patches.
fn tool_event(body: &Value) -> HookEvent {
    let command = body["tool_input"]["command"].as_str();
    match (body["tool_name"].as_str(), command) {
        (Some("apply_patch"), Some(text)) => {
            HookEvent::FilesTouched { paths: patch::patched_files(text) }
        }
        (Some("Bash"), Some(command)) => HookEvent::CommandEnded {
            command: truncate_text(command),
            output: bound_text(&tool_output::extract_text(&body["tool_response"])),
        },
        // MCP tools, plans and web searches touch no files.
        _ => HookEvent::Other,
    }
}

/// Session start and end; everything else only if the host keeps no transcript.
fn build_events(message: &HookMessage, project: Option<&str>, at: Timestamp) -> Vec<EventEnvelope> {
    let mut log = start_log(HOST_NAME, message, project, at);
    if message.event == HookEvent::SessionEnd {
        log.push_session_end();
    } else if message.source == SessionSource::JournalOnly {
        push_activity(&mut log, message, at);
    }
    log.acc
}

/// Adds the prompt, or the call with its result, that a message reports.
fn push_activity(log: &mut EventLog, message: &HookMessage, at: Timestamp) {
    if let HookEvent::Prompt { text } = &message.event {
        // The host gives prompts no id; the time distinguishes two with the same text.
        let id = fingerprint_text(&format!("{} {text}", at.0));
        log.push_user_message(&format!("prompt {id}"), text);
    }
    let body = &message.body;
    if message.event_name == "PostToolUse"
        && let Some(id) = body["tool_use_id"].as_str()
    {
        let tool = tool_names::find_tool(body["tool_name"].as_str().unwrap_or_default());
        // The `command` of an edit is the patch itself, which the transcript holds as bare text.
        let input = match &message.event {
            HookEvent::FilesTouched { .. } => &body["tool_input"]["command"],
            _ => &body["tool_input"],
        };
        log.push_tool_call(id, tool, input);
        let text = tool_output::extract_text(&body["tool_response"]);
        let is_success = tool_output::find_exit_code(&text).unwrap_or(0) == 0;
        log.push_result(id, CallOutcome::from_success(is_success), &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// A message with these fields.
    fn message(body: &str) -> String {
        format!(r#"{{"session_id":"s1","cwd":"/p","transcript_path":"/r.jsonl",{body}}}"#)
    }

    fn event(body: &str) -> Option<HookEvent> {
        CODEX.parse_message(message(body).as_bytes(), None).map(|it| it.event)
    }

    #[test]
    fn events_are_read_from_the_messages_of_codex() {
        let start = r#""hook_event_name":"SessionStart","source":"compact""#;
        assert_eq!(event(start), Some(HookEvent::SessionStart { compacted: true }));
        let ran = r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"cat a.rs"},"tool_response":"boom\n""#;
        let (command, output) = ("cat a.rs".to_owned(), "boom\n".to_owned());
        assert_eq!(event(ran), Some(HookEvent::CommandEnded { command, output }));
        let edit = r#""hook_event_name":"PostToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.rs\n@@\n*** End Patch"},"tool_response":"Exit code: 0""#;
        assert_eq!(event(edit), Some(HookEvent::FilesTouched { paths: vec!["a.rs".to_owned()] }));
        let other = r#""hook_event_name":"PostToolUse","tool_name":"mcp__db__ask","tool_input":{}"#;
        assert_eq!(event(other), Some(HookEvent::Other));
        assert_eq!(event(r#""hook_event_name":"SessionEnd""#), Some(HookEvent::SessionEnd));
        assert_eq!(event(r#""hook_event_name":"Stop""#), Some(HookEvent::Other));
    }

    #[test]
    fn own_hooks_are_found_in_the_list() {
        assert_eq!(parse_hook_list(r#"{"method":"configWarning","params":{}}"#), None);
        assert_eq!(
            parse_hook_list(r#"{"id":2,"error":{"message":"no such method"}}"#),
            Some(Vec::new())
        );
        let line = r#"{"id":2,"result":{"data":[{"cwd":"/p","hooks":[
            {"key":"/h.json:stop:0:0","command":"say done","source":"user","currentHash":"sha256:0","trustStatus":"trusted"},
            {"key":"/h.json:post_tool_use:0:0","command":"'/my tools/waylore' hook codex","source":"user","currentHash":"sha256:1","trustStatus":"modified"}
        ]}]}}"#;
        let hook = InstalledHook {
            key: "/h.json:post_tool_use:0:0".to_owned(),
            hash: "sha256:1".to_owned(),
            is_trusted: false,
        };
        assert_eq!(parse_hook_list(line), Some(vec![hook]));
    }

    /// Compares the events of a message, one per line: its id, then the line of the journal from the
    /// name of the event on.
    fn check(message: &str, expect: Expect) {
        let line = |it: &EventEnvelope| {
            let line = it.to_line();
            let (_, rest) = line.split_once("\"event\":").unwrap_or_default();
            format!("{} {rest}\n", it.id)
        };
        let message = CODEX.parse_message(message.as_bytes(), None).unwrap();
        let events = CODEX.build_journal_events(&message, Some("/p"), Timestamp(7));
        expect.assert_eq(&events.iter().map(line).collect::<String>());
    }

    #[test]
    fn activity_is_left_to_the_hosts_transcript_where_there_is_one() {
        let ran = r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"make"},"tool_response":"boom\n""#;
        check(
            &message(ran),
            expect![[r#"
                start "session_start","project_root":"/p","agent":"codex","host_session":"s1","transcript":"/r.jsonl"}
            "#]],
        );
        check(
            &message(ran).replace("\"/r.jsonl\"", "null"),
            expect![[r#"
                start "session_start","project_root":"/p","agent":"codex","host_session":"s1"}
                c1 "tool_call","call_id":"c1","tool":"shell","args":{"command":"make"}}
                c1! "tool_result","call_id":"c1","tool":"shell","ok":true,"size":5,"excerpt":"boom\n"}
            "#]],
        );
        check(
            &message(r#""hook_event_name":"SessionEnd""#),
            expect![[r#"
                start "session_start","project_root":"/p","agent":"codex","host_session":"s1","transcript":"/r.jsonl"}
                end "session_end"}
            "#]],
        );
    }
}
