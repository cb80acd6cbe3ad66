//! The host Gemini CLI: its row in the table of hosts, its settings and its hook messages.
//!
//! Hooks (programs that the host starts at events, here `waylore hook gemini`) and our MCP server (tools
//! that the agent may call) are installed in one settings file. Its messages name no call ids, so the
//! events of a session are read from its transcript (`gemini_transcript.rs`), which always exists.

use model::{EventEnvelope, Timestamp, Tool};
use serde_json::{Value, json};

use super::mcp_servers::{self, JsonFlavor};
use super::{
    FilePlace, HookProtocol, Host, HostSetup, SettingsBase, SettingsError, SettingsFile,
    build_common_answer, hook_settings, shell, start_log,
};
use crate::gemini_transcript::strip_host_wrappers;
use crate::hook_message::{
    EVENT_KEY, HookEvent, HookMessage, SessionSource, bound_text, truncate_text,
};
use crate::{tool_names, tool_output};

const HOST_NAME: &str = "gemini";

pub(super) const GEMINI: Host = Host {
    name: HOST_NAME,
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
    bases: &[
        SettingsBase { variable: Some("GEMINI_CLI_HOME"), folder: ".gemini" },
        SettingsBase { variable: None, folder: ".gemini" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("settings.json"),
            backup_name: "gemini",
            install,
            uninstall,
        },
        SettingsFile {
            place: FilePlace::Project(".gemini/settings.json"),
            backup_name: "gemini-project",
            install,
            uninstall,
        },
    ],
    hook_protocol: Some(HookProtocol {
        read_body,
        build_events,
        build_answer: build_common_answer,
    }),
    plugin: None,
    hook_trust: None,
    shell_variables: &["GEMINI_CLI"],
    is_tested: true,
};

/// Events to install a hook for, and the tools they are limited to. Left out are the events around
/// a model call, which carry the whole conversation with every token of the reply, and the one
/// before a tool, whose answer the host drops.
const HOOK_EVENTS: &[(&str, &str)] = &[
    ("SessionStart", "*"),
    ("BeforeAgent", "*"),
    ("AfterTool", "read_file|read_many_files|write_file|replace|run_shell_command"),
    ("SessionEnd", "*"),
];
/// Time after which the host stops waiting. The hook's own limit is far below.
const HOOK_TIMEOUT_MILLIS: u64 = 5_000;
const SERVERS_KEY: &str = "mcpServers";
/// The host removes comments before it parses its settings.
const FLAVOR: JsonFlavor = JsonFlavor::Commented;

fn install(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    let command = shell::hook_command(setup.program, &format!("hook {HOST_NAME}"));
    let hook = json!({ "type": "command", "name": "waylore", "command": command, "timeout": HOOK_TIMEOUT_MILLIS });
    let mut entries = Vec::new();
    for (event, tools) in HOOK_EVENTS {
        entries.push((*event, json!({ "matcher": tools, "hooks": [hook.clone()] })));
    }
    let settings = hook_settings::install_entries(FLAVOR, settings, &entries)?;
    // Both entries are in one file, so the second edit works on the result of the first.
    let server = json!({ "command": setup.program, "args": ["mcp"] });
    mcp_servers::install(FLAVOR, &settings, SERVERS_KEY, &server)
}

fn uninstall(settings: &str) -> Result<String, SettingsError> {
    hook_settings::uninstall(FLAVOR, &mcp_servers::uninstall(FLAVOR, settings, SERVERS_KEY)?)
}

/// Interprets the body of a message.
fn read_body(body: Value) -> Option<HookMessage> {
    let text = |name: &str| body[name].as_str();
    let event_name = text(EVENT_KEY)?.to_owned();
    let event = match event_name.as_str() {
        "SessionStart" => HookEvent::SessionStart { compacted: false },
        // The host puts the context injected at the start before the first prompt.
        "BeforeAgent" => {
            let prompt = strip_host_wrappers(text("prompt").unwrap_or_default());
            HookEvent::Prompt { text: bound_text(&prompt) }
        }
        "AfterTool" => tool_event(&body),
        "SessionEnd" => HookEvent::SessionEnd,
        _ => HookEvent::Other,
    };
    let (host_session, cwd) = (text("session_id")?.to_owned(), text("cwd")?.to_owned());
    let transcript = text("transcript_path").filter(|it| !it.is_empty());
    let source = SessionSource::from_transcript(transcript);
    Some(HookMessage { host: Some(HOST_NAME), event_name, host_session, cwd, source, event, body })
}

/// The host reports a failed command as a success; the exit code is part of the output text.
fn tool_event(body: &Value) -> HookEvent {
    let (input, response) = (&body["tool_input"], &body["tool_response"]);
    let tool = tool_names::find_tool(body["tool_name"].as_str().unwrap_or_default());
    let output = strip_host_wrappers(&tool_output::extract_text(&response["llmContent"]));
    let exit_code = tool_output::find_exit_code(&output).filter(|_| tool == Tool::Shell);
    if exit_code.is_some_and(|it| it != 0) || !response["error"].is_null() {
        return HookEvent::CallFailed {
            tool: tool.slug().into_owned(),
            command: input["command"].as_str().map(str::to_owned),
            output: bound_text(&output),
        };
    }
    if tool == Tool::Shell
        && let Some(command) = input["command"].as_str()
    {
        return HookEvent::CommandEnded {
            command: truncate_text(command),
            output: bound_text(&output),
        };
    }
    let mut paths = Vec::new();
    let single = ["file_path", "absolute_path"].iter().find_map(|it| input[*it].as_str());
    paths.extend(single.map(str::to_owned));
    // `read_many_files` takes a list, named `paths` or `include`.
    let list = input["paths"].as_array().or(input["include"].as_array());
    for path in list.into_iter().flatten() {
        paths.extend(path.as_str().map(str::to_owned));
    }
    if paths.is_empty() { HookEvent::Other } else { HookEvent::FilesTouched { paths } }
}

/// Session start and end; everything else is in the transcript.
fn build_events(message: &HookMessage, project: Option<&str>, at: Timestamp) -> Vec<EventEnvelope> {
    let mut log = start_log(HOST_NAME, message, project, at);
    if message.event == HookEvent::SessionEnd {
        log.push_session_end();
    }
    log.acc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The event of a message with these fields.
    fn event(body: &str) -> Option<HookEvent> {
        let head = r#""session_id":"s1","cwd":"/p","transcript_path":"/c.jsonl","#;
        GEMINI.parse_message(format!("{{{head}{body}}}").as_bytes(), None).map(|it| it.event)
    }

    #[test]
    fn events_are_read_from_the_messages_of_gemini_cli() {
        assert_eq!(
            event(
                r#""hook_event_name":"BeforeAgent","prompt":"<hook_context>a note</hook_context>\n\nfix it""#
            ),
            Some(HookEvent::Prompt { text: "fix it".to_owned() })
        );
        assert_eq!(
            event(
                r#""hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{"file_path":"/p/a.rs"},"tool_response":{"llmContent":"x"}"#
            ),
            Some(HookEvent::FilesTouched { paths: vec!["/p/a.rs".to_owned()] })
        );
        assert_eq!(
            event(
                r#""hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"make"},"tool_response":{"llmContent":"<untrusted_context>\nOutput: boom\nExit Code: 3\n</untrusted_context>"}"#
            ),
            Some(HookEvent::CallFailed {
                tool: "shell".to_owned(),
                command: Some("make".to_owned()),
                output: "boom\nExit Code: 3".to_owned(),
            })
        );
        assert_eq!(
            event(
                r#""hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"cat a.rs"},"tool_response":{"llmContent":"Output: fn main() {}"}"#
            ),
            Some(HookEvent::CommandEnded {
                command: "cat a.rs".to_owned(),
                output: "fn main() {}".to_owned()
            })
        );
        assert_eq!(event(r#""hook_event_name":"SessionEnd""#), Some(HookEvent::SessionEnd));
        assert_eq!(event(r#""hook_event_name":"AfterModel""#), Some(HookEvent::Other));
    }

    #[test]
    fn only_session_start_and_end_are_journalled() {
        let event_ids = |event: &str| {
            let input = format!(r#"{{"hook_event_name":"{event}","session_id":"s1","cwd":"/p"}}"#);
            let message = GEMINI.parse_message(input.as_bytes(), None).unwrap();
            let events = GEMINI.build_journal_events(&message, None, Timestamp(7));
            events.into_iter().map(|it| it.id).collect::<Vec<String>>()
        };
        assert_eq!(event_ids("SessionEnd"), ["start", "end"]);
        assert_eq!(event_ids("AfterTool"), ["start"]);
    }
}
