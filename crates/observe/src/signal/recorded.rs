//! Detects the signal `recorded`: the agent recorded a note through a tool of Waylore.
//!
//! The scratchpad (the log of one session) has the notes, each with its position among the events. Each
//! becomes a sighting: the key, by which sessions are compared, is a hash of the text; the evidence is the
//! note.

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    for (order, note) in &pad.notes {
        let evidence = Evidence::Recorded {
            files: note.files.clone(),
            content: note.content.clone(),
            kind_slug: Some(note.kind.slug().to_owned()),
            tags: note.tags.clone(),
            modules: note.modules.clone(),
            scope: note.scope,
            payload: note.payload.clone(),
        };
        let key = PatternKey::recorded(&note.content);
        // The position decides whether the note is tainted: written after external text was read.
        acc.push(Sighting::new(key, evidence).seen_at(pad, *order));
    }
}

#[cfg(test)]
mod tests {
    use crate::test_script::events_from_script;
    use crate::{Scratchpad, detect_sightings};
    use model::{Event, MemoryKind, MemoryType, RecordedNote, SignalKind};

    #[test]
    fn a_note_is_a_sighting_word_for_word() {
        let mut pad = Scratchpad::new();
        // The notation has no verb for a note, so that one event is replaced.
        for mut it in events_from_script("say note") {
            if matches!(it.event, Event::Reasoning(_)) {
                it.event = Event::Record(RecordedNote {
                    kind: MemoryType::Core(MemoryKind::Gotcha),
                    content: "Totals round per line.".to_owned(),
                    scope: None,
                    tags: vec!["money".to_owned()],
                    files: Vec::new(),
                    modules: Vec::new(),
                    payload: None,
                    step: None,
                });
            }
            pad.observe(&it);
        }
        let sightings = detect_sightings(&pad, &crate::ModuleLookup::default());
        let recorded = sightings.iter().find(|it| it.signal() == SignalKind::Recorded).unwrap();
        assert_eq!(recorded.evidence.quoted_text().as_deref(), Some("Totals round per line."));
    }

    #[test]
    fn a_sentence_is_not_a_note() {
        let mut pad = Scratchpad::new();
        for it in events_from_script(
            "say note: totals round per line\nuser remember that totals round per line",
        ) {
            pad.observe(&it);
        }
        let sightings = detect_sightings(&pad, &crate::ModuleLookup::default());
        assert!(sightings.iter().all(|it| it.signal() != SignalKind::Recorded));
    }
}
