//! Counts the work of all sessions: files that change together, and the number of sessions that changed
//! each file. The module map (the division of the project into modules) is built from these numbers.
//!
//! Example: three sessions changed `a.rs`, two of them also `b.rs`, and two more only `b.rs` → `a.rs → b.rs`
//! with the share 0.67, `b.rs → a.rs` with 0.50.

use std::collections::BTreeMap;

use model::ProjectPath;

use crate::session_visit::SessionVisit;

/// A session that changed more files is a sweep over the project, whose pairs mean nothing.
const MAX_CHANGED_FILES: usize = 15;
/// Sessions that must have changed both files: one is chance.
const MIN_PAIR_SESSIONS: u32 = 2;

/// Changes of all sessions together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkStatistics {
    /// Two files, and the share of the sessions that changed the first which changed the second as well.
    pub co_changes: Vec<(ProjectPath, ProjectPath, f32)>,
    /// The number of sessions that changed each file.
    pub sessions_by_file: BTreeMap<ProjectPath, u32>,
}

/// Counts the changes of sessions. Pairs are in the order of their paths, each followed by its reverse.
#[expect(clippy::cast_precision_loss, reason = "counts of sessions are small")]
pub fn count_work(visits: &[SessionVisit]) -> WorkStatistics {
    let mut sessions_by_file: BTreeMap<ProjectPath, u32> = BTreeMap::new();
    let mut pairs: BTreeMap<(&ProjectPath, &ProjectPath), u32> = BTreeMap::new();
    for visit in visits {
        let mut changed: Vec<&ProjectPath> = visit.edited.iter().collect();
        changed.sort_unstable();
        changed.dedup();
        for file in &changed {
            *sessions_by_file.entry((*file).clone()).or_default() += 1;
        }
        // A sweep counts as work on each file, but gives no pairs.
        if changed.len() > MAX_CHANGED_FILES {
            continue;
        }
        for (nth, a) in changed.iter().enumerate() {
            // Only with later files, so that each pair occurs once.
            for b in &changed[nth + 1..] {
                *pairs.entry((a, b)).or_default() += 1;
            }
        }
    }
    // Both directions, because the shares differ.
    let mut co_changes = Vec::new();
    for ((a, b), n_both) in pairs.into_iter().filter(|(_, n_both)| *n_both >= MIN_PAIR_SESSIONS) {
        co_changes.push((a.clone(), b.clone(), n_both as f32 / sessions_by_file[a] as f32));
        co_changes.push((b.clone(), a.clone(), n_both as f32 / sessions_by_file[b] as f32));
    }
    WorkStatistics { co_changes, sessions_by_file }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{SessionId, Timestamp};

    /// A session that edited these files.
    fn visit(files: &str) -> SessionVisit {
        let edited = files.split(' ').map(|it| ProjectPath::parse(it).unwrap()).collect();
        SessionVisit { session: SessionId::new(Timestamp(1), [1; 10]), read: Vec::new(), edited }
    }

    #[test]
    fn files_changed_in_the_same_sessions_are_pairs() {
        // The last two sessions are sweeps.
        let many: Vec<String> = (0..20).map(|it| format!("x/{it}.rs")).collect();
        let all = [
            visit("a.rs b.rs"),
            visit("b.rs a.rs"),
            visit("a.rs c.rs"),
            visit("b.rs"),
            visit("b.rs"),
            visit(&many.join(" ")),
            visit(&many.join(" ")),
        ];
        let statistics = count_work(&all);
        let pairs: Vec<String> = statistics
            .co_changes
            .iter()
            .map(|it| format!("{} → {} {:.2}", it.0, it.1, it.2))
            .collect();
        assert_eq!(pairs, ["a.rs → b.rs 0.67", "b.rs → a.rs 0.50"]);
        assert_eq!(
            statistics.sessions_by_file[&ProjectPath::parse("x/3.rs").unwrap()],
            2,
            "a sweep counts as work"
        );
        assert_eq!(count_work(&[]), WorkStatistics::default());
    }
}
