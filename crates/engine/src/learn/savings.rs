//! Savings: tool calls that a session did not need because it was shown a fix. Pure.
//!
//! A saving is measured when the session is learned, against the fewest calls any unaided session
//! needed for the same error, and stored as a milestone. Only what the events show is counted.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Payload, SessionId, Timestamp};
use observe::{Evidence, Scratchpad};
use store::{Milestone, SessionRow, SightingRow};

use super::candidates::parse_evidence;
use super::usage::ShownMemory;

/// Prefix of the milestones that store savings.
const SAVED_PREFIX: &str = "saved ";

/// Tool calls that sessions saved by being shown fixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolCallSavings {
    /// Errors that were fixed with what was shown, or avoided.
    pub n_errors: u64,
    /// Tool calls below the fewest that an unaided session needed.
    pub n_calls: u64,
    /// Average tokens of a step here; `None` if no host reports tokens.
    pub tokens_per_step: Option<u64>,
}

impl ToolCallSavings {
    /// Estimates the tokens that the saved calls would have cost.
    pub fn estimate_tokens(&self) -> Option<u64> {
        self.tokens_per_step.map(|it| it.saturating_mul(self.n_calls))
    }
}

/// A fix that the session was shown when an error occurred.
pub(super) struct ShownFix {
    pub(super) fingerprint: String,
    pub(super) at: Timestamp,
}

/// Everything that savings are computed from, beside the session and the memories it was shown.
#[derive(Default)]
pub(super) struct SavingsInputs {
    pub(super) fixes: Vec<ShownFix>,
    /// Stored sightings of the errors, by fingerprint.
    pub(super) sightings: HashMap<String, Vec<SightingRow>>,
    pub(super) milestones: Vec<Milestone>,
}

/// The fingerprints of the errors whose sightings savings are computed from.
pub(super) fn error_fingerprints(shown: &[ShownMemory], fixes: &[ShownFix]) -> Vec<String> {
    let by_memory = shown.iter().filter_map(|it| error_fingerprint(it));
    let by_fix = fixes.iter().map(|it| it.fingerprint.as_str());
    let mut acc: Vec<String> = by_memory.chain(by_fix).map(str::to_owned).collect();
    acc.sort();
    acc.dedup();
    acc
}

/// Computes the calls that a session saved, one milestone per error.
pub(super) fn tool_calls_saved(
    pad: &Scratchpad,
    shown: &[ShownMemory],
    inputs: &SavingsInputs,
) -> Vec<Milestone> {
    let Some(session) = pad.session else { return Vec::new() };
    let aided: HashSet<&str> = inputs.milestones.iter().map(|it| it.name.as_str()).collect();
    let fewest = |fingerprint: &str| {
        let rows = inputs.sightings.get(fingerprint).map(Vec::as_slice).unwrap_or_default();
        fewest_unaided_calls(session, fingerprint, rows, &aided)
    };
    let mut saved: BTreeMap<&str, u32> = BTreeMap::new();
    for ShownFix { fingerprint, at } in &inputs.fixes {
        let Some(n_calls) = observe::calls_to_fix(pad, fingerprint, *at) else { continue };
        if let Some(fewest) = fewest(fingerprint) {
            saved.insert(fingerprint, fewest.saturating_sub(n_calls));
        }
    }
    for it in shown {
        let Some(fingerprint) = error_fingerprint(it) else { continue };
        // An error that never occurred saved all calls of its fix.
        if observe::avoided_error(pad, &it.memory, fingerprint, it.at)
            && let Some(fewest) = fewest(fingerprint)
        {
            saved.insert(fingerprint, fewest);
        }
    }
    let milestone = |(fingerprint, n_calls): (&str, u32)| Milestone {
        name: milestone_name(session, fingerprint),
        count: i64::from(n_calls),
    };
    saved.into_iter().map(milestone).collect()
}

fn error_fingerprint(it: &ShownMemory) -> Option<&str> {
    match &it.memory.payload {
        Some(Payload::ErrorPattern(it)) => Some(&it.fingerprint),
        _ => None,
    }
}

/// Fewest tool calls any unaided session needed to fix an error. `aided` names the sessions that
/// saved calls themselves.
fn fewest_unaided_calls(
    session: SessionId,
    fingerprint: &str,
    rows: &[SightingRow],
    aided: &HashSet<&str>,
) -> Option<u32> {
    let unaided = rows.iter().filter(|it| {
        it.session != session && !aided.contains(milestone_name(it.session, fingerprint).as_str())
    });
    let n_calls = unaided.filter_map(|it| match parse_evidence(it) {
        // Rows of early versions have no count.
        Evidence::ErrorRetry { fix: Some(fix), .. } => Some(fix.n_calls).filter(|it| *it > 0),
        _ => None,
    });
    n_calls.min().and_then(|it| u32::try_from(it).ok())
}

fn milestone_name(session: SessionId, fingerprint: &str) -> String {
    format!("{SAVED_PREFIX}{session} {fingerprint}")
}

/// Sums the savings of all sessions. An error counts once per session, however often the session was
/// learned.
pub(crate) fn sum_savings(milestones: &[Milestone], sessions: &[SessionRow]) -> ToolCallSavings {
    let mut saved: BTreeMap<&str, i64> = BTreeMap::new();
    for it in milestones.iter().filter(|it| it.name.starts_with(SAVED_PREFIX)) {
        let most = saved.entry(&it.name).or_default();
        // A session that has grown stores a second count under the same name.
        *most = (*most).max(it.count);
    }
    // Hosts that report no tokens would pull the average down.
    let measured = sessions.iter().filter(|it| it.tokens > 0 && it.steps > 0);
    let (tokens, steps) =
        measured.fold((0_u64, 0_u64), |acc, it| (acc.0 + it.tokens, acc.1 + u64::from(it.steps)));
    ToolCallSavings {
        n_errors: saved.len() as u64,
        n_calls: saved.values().map(|it| it.unsigned_abs()).sum(),
        tokens_per_step: tokens.checked_div(steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_counts_once_a_session() {
        let passed = |name: &str, count| Milestone { name: name.to_owned(), count };
        let milestones = [
            passed("saved s1 aa", 2),
            passed("saved s1 aa", 3),
            passed("saved s2 aa", 0),
            passed("group full s1", 0),
        ];
        let savings = sum_savings(&milestones, &[]);
        assert_eq!((savings.n_errors, savings.n_calls, savings.estimate_tokens()), (2, 3, None));
    }
}
