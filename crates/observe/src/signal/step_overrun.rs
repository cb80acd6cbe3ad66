//! Detects the signal `step_overrun`: the steps that a session took, and the steps that were planned.
//!
//! Input is the scratchpad, the log of one session. Every session with a plan and an edit is a sighting,
//! also one that took less than planned: the sightings are samples, and all of them together decide whether
//! work on the module (a part of the project, by default a folder) overruns. The key, by which sessions are
//! compared, is the module.

use crate::evidence::Evidence;
use crate::facts::file_uses;
use crate::pattern_key::PatternKey;
use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &ModuleLookup) {
    let Some(planned_steps) = pad.planned_steps.filter(|it| *it > 0) else { return };
    // A session counts for one module: the one of the file with the most edits.
    let uses = file_uses(pad);
    let edited = uses.into_iter().filter(|(_, file_use)| file_use.n_edits > 0);
    let Some((file, _)) = edited.max_by_key(|(_, file_use)| file_use.n_edits) else { return };
    let module = modules.module_of_file(pad.strings.text(file));
    let evidence = Evidence::StepOverrun {
        actual_steps: u64::from(pad.n_steps()),
        planned_steps: u64::from(planned_steps),
    };
    acc.push(Sighting::new(PatternKey::step_overrun(module), evidence));
}

#[cfg(test)]
mod tests {
    use crate::test_script::events_from_script;
    use crate::{Scratchpad, detect_sightings};
    use model::{Event, SignalKind};

    /// The number of sightings in a session of six calls with this number of planned steps.
    fn count_sightings(planned: u32) -> usize {
        let mut pad = Scratchpad::new();
        for mut it in events_from_script("edit src/a.rs\nread b\nread c\nread d\nread e\nread f") {
            if let Event::SessionStart(start) = &mut it.event {
                start.planned_steps = Some(planned);
            }
            pad.observe(&it);
        }
        detect_sightings(&pad, &crate::ModuleLookup::default())
            .iter()
            .filter(|it| it.signal() == SignalKind::StepOverrun)
            .count()
    }

    #[test]
    fn every_session_with_a_plan_and_an_edit_is_a_sample() {
        assert_eq!((count_sightings(4), count_sightings(6), count_sightings(0)), (1, 1, 0));
    }
}
