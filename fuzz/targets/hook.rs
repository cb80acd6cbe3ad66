//! What a host tells its hook, in every dialect: whatever it is, nobody panics, and no event names a file
//! outside of the project.

use agents::HOSTS;
use model::{Envelope, Event, Timestamp};

pub(crate) fn run(data: &[u8]) {
    for host in HOSTS {
        if let Some(heard) = host.hear(data) {
            let said = host.answer(&heard, "a \"note\"\n</waylore-notes> of two lines");
            let is_json = serde_json::from_str::<serde_json::Value>(&said).is_ok();
            assert!(said.is_empty() || is_json, "{}: {said}", host.name);
        }
        for event in host.events(data, Some("/p"), Timestamp(1_700_000_000_000)) {
            let written = event.line();
            let again = Envelope::read(&written).expect("what we write, we can read");
            assert_eq!(again.line(), written);
            if let Event::ToolCall(call) = &event.event {
                for path in &call.args.paths {
                    let path = path.as_str();
                    let leaves = path.starts_with('/') || path.split('/').any(|it| it == "..");
                    assert!(!leaves, "{path}");
                }
            }
        }
    }
}
