//! A line on the daemon's socket: read or refused, and an event that was read says the same when it is
//! written down and read again.

use model::Envelope;
use serve::wire::{self, Message};

pub(crate) fn run(data: &[u8]) {
    for line in String::from_utf8_lossy(data).lines().take(64) {
        match wire::read(line) {
            Ok(Message::Event(event)) => {
                let written = event.line();
                let again = Envelope::read(&written).expect("what we write, we can read");
                assert_eq!(again.line(), written);
            }
            Ok(Message::Request { id, line, .. }) => {
                assert!(id.is_number() || id.is_string());
                asks(line);
            }
            Err(wrong) => {
                let of = wrong.of.as_ref().map(|it| (it.0, &it.1));
                let said = wire::reply_error(of, &wrong.why);
                assert!(!said.contains('\n'), "an answer is one line");
                serde_json::from_str::<serde_json::Value>(&said).expect("an answer is JSON");
            }
        }
    }
}

/// Every request reads what it needs from the line, or says that it cannot.
fn asks(line: &str) {
    let _ = serde_json::from_str::<wire::About>(line);
    let _ = serde_json::from_str::<wire::HookAsk<'_>>(line);
    let _ = serde_json::from_str::<wire::StepAsk>(line);
    let _ = serde_json::from_str::<wire::ContextAsk>(line);
    let _ = serde_json::from_str::<wire::SearchAsk>(line);
    let _ = serde_json::from_str::<wire::FinishAsk>(line);
    let _ = serde_json::from_str::<wire::ValidateAsk>(line);
}
