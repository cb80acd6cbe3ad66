//! `OpenCode`: a plugin of ours in its folder, our server in its settings, which may hold comments.
//!
//! What the plugin says and wants to hear is agreed between it and us: the names are the host's, the shape
//! is ours.

use model::{Envelope, Event, SessionEnd, Timestamp, Tool};
use serde_json::{Value, json};

use super::servers::Format;
use super::{Base, FilePlace, Host, SettingsFile, Setup, Speech, Unfit, servers};
use crate::heard::{EVENT, Heard, Moment, cut};
use crate::log::Log;
use crate::{name, patch, spans};

const NAME: &str = "opencode";

pub(super) const HOST: Host = Host {
    name: NAME,
    aliases: &[],
    title: "OpenCode",
    bases: &[
        Base { variable: Some("XDG_CONFIG_HOME"), below: "opencode" },
        Base { variable: None, below: ".config/opencode" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("plugin/waylore.js"),
            kept: "opencode-plugin",
            with: with_plugin,
            without: without_plugin,
        },
        SettingsFile {
            place: FilePlace::Folder("opencode.json"),
            kept: "opencode-mcp",
            with: with_server,
            without: without_server,
        },
        SettingsFile {
            place: FilePlace::Project(".opencode/plugin/waylore.js"),
            kept: "opencode-project-plugin",
            with: with_plugin,
            without: without_plugin,
        },
        SettingsFile {
            place: FilePlace::Project("opencode.json"),
            kept: "opencode-project-mcp",
            with: with_server,
            without: without_server,
        },
    ],
    speech: Some(Speech { hear, events, answer }),
    plugin: None,
    trust: None,
    is_tried: true,
};

const PLUGIN: &str = include_str!("opencode/plugin.js");
/// Stands where the plugin names its program.
const PROGRAM: &str = "__PROGRAM__";
/// How every version of the plugin begins.
const MARK: &str = "// Written by `waylore connect opencode`";
const SERVERS: &str = "mcp";
/// Settings as the host begins them: without the first line it would write into ours.
const FRESH: &str = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";
/// What the host says of a call that a person did not allow.
const REJECTED: &str = "rejected permission";

fn with_plugin(text: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    if !text.trim().is_empty() && !text.starts_with(MARK) {
        return Err(Unfit::Odd("beginning"));
    }
    Ok(PLUGIN.replace(PROGRAM, &json!(setup.program).to_string()))
}

#[expect(clippy::unnecessary_wraps, reason = "others find settings that they do not understand")]
fn without_plugin(text: &str) -> Result<String, Unfit> {
    Ok(if text.starts_with(MARK) { String::new() } else { text.to_owned() })
}

fn with_server(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    let server = json!({ "type": "local", "command": [setup.program, "mcp"], "enabled": true });
    let settings = if spans::is_blank(settings) { FRESH } else { settings };
    servers::with_in(Format::Commented, settings, SERVERS, &server)
}

fn without_server(settings: &str) -> Result<String, Unfit> {
    servers::without_in(Format::Commented, settings, SERVERS)
}

fn hear(input: &[u8]) -> Option<Heard> {
    let value: Value = serde_json::from_slice(input).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let event = text(EVENT)?;
    let moment = match event.as_str() {
        "session.start" => Moment::Start { compacted: value["compacted"] == true },
        "chat.message" => Moment::Prompt { text: cut(&text("text").unwrap_or_default()) },
        "tool.execute.after" if has_failed(&value) => failed(&value),
        "tool.execute.after" => touched(&value),
        "tool.error" if !is_rejected(&value) => failed(&value),
        "step.end" => step(&value),
        "session.end" => Moment::End,
        _ => Moment::Other,
    };
    let (session, cwd) = (text("sessionID")?, text("directory")?);
    // Its sessions lie in a database, which cannot be read on from where one was.
    Some(Heard { host: Some(NAME), event, session, cwd, transcript: None, moment })
}

fn answer(_: &Heard, text: &str) -> String {
    json!({ "additionalContext": text }).to_string()
}

fn has_failed(value: &Value) -> bool {
    value["exit"].as_i64().is_some_and(|it| it != 0)
}

fn is_rejected(value: &Value) -> bool {
    value["output"].as_str().is_some_and(|it| it.contains(REJECTED))
}

fn touched(value: &Value) -> Moment {
    let paths = files(&tool(value), &value["args"]);
    if paths.is_empty() { Moment::Other } else { Moment::Touched { paths } }
}

fn step(value: &Value) -> Moment {
    let (mut paths, mut searches, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for call in value["calls"].as_array().into_iter().flatten() {
        let (tool, args) = (tool(call), &call["args"]);
        paths.extend(files(&tool, args));
        searches.extend(args["pattern"].as_str().filter(|_| tool == Tool::Search).map(cut));
        commands.extend(args["command"].as_str().filter(|_| tool == Tool::Shell).map(cut));
    }
    Moment::Step { paths, searches, commands, refused: None }
}

fn tool(value: &Value) -> Tool {
    name::tool(value["tool"].as_str().unwrap_or_default())
}

/// The files that a tool went over.
fn files(tool: &Tool, args: &Value) -> Vec<String> {
    if !matches!(tool, Tool::Read | Tool::Edit | Tool::Write) {
        return Vec::new();
    }
    let patched = args["patchText"].as_str().map(patch::files).unwrap_or_default();
    args["filePath"].as_str().map(str::to_owned).into_iter().chain(patched).collect()
}

fn failed(value: &Value) -> Moment {
    Moment::Failed {
        tool: tool(value).slug().into_owned(),
        command: value["args"]["command"].as_str().map(str::to_owned),
        answer: cut(value["output"].as_str().unwrap_or_default()),
    }
}

/// Under the ids that the rows of the host's database have, so that both together count once.
fn events(input: &[u8], project: Option<&str>, at: Timestamp) -> Vec<Envelope> {
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return Vec::new() };
    let text = |name: &str| value[name].as_str();
    let (Some(event), Some(session), Some(cwd)) =
        (text(EVENT), text("sessionID"), text("directory"))
    else {
        return Vec::new();
    };
    let mut log = Log::new("opencode", project.map(str::to_owned), String::new());
    log.at(Some(at));
    let parent = text("parentID");
    if parent.is_none() {
        log.transcript = text("database").map(str::to_owned);
    }
    log.start(parent.or(Some(session)), parent.map(|_| session), cwd);
    match event {
        "chat.message" => {
            log.hear(text("partID").unwrap_or_default(), text("text").unwrap_or_default(), false);
        }
        "tool.execute.after" => done(&mut log, &value, !has_failed(&value)),
        "tool.error" => done(&mut log, &value, false),
        "session.end" => {
            log.push("end", Event::SessionEnd(SessionEnd { outcome: None, steps: None }));
        }
        _ => {}
    }
    log.acc
}

fn done(log: &mut Log, value: &Value, ok: bool) {
    let Some(id) = value["callID"].as_str() else { return };
    log.call(id, value["tool"].as_str().unwrap_or_default(), &value["args"]);
    log.answer(id, ok, is_rejected(value), value["output"].as_str().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(body: &str, expect: Expect) {
        let input = format!(r#"{{"sessionID":"ses_1","directory":"/p",{body}}}"#);
        let heard = hear(input.as_bytes()).unwrap();
        let line = |it: &Envelope| {
            format!("{} {}\n", it.id, it.line().split_once("\"event\":").unwrap().1)
        };
        let events = events(input.as_bytes(), Some("/p"), Timestamp(7));
        let lines: String = events.iter().skip(1).map(line).collect();
        expect.assert_eq(&format!("{:?}\n{lines}", heard.moment));
    }

    #[test]
    fn moments_are_read_from_what_the_plugin_says() {
        check(
            r#""hook_event_name":"session.start","compacted":true"#,
            expect![[r"
                Start { compacted: true }
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
                Touched { paths: ["/p/a.rs"] }
                c1 "tool_call","call_id":"c1","tool":"read","args":{"paths":["a.rs"]}}
                c1! "tool_result","call_id":"c1","tool":"read","ok":true,"size":9,"excerpt":"fn a() {}"}
            "#]],
        );
        check(
            r#""hook_event_name":"tool.execute.after","callID":"c2","tool":"bash","args":{"command":"make"},"output":"boom","exit":2"#,
            expect![[r#"
                Failed { tool: "shell", command: Some("make"), answer: "boom" }
                c2 "tool_call","call_id":"c2","tool":"shell","args":{"command":"make"}}
                c2! "tool_result","call_id":"c2","tool":"shell","ok":false,"size":4,"excerpt":"boom"}
            "#]],
        );
    }

    #[test]
    fn a_step_is_all_that_it_called() {
        check(
            r#""hook_event_name":"step.end","calls":[{"tool":"read","args":{"filePath":"/p/a.rs"}},{"tool":"grep","args":{"pattern":"total"}},{"tool":"bash","args":{"command":"make"}},{"tool":"other"}]"#,
            expect![[r#"
                Step { paths: ["/p/a.rs"], searches: ["total"], commands: ["make"], refused: None }
            "#]],
        );
    }

    #[test]
    fn what_a_person_did_not_allow_is_no_failure_to_speak_of() {
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
    fn a_subagent_is_the_session_that_its_rows_are() {
        let input = r#"{"hook_event_name":"session.start","sessionID":"ses_2","parentID":"ses_1","directory":"/p","database":"/d.db"}"#;
        let first = &events(input.as_bytes(), None, Timestamp(7))[0];
        let row = crate::SessionRow {
            id: "ses_2".to_owned(),
            directory: "/p".to_owned(),
            parent: Some("ses_1".to_owned()),
            created: Timestamp(7),
        };
        let mut rows = Vec::new();
        crate::RowReader::new(None, &row).finish(&mut rows);
        assert_eq!(first.session, rows[0].session);
        assert!(!first.line().contains("d.db"), "the rows under that id are those of another");
    }

    #[test]
    fn a_plugin_of_somebody_else_stays() {
        let setup = Setup { program: "/my \"tools\"/waylore", version: None };
        let ours = with_plugin("", &setup).unwrap();
        assert!(ours.starts_with(MARK) && ours.contains(r#"PROGRAM = "/my \"tools\"/waylore""#));
        assert_eq!(with_plugin(&ours, &setup).unwrap(), ours);
        assert_eq!(without_plugin(&ours).unwrap(), "");
        assert!(with_plugin("export const Mine = 1", &setup).is_err());
        assert_eq!(without_plugin("export const Mine = 1").unwrap(), "export const Mine = 1");
    }
}
