//! GitHub Copilot CLI: hooks in a file of our own, our server in its list of servers.
//!
//! A message does not say which event it is about; whoever runs us does. It has no ids of calls either, so
//! that what happened is left to the host's own log.

use model::{Envelope, Event, SessionEnd, Timestamp, Tool};
use serde_json::{Value, json};

use super::{
    Base, FilePlace, Host, SettingsFile, Setup, Speech, Unfit, claude_code, servers, shell,
};
use crate::heard::{EVENT, Heard, Moment, cut};
use crate::log::Log;
use crate::{answer, name};

const NAME: &str = "copilot";

pub(super) const HOST: Host = Host {
    name: NAME,
    aliases: &["copilot-cli"],
    title: "GitHub Copilot CLI",
    bases: &[
        Base { variable: Some("COPILOT_HOME"), below: "" },
        Base { variable: None, below: ".copilot" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("hooks/waylore.json"),
            kept: "copilot-hooks",
            with: with_hooks,
            without: without_hooks,
        },
        SettingsFile {
            place: FilePlace::Folder("mcp-config.json"),
            kept: "copilot-mcp",
            with: with_server,
            without: without_server,
        },
        SettingsFile {
            place: FilePlace::Project(".github/hooks/waylore.json"),
            kept: "copilot-project-hooks",
            with: with_hooks,
            without: without_hooks,
        },
        // The same file and the same entry as for Claude Code.
        SettingsFile {
            place: FilePlace::Project(".mcp.json"),
            kept: "copilot-project-mcp",
            with: claude_code::with_server,
            without: claude_code::without_server,
        },
    ],
    speech: Some(Speech { hear, events, answer }),
    plugin: None,
    trust: None,
    is_tried: true,
};

/// The events a hook is wanted for. Of those that come before a tool, none: an answer there is late by one
/// step. When a turn ends, the host says where its log is.
const EVENTS: &[&str] = &[
    "sessionStart",
    "userPromptSubmitted",
    "postToolUse",
    "postToolUseFailure",
    "agentStop",
    "sessionEnd",
];
/// Seconds after which the host stops waiting. We end long before.
const TIMEOUT: u64 = 5;
const SERVERS: &str = "mcpServers";

/// The whole file is ours.
fn with_hooks(text: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    if !text.trim().is_empty() && !is_ours(text)? {
        return Err(Unfit::Odd("hooks"));
    }
    let hook = |event: &&str| {
        let line = format!("{} hook {NAME} {event}", shell::quoted(setup.program));
        ((*event).to_owned(), json!([{ "type": "command", "bash": line, "timeoutSec": TIMEOUT }]))
    };
    let hooks: Value = EVENTS.iter().map(hook).collect();
    Ok(format!("{:#}\n", json!({ "version": 1, "hooks": hooks })))
}

fn without_hooks(text: &str) -> Result<String, Unfit> {
    Ok(if text.trim().is_empty() || is_ours(text)? { String::new() } else { text.to_owned() })
}

/// Whether all that a file of hooks runs is ours.
fn is_ours(text: &str) -> Result<bool, Unfit> {
    let value: Value =
        serde_json::from_str(text).map_err(|it| Unfit::Unreadable(it.to_string()))?;
    let lists = value["hooks"].as_object().ok_or(Unfit::Odd("hooks"))?.values();
    let mut all = lists.flat_map(|it| it.as_array().into_iter().flatten());
    Ok(all.all(|it| {
        let words = shell::words(it["bash"].as_str().unwrap_or_default());
        super::runs(&json!({ "command": words }), "hook")
    }))
}

fn with_server(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    let server =
        json!({ "type": "local", "command": setup.program, "args": ["mcp"], "tools": ["*"] });
    servers::with(settings, SERVERS, &server)
}

fn without_server(settings: &str) -> Result<String, Unfit> {
    servers::without(settings, SERVERS)
}

fn hear(input: &[u8]) -> Option<Heard> {
    let value: Value = serde_json::from_slice(input).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let event = text(EVENT)?;
    let moment = match event.as_str() {
        "sessionStart" => Moment::Start { compacted: false },
        "userPromptSubmitted" => Moment::Prompt { text: cut(&text("prompt").unwrap_or_default()) },
        "postToolUse" => after_tool(&value),
        "postToolUseFailure" => failed(&value, &said(&value)),
        "sessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let (session, cwd) = (text("sessionId")?, text("cwd")?);
    let transcript = text("transcriptPath");
    Some(Heard { host: Some(NAME), event, session, cwd, transcript, moment })
}

fn answer(_: &Heard, text: &str) -> String {
    json!({ "additionalContext": text }).to_string()
}

/// What a tool answered, or the error it ended with.
fn said(value: &Value) -> String {
    let result = &value["toolResult"];
    let text = result["textResultForLlm"].as_str().or(value["error"]["message"].as_str());
    text.map_or_else(|| answer::text(&value["error"]), str::to_owned)
}

/// A command that fails is a success to the host; its exit code stands in the answer.
fn after_tool(value: &Value) -> Moment {
    let said = said(value);
    let tool = name::tool(value["toolName"].as_str().unwrap_or_default());
    let has_failed = tool == Tool::Shell && answer::exit_code(&said).is_some_and(|it| it != 0);
    if has_failed || value["toolResult"]["resultType"] == "failure" {
        return failed(value, &said);
    }
    let path = value["toolArgs"]["path"].as_str();
    match path.filter(|_| matches!(tool, Tool::Read | Tool::Edit | Tool::Write)) {
        Some(path) => Moment::Touched { paths: vec![path.to_owned()] },
        None => Moment::Other,
    }
}

fn failed(value: &Value, said: &str) -> Moment {
    Moment::Failed {
        tool: name::tool(value["toolName"].as_str().unwrap_or_default()).slug().into_owned(),
        command: value["toolArgs"]["command"].as_str().map(str::to_owned),
        answer: cut(said),
    }
}

/// That a session began, where its log is, and that it ended; everything else that log says.
fn events(input: &[u8], project: Option<&str>, at: Timestamp) -> Vec<Envelope> {
    let Some(heard) = hear(input) else { return Vec::new() };
    let mut log = Log::new("copilot", project.map(str::to_owned), String::new());
    log.at(Some(at));
    log.transcript.clone_from(&heard.transcript);
    log.start(Some(&heard.session), None, &heard.cwd);
    if heard.transcript.is_some() {
        // It began before; what is new is where its log is.
        log.acc.iter_mut().for_each(|it| "start with log".clone_into(&mut it.id));
    }
    if heard.moment == Moment::End {
        log.push("end", Event::SessionEnd(SessionEnd { outcome: None, steps: None }));
    }
    log.acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(event: &str, body: &str, expect: Expect) {
        let input = format!(r#"{{"hook_event_name":"{event}","sessionId":"s1","cwd":"/p"{body}}}"#);
        let moment = hear(input.as_bytes()).unwrap().moment;
        let ids: Vec<String> = events(input.as_bytes(), Some("/p"), Timestamp(7))
            .into_iter()
            .map(|it| it.id)
            .collect();
        expect.assert_eq(&format!("{moment:?} {ids:?}"));
    }

    #[test]
    fn moments_are_read_from_what_copilot_says() {
        check(
            "sessionStart",
            r#","source":"new""#,
            expect![[r#"Start { compacted: false } ["start"]"#]],
        );
        check(
            "userPromptSubmitted",
            r#","prompt":"fix it""#,
            expect![[r#"Prompt { text: "fix it" } ["start"]"#]],
        );
        check(
            "postToolUse",
            r#","toolName":"view","toolArgs":{"path":"/p/a.rs"},"toolResult":{"resultType":"success","textResultForLlm":"exit code 3"}"#,
            expect![[r#"Touched { paths: ["/p/a.rs"] } ["start"]"#]],
        );
        check(
            "postToolUse",
            r#","toolName":"bash","toolArgs":{"command":"make"},"toolResult":{"resultType":"success","textResultForLlm":"boom\n<shellId: 0 completed with exit code 3>"}"#,
            expect![[
                r#"Failed { tool: "shell", command: Some("make"), answer: "boom\n<shellId: 0 completed with exit code 3>" } ["start"]"#
            ]],
        );
        check(
            "agentStop",
            r#","transcriptPath":"/t/events.jsonl""#,
            expect![[r#"Other ["start with log"]"#]],
        );
        check("sessionEnd", "", expect![[r#"End ["start", "end"]"#]]);
    }

    #[test]
    fn hooks_of_somebody_else_stay() {
        let setup = Setup { program: "/my tools/waylore", version: None };
        let ours = with_hooks("", &setup).unwrap();
        assert!(ours.contains("'/my tools/waylore' hook copilot sessionStart"), "{ours}");
        assert_eq!(with_hooks(&ours, &setup).unwrap(), ours);
        assert_eq!(without_hooks(&ours).unwrap(), "");
        let theirs =
            r#"{"version":1,"hooks":{"sessionEnd":[{"type":"command","bash":"say done"}]}}"#;
        assert_eq!(with_hooks(theirs, &setup), Err(Unfit::Odd("hooks")));
        assert_eq!(without_hooks(theirs).unwrap(), theirs);
        assert!(with_hooks("{", &setup).is_err());
    }
}
