//! How many steps work took beside what was planned. Every session with a plan is a sample; whether
//! they come to an overrun, all of them together say.

use model::SignalKind;

use crate::facts::file_uses;
use crate::sighting::{Evidence, Sighting};
use crate::{Modules, Scratchpad};

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, modules: &Modules) {
    let Some(planned) = pad.planned_steps.filter(|it| *it > 0) else { return };
    let actual = pad.n_steps();
    let most =
        file_uses(pad).into_iter().filter(|it| it.1.n_edits > 0).max_by_key(|it| it.1.n_edits);
    let Some((file, _)) = most else { return };
    let module = modules.of(pad.names.text(file)).to_owned();
    let (number, other) = (u64::from(actual), u64::from(planned));
    let evidence = Evidence { number, other, ..Evidence::default() };
    acc.push(Sighting::new(SignalKind::StepOverrun, module, evidence));
}

#[cfg(test)]
mod tests {
    use crate::script::events;
    use crate::{Scratchpad, sightings};
    use model::{Event, SignalKind};

    fn n_seen(planned: u32) -> usize {
        let mut pad = Scratchpad::new();
        for mut it in events("edit src/a.rs\nread b\nread c\nread d\nread e\nread f") {
            if let Event::SessionStart(start) = &mut it.event {
                start.planned_steps = Some(planned);
            }
            pad.observe(&it);
        }
        sightings(&pad, &crate::Modules::default())
            .iter()
            .filter(|it| it.signal == SignalKind::StepOverrun)
            .count()
    }

    #[test]
    fn every_session_with_a_plan_and_an_edit_is_a_sample() {
        assert_eq!((n_seen(4), n_seen(6), n_seen(0)), (1, 1, 0));
    }
}
