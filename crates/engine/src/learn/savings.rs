//! Savings: tool calls that a session did not need because it was shown the fix of an error. Pure.
//!
//! When a session is learned, its calls after the error are compared with the fewest calls that any
//! unaided session needed for the same error. The *fingerprint* of an error, a hash of its message
//! without the variable parts, says which errors are the same. The difference is stored as the count
//! of a *milestone*, a named number that the store keeps, with the name
//! `saved <session> <fingerprint>`. `statistics` sums these counts.
//!
//! A session was *aided* with an error if it has such a milestone, even one with the count 0. That is
//! so if an earlier session fixed the error unaided, and this session either was shown the fix after
//! the error and then fixed it, or was shown a memory about the error and avoided it. For example:
//!
//! ```text
//! s1  not shown the fix, 6 calls until it is fixed    →  unaided; the 6 calls are compared with
//! s2  shown the fix, 2 calls until it is fixed        →  milestone `saved s2 <fingerprint>` = 4
//! s3  warned by a memory, the error does not occur    →  milestone `saved s3 <fingerprint>` = 6
//! ```

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
    /// Errors that were fixed with a shown note, or avoided because of one.
    pub n_errors: u64,
    /// Tool calls saved in total.
    pub n_calls: u64,
    /// Average tokens of a step in this project; `None` if no host reports tokens.
    pub tokens_per_step: Option<u64>,
}

impl ToolCallSavings {
    /// Estimates the tokens that the saved calls would have cost.
    pub fn estimate_tokens(&self) -> Option<u64> {
        self.tokens_per_step.map(|it| it.saturating_mul(self.n_calls))
    }
}

/// A fix that the session was shown right after an error occurred. The shown log stores it by the
/// fingerprint of the error, and not by memory.
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

/// Lists the errors about which the session was shown something.
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

    // Their names identify the sessions that were aided before, which are no baseline.
    let milestone_names: HashSet<&str> =
        inputs.milestones.iter().map(|it| it.name.as_str()).collect();
    let baseline = |fingerprint: &str| {
        let rows = inputs.sightings.get(fingerprint).map(Vec::as_slice).unwrap_or_default();
        fewest_unaided_calls(session, fingerprint, rows, &milestone_names)
    };
    let mut saved: BTreeMap<&str, u32> = BTreeMap::new();

    // Errors that occurred: the session was shown a fix right after.
    for ShownFix { fingerprint, at } in &inputs.fixes {
        // The session never fixed the error, or met it again later, so the fix saved nothing.
        let Some(n_calls) = observe::calls_to_fix(pad, fingerprint, *at) else { continue };
        // Without an unaided session there is nothing to compare with, and nothing is stored.
        if let Some(n_unaided) = baseline(fingerprint) {
            // 0 if the fix did not help: the session was aided nevertheless.
            saved.insert(fingerprint, n_unaided.saturating_sub(n_calls));
        }
    }

    // Errors that never occurred, because a memory warned of them: all calls of the fix are saved.
    for note in shown {
        // The memory is not about an error.
        let Some(fingerprint) = error_fingerprint(note) else { continue };
        if observe::avoided_error(pad, &note.memory, fingerprint, note.at)
            && let Some(n_unaided) = baseline(fingerprint)
        {
            saved.insert(fingerprint, n_unaided);
        }
    }
    let milestone = |(fingerprint, n_calls): (&str, u32)| Milestone {
        name: milestone_name(session, fingerprint),
        count: i64::from(n_calls),
    };
    saved.into_iter().map(milestone).collect()
}

/// Sums the savings of all sessions. An error counts once per session, however often the session
/// was learned.
pub(crate) fn sum_savings(milestones: &[Milestone], sessions: &[SessionRow]) -> ToolCallSavings {
    let mut saved: BTreeMap<&str, i64> = BTreeMap::new();
    for milestone in milestones.iter().filter(|it| it.name.starts_with(SAVED_PREFIX)) {
        let n_calls = saved.entry(&milestone.name).or_default();
        // A session that has grown stores a second count under the same name.
        *n_calls = (*n_calls).max(milestone.count);
    }
    // Sessions of hosts that report no tokens would lower the average.
    let (mut tokens, mut steps) = (0_u64, 0_u64);
    for session in sessions.iter().filter(|it| it.tokens > 0 && it.steps > 0) {
        tokens += session.tokens;
        steps += u64::from(session.steps);
    }
    ToolCallSavings {
        n_errors: saved.len() as u64,
        n_calls: saved.values().map(|it| it.unsigned_abs()).sum(),
        tokens_per_step: tokens.checked_div(steps),
    }
}

fn error_fingerprint(shown: &ShownMemory) -> Option<&str> {
    match &shown.memory.payload {
        Some(Payload::ErrorPattern(it)) => Some(&it.fingerprint),
        _ => None,
    }
}

/// Returns the fewest tool calls that any other session needed to fix an error unaided (see the
/// header of the file).
fn fewest_unaided_calls(
    session: SessionId,
    fingerprint: &str,
    rows: &[SightingRow],
    milestone_names: &HashSet<&str>,
) -> Option<u32> {
    let mut counts = Vec::new();
    for row in rows {
        let was_aided = milestone_names.contains(milestone_name(row.session, fingerprint).as_str());
        if row.session == session || was_aided {
            continue;
        }
        // Without a fix the session did not get past the error. Rows of early versions have the
        // count 0.
        if let Evidence::ErrorRetry { fix: Some(fix), .. } = parse_evidence(row)
            && fix.n_calls > 0
        {
            counts.push(fix.n_calls);
        }
    }
    counts.into_iter().min().and_then(|it| u32::try_from(it).ok())
}

fn milestone_name(session: SessionId, fingerprint: &str) -> String {
    format!("{SAVED_PREFIX}{session} {fingerprint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_counts_once_per_session() {
        let milestone = |name: &str, count| Milestone { name: name.to_owned(), count };
        let milestones = [
            milestone("saved s1 aa", 2),
            milestone("saved s1 aa", 3),
            milestone("saved s2 aa", 0),
            // The trial group of a session, not a saving.
            milestone("group full s1", 0),
        ];
        let savings = sum_savings(&milestones, &[]);
        assert_eq!((savings.n_errors, savings.n_calls, savings.estimate_tokens()), (2, 3, None));
    }
}
