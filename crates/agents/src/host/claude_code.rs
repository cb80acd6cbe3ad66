//! Claude Code: hooks in its settings, our server in its list of servers, or both in a plugin.
//!
//! Of its messages only what a moment is about is read; fields may come and go around it.

mod events;

use serde_json::{Value, json};

use super::{
    Base, FilePlace, Host, Plugin, SettingsFile, Setup, Speech, Unfit, Version, hooks, servers,
};
use crate::claude_code::is_said;
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
    speech: Some(Speech { hear, events: events::events, answer: hooks::answer }),
    plugin: Some(Plugin { files: plugin, install }),
    trust: None,
    is_tried: true,
};

/// The events a hook is wanted for, the tools it is wanted for, and since which version the host is known
/// to know them: an unknown one makes older versions ignore the whole file. Whose version is not known gets
/// what every version with hooks knows. Nothing is ever said at `Stop`: that would make the agent go on.
#[rustfmt::skip]
const EVENTS: &[(&str, Option<&str>, Version)] = &[
    ("SessionStart",       None,                                           (0, 0, 0)),
    ("UserPromptSubmit",   None,                                           (0, 0, 0)),
    ("PostToolUse",        Some("Read|Edit|Write|MultiEdit|NotebookEdit"), (0, 0, 0)),
    ("PostToolUseFailure", None,                                           (0, 0, 0)),
    ("PostToolBatch",      None,                                           (2, 1, 197)),
    ("SubagentStart",      None,                                           (2, 1, 14)),
    ("Stop",               None,                                           (2, 1, 14)),
    ("SessionEnd",         None,                                           (0, 0, 0)),
];
/// Seconds after which the host stops waiting. We end long before.
const TIMEOUT: u64 = 5;
const SERVERS: &str = "mcpServers";

fn with_hooks(settings: &str, setup: &Setup<'_>) -> Result<String, Unfit> {
    hooks::with(settings, &entries(setup))
}

fn entries(setup: &Setup<'_>) -> Vec<(&'static str, Value)> {
    let version = setup.version.unwrap_or_default();
    let known = EVENTS.iter().filter(|it| it.2 <= version);
    known.map(|(event, matcher, _)| (*event, entry(setup.program, *matcher))).collect()
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
        "SubagentStart" => Moment::Start { compacted: false },
        "UserPromptSubmit" => prompt(&text("prompt").unwrap_or_default()),
        "PostToolUse" => touched(&value),
        "PostToolUseFailure" => failed(&value),
        "PostToolBatch" => step(&value),
        "SessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let (mut session, cwd) = (text("session_id")?, text("cwd")?);
    // A subagent has a conversation of its own, and hears for itself.
    if let Some(agent) = text("agent_id") {
        session = format!("{session}/{agent}");
    }
    let host = Some(NAME);
    Some(Heard { host, event, session, cwd, transcript: text("transcript_path"), moment })
}

/// A notice of the host, about a subagent that has ended say, asks for nothing.
fn prompt(text: &str) -> Moment {
    if is_said(text) { Moment::Prompt { text: cut(text) } } else { Moment::Other }
}

fn touched(value: &Value) -> Moment {
    let input = &value["tool_input"];
    let named = ["file_path", "notebook_path"].iter().find_map(|it| input[*it].as_str());
    match named {
        Some(path) => Moment::Touched { paths: vec![path.to_owned()] },
        None => Moment::Other,
    }
}

/// How the host begins what it answers to a call that it did not even try. No other event tells of it.
const NOT_TRIED: &str = "<tool_use_error>";

fn step(value: &Value) -> Moment {
    let (mut paths, mut searches, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    let mut refused = None;
    for call in value["tool_calls"].as_array().into_iter().flatten() {
        let input = &call["tool_input"];
        let text = |name: &str| input[name].as_str().map(cut);
        let said = answer::text(&call["tool_response"]);
        let tool = name::tool(call["tool_name"].as_str().unwrap_or_default()).slug().into_owned();
        if said.starts_with(NOT_TRIED) {
            refused = Some((tool, cut(&said)));
            continue;
        }
        paths.extend(text("file_path").or_else(|| text("notebook_path")));
        searches.extend(text("pattern").filter(|_| tool == "search"));
        commands.extend(text("command"));
    }
    Moment::Step { paths, searches, commands, refused }
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
    let events = entries(&Setup { program, version: None }).into_iter();
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
    fn a_step_is_everything_that_was_called_in_it() {
        let calls = r#"{"tool_name":"Read","tool_input":{"file_path":"/p/a.rs"},"tool_response":"1"},{"tool_name":"Grep","tool_input":{"pattern":"fn main"}},{"tool_name":"Bash","tool_input":{"command":"rg verify src"}},{"tool_name":"Edit","tool_input":{"file_path":"/p/b.rs"},"tool_response":"<tool_use_error>String to replace not found"}"#;
        let body = format!(r#""hook_event_name":"PostToolBatch","tool_calls":[{calls}]"#);
        let refused = "<tool_use_error>String to replace not found".to_owned();
        assert_eq!(
            moment(&body),
            Some(Moment::Step {
                paths: vec!["/p/a.rs".to_owned()],
                searches: vec!["fn main".to_owned()],
                commands: vec!["rg verify src".to_owned()],
                refused: Some(("edit".to_owned(), refused)),
            })
        );
    }

    #[test]
    fn a_subagent_hears_for_itself() {
        let of = |agent: &str| {
            let input = format!(
                r#"{{"session_id":"s1","cwd":"/p",{agent}"hook_event_name":"SubagentStart"}}"#
            );
            hear(input.as_bytes()).unwrap()
        };
        let heard = of(r#""agent_id":"a7","#);
        assert_eq!(heard.moment, Moment::Start { compacted: false });
        assert_eq!((heard.session.as_str(), of("").session.as_str()), ("s1/a7", "s1"));
    }

    /// An unknown event makes old versions ignore the whole file.
    #[test]
    fn a_version_is_only_asked_for_what_it_knows() {
        let events = |version| {
            let entries = entries(&Setup { program: "waylore", version });
            entries.into_iter().map(|it| it.0).collect::<Vec<_>>().join(" ")
        };
        let every = "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure SessionEnd";
        assert_eq!(events(None), every);
        assert!(!events(Some((2, 1, 14))).contains("PostToolBatch"));
        assert!(events(Some((2, 1, 325))).contains("PostToolBatch SubagentStart Stop"));
    }

    #[test]
    fn what_says_nothing_to_us_is_other() {
        let notice = "<task-notification>\\n<task-id>a1</task-id>";
        let notice = format!(r#""hook_event_name":"UserPromptSubmit","prompt":"{notice}""#);
        assert_eq!(moment(&notice), Some(Moment::Other), "no person said it");
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
        let said = hooks::answer(&hear(start).unwrap(), "a \"note\"\n");
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(said["hookSpecificOutput"]["additionalContext"], "a \"note\"\n");
    }
}
