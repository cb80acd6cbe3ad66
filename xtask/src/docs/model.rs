//! `docs/reference/model.md`: the domain terms, from the tables of the `model` crate.

mod events;
mod memories;
mod payloads;
mod work;

use super::markdown::document;

pub(super) fn render() -> String {
    let mut acc = document(
        "The domain model of Waylore",
        "One vocabulary for the command line, the configuration, MCP, the NDJSON protocol and the panel. \
         Words are written exactly as shown. Moments are milliseconds since the epoch, UTC; ids are UUIDv7; \
         paths are relative to the project root, with `/` between their parts.",
    );
    memories::render(&mut acc);
    work::render(&mut acc);
    events::render(&mut acc);
    acc
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_reference_has_every_word() {
        let text = super::render();
        let kinds = model::MemoryKind::ALL.iter().map(|it| it.slug());
        let events = model::EventKind::ALL.iter().map(|it| it.slug());
        let tools = model::ToolKind::ALL.iter().map(|it| it.slug());
        for word in kinds.chain(events).chain(tools) {
            assert!(text.contains(word), "{word}");
        }
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    }
}
