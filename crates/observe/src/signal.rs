//! The signals, one file each: functions of the finished scratchpad.
//!
//! Detectors never see one another's output. What they return is a sighting; whether it becomes a
//! memory depends on how many sessions saw the same.

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
mod repeated_grep;
mod self_correction;
pub(crate) mod sequence;
mod step_overrun;
mod test_order;
mod time_anomaly;
mod user_correction;

use model::SignalKind;

use crate::sighting::Sighting;
use crate::{Modules, Scratchpad};

pub use dead_end::taken_back;
pub(crate) use error_retry::calls_until_ended;
pub use parallel_conflict::parallel_conflicts;

type Detector = fn(&mut Vec<Sighting>, &Scratchpad, &Modules);

/// Order is the order of the report. A conflict of parallel agents needs their siblings, which only the
/// index across sessions knows, and stands beside this table.
const DETECTORS: &[Detector] = &[
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

/// Sightings of one kind kept of one session.
const MAX_OF_A_KIND: usize = 40;

/// Everything that was seen in a session; of one pattern one sighting, of one kind at most forty.
pub fn sightings(pad: &Scratchpad, modules: &Modules) -> Vec<Sighting> {
    let mut acc = Vec::new();
    for detect in DETECTORS {
        let mut found = Vec::new();
        detect(&mut found, pad, modules);
        let mut kept: Vec<Sighting> = Vec::new();
        for it in found {
            if let Some(at) = kept.iter().position(|known| known.key == it.key) {
                kept[at].n += it.n;
            } else if kept.len() < MAX_OF_A_KIND {
                kept.push(it);
            }
        }
        acc.append(&mut kept);
    }
    acc
}

/// How far a session should be looked at first, in thousandths: early staging moves its candidates to
/// the front, and never past a gate.
pub fn urgency(pad: &Scratchpad, sightings: &[Sighting]) -> u16 {
    let of = |kind: SignalKind| sightings.iter().filter(move |it| it.signal == kind);
    let n_corrections = of(SignalKind::SelfCorrection).count();
    let n_errors = of(SignalKind::ErrorRetry).count();
    let asked_thrice = of(SignalKind::RepeatedGrep).any(|it| it.n >= 3);
    let n_edited = crate::facts::file_uses(pad).values().filter(|it| it.n_edits > 0).count();
    let configured = of(SignalKind::ConfigTouch).next().is_some();
    [
        (n_corrections >= 3, 950),
        (n_corrections > 0, 900),
        (asked_thrice, 800),
        (n_errors >= 2, 750),
        (configured && n_edited >= 2, 700),
    ]
    .iter()
    .find(|it| it.0)
    .map_or(0, |it| it.1)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::script::pad;
    use expect_test::Expect;
    use std::fmt::Write as _;

    /// The sightings of one kind, a line each.
    pub(crate) fn check(kind: SignalKind, script: &str, expect: Expect) {
        let mut acc = String::new();
        for it in sightings(&pad(script), &Modules::default()).iter().filter(|it| it.signal == kind)
        {
            let tainted = if it.tainted { " tainted" } else { "" };
            let evidence = serde_json::to_string(&it.evidence).unwrap();
            let _ = writeln!(acc, "{} ×{}{tainted} {evidence}", it.key, it.n);
        }
        expect.assert_eq(&acc);
    }
}
