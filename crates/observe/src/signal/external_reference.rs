//! Detects the signal `external_reference`: the web was searched before an edit.
//!
//! Input is the scratchpad, the log of one session. Each such search becomes a sighting: the key, by which
//! sessions are compared, is the query; the evidence has the query and the edited file. Example: a search
//! for "goreleaser token", then an edit of `.goreleaser.yaml`.

use model::ToolKind;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path};
use crate::{ModuleLookup, Scratchpad};

/// Calls after the search within which an edit must follow.
const EDIT_WINDOW_CALLS: usize = 10;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for (number, call) in pad.calls.iter().enumerate() {
        if call.tool != ToolKind::WebSearch || !call.has_succeeded() {
            continue;
        }
        // A host can omit the query.
        let Some(query) = call.query else { continue };
        let soon = pad.calls[number + 1..].iter().take(EDIT_WINDOW_CALLS);
        let edited = soon.flat_map(|it| pad.touches_of_call(it)).find(|it| it.is_write);
        if let Some(edited_file) = edited.and_then(|it| to_path(pad, it.file)) {
            let query = pad.strings.text(query).to_owned();
            let key = PatternKey::external_reference(&query);
            let evidence = Evidence::ExternalReference { query, edited_file };
            // Tainted: the text comes from outside the project, whatever came before it.
            let sighting = Sighting::new(key, evidence);
            acc.push(Sighting { tainted: true, order: call.order, ..sighting });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_script::events_from_script;
    use crate::{Scratchpad, detect_sightings};
    use model::{Event, SignalKind, Tool};

    /// The number of sightings in a script in which `grep` stands for a search of the web.
    fn count_sightings(script: &str) -> usize {
        let mut pad = Scratchpad::new();
        for mut it in events_from_script(script) {
            match &mut it.event {
                Event::ToolCall(call) if call.tool == Tool::Search => call.tool = Tool::WebSearch,
                Event::ToolResult(result) if result.tool == Tool::Search => {
                    result.tool = Tool::WebSearch;
                }
                _ => {}
            }
            pad.observe(&it);
        }
        let sightings = detect_sightings(&pad, &crate::ModuleLookup::default());
        assert!(
            sightings
                .iter()
                .filter(|it| it.signal() == SignalKind::ExternalReference)
                .all(|it| it.tainted)
        );
        sightings.iter().filter(|it| it.signal() == SignalKind::ExternalReference).count()
    }

    #[test]
    fn a_web_search_counts_if_an_edit_follows() {
        assert_eq!(count_sightings("grep goreleaser token\nedit .goreleaser.yaml"), 1);
        assert_eq!(count_sightings("grep goreleaser token\nread a.rs"), 0);
    }
}
