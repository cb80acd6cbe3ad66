//! Gemini CLI: hooks and our server in one file of settings.
//!
//! A message names no call, so that what happened is left to the host's own log, which is always there.

use model::{Envelope, Event, SessionEnd, Timestamp, Tool};
use serde_json::{Value, json};

use super::{Base, FilePlace, Host, SettingsFile, Setup, Speech, Unfit, hooks, servers, shell};
use crate::gemini::without_context;
use crate::heard::{EVENT, Heard, Moment, cut};
use crate::log::Log;
use crate::{answer, name};

const NAME: &str = "gemini";

pub(super) const HOST: Host = Host {
    name: NAME,
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
    bases: &[
        Base { variable: Some("GEMINI_CLI_HOME"), below: ".gemini" },
        Base { variable: None, below: ".gemini" },
    ],
    files: &[
        SettingsFile { place: FilePlace::Folder("settings.json"), kept: "gemini", with, without },
        SettingsFile {
            place: FilePlace::Project(".gemini/settings.json"),
            kept: "gemini-project",
            with,
            without,
        },
    ],
    speech: Some(Speech { hear, events, answer: hooks::answer }),
    plugin: None,
    trust: None,
    is_tried: true,
};

/// The events a hook is wanted for, and the tools it is wanted for. Those around a model bring the whole
/// conversation with every word of the answer, and an answer before a tool is not passed on.
const EVENTS: &[(&str, &str)] = &[
    ("SessionStart", "*"),
    ("BeforeAgent", "*"),
    ("AfterTool", "read_file|read_many_files|write_file|replace|run_shell_command"),
    ("SessionEnd", "*"),
];
/// Milliseconds after which the host stops waiting. We end long before.
const TIMEOUT: u64 = 5_000;
const SERVERS: &str = "mcpServers";

fn with(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    let command = format!("{} hook {NAME}", shell::quoted(setup.program));
    let hook =
        json!({ "type": "command", "name": "waylore", "command": command, "timeout": TIMEOUT });
    let entry =
        |it: &(&'static str, &str)| (it.0, json!({ "matcher": it.1, "hooks": [hook.clone()] }));
    let settings = hooks::with(settings, &EVENTS.iter().map(entry).collect::<Vec<_>>())?;
    let server = json!({ "command": setup.program, "args": ["mcp"] });
    servers::with(&settings, SERVERS, &server)
}

fn without(settings: &str) -> Result<String, Unfit> {
    hooks::without(&servers::without(settings, SERVERS)?)
}

fn hear(input: &[u8]) -> Option<Heard> {
    let value: Value = serde_json::from_slice(input).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let event = text(EVENT)?;
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { compacted: false },
        // What was said at the start stands before the first prompt.
        "BeforeAgent" => {
            Moment::Prompt { text: cut(&without_context(&text("prompt").unwrap_or_default())) }
        }
        "AfterTool" => used(&value),
        "SessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let (session, cwd) = (text("session_id")?, text("cwd")?);
    let transcript = text("transcript_path").filter(|it| !it.is_empty());
    Some(Heard { host: Some(NAME), event, session, cwd, transcript, moment })
}

/// A command that fails is a success to the host; its exit code stands in the answer.
fn used(value: &Value) -> Moment {
    let (input, response) = (&value["tool_input"], &value["tool_response"]);
    let tool = name::tool(value["tool_name"].as_str().unwrap_or_default());
    let said = without_context(&answer::text(&response["llmContent"]));
    let has_failed = tool == Tool::Shell && answer::exit_code(&said).is_some_and(|it| it != 0);
    if has_failed || !response["error"].is_null() {
        return Moment::Failed {
            tool: tool.slug().into_owned(),
            command: input["command"].as_str().map(str::to_owned),
            answer: cut(&said),
        };
    }
    if let Some(command) = input["command"].as_str().filter(|_| tool == Tool::Shell) {
        return Moment::Ran { command: cut(command), answer: cut(&said) };
    }
    let one = ["file_path", "absolute_path"].iter().find_map(|it| input[*it].as_str());
    let many = input["paths"].as_array().or(input["include"].as_array());
    let many = many.into_iter().flatten().filter_map(Value::as_str);
    let paths: Vec<String> = one.into_iter().chain(many).map(str::to_owned).collect();
    if paths.is_empty() { Moment::Other } else { Moment::Touched { paths } }
}

fn events(input: &[u8], project: Option<&str>, at: Timestamp) -> Vec<Envelope> {
    let Some(heard) = hear(input) else { return Vec::new() };
    let mut log = Log::new(NAME, project.map(str::to_owned), String::new());
    log.at(Some(at));
    log.transcript.clone_from(&heard.transcript);
    log.start(Some(&heard.session), None, &heard.cwd);
    if heard.moment == Moment::End {
        log.push("end", Event::SessionEnd(SessionEnd { outcome: None, steps: None }));
    }
    log.acc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(body: &str) -> Option<Moment> {
        let head = r#""session_id":"s1","cwd":"/p","transcript_path":"/c.jsonl","#;
        hear(format!("{{{head}{body}}}").as_bytes()).map(|it| it.moment)
    }

    #[test]
    fn moments_are_read_from_what_gemini_cli_says() {
        assert_eq!(
            moment(
                r#""hook_event_name":"BeforeAgent","prompt":"<hook_context>a note</hook_context>\n\nfix it""#
            ),
            Some(Moment::Prompt { text: "fix it".to_owned() })
        );
        assert_eq!(
            moment(
                r#""hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{"file_path":"/p/a.rs"},"tool_response":{"llmContent":"x"}"#
            ),
            Some(Moment::Touched { paths: vec!["/p/a.rs".to_owned()] })
        );
        assert_eq!(
            moment(
                r#""hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"make"},"tool_response":{"llmContent":"<untrusted_context>\nOutput: boom\nExit Code: 3\n</untrusted_context>"}"#
            ),
            Some(Moment::Failed {
                tool: "shell".to_owned(),
                command: Some("make".to_owned()),
                answer: "boom\nExit Code: 3".to_owned(),
            })
        );
        assert_eq!(
            moment(
                r#""hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"cat a.rs"},"tool_response":{"llmContent":"Output: fn main() {}"}"#
            ),
            Some(Moment::Ran { command: "cat a.rs".to_owned(), answer: "fn main() {}".to_owned() })
        );
        assert_eq!(moment(r#""hook_event_name":"SessionEnd""#), Some(Moment::End));
        assert_eq!(moment(r#""hook_event_name":"AfterModel""#), Some(Moment::Other));
    }

    #[test]
    fn what_happened_is_left_to_the_hosts_own_log() {
        let end = br#"{"hook_event_name":"SessionEnd","session_id":"s1","cwd":"/p"}"#;
        let ids: Vec<String> =
            events(end, None, Timestamp(7)).into_iter().map(|it| it.id).collect();
        assert_eq!(ids, ["start", "end"]);
    }
}
