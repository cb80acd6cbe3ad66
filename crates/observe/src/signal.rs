//! Signal detectors, one file each: functions of the finished scratchpad.
//!
//! A detector adds a sighting for each pattern that it finds: a key that identifies the pattern across
//! sessions, and evidence. It never sees the output of another detector. Whether a sighting becomes a
//! memory depends on how many sessions show the same pattern; `draft` composes the text.

mod backtrack;
mod causal_statement;
mod co_access;
mod config_touch;
mod context_token_spike;
pub(crate) mod dead_end;
mod error_retry;
mod external_reference;
mod file_access;
mod glob_ignore;
mod import_chase;
mod parallel_conflict;
mod read_abandon;
mod recorded;
pub(crate) mod repeated_grep;
mod self_correction;
pub(crate) mod sequence;
mod step_overrun;
mod test_order;
mod time_anomaly;
mod user_correction;

use model::SignalKind;

use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad};

pub use dead_end::reverted_session;
pub(crate) use error_retry::calls_until_fixed;
pub use parallel_conflict::parallel_conflicts;

/// Adds the sightings of one signal.
type SignalDetector = fn(&mut Vec<Sighting>, &Scratchpad, &ModuleLookup);

/// The order is the order of the report. [`parallel_conflicts`] is not in the table: it needs the sessions
/// of sibling agents, which the scratchpad does not have.
const SIGNAL_DETECTORS: &[SignalDetector] = &[
    file_access::detect,
    co_access::detect,
    error_retry::detect,
    backtrack::detect,
    read_abandon::detect,
    repeated_grep::detect,
    sequence::detect,
    time_anomaly::detect,
    self_correction::detect,
    external_reference::detect,
    glob_ignore::detect,
    import_chase::detect,
    test_order::detect,
    config_touch::detect,
    step_overrun::detect,
    context_token_spike::detect,
    dead_end::detect,
    causal_statement::detect,
    user_correction::detect,
    recorded::detect,
];

/// Sightings of one signal in one session; further ones are dropped.
const MAX_SIGHTINGS_PER_SIGNAL: usize = 40;

/// All sightings of a session: one per pattern, at most forty per signal.
pub fn detect_sightings(pad: &Scratchpad, modules: &ModuleLookup) -> Vec<Sighting> {
    let mut acc = Vec::new();
    for detect in SIGNAL_DETECTORS {
        let mut found = Vec::new();
        detect(&mut found, pad, modules);
        let mut merged: Vec<Sighting> = Vec::new();
        for sighting in found {
            // A further sighting of the same pattern counts, its evidence is dropped.
            if let Some(at) = merged.iter().position(|it| it.key == sighting.key) {
                merged[at].occurrences += sighting.occurrences;
            } else if merged.len() < MAX_SIGHTINGS_PER_SIGNAL {
                merged.push(sighting);
            }
        }
        acc.append(&mut merged);
    }
    acc
}

/// Rates how urgently a session should be learned, in per mille. Urgency only changes the order of
/// sessions; every candidate still has to pass its gate.
pub fn rate_urgency(pad: &Scratchpad, sightings: &[Sighting]) -> u16 {
    let sightings_of = |kind: SignalKind| sightings.iter().filter(move |it| it.signal() == kind);
    let n_corrections = sightings_of(SignalKind::SelfCorrection).count();
    let n_errors = sightings_of(SignalKind::ErrorRetry).count();
    let has_repeated_search = sightings_of(SignalKind::RepeatedGrep).any(|it| it.occurrences >= 3);
    let n_edited = crate::facts::file_uses(pad).values().filter(|it| it.n_edits > 0).count();
    let has_config_edit = sightings_of(SignalKind::ConfigTouch).next().is_some();
    // The first condition that holds gives the urgency. What the agent got wrong comes first, because
    // the next session would repeat it.
    [
        (n_corrections >= 3, 950),
        (n_corrections > 0, 900),
        (has_repeated_search, 800),
        (n_errors >= 2, 750),
        (has_config_edit && n_edited >= 2, 700),
    ]
    .iter()
    .find(|it| it.0)
    .map_or(0, |it| it.1)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::test_script::pad_from_script;
    use expect_test::Expect;
    use std::fmt::Write as _;

    /// Checks the sightings of one signal, one per line: key, occurrences, taint, stored evidence.
    pub(crate) fn check(kind: SignalKind, script: &str, expect: Expect) {
        let mut acc = String::new();
        let sightings = detect_sightings(&pad_from_script(script), &ModuleLookup::default());
        for it in sightings.iter().filter(|it| it.signal() == kind) {
            let tainted = if it.tainted { " tainted" } else { "" };
            let (key, evidence) = (it.key.as_str(), it.evidence.to_json());
            let _ = writeln!(acc, "{key} ×{}{tainted} {evidence}", it.occurrences);
        }
        expect.assert_eq(&acc);
    }
}
