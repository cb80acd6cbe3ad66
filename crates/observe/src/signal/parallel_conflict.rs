//! Two subagents of one parent edited the same file.

use std::collections::BTreeMap;

use model::{ProjectPath, SessionId, SignalKind};

use crate::Scratchpad;
use crate::facts::file_uses;
use crate::sighting::{Evidence, Sighting};

/// Conflicts between sessions with one parent. Sessions without one are no siblings.
pub fn parallel_conflicts(pads: &[Scratchpad]) -> Vec<(SessionId, Sighting)> {
    let mut editors: BTreeMap<(SessionId, String), Vec<&Scratchpad>> = BTreeMap::new();
    for pad in pads {
        let Some(parent) = pad.parent else { continue };
        for (name, _) in file_uses(pad).into_iter().filter(|it| it.1.n_edits > 0) {
            editors.entry((parent, pad.names.text(name).to_owned())).or_default().push(pad);
        }
    }
    let mut acc = Vec::new();
    for ((parent, path), pads) in editors.into_iter().filter(|it| it.1.len() > 1) {
        let Ok(file) = ProjectPath::parse(&path) else { continue };
        let tasks = pads.iter().map(|it| it.task.clone()).filter(|it| !it.is_empty()).collect();
        let evidence = Evidence {
            files: vec![file],
            steps: tasks,
            number: pads.len() as u64,
            ..Evidence::default()
        };
        acc.push((parent, Sighting::new(SignalKind::ParallelConflict, path, evidence)));
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::events;
    use model::{Event, Timestamp};

    fn child(number: u8, parent: Option<u8>, script: &str) -> Scratchpad {
        let id = |it: u8| SessionId::new(Timestamp(1), [it; 10]);
        let mut pad = Scratchpad::new();
        for mut it in events(script) {
            it.session = id(number);
            if let Event::SessionStart(start) = &mut it.event {
                start.parent = parent.map(id);
            }
            pad.observe(&it);
        }
        pad
    }

    #[test]
    fn siblings_that_edit_one_file_are_in_conflict() {
        let pads = [child(1, Some(9), "edit a.rs"), child(2, Some(9), "edit a.rs\nedit b.rs")];
        let found = parallel_conflicts(&pads);
        assert_eq!(found.iter().map(|it| it.1.key.as_str()).collect::<Vec<_>>(), ["a.rs"]);
        let strangers = [
            child(1, Some(8), "edit a.rs"),
            child(2, Some(9), "edit a.rs"),
            child(3, None, "edit a.rs"),
        ];
        assert!(parallel_conflicts(&strangers).is_empty());
        let readers = [child(1, Some(9), "read a.rs"), child(2, Some(9), "edit a.rs")];
        assert!(parallel_conflicts(&readers).is_empty());
    }
}
