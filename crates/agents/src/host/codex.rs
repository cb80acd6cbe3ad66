//! Codex: hooks in a file of their own, our server in its configuration.
//!
//! It runs no hook that its owner does not trust, and says nothing about it. What a command ended with
//! it does not say to hooks either, and its own log of the session has it: what happened is read there.

use model::{Envelope, Event, SessionEnd, Timestamp, fingerprint};
use serde_json::{Value, json};

use super::{
    Base, FilePlace, Host, OurHook, SettingsFile, Setup, Speech, Trust, Unfit, hooks, runs, shell,
    tables,
};
use crate::heard::{EVENT, Heard, Moment, cut};
use crate::log::Log;
use crate::{answer, name, patch};

const NAME: &str = "codex";

pub(super) const HOST: Host = Host {
    name: NAME,
    aliases: &["codex-cli"],
    title: "Codex",
    bases: &[
        Base { variable: Some("CODEX_HOME"), below: "" },
        Base { variable: None, below: ".codex" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("hooks.json"),
            kept: "codex",
            with: with_hooks,
            without: hooks::without,
        },
        SettingsFile {
            place: FilePlace::Folder("config.toml"),
            kept: "codex-mcp",
            with: tables::with,
            without: tables::without,
        },
        SettingsFile {
            place: FilePlace::Project(".codex/hooks.json"),
            kept: "codex-project",
            with: with_hooks,
            without: hooks::without,
        },
        SettingsFile {
            place: FilePlace::Project(".codex/config.toml"),
            kept: "codex-project-mcp",
            with: tables::with,
            without: tables::without,
        },
    ],
    speech: Some(Speech { hear, events, answer: hooks::answer }),
    plugin: None,
    trust: Some(Trust {
        file: "config.toml",
        program: &["codex", "app-server"],
        asked,
        heard: listed,
        by_hand: "`/hooks` inside of Codex shows them and asks",
        with: tables::with_trust,
    }),
    is_tried: true,
};

/// The events a hook is wanted for.
const EVENTS: &[&str] = &["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"];
/// Seconds after which the host stops waiting; at the end it never waits longer than 3.
const TIMEOUT: u64 = 5;
const TIMEOUT_AT_END: u64 = 3;
/// Tokens above which the host puts an answer into a file that nobody opens.
const MOST_TOKENS: u64 = 9_000;

fn with_hooks(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    let command = format!("{} hook {NAME}", shell::quoted(setup.program));
    let entry = |event: &&'static str| {
        let timeout = if *event == "SessionEnd" { TIMEOUT_AT_END } else { TIMEOUT };
        let mut hook = json!({ "type": "command", "command": command, "timeout": timeout });
        if *event != "SessionEnd" {
            hook["additionalContextLimit"] = MOST_TOKENS.into();
        }
        (*event, json!({ "hooks": [hook] }))
    };
    hooks::with(settings, &EVENTS.iter().map(entry).collect::<Vec<_>>())
}

/// Which hooks there are, only the host itself knows for sure, and what it takes for a change of them.
fn asked(folder: &str) -> Vec<String> {
    let client = json!({ "name": "waylore", "version": env!("CARGO_PKG_VERSION") });
    [
        json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": LISTED, "method": "hooks/list", "params": { "cwds": [folder] } }),
    ]
    .iter()
    .map(Value::to_string)
    .collect()
}

/// The id of the answer that lists the hooks.
const LISTED: u64 = 2;

fn listed(line: &str) -> Option<Vec<OurHook>> {
    let value: Value = serde_json::from_str(line).ok()?;
    if value["id"] != LISTED {
        return None;
    }
    let folders = value["result"]["data"].as_array().into_iter().flatten();
    let hooks = folders.filter_map(|it| it["hooks"].as_array()).flatten();
    let ours = hooks.filter(|it| it["source"] == "user" && runs(it, "hook")).map(|it| {
        let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
        let is_trusted = it["trustStatus"] == "trusted";
        OurHook { key: text("key"), hash: text("currentHash"), is_trusted }
    });
    Some(ours.collect())
}

fn hear(input: &[u8]) -> Option<Heard> {
    let value: Value = serde_json::from_slice(input).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let event = text(EVENT)?;
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { compacted: value["source"] == "compact" },
        "UserPromptSubmit" => Moment::Prompt { text: cut(&text("prompt").unwrap_or_default()) },
        "PostToolUse" => used(&value),
        "SessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let (session, cwd) = (text("session_id")?, text("cwd")?);
    let host = Some(NAME);
    Some(Heard { host, event, session, cwd, transcript: text("transcript_path"), moment })
}

/// Files are read and commands are run in one and the same way; edits are patches.
fn used(value: &Value) -> Moment {
    let command = value["tool_input"]["command"].as_str();
    match (value["tool_name"].as_str(), command) {
        (Some("apply_patch"), Some(text)) => Moment::Touched { paths: patch::files(text) },
        (Some("Bash"), Some(command)) => Moment::Ran {
            command: cut(command),
            answer: cut(&answer::text(&value["tool_response"])),
        },
        _ => Moment::Other,
    }
}

/// What happened stands in the host's own log, with what the messages lack; they count only where it
/// keeps none.
fn events(input: &[u8], project: Option<&str>, at: Timestamp) -> Vec<Envelope> {
    let Some(heard) = hear(input) else { return Vec::new() };
    let mut log = Log::new(NAME, project.map(str::to_owned), String::new());
    log.at(Some(at));
    log.transcript.clone_from(&heard.transcript);
    log.start(Some(&heard.session), None, &heard.cwd);
    if heard.moment == Moment::End {
        log.push("end", Event::SessionEnd(SessionEnd { outcome: None, steps: None }));
    } else if heard.transcript.is_none() {
        let value: Value = serde_json::from_slice(input).unwrap_or_default();
        said(&mut log, &heard, &value, at);
    }
    log.acc
}

fn said(log: &mut Log, heard: &Heard, value: &Value, at: Timestamp) {
    if let Moment::Prompt { text } = &heard.moment {
        log.hear(&format!("prompt {}", fingerprint(&format!("{} {text}", at.0))), text, false);
    }
    if let Some(id) = value["tool_use_id"].as_str().filter(|_| heard.event == "PostToolUse") {
        let tool = name::tool(value["tool_name"].as_str().unwrap_or_default());
        let input = match &heard.moment {
            Moment::Touched { .. } => &value["tool_input"]["command"],
            _ => &value["tool_input"],
        };
        log.call_tool(id, tool, input);
        let text = answer::text(&value["tool_response"]);
        log.answer(id, answer::exit_code(&text).unwrap_or(0) == 0, false, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn message(body: &str) -> String {
        format!(r#"{{"session_id":"s1","cwd":"/p","transcript_path":"/r.jsonl",{body}}}"#)
    }

    fn moment(body: &str) -> Option<Moment> {
        hear(message(body).as_bytes()).map(|it| it.moment)
    }

    #[test]
    fn moments_are_read_from_what_codex_says() {
        let start = r#""hook_event_name":"SessionStart","source":"compact""#;
        assert_eq!(moment(start), Some(Moment::Start { compacted: true }));
        let ran = r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"cat a.rs"},"tool_response":"boom\n""#;
        let (command, answer) = ("cat a.rs".to_owned(), "boom\n".to_owned());
        assert_eq!(moment(ran), Some(Moment::Ran { command, answer }));
        let edit = r#""hook_event_name":"PostToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.rs\n@@\n*** End Patch"},"tool_response":"Exit code: 0""#;
        assert_eq!(moment(edit), Some(Moment::Touched { paths: vec!["a.rs".to_owned()] }));
        let other = r#""hook_event_name":"PostToolUse","tool_name":"mcp__db__ask","tool_input":{}"#;
        assert_eq!(moment(other), Some(Moment::Other));
        assert_eq!(moment(r#""hook_event_name":"SessionEnd""#), Some(Moment::End));
        assert_eq!(moment(r#""hook_event_name":"Stop""#), Some(Moment::Other));
    }

    #[test]
    fn our_hooks_are_found_among_those_that_are_listed() {
        assert_eq!(listed(r#"{"method":"configWarning","params":{}}"#), None);
        assert_eq!(listed(r#"{"id":2,"error":{"message":"no such method"}}"#), Some(Vec::new()));
        let line = r#"{"id":2,"result":{"data":[{"cwd":"/p","hooks":[
            {"key":"/h.json:stop:0:0","command":"say done","source":"user","currentHash":"sha256:0","trustStatus":"trusted"},
            {"key":"/h.json:post_tool_use:0:0","command":"'/my tools/waylore' hook codex","source":"user","currentHash":"sha256:1","trustStatus":"modified"}
        ]}]}}"#;
        let hook = OurHook {
            key: "/h.json:post_tool_use:0:0".to_owned(),
            hash: "sha256:1".to_owned(),
            is_trusted: false,
        };
        assert_eq!(listed(line), Some(vec![hook]));
    }

    fn check(message: &str, expect: Expect) {
        let line = |it: &Envelope| {
            let line = it.line();
            let rest = line.split_once("\"event\":").map_or("", |it| it.1);
            format!("{} {rest}\n", it.id)
        };
        let res: String =
            events(message.as_bytes(), Some("/p"), Timestamp(7)).iter().map(line).collect();
        expect.assert_eq(&res);
    }

    #[test]
    fn what_happened_is_left_to_the_hosts_own_log_where_there_is_one() {
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
