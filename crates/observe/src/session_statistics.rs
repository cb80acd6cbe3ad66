//! Statistics over the sightings of one pattern in all sessions: numbers that are told or used at their
//! moment and never stored as memories.
//!
//! The input of each function is the sightings of one pattern, one per session, of sessions whose work held.
//! The facts come from the evidence; the minimum number of sessions is part of each function, because
//! a number from two sessions is chance. The engine loads the sightings (`learn/session_statistics.rs`).
//! Example: 11 sessions committed a change, 9 of them after `make lint` and `make test` →
//! [`usual_checks`] gives both commands, 9 and 11.

use std::collections::BTreeMap;

use model::ProjectPath;

use crate::draft::{SessionSighting, count_sessions};
use crate::evidence::Evidence;
use crate::signal::sequence::COMMIT_STEP;

/// Sessions that must have committed a change before its checks are called usual.
const MIN_COMMITTING_SESSIONS: usize = 5;
/// Share of those sessions that must have run all the checks that are named, in per mille.
const USUAL_CHECKS_PER_MILLE: usize = 750;
/// Checks that are named.
const MAX_USUAL_CHECKS: usize = 4;
/// Sessions behind the other numbers, as in the table of signals.
const MIN_SESSIONS: u32 = 3;
/// Share of a module's sessions that must have opened a file early, in per mille.
const FIRST_FILE_PER_MILLE: u32 = 500;
/// First files of a module.
const MAX_FIRST_FILES: usize = 6;
/// From here on work took longer than planned, in per mille of the plan.
const OVERRUN_PER_MILLE: u64 = 1_200;

/// The checks that sessions usually run before a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsualChecks {
    /// In their usual order.
    pub commands: Vec<String>,
    /// Sessions that ran all of them.
    pub n_sessions: u32,
    /// Sessions that committed a change.
    pub n_committing: u32,
}

/// Actual steps per planned step of a module's tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepCalibration {
    /// Per mille.
    pub ratio: u32,
    /// Tasks behind it.
    pub samples: u32,
}

/// The checks that most sessions ran before a commit; `None` if there are too few sessions or no usual
/// check. `seen` holds the sightings of `PatternKey::finished_change`.
pub fn usual_checks(seen: &[SessionSighting]) -> Option<UsualChecks> {
    let changes: Vec<&[String]> = seen.iter().map(|it| checks_of(&it.evidence)).collect();
    if changes.len() < MIN_COMMITTING_SESSIONS {
        return None;
    }
    // The most frequent checks first; ties by name. As many of them are named as most sessions ran together.
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for check in changes.iter().flat_map(|it| it.iter()) {
        *counts.entry(check).or_default() += 1;
    }
    let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
    ranked.sort_by(|(a, n_a), (b, n_b)| n_b.cmp(n_a).then_with(|| a.cmp(b)));
    let (mut named, mut n_sessions) = (Vec::new(), 0);
    for (check, _) in ranked.into_iter().take(MAX_USUAL_CHECKS) {
        named.push(check);
        let has_all = |steps: &&&[String]| named.iter().all(|it| steps.iter().any(|s| s == it));
        let n_with_all = changes.iter().filter(has_all).count();
        if n_with_all * 1000 < changes.len() * USUAL_CHECKS_PER_MILLE {
            named.pop();
            break;
        }
        n_sessions = n_with_all;
    }
    if named.is_empty() {
        return None;
    }
    named.sort_by_key(|it| (average_position(it, &changes), *it));
    Some(UsualChecks {
        commands: named.into_iter().map(str::to_owned).collect(),
        n_sessions: u32::try_from(n_sessions).unwrap_or(u32::MAX),
        n_committing: u32::try_from(changes.len()).unwrap_or(u32::MAX),
    })
}

/// The checks of a committed change, without the commit.
fn checks_of(evidence: &Evidence) -> &[String] {
    match evidence {
        Evidence::Sequence { steps } if steps.last().is_some_and(|it| it == COMMIT_STEP) => {
            &steps[..steps.len() - 1]
        }
        Evidence::Sequence { steps } => steps,
        _ => &[],
    }
}

/// The average position of a check, in per mille, because sessions have different numbers of steps.
fn average_position(check: &str, changes: &[&[String]]) -> usize {
    let (mut sum, mut n) = (0, 0);
    for steps in changes {
        if let Some(nth) = steps.iter().position(|it| it == check) {
            (sum, n) = (sum + nth * 1000 / steps.len(), n + 1);
        }
    }
    sum / n.max(1)
}

/// The files that more than half of a module's sessions opened early, the surest first. `seen` holds the
/// sightings of `PatternKey::file_access`.
pub fn first_files(seen: &[SessionSighting]) -> Vec<ProjectPath> {
    let n_sessions = count_sessions(seen);
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for sighting in seen {
        let Evidence::FileAccess { files, .. } = &sighting.evidence else { continue };
        for file in files {
            *counts.entry(file).or_insert(0) += 1;
        }
    }
    let is_frequent = |n_opened: u32| n_opened * 1000 > n_sessions * FIRST_FILE_PER_MILLE;
    let mut ranked: Vec<(&ProjectPath, u32)> =
        counts.into_iter().filter(|(_, n_opened)| is_frequent(*n_opened)).collect();
    ranked.sort_by(|(file_a, n_a), (file_b, n_b)| n_b.cmp(n_a).then_with(|| file_a.cmp(file_b)));
    ranked.truncate(MAX_FIRST_FILES);
    // One file is no pattern of work, and few sessions are none either.
    if n_sessions < MIN_SESSIONS || ranked.len() < 2 {
        return Vec::new();
    }
    ranked.into_iter().map(|(file, _)| file.clone()).collect()
}

/// The average tokens that reading a file whole costs; `None` if too few sessions noticed. `seen` holds
/// the sightings of `PatternKey::context_token_spike`.
pub fn average_read_cost(seen: &[SessionSighting]) -> Option<u64> {
    let (mut sum, mut n_samples) = (0, 0);
    for sighting in seen {
        if let Evidence::ContextTokenSpike { tokens, .. } = sighting.evidence {
            (sum, n_samples) = (sum + tokens, n_samples + 1);
        }
    }
    (count_sessions(seen) >= MIN_SESSIONS).then(|| sum / n_samples.max(1))
}

/// The ratio of actual to planned steps in a module, if work there takes clearly longer than planned.
/// `seen` holds the sightings of `PatternKey::step_overrun`: every session with a plan is a sample, also one
/// that took less than planned.
pub fn step_calibration(seen: &[SessionSighting]) -> Option<StepCalibration> {
    let (mut sum_actual, mut sum_planned, mut n_samples) = (0, 0, 0);
    for sighting in seen {
        if let Evidence::StepOverrun { actual_steps, planned_steps } = sighting.evidence {
            sum_actual += actual_steps;
            sum_planned += planned_steps;
            n_samples += 1;
        }
    }
    if count_sessions(seen) < MIN_SESSIONS {
        return None;
    }
    let ratio = sum_actual * 1000 / sum_planned.max(1);
    (ratio > OVERRUN_PER_MILLE).then(|| StepCalibration {
        ratio: u32::try_from(ratio).unwrap_or(u32::MAX),
        samples: n_samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script::pad_from_script;
    use crate::{ModuleLookup, detect_sightings};
    use model::{SessionId, SignalKind, Timestamp};

    /// The sightings of a signal in several sessions, separated by `---`. Notation: `test_script`.
    fn seen(signal: SignalKind, script: &str) -> Vec<SessionSighting> {
        let mut acc = Vec::new();
        for (nth, script) in (0_u8..).zip(script.split("---")) {
            let session = SessionId::new(Timestamp(1), [nth; 10]);
            for it in detect_sightings(&pad_from_script(script), &ModuleLookup::default()) {
                if it.signal() == signal {
                    let (at, occurrences) = (Timestamp(i64::from(nth)), it.occurrences);
                    acc.push(SessionSighting { session, at, occurrences, evidence: it.evidence });
                }
            }
        }
        acc
    }

    fn checks(script: &str) -> Option<String> {
        let it = usual_checks(&seen(SignalKind::Sequence, script))?;
        Some(format!("{} {}/{}", it.commands.join(", "), it.n_sessions, it.n_committing))
    }

    #[test]
    fn usual_checks_are_counted_over_all_sessions_that_committed() {
        let full = "edit a\nrun mise run fmt\nrun mise run lint\ncommit\n";
        let with_vet = "edit a\nrun go vet\nrun mise run fmt\nrun mise run lint\ncommit\n";
        let none = "edit a\ncommit\n";
        let all = |parts: &[&str]| parts.join("---");
        assert_eq!(
            checks(&all(&[full, with_vet, full, full, none])).as_deref(),
            Some("mise run fmt, mise run lint 4/5")
        );
        // Four sessions are too few, and half of them is not usual.
        assert_eq!(checks(&all(&[full, full, full, full])), None);
        assert_eq!(checks(&all(&[full, full, full, none, none, none])), None);
    }

    #[test]
    fn a_check_that_few_sessions_ran_is_not_named() {
        let lint = "edit a\nrun mise run lint\ncommit\n";
        let both = "edit a\nrun mise run lint\nrun mise run test\ncommit\n";
        let script = [both, lint, lint, lint, both].join("---");
        assert_eq!(checks(&script).as_deref(), Some("mise run lint 5/5"));
    }

    fn at(session: u8, evidence: Evidence) -> SessionSighting {
        let session = SessionId::new(Timestamp(1), [session; 10]);
        SessionSighting { session, at: Timestamp(1), occurrences: 1, evidence }
    }

    #[test]
    fn numbers_need_three_sessions() {
        let file = ProjectPath::parse("big.json").unwrap();
        let cost = |session: u8, tokens| {
            at(session, Evidence::ContextTokenSpike { file: file.clone(), tokens })
        };
        let costs = [cost(1, 100), cost(2, 200), cost(3, 600)];
        assert_eq!((average_read_cost(&costs), average_read_cost(&costs[..2])), (Some(300), None));

        let steps = |session: u8, actual_steps, planned_steps| {
            at(session, Evidence::StepOverrun { actual_steps, planned_steps })
        };
        let overruns = [steps(1, 30, 10), steps(2, 20, 10), steps(3, 10, 10)];
        let calibration = StepCalibration { ratio: 2_000, samples: 3 };
        assert_eq!(step_calibration(&overruns), Some(calibration));
        assert_eq!(step_calibration(&overruns[..2]), None);
        // As planned: nothing to say.
        assert_eq!(step_calibration(&[steps(1, 9, 10), steps(2, 11, 10), steps(3, 10, 10)]), None);
    }
}
