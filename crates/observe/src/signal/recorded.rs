//! What the agent asked to remember.

use model::SignalKind;

use crate::sighting::{Evidence, Sighting};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for (order, note) in &pad.notes {
        let key = model::fingerprint(&note.content);
        let evidence = Evidence {
            files: note.files.clone(),
            text: Some(note.content.clone()),
            query: Some(note.kind.slug().to_owned()),
            steps: note.tags.clone(),
            ..Evidence::default()
        };
        acc.push(Sighting::new(SignalKind::Recorded, key, evidence).at(pad, *order));
    }
}

#[cfg(test)]
mod tests {
    use crate::script::events;
    use crate::{Scratchpad, sightings};
    use model::{Event, Kind, MemoryType, RecordedNote, SignalKind};

    #[test]
    fn a_note_is_kept_as_it_was_recorded() {
        let mut pad = Scratchpad::new();
        for mut it in events("say note") {
            if matches!(it.event, Event::Reasoning(_)) {
                it.event = Event::Record(RecordedNote {
                    kind: MemoryType::Core(Kind::Gotcha),
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
        let all = sightings(&pad, &crate::Modules::default());
        let it = all.iter().find(|it| it.signal == SignalKind::Recorded).unwrap();
        assert_eq!(it.evidence.text.as_deref(), Some("Totals round per line."));
    }

    #[test]
    fn what_is_said_in_passing_is_no_note() {
        let mut pad = Scratchpad::new();
        for it in
            events("say note: totals round per line\nuser remember that totals round per line")
        {
            pad.observe(&it);
        }
        let all = sightings(&pad, &crate::Modules::default());
        assert!(all.iter().all(|it| it.signal != SignalKind::Recorded));
    }
}
