//! The host `OpenCode`: its row in the table of hosts, its settings and the messages of our plugin.
//!
//! A plugin of ours is installed in its plugin folder and our MCP server (tools that the agent may call)
//! in its settings, which may contain comments. At each event of the host the plugin calls `waylore
//! hook` with a message, such as `{"hook_event_name":"chat.message","sessionID":"ses_1","text":"hi"}`. The shape of its messages is ours; the names in
//! them are the host's. Sessions are read from its database (`opencode_transcript.rs`).

use model::{EventEnvelope, Timestamp, Tool};
use serde_json::{Value, json};

use super::mcp_servers::{self, JsonFlavor};
use super::{FilePlace, HookProtocol, Host, HostSetup, SettingsBase, SettingsError, SettingsFile};
use crate::event_log::{CallOutcome, EventLog};
use crate::hook_message::{
    EVENT_KEY, HookEvent, HookMessage, SessionSource, bound_text, truncate_text,
};
use crate::opencode_transcript::{is_rejection, push_reply, unquote_prompt};
use crate::{json_spans, patch, tool_names};

const HOST_NAME: &str = "opencode";

pub(super) const OPENCODE: Host = Host {
    name: HOST_NAME,
    aliases: &[],
    title: "OpenCode",
    bases: &[
        SettingsBase { variable: Some("XDG_CONFIG_HOME"), folder: "opencode" },
        SettingsBase { variable: None, folder: ".config/opencode" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("plugin/waylore.js"),
            backup_name: "opencode-plugin",
            install: install_plugin,
            uninstall: uninstall_plugin,
        },
        SettingsFile {
            place: FilePlace::Folder("opencode.json"),
            backup_name: "opencode-mcp",
            install: install_server,
            uninstall: uninstall_server,
        },
        SettingsFile {
            place: FilePlace::Project(".opencode/plugin/waylore.js"),
            backup_name: "opencode-project-plugin",
            install: install_plugin,
            uninstall: uninstall_plugin,
        },
        SettingsFile {
            place: FilePlace::Project("opencode.json"),
            backup_name: "opencode-project-mcp",
            install: install_server,
            uninstall: uninstall_server,
        },
    ],
    hook_protocol: Some(HookProtocol { read_body, build_events, build_answer }),
    plugin: None,
    hook_trust: None,
    shell_variables: &["OPENCODE"],
    is_tested: true,
};

const PLUGIN_SOURCE: &str = include_str!("opencode/plugin.js");
/// Placeholder in the plugin source for the program to run.
const PROGRAM_PLACEHOLDER: &str = "__PROGRAM__";
/// First line of the plugin in every version.
const PLUGIN_HEADER: &str = "// Written by `waylore connect opencode`";
const SERVERS_KEY: &str = "mcp";
/// A new settings file as the host writes it: it would add the schema line itself otherwise.
const EMPTY_SETTINGS: &str = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";

fn install_plugin(text: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    // A file of this name that another program wrote must not be overwritten.
    if !text.trim().is_empty() && !text.starts_with(PLUGIN_HEADER) {
        return Err(SettingsError::UnexpectedShape("beginning"));
    }
    Ok(PLUGIN_SOURCE.replace(PROGRAM_PLACEHOLDER, &json!(setup.program).to_string()))
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of `SettingsFile::uninstall`")]
fn uninstall_plugin(text: &str) -> Result<String, SettingsError> {
    Ok(if text.starts_with(PLUGIN_HEADER) { String::new() } else { text.to_owned() })
}

fn install_server(settings: &str, setup: &HostSetup<'_>) -> Result<String, SettingsError> {
    let server = json!({ "type": "local", "command": [setup.program, "mcp"], "enabled": true });
    let settings = if json_spans::is_blank(settings) { EMPTY_SETTINGS } else { settings };
    mcp_servers::install(JsonFlavor::Commented, settings, SERVERS_KEY, &server)
}

fn uninstall_server(settings: &str) -> Result<String, SettingsError> {
    mcp_servers::uninstall(JsonFlavor::Commented, settings, SERVERS_KEY)
}

/// Interprets the body of a message.
fn read_body(body: Value) -> Option<HookMessage> {
    let text = |name: &str| body[name].as_str();
    let event_name = text(EVENT_KEY)?.to_owned();
    let event = match event_name.as_str() {
        "session.start" => HookEvent::SessionStart { compacted: body["compacted"] == true },
        "chat.message" => {
            let prompt = unquote_prompt(text("text").unwrap_or_default());
            HookEvent::Prompt { text: bound_text(&prompt) }
        }
        "tool.execute.after" if has_failed(&body) => failure_event(&body),
        "tool.execute.after" => touch_event(&body),
        // A call that the user did not allow is no error to look up.
        "tool.error" if !is_rejected(&body) => failure_event(&body),
        "step.end" => step_event(&body),
        "session.end" => HookEvent::SessionEnd,
        _ => HookEvent::Other,
    };
    let (host_session, cwd) = (text("sessionID")?.to_owned(), text("directory")?.to_owned());
    // The journalled start event of a subagent carries the host's id of its parent, see
    // `build_events`. With the database beside it, learning would read the rows of the parent.
    let source = match text("database").filter(|_| text("parentID").is_none()) {
        Some(path) => {
            let (path, host_session) = (path.to_owned(), host_session.clone());
            SessionSource::HostDatabase { path, host_session }
        }
        None => SessionSource::JournalOnly,
    };
    Some(HookMessage { host: Some(HOST_NAME), event_name, host_session, cwd, source, event, body })
}

fn build_answer(_: &HookMessage, text: &str) -> String {
    json!({ "additionalContext": text }).to_string()
}

fn has_failed(body: &Value) -> bool {
    body["exit"].as_i64().is_some_and(|it| it != 0)
}

fn is_rejected(body: &Value) -> bool {
    body["output"].as_str().is_some_and(is_rejection)
}

fn touch_event(body: &Value) -> HookEvent {
    let paths = touched_files(&called_tool(body), &body["args"]);
    if paths.is_empty() { HookEvent::Other } else { HookEvent::FilesTouched { paths } }
}

fn step_event(body: &Value) -> HookEvent {
    let (mut paths, mut searches, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for call in body["calls"].as_array().into_iter().flatten() {
        let (tool, args) = (called_tool(call), &call["args"]);
        let text = |name: &str| args[name].as_str().map(truncate_text);
        match tool {
            Tool::Search => searches.extend(text("pattern")),
            Tool::Shell => commands.extend(text("command")),
            _ => paths.extend(touched_files(&tool, args)),
        }
    }
    HookEvent::StepEnded { paths, searches, commands, refused: None }
}

fn called_tool(call: &Value) -> Tool {
    tool_names::find_tool(call["tool"].as_str().unwrap_or_default())
}

/// Files that a call read or changed.
fn touched_files(tool: &Tool, args: &Value) -> Vec<String> {
    if !matches!(tool, Tool::Read | Tool::Edit | Tool::Write) {
        return Vec::new();
    }
    let patched = args["patchText"].as_str().map(patch::patched_files).unwrap_or_default();
    args["filePath"].as_str().map(str::to_owned).into_iter().chain(patched).collect()
}

fn failure_event(body: &Value) -> HookEvent {
    HookEvent::CallFailed {
        tool: called_tool(body).slug().into_owned(),
        command: body["args"]["command"].as_str().map(str::to_owned),
        output: bound_text(body["output"].as_str().unwrap_or_default()),
    }
}

/// Events under the ids that the rows of the host's database have, so that an event read from both
/// counts once.
fn build_events(message: &HookMessage, project: Option<&str>, at: Timestamp) -> Vec<EventEnvelope> {
    let body = &message.body;
    let text = |name: &str| body[name].as_str();
    let mut log = EventLog::new(HOST_NAME, project.map(str::to_owned), String::new());
    log.set_time(Some(at));
    log.transcript = message.source.path().map(str::to_owned);
    // A subagent is a session of its own here; its parent takes the place of the host's session.
    let (main_session, subagent) = match text("parentID") {
        Some(parent) => (parent, Some(message.host_session.as_str())),
        None => (message.host_session.as_str(), None),
    };
    log.start_session(Some(main_session), subagent, &message.cwd);
    match message.event_name.as_str() {
        "chat.message" => {
            let id = text("partID").unwrap_or_default();
            log.push_user_message(id, &unquote_prompt(text("text").unwrap_or_default()));
        }
        "tool.execute.after" if !has_failed(body) => push_result(&mut log, body, CallOutcome::Ok),
        "tool.execute.after" | "tool.error" if is_rejected(body) => {
            push_result(&mut log, body, CallOutcome::Rejected);
        }
        "tool.execute.after" | "tool.error" => push_result(&mut log, body, CallOutcome::Failed),
        "session.end" => log.push_session_end(),
        // The session start is all that other events add.
        _ => {}
    }
    log.acc
}

fn push_result(log: &mut EventLog, body: &Value, outcome: CallOutcome) {
    // Without an id the call could not be matched with its row in the database.
    let Some(id) = body["callID"].as_str() else { return };
    log.push_call(id, body["tool"].as_str().unwrap_or_default(), &body["args"]);
    let output = body["output"].as_str().unwrap_or_default();
    log.push_result(id, outcome, output);
    // The plugin does not report the answers to questions; the database has them.
    push_reply(log, id, outcome, output, &Value::Null);
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the event of a message with these fields and the events to journal, without the
    /// session start. Each of those is its id and the line of the journal from the name of the event
    /// on.
    fn check(body: &str, expect: Expect) {
        let input = format!(r#"{{"sessionID":"ses_1","directory":"/p",{body}}}"#);
        let message = OPENCODE.parse_message(input.as_bytes(), None).unwrap();
        let line = |it: &EventEnvelope| {
            format!("{} {}\n", it.id, it.to_line().split_once("\"event\":").unwrap().1)
        };
        let events = OPENCODE.build_journal_events(&message, Some("/p"), Timestamp(7));
        let lines: String = events.iter().skip(1).map(line).collect();
        expect.assert_eq(&format!("{:?}\n{lines}", message.event));
    }

    #[test]
    fn events_are_read_from_the_messages_of_the_plugin() {
        check(
            r#""hook_event_name":"session.start","compacted":true"#,
            expect![[r"
                SessionStart { compacted: true }
            "]],
        );
        check(
            r#""hook_event_name":"chat.message","partID":"prt_1","text":"fix it""#,
            expect![[r#"
                Prompt { text: "fix it" }
                prt_1 "user_message","text":"fix it"}
            "#]],
        );
        check(
            r#""hook_event_name":"tool.execute.after","callID":"c1","tool":"read","args":{"filePath":"/p/a.rs"},"output":"fn a() {}""#,
            expect![[r#"
                FilesTouched { paths: ["/p/a.rs"] }
                c1 "tool_call","call_id":"c1","tool":"read","args":{"paths":["a.rs"]}}
                c1! "tool_result","call_id":"c1","tool":"read","ok":true,"size":9,"excerpt":"fn a() {}"}
            "#]],
        );
        check(
            r#""hook_event_name":"tool.execute.after","callID":"c2","tool":"bash","args":{"command":"make"},"output":"boom","exit":2"#,
            expect![[r#"
                CallFailed { tool: "shell", command: Some("make"), output: "boom" }
                c2 "tool_call","call_id":"c2","tool":"shell","args":{"command":"make"}}
                c2! "tool_result","call_id":"c2","tool":"shell","ok":false,"size":4,"excerpt":"boom"}
            "#]],
        );
    }

    #[test]
    fn a_prompt_from_the_command_line_loses_the_quotes_of_the_host() {
        for (sent, prompt) in [
            (r#""fix it now""#, "fix it now"),
            (r#""say \"hi\" twice""#, r#"say "hi" twice"#),
            (r#""word""#, r#""word""#),
            (r#""fix it" "and that""#, r#""fix it" "and that""#),
            ("fix it", "fix it"),
        ] {
            assert_eq!(unquote_prompt(sent), prompt);
        }
        let text = json!(r#""fix it now""#);
        check(
            &format!(r#""hook_event_name":"chat.message","partID":"prt_1","text":{text}"#),
            expect![[r#"
                Prompt { text: "fix it now" }
                prt_1 "user_message","text":"fix it now"}
            "#]],
        );
    }

    #[test]
    fn a_step_lists_all_of_its_calls() {
        check(
            r#""hook_event_name":"step.end","calls":[{"tool":"read","args":{"filePath":"/p/a.rs"}},{"tool":"grep","args":{"pattern":"total"}},{"tool":"bash","args":{"command":"make"}},{"tool":"other"}]"#,
            expect![[r#"
                StepEnded { paths: ["/p/a.rs"], searches: ["total"], commands: ["make"], refused: None }
            "#]],
        );
    }

    #[test]
    fn a_rejected_call_is_journalled_but_is_no_failure() {
        let rejected = r#""hook_event_name":"tool.error","callID":"c3","tool":"bash","output":"The user rejected permission to use this""#;
        check(
            rejected,
            expect![[r#"
                Other
                c3 "tool_call","call_id":"c3","tool":"shell","args":{}}
                c3! "tool_result","call_id":"c3","tool":"shell","ok":false,"rejected":true,"size":40,"excerpt":"The user rejected permission to use this"}
            "#]],
        );
    }

    #[test]
    fn a_subagent_has_the_session_id_that_its_database_rows_give() {
        let input = r#"{"hook_event_name":"session.start","sessionID":"ses_2","parentID":"ses_1","directory":"/p","database":"/d.db"}"#;
        let message = OPENCODE.parse_message(input.as_bytes(), None).unwrap();
        let first = &OPENCODE.build_journal_events(&message, None, Timestamp(7))[0];
        let row = crate::OpenCodeSession {
            id: "ses_2".to_owned(),
            directory: "/p".to_owned(),
            parent: Some("ses_1".to_owned()),
            created: Timestamp(7),
        };
        let mut rows = Vec::new();
        crate::OpenCodeReader::new(None, &row).finish(&mut rows);
        assert_eq!(first.session, rows[0].session);
        assert!(!first.to_line().contains("d.db"), "the rows under that id are the parent's");
    }

    #[test]
    fn a_plugin_file_of_another_program_is_not_changed() {
        let setup = HostSetup { program: "/my \"tools\"/waylore", version: None };
        let ours = install_plugin("", &setup).unwrap();
        assert!(
            ours.starts_with(PLUGIN_HEADER)
                && ours.contains(r#"PROGRAM = "/my \"tools\"/waylore""#)
        );
        assert_eq!(install_plugin(&ours, &setup).unwrap(), ours);
        assert_eq!(uninstall_plugin(&ours).unwrap(), "");
        assert!(install_plugin("export const Mine = 1", &setup).is_err());
        assert_eq!(uninstall_plugin("export const Mine = 1").unwrap(), "export const Mine = 1");
    }
}
