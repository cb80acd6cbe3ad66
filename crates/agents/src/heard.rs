//! What a host's message is about, in words that are the same for every host.

use serde_json::Value;

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
    /// A command has ended, and the host does not say how: it may have failed, or gone over files.
    Ran {
        command: String,
        answer: String,
    },
    /// A step ended, with everything it called.
    Step {
        /// The files its tools went over, named as the host names them.
        paths: Vec<String>,
        /// What its tools searched for, and the commands it ran.
        searches: Vec<String>,
        commands: Vec<String>,
        /// A call that was not even tried: the tool, by our name for it, and what it was answered.
        refused: Option<(String, String)>,
    },
    End,
    /// Nothing we have anything to say about.
    Other,
}

/// The message with the name of its event in it, for hosts that say it only to whom they start.
pub fn with_event(input: Vec<u8>, event: &str) -> Vec<u8> {
    match serde_json::from_slice(&input) {
        Ok(Value::Object(mut message)) if !message.contains_key(EVENT) => {
            message.insert(EVENT.to_owned(), event.into());
            Value::Object(message).to_string().into_bytes()
        }
        _ => input,
    }
}

/// Where messages say which event they are about.
pub(crate) const EVENT: &str = "hook_event_name";

/// As much of a text as is looked at.
pub(crate) fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_named_where_the_message_does_not() {
        let of =
            |input: &str| String::from_utf8(with_event(input.as_bytes().to_vec(), "stop")).unwrap();
        assert_eq!(of("{}"), r#"{"hook_event_name":"stop"}"#);
        assert_eq!(of(r#"{"hook_event_name":"start"}"#), r#"{"hook_event_name":"start"}"#);
        assert_eq!((of("[]"), of("{")), ("[]".to_owned(), "{".to_owned()));
    }
}
