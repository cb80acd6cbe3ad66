//! The host Claude Code: its row in the table of hosts, its settings and its hook messages.
//!
//! Hooks (programs that the host starts at events) are installed in its settings and our MCP server
//! (tools that the agent may call) in its server list, or both as a plugin. A message is a JSON object,
//! such as `{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":"/p","prompt":"fix it"}`. Of
//! a message only the fields that its event needs are read, because others come and go with versions.
//! Its transcripts are read in `claude_code_transcript.rs`.

mod events;

use serde_json::{Value, json};

use super::mcp_servers::{self, JsonFlavor, SERVER_NAME};
use super::{
    FilePlace, HookProtocol, Host, HostPlugin, HostSetup, HostVersion, SettingsBase, SettingsError,
    SettingsFile, build_common_answer, hook_settings, shell,
};
use crate::claude_code_transcript::typed_text::{UserText, classify_user_text};
use crate::hook_message::{
    EVENT_KEY, HookEvent, HookMessage, RefusedCall, SessionSource, bound_text, truncate_text,
};
use crate::{tool_names, tool_output};

const HOST_NAME: &str = "claude-code";

pub(super) const CLAUDE_CODE: Host = Host {
    name: HOST_NAME,
    aliases: &["claude"],
    title: "Claude Code",
    bases: &[
        SettingsBase { variable: Some("CLAUDE_CONFIG_DIR"), folder: "" },
        SettingsBase { variable: None, folder: ".claude" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("settings.json"),
            backup_name: "claude-code",
            install: install_hooks,
            uninstall: uninstall_hooks,
        },
        SettingsFile {
            place: FilePlace::Root(".claude.json"),
            backup_name: "claude-code-mcp",
            install: install_server,
            uninstall: uninstall_server,
        },
        SettingsFile {
            place: FilePlace::Project(".claude/settings.json"),
            backup_name: "claude-code-project",
            install: install_hooks,
            uninstall: uninstall_hooks,
        },
        SettingsFile {
            place: FilePlace::Project(".mcp.json"),
            backup_name: "claude-code-project-mcp",
            install: install_server,
            uninstall: uninstall_server,
        },
    ],
    hook_protocol: Some(HookProtocol {
        read_body,
        build_events: events::build_events,
        build_answer: build_common_answer,
    }),
    plugin: Some(HostPlugin { files: plugin_files, install: install_hint }),
    hook_trust: None,
    shell_variables: &["CLAUDECODE"],
    is_tested: true,
};

/// Events to install a hook for, the tools they are limited to, and the first version that is known
/// to support them. An unknown event makes older versions ignore the whole file, so for an unknown
/// version only the events that every version supports are installed. Nothing is ever injected at
/// `Stop`, because that would make the agent continue.
#[rustfmt::skip]
const HOOK_EVENTS: &[(&str, Option<&str>, HostVersion)] = &[
    // event               tools                                           since
    ("SessionStart",       None,                                           (0, 0, 0)),
    ("UserPromptSubmit",   None,                                           (0, 0, 0)),
    ("PostToolUse",        Some("Read|Edit|Write|MultiEdit|NotebookEdit"), (0, 0, 0)),
    ("PostToolUseFailure", None,                                           (0, 0, 0)),
    ("PostToolBatch",      None,                                           (2, 1, 197)),
    ("SubagentStart",      None,                                           (2, 1, 14)),
    ("Stop",               None,                                           (2, 1, 14)),
    ("SessionEnd",         None,                                           (0, 0, 0)),
];
/// Time after which the host stops waiting. The hook's own limit is far below.
const HOOK_TIMEOUT_SECONDS: u64 = 5;
/// Key of the servers in `.claude.json` and `.mcp.json`.
const SERVERS_KEY: &str = "mcpServers";

fn uninstall_hooks(settings: &str) -> Result<String, SettingsError> {
    hook_settings::uninstall(JsonFlavor::Strict, settings)
}

fn install_hooks(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    hook_settings::install_entries(JsonFlavor::Strict, settings, &hook_entries(setup))
}

fn hook_entries(setup: &HostSetup<'_>) -> Vec<(&'static str, Value)> {
    // The default, 0.0.0, selects the events that every version supports.
    let version = setup.version.unwrap_or_default();
    let supported = HOOK_EVENTS.iter().filter(|(_, _, since)| *since <= version);
    supported.map(|(event, tools, _)| (*event, hook_entry(setup.program, *tools))).collect()
}

fn hook_entry(program: &str, matcher: Option<&str>) -> Value {
    let mut hook = json!({ "type": "command", "timeout": HOOK_TIMEOUT_SECONDS });
    if shell::is_windows_program(program) {
        // Without a shell, which would take the path apart at its backslashes.
        hook["command"] = program.into();
        hook["args"] = json!(["hook", HOST_NAME]);
    } else {
        hook["command"] = shell::hook_command(program, &format!("hook {HOST_NAME}")).into();
    }
    match matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    }
}

pub(super) fn install_server(
    settings: &str,
    setup: &HostSetup<'_>,
) -> Result<String, SettingsError> {
    let server = server_entry(setup.program);
    mcp_servers::install(JsonFlavor::Strict, settings, SERVERS_KEY, &server)
}

pub(super) fn uninstall_server(settings: &str) -> Result<String, SettingsError> {
    mcp_servers::uninstall(JsonFlavor::Strict, settings, SERVERS_KEY)
}

/// Without `alwaysLoad` the host shows the model only the names of the tools.
fn server_entry(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"], "alwaysLoad": true })
}

/// Interprets the body of a message.
fn read_body(body: Value) -> Option<HookMessage> {
    let text = |name: &str| body[name].as_str();
    let event_name = text(EVENT_KEY)?.to_owned();
    let event = match event_name.as_str() {
        "SessionStart" => HookEvent::SessionStart { compacted: body["source"] == "compact" },
        "SubagentStart" => HookEvent::SessionStart { compacted: false },
        "UserPromptSubmit" => prompt_event(text("prompt").unwrap_or_default()),
        "PostToolUse" => touch_event(&body),
        "PostToolUseFailure" => failure_event(&body),
        "PostToolBatch" => step_event(&body),
        "SessionEnd" => HookEvent::SessionEnd,
        // `Stop`, and events of other versions.
        _ => HookEvent::Other,
    };
    let (main_session, cwd) = (text("session_id")?, text("cwd")?.to_owned());
    // A subagent has a conversation of its own, so it must be shown notes that its parent has seen.
    // The `transcript_path` in its messages is that of the parent.
    let (host_session, transcript_key) = match text("agent_id") {
        Some(agent) => (format!("{main_session}/{agent}"), "agent_transcript_path"),
        None => (main_session.to_owned(), "transcript_path"),
    };
    let source = SessionSource::from_transcript(text(transcript_key));
    Some(HookMessage { host: Some(HOST_NAME), event_name, host_session, cwd, source, event, body })
}

/// The host also submits its own notices as prompts, for example when a subagent ends. They ask for
/// nothing.
fn prompt_event(text: &str) -> HookEvent {
    match classify_user_text(text) {
        UserText::Typed(typed) => HookEvent::Prompt { text: bound_text(&typed) },
        UserText::AcceptedPlan(_) => HookEvent::Prompt { text: bound_text(text) },
        UserText::Interrupt | UserText::Notice => HookEvent::Other,
    }
}

/// The event of a tool that works on a file.
fn touch_event(body: &Value) -> HookEvent {
    let input = &body["tool_input"];
    let path = ["file_path", "notebook_path"].iter().find_map(|it| input[*it].as_str());
    match path {
        Some(path) => HookEvent::FilesTouched { paths: vec![path.to_owned()] },
        None => HookEvent::Other,
    }
}

/// Beginning of the output of a call that the host rejected before running it. `PostToolBatch` is
/// the only event that reports such calls.
const REFUSED_CALL_PREFIX: &str = "<tool_use_error>";

/// The event of a step with all of its calls.
fn step_event(body: &Value) -> HookEvent {
    let (mut paths, mut searches, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    let mut refused = None;
    for call in body["tool_calls"].as_array().into_iter().flatten() {
        let input = &call["tool_input"];
        let text = |name: &str| input[name].as_str().map(truncate_text);
        let output = tool_output::extract_text(&call["tool_response"]);
        let tool = called_tool(call);
        if output.starts_with(REFUSED_CALL_PREFIX) {
            // A refused call touched nothing, so its arguments do not count.
            refused = Some(RefusedCall { tool, output: bound_text(&output) });
            continue;
        }
        paths.extend(text("file_path").or_else(|| text("notebook_path")));
        // A list of files has a `pattern`, too, but that is no search term.
        searches.extend(text("pattern").filter(|_| tool == "search"));
        commands.extend(text("command"));
    }
    HookEvent::StepEnded { paths, searches, commands, refused }
}

fn failure_event(body: &Value) -> HookEvent {
    // The user stopped the call; that is no failure to look up.
    if body["is_interrupt"] == true {
        return HookEvent::Other;
    }
    HookEvent::CallFailed {
        tool: called_tool(body),
        command: body["tool_input"]["command"].as_str().map(str::to_owned),
        output: bound_text(&tool_output::extract_text(&body["error"])),
    }
}

/// Slug of the tool that a call names.
fn called_tool(call: &Value) -> String {
    let name = call["tool_name"].as_str().unwrap_or_default();
    tool_names::find_tool(name).slug().into_owned()
}

/// A marketplace with one plugin, which holds our hooks and our server.
fn plugin_files(program: &str, version: &str) -> Vec<(&'static str, String)> {
    let about = "The memory of AI coding agents: what earlier sessions learned about a project";
    let owner = json!({ "name": SERVER_NAME });
    let source = "./plugins/waylore";
    let market = json!({
        "name": SERVER_NAME,
        "description": about,
        "owner": owner,
        "plugins": [{ "name": SERVER_NAME, "source": source, "description": about }],
    });
    let manifest =
        json!({ "name": SERVER_NAME, "version": version, "description": about, "author": owner });
    // One plugin serves every version of the host, so it holds only the events that all of them
    // know.
    let entries = hook_entries(&HostSetup { program, version: None }).into_iter();
    let events: Value = entries.map(|(event, it)| (event.to_owned(), json!([it]))).collect();
    let mut servers = json!({});
    servers[SERVERS_KEY] = json!({ SERVER_NAME: server_entry(program) });
    [
        (".claude-plugin/marketplace.json", market),
        ("plugins/waylore/.claude-plugin/plugin.json", manifest),
        ("plugins/waylore/hooks/hooks.json", json!({ "hooks": events })),
        ("plugins/waylore/.mcp.json", servers),
    ]
    .into_iter()
    .map(|(path, value)| (path, format!("{value:#}\n")))
    .collect()
}

fn install_hint(folder: &str) -> String {
    format!(
        "`claude plugin marketplace add {folder}`, then `claude plugin install waylore@waylore`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The event of a message with these fields.
    fn event(body: &str) -> Option<HookEvent> {
        let head = r#""session_id":"s1","cwd":"/p","transcript_path":"/t.jsonl","#;
        CLAUDE_CODE.parse_message(format!("{{{head}{body}}}").as_bytes(), None).map(|it| it.event)
    }

    #[test]
    fn events_are_read_from_the_messages_of_claude_code() {
        let start = |source| format!(r#""hook_event_name":"SessionStart","source":"{source}""#);
        assert_eq!(event(&start("startup")), Some(HookEvent::SessionStart { compacted: false }));
        assert_eq!(event(&start("compact")), Some(HookEvent::SessionStart { compacted: true }));
        assert_eq!(
            event(r#""hook_event_name":"UserPromptSubmit","prompt":"fix it""#),
            Some(HookEvent::Prompt { text: "fix it".to_owned() })
        );
        assert_eq!(
            event(
                r#""hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/p/a.rs"}"#
            ),
            Some(HookEvent::FilesTouched { paths: vec!["/p/a.rs".to_owned()] })
        );
        assert_eq!(
            event(
                r#""hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make"},"error":"Exit code 2\nboom""#
            ),
            Some(HookEvent::CallFailed {
                tool: "shell".to_owned(),
                command: Some("make".to_owned()),
                output: "Exit code 2\nboom".to_owned(),
            })
        );
        assert_eq!(event(r#""hook_event_name":"SessionEnd""#), Some(HookEvent::SessionEnd));
    }

    #[test]
    fn a_step_lists_the_files_searches_and_commands_of_its_calls() {
        let calls = r#"{"tool_name":"Read","tool_input":{"file_path":"/p/a.rs"},"tool_response":"1"},{"tool_name":"Grep","tool_input":{"pattern":"fn main"}},{"tool_name":"Bash","tool_input":{"command":"rg verify src"}},{"tool_name":"Edit","tool_input":{"file_path":"/p/b.rs"},"tool_response":"<tool_use_error>String to replace not found"}"#;
        let body = format!(r#""hook_event_name":"PostToolBatch","tool_calls":[{calls}]"#);
        let output = "<tool_use_error>String to replace not found".to_owned();
        assert_eq!(
            event(&body),
            Some(HookEvent::StepEnded {
                paths: vec!["/p/a.rs".to_owned()],
                searches: vec!["fn main".to_owned()],
                commands: vec!["rg verify src".to_owned()],
                refused: Some(RefusedCall { tool: "edit".to_owned(), output }),
            })
        );
    }

    #[test]
    fn a_subagent_has_a_session_and_a_transcript_of_its_own() {
        let message = |agent: &str| {
            let input = format!(
                r#"{{"session_id":"s1","cwd":"/p",{agent}"transcript_path":"/t.jsonl","hook_event_name":"SubagentStart"}}"#
            );
            CLAUDE_CODE.parse_message(input.as_bytes(), None).unwrap()
        };
        let (subagent, main) = (message(r#""agent_id":"a7","#), message(""));
        assert_eq!(subagent.event, HookEvent::SessionStart { compacted: false });
        assert_eq!((subagent.host_session.as_str(), main.host_session.as_str()), ("s1/a7", "s1"));
        assert_eq!(main.source, SessionSource::HostTranscript { path: "/t.jsonl".to_owned() });
        assert_eq!(subagent.source, SessionSource::JournalOnly);
    }

    /// An unknown event makes old versions ignore the whole file.
    #[test]
    fn a_version_gets_only_the_events_it_knows() {
        let events = |version| {
            let entries = hook_entries(&HostSetup { program: "waylore", version });
            entries.into_iter().map(|it| it.0).collect::<Vec<_>>().join(" ")
        };
        let every = "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure SessionEnd";
        assert_eq!(events(None), every);
        assert!(!events(Some((2, 1, 14))).contains("PostToolBatch"));
        assert!(events(Some((2, 1, 325))).contains("PostToolBatch SubagentStart Stop"));
    }

    #[test]
    fn notices_of_the_host_interrupts_and_unknown_events_are_other() {
        let notice = "<task-notification>\\n<task-id>a1</task-id>";
        let notice = format!(r#""hook_event_name":"UserPromptSubmit","prompt":"{notice}""#);
        assert_eq!(event(&notice), Some(HookEvent::Other), "no user wrote it");
        assert_eq!(event(r#""hook_event_name":"TeammateIdle""#), Some(HookEvent::Other));
        assert_eq!(
            event(r#""hook_event_name":"PostToolUse","tool_input":{"command":"ls"}"#),
            Some(HookEvent::Other)
        );
        assert_eq!(
            event(r#""hook_event_name":"PostToolUseFailure","is_interrupt":true"#),
            Some(HookEvent::Other)
        );
    }

    #[test]
    fn an_answer_names_its_event() {
        let start = br#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p"}"#;
        let message = CLAUDE_CODE.parse_message(start, None).unwrap();
        let answer = CLAUDE_CODE.render_answer(&message, "a \"note\"\n");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "a \"note\"\n");
    }
}
