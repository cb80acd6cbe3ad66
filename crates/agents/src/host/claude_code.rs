//! Claude Code: hooks in its settings, our server in its list of servers, or both in a plugin.
//!
//! Of its messages only what a moment is about is read; fields may come and go around it.

mod events;

use serde_json::{Value, json};

use super::{Base, FilePlace, Host, Plugin, SettingsFile, Setup, Speech, Unfit, hooks, servers};
use crate::heard::{EVENT, Heard, Moment, cut};
use crate::{answer, name};

const NAME: &str = "claude-code";

pub(super) const HOST: Host = Host {
    name: NAME,
    aliases: &["claude"],
    title: "Claude Code",
    bases: &[
        Base { variable: Some("CLAUDE_CONFIG_DIR"), below: "" },
        Base { variable: None, below: ".claude" },
    ],
    files: &[
        SettingsFile {
            place: FilePlace::Folder("settings.json"),
            kept: "claude-code",
            with: with_hooks,
            without: hooks::without,
        },
        SettingsFile {
            place: FilePlace::Root(".claude.json"),
            kept: "claude-code-mcp",
            with: with_server,
            without: without_server,
        },
        SettingsFile {
            place: FilePlace::Project(".claude/settings.json"),
            kept: "claude-code-project",
            with: with_hooks,
            without: hooks::without,
        },
        SettingsFile {
            place: FilePlace::Project(".mcp.json"),
            kept: "claude-code-project-mcp",
            with: with_server,
            without: without_server,
        },
    ],
    speech: Some(Speech { hear, events: events::events, answer }),
    plugin: Some(Plugin { files: plugin, install }),
    trust: None,
    is_tried: true,
};

/// The events a hook is wanted for, and the tools it is wanted for. All of them are known to every
/// version that has hooks at all: one that is not known makes older versions ignore the whole file.
const EVENTS: &[(&str, Option<&str>)] = &[
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PostToolUse", Some("Read|Edit|Write|MultiEdit|NotebookEdit")),
    ("PostToolUseFailure", None),
    ("SessionEnd", None),
];
/// Seconds after which the host stops waiting. We end long before.
const TIMEOUT: u64 = 5;
const SERVERS: &str = "mcpServers";

fn with_hooks(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    hooks::with(settings, &entries(setup))
}

fn entries(setup: &Setup<'_>) -> Vec<(&'static str, Value)> {
    EVENTS.iter().map(|(event, matcher)| (*event, entry(setup.program, *matcher))).collect()
}

fn entry(program: &str, matcher: Option<&str>) -> Value {
    let hook = json!({
        "type": "command",
        "command": program,
        "args": ["hook", NAME],
        "timeout": TIMEOUT,
    });
    match matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    }
}

pub(super) fn with_server(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    servers::with(settings, SERVERS, &server(setup.program))
}

pub(super) fn without_server(settings: &str) -> Result<String, Unfit> {
    servers::without(settings, SERVERS)
}

/// `alwaysLoad`: otherwise the host shows a model only the names of the tools.
fn server(program: &str) -> Value {
    json!({ "type": "stdio", "command": program, "args": ["mcp"], "alwaysLoad": true })
}

fn hear(input: &[u8]) -> Option<Heard> {
    let value: Value = serde_json::from_slice(input).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let event = text(EVENT)?;
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { compacted: value["source"] == "compact" },
        "UserPromptSubmit" => Moment::Prompt { text: cut(&text("prompt").unwrap_or_default()) },
        "PostToolUse" => touched(&value),
        "PostToolUseFailure" => failed(&value),
        "SessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let (session, cwd) = (text("session_id")?, text("cwd")?);
    let host = Some(NAME);
    Some(Heard { host, event, session, cwd, transcript: text("transcript_path"), moment })
}

fn answer(heard: &Heard, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": heard.event, "additionalContext": text } })
        .to_string()
}

fn touched(value: &Value) -> Moment {
    let input = &value["tool_input"];
    let named = ["file_path", "notebook_path"].iter().find_map(|it| input[*it].as_str());
    match named {
        Some(path) => Moment::Touched { paths: vec![path.to_owned()] },
        None => Moment::Other,
    }
}

fn failed(value: &Value) -> Moment {
    if value["is_interrupt"] == true {
        return Moment::Other;
    }
    Moment::Failed {
        tool: name::tool(value["tool_name"].as_str().unwrap_or_default()).slug().into_owned(),
        command: value["tool_input"]["command"].as_str().map(str::to_owned),
        answer: cut(&answer::text(&value["error"])),
    }
}

/// Our hooks and our server, in a marketplace of its own.
fn plugin(program: &str, version: &str) -> Vec<(&'static str, String)> {
    let about = "The memory of AI coding agents: what earlier sessions learned about a project";
    let owner = json!({ "name": servers::NAME });
    let source = "./plugins/waylore";
    let market = json!({
        "name": servers::NAME,
        "description": about,
        "owner": owner,
        "plugins": [{ "name": servers::NAME, "source": source, "description": about }],
    });
    let manifest =
        json!({ "name": servers::NAME, "version": version, "description": about, "author": owner });
    let events = entries(&Setup { program }).into_iter();
    let events: Value = events.map(|(event, it)| (event.to_owned(), json!([it]))).collect();
    let mut listed = json!({});
    listed[SERVERS] = json!({ servers::NAME: server(program) });
    [
        (".claude-plugin/marketplace.json", market),
        ("plugins/waylore/.claude-plugin/plugin.json", manifest),
        ("plugins/waylore/hooks/hooks.json", json!({ "hooks": events })),
        ("plugins/waylore/.mcp.json", listed),
    ]
    .into_iter()
    .map(|(path, value)| (path, format!("{value:#}\n")))
    .collect()
}

fn install(folder: &str) -> String {
    format!(
        "`claude plugin marketplace add {folder}`, then `claude plugin install waylore@waylore`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(body: &str) -> Option<Moment> {
        let head = r#""session_id":"s1","cwd":"/p","transcript_path":"/t.jsonl","#;
        hear(format!("{{{head}{body}}}").as_bytes()).map(|it| it.moment)
    }

    #[test]
    fn moments_are_read_from_what_claude_code_says() {
        let start = |source| format!(r#""hook_event_name":"SessionStart","source":"{source}""#);
        assert_eq!(moment(&start("startup")), Some(Moment::Start { compacted: false }));
        assert_eq!(moment(&start("compact")), Some(Moment::Start { compacted: true }));
        assert_eq!(
            moment(r#""hook_event_name":"UserPromptSubmit","prompt":"fix it""#),
            Some(Moment::Prompt { text: "fix it".to_owned() })
        );
        assert_eq!(
            moment(
                r#""hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/p/a.rs"}"#
            ),
            Some(Moment::Touched { paths: vec!["/p/a.rs".to_owned()] })
        );
        assert_eq!(
            moment(
                r#""hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make"},"error":"Exit code 2\nboom""#
            ),
            Some(Moment::Failed {
                tool: "shell".to_owned(),
                command: Some("make".to_owned()),
                answer: "Exit code 2\nboom".to_owned(),
            })
        );
        assert_eq!(moment(r#""hook_event_name":"SessionEnd""#), Some(Moment::End));
    }

    #[test]
    fn what_says_nothing_to_us_is_other() {
        assert_eq!(moment(r#""hook_event_name":"TeammateIdle""#), Some(Moment::Other));
        assert_eq!(
            moment(r#""hook_event_name":"PostToolUse","tool_input":{"command":"ls"}"#),
            Some(Moment::Other)
        );
        assert_eq!(
            moment(r#""hook_event_name":"PostToolUseFailure","is_interrupt":true"#),
            Some(Moment::Other)
        );
    }

    #[test]
    fn an_answer_names_its_event() {
        let start = br#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p"}"#;
        let said = answer(&hear(start).unwrap(), "a \"note\"\n");
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(said["hookSpecificOutput"]["additionalContext"], "a \"note\"\n");
    }
}
