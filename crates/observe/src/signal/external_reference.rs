//! A page was looked up before an edit.

use model::{SignalKind, ToolKind};

use crate::sighting::{Evidence, Sighting, path};
use crate::{Modules, Scratchpad};

/// Calls within which the edit follows.
const SOON: usize = 10;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for (number, call) in pad.calls.iter().enumerate() {
        let Some(query) = call.query.filter(|_| call.tool == ToolKind::WebSearch && call.is_good())
        else {
            continue;
        };
        let next = &pad.calls[number + 1..pad.calls.len().min(number + 1 + SOON)];
        let edited = next.iter().flat_map(|it| pad.touches_of(it)).find(|it| it.writes);
        if let Some(file) = edited.and_then(|it| path(pad, it.file)) {
            let query = pad.names.text(query).to_owned();
            let evidence =
                Evidence { files: vec![file], query: Some(query.clone()), ..Evidence::default() };
            let it = Sighting::new(SignalKind::ExternalReference, query.to_lowercase(), evidence);
            acc.push(Sighting { tainted: true, order: call.order, ..it });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::script::events;
    use crate::{Scratchpad, sightings};
    use model::{Event, SignalKind, Tool};

    fn n_seen(script: &str) -> usize {
        let mut pad = Scratchpad::new();
        for mut it in events(script) {
            match &mut it.event {
                Event::ToolCall(call) if call.tool == Tool::Search => call.tool = Tool::WebSearch,
                Event::ToolResult(result) if result.tool == Tool::Search => {
                    result.tool = Tool::WebSearch;
                }
                _ => {}
            }
            pad.observe(&it);
        }
        let all = sightings(&pad, &crate::Modules::default());
        assert!(
            all.iter().filter(|it| it.signal == SignalKind::ExternalReference).all(|it| it.tainted)
        );
        all.iter().filter(|it| it.signal == SignalKind::ExternalReference).count()
    }

    #[test]
    fn a_search_of_the_web_counts_when_an_edit_follows() {
        assert_eq!(n_seen("grep goreleaser token\nedit .goreleaser.yaml"), 1);
        assert_eq!(n_seen("grep goreleaser token\nread a.rs"), 0);
    }
}
