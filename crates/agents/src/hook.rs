//! What a host tells its hook, and how it wants to be answered.
//!
//! Claude Code's messages. Only what a moment is about is read; fields may come and go around it.

mod events;

use serde_json::{Value, json};

use crate::{answer, name};

pub use events::events;

/// The longest prompt and answer that are looked at, in bytes.
const LONGEST: usize = 16 << 10;

/// One message of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Who said it, as rule files name their readers; nobody for a program that speaks for itself.
    pub host: Option<&'static str>,
    /// The host's name of the event; the answer names it again.
    pub event: String,
    pub session: String,
    /// The folder the host works in.
    pub cwd: String,
    pub transcript: Option<String>,
    pub moment: Moment,
}

/// What a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    Start {
        /// Whether it goes on after its conversation was replaced by a summary.
        compacted: bool,
    },
    Prompt {
        text: String,
    },
    /// A tool went over these files, named as the host names them.
    Touched {
        paths: Vec<String>,
    },
    /// A command or another tool failed.
    Failed {
        /// By our name for it.
        tool: String,
        command: Option<String>,
        answer: String,
    },
    End,
    /// Nothing we have anything to say about.
    Other,
}

/// Reads a message; `None` when it is none.
pub fn hear(input: &[u8]) -> Option<Heard> {
    let value: Value = serde_json::from_slice(input).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let event = text("hook_event_name")?;
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { compacted: value["source"] == "compact" },
        "UserPromptSubmit" => Moment::Prompt { text: cut(&text("prompt").unwrap_or_default()) },
        "PostToolUse" => touched(&value),
        "PostToolUseFailure" => failed(&value),
        "SessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let (session, cwd) = (text("session_id")?, text("cwd")?);
    let host = Some("claude-code");
    Some(Heard { host, event, session, cwd, transcript: text("transcript_path"), moment })
}

/// The answer that puts a text before the model.
pub fn answer(event: &str, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
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

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
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
    fn what_says_nothing_to_us_is_other_and_what_is_no_message_is_nothing() {
        assert_eq!(moment(r#""hook_event_name":"TeammateIdle""#), Some(Moment::Other));
        assert_eq!(
            moment(r#""hook_event_name":"PostToolUse","tool_input":{"command":"ls"}"#),
            Some(Moment::Other)
        );
        assert_eq!(
            moment(r#""hook_event_name":"PostToolUseFailure","is_interrupt":true"#),
            Some(Moment::Other)
        );
        for rubbish in
            ["", "{", "[]", "null", "{\"hook_event_name\":7}", "{\"hook_event_name\":\"Stop\"}"]
        {
            assert_eq!(hear(rubbish.as_bytes()), None, "{rubbish}");
        }
    }

    #[test]
    fn an_answer_names_its_event() {
        let said: Value = serde_json::from_str(&answer("SessionStart", "a \"note\"\n")).unwrap();
        assert_eq!(said["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(said["hookSpecificOutput"]["additionalContext"], "a \"note\"\n");
    }
}
