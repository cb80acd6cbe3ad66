//! Hook messages in the format of every host: no input panics, and no event names a file outside of
//! the project.

use agents::HOSTS;
use model::{Event, EventEnvelope, Timestamp};

pub(crate) fn run(data: &[u8]) {
    for host in HOSTS {
        let Some(message) = host.parse_message(data, None) else { continue };
        let answer = host.render_answer(&message, "a \"note\"\n</waylore-notes> of two lines");
        let is_json = serde_json::from_str::<serde_json::Value>(&answer).is_ok();
        assert!(answer.is_empty() || is_json, "{}: {answer}", host.name);
        for event in host.build_journal_events(&message, Some("/p"), Timestamp(1_700_000_000_000)) {
            let written = event.to_line();
            let again =
                EventEnvelope::parse_line(&written).expect("a line that we wrote can be read");
            assert_eq!(again.to_line(), written);
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
