//! A line on the daemon's socket: read or refused, and an event that was read says the same when it is
//! written down and read again.

use model::EventEnvelope;
use serve::wire::{self, WireMessage};

pub(crate) fn run(data: &[u8]) {
    for line in String::from_utf8_lossy(data).lines().take(64) {
        match wire::parse_wire_message(line) {
            Ok(WireMessage::Event(event)) => {
                let written = event.to_line();
                let again =
                    EventEnvelope::parse_line(&written).expect("what we write, we can read");
                assert_eq!(again.to_line(), written);
            }
            Ok(WireMessage::Request { id, body, .. }) => {
                assert!(id.is_number() || id.is_string());
                let _ = body.parse_hook_request();
                asks(body.line);
            }
            Err(wrong) => {
                let said = wire::reply_error(&wrong.target, &wrong.why);
                assert!(!said.contains('\n'), "an answer is one line");
                serde_json::from_str::<serde_json::Value>(&said).expect("an answer is JSON");
            }
        }
    }
}

/// Every request reads what it needs from the line, or says that it cannot.
fn asks(line: &str) {
    let _ = serde_json::from_str::<wire::ProjectSelector>(line);
    let _ = serde_json::from_str::<wire::StepContextRequest>(line);
    let _ = serde_json::from_str::<wire::ContextRequestBody>(line);
    let _ = serde_json::from_str::<wire::SearchRequest>(line);
    let _ = serde_json::from_str::<wire::FinishRequest>(line);
    let _ = serde_json::from_str::<wire::ValidateRequest>(line);
}
