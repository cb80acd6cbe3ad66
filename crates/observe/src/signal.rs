//! Signal detectors, one file each, and the function that runs them over a session.
//!
//! - The *scratchpad* is the log of one session: its calls, touched files, errors and statements.
//! - A *signal* is a kind of behaviour from which something can be learned, such as `error_retry`.
//! - A *pattern* is one case of a signal, such as one error of one command. Its key is the same in every
//!   session that shows it.
//! - A *sighting* is a pattern in one session: the key, and evidence from which a memory can be written.
//!
//! Example: `make` fails with "no rule to make `all`", then `make -k` succeeds. `error_retry` adds a
//! sighting with the fingerprint of the error as its key, and the message and both commands as evidence.
//!
//! A detector never sees the output of another one. Whether a pattern becomes a memory depends on how many
//! sessions show it: `draft` composes the text of all sightings, and the crate `promote` decides.

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

use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad};

pub use dead_end::reverted_session;
pub use parallel_conflict::parallel_conflicts;

/// Adds the sightings of one signal. The lookup gives the module of a file; few detectors need it.
type SignalDetector = fn(&mut Vec<Sighting>, &Scratchpad, &ModuleLookup);

/// Sightings are returned in this order. [`parallel_conflicts`] and [`reverted_session`] are not in the
/// table: they need other sessions or git, which the scratchpad does not have.
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

/// Sightings of one signal in one session; further ones are dropped, so that a session that does the same
/// all day does not fill the database.
const MAX_SIGHTINGS_PER_SIGNAL: usize = 40;

/// All sightings of a session: one per pattern, at most forty per signal.
pub fn detect_sightings(pad: &Scratchpad, modules: &ModuleLookup) -> Vec<Sighting> {
    let mut acc = Vec::new();
    for detect in SIGNAL_DETECTORS {
        let mut found = Vec::new();
        detect(&mut found, pad, modules);
        let mut merged: Vec<Sighting> = Vec::new();
        for sighting in found {
            // A session has one sighting of a pattern, which counts the occurrences.
            if let Some(earlier) = merged.iter_mut().find(|it| it.key == sighting.key) {
                earlier.merge(sighting);
            } else if merged.len() < MAX_SIGHTINGS_PER_SIGNAL {
                merged.push(sighting);
            }
        }
        acc.append(&mut merged);
    }
    acc
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::test_script::pad_from_script;
    use expect_test::Expect;
    use model::SignalKind;
    use std::fmt::Write as _;

    /// Checks the sightings of one signal in a script (notation: `test_script`), one per line:
    /// `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as JSON.
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
