//! Detects the signal `parallel_conflict`: two subagents of one parent edited the same file.
//!
//! It needs the files of other sessions, so that it is not in the table of detectors, which see one session
//! each. The engine calls it with the summary of a session. Each contested file becomes a sighting: the key,
//! by which sessions are compared, is the path; the evidence has the number of subagents.

use model::ProjectPath;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::session::SessionOverview;
use crate::sighting::Sighting;

/// Files that this session and a sibling both edited. `siblings` has the edited files of each sibling. A
/// session without a parent has no siblings.
pub fn parallel_conflicts(
    session: &SessionOverview,
    siblings: &[Vec<ProjectPath>],
) -> Vec<Sighting> {
    let mut acc = Vec::new();
    for file in session.files.iter().filter(|it| it.edits > 0 && session.parent.is_some()) {
        let n_others = siblings.iter().filter(|it| it.contains(&file.path)).count();
        if n_others > 0 {
            let n_agents = u64::try_from(n_others + 1).unwrap_or(u64::MAX);
            let key = PatternKey::parallel_conflict(&file.path);
            let evidence = Evidence::ParallelConflict { file: file.path.clone(), n_agents };
            acc.push(Sighting::new(key, evidence));
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_script::pad_from_script;
    use model::{SessionId, Timestamp};

    /// The files in conflict, if each sibling edited one file.
    fn conflicts(parent: Option<u8>, script: &str, siblings: &[&str]) -> Vec<String> {
        let mut session = crate::summarise_session(&pad_from_script(script)).unwrap();
        session.parent = parent.map(|it| SessionId::new(Timestamp(1), [it; 10]));
        let edited = |it: &&str| vec![ProjectPath::parse(it).unwrap()];
        let siblings: Vec<Vec<ProjectPath>> = siblings.iter().map(edited).collect();
        let conflicts = parallel_conflicts(&session, &siblings);
        conflicts.into_iter().map(|it| it.key.into_stored().1).collect()
    }

    #[test]
    fn siblings_that_edit_one_file_are_in_conflict() {
        assert_eq!(conflicts(Some(9), "edit a.rs\nedit b.rs", &["a.rs", "c.rs"]), ["a.rs"]);
        assert!(conflicts(Some(9), "read a.rs", &["a.rs"]).is_empty());
        assert!(conflicts(None, "edit a.rs", &["a.rs"]).is_empty());
        assert!(conflicts(Some(9), "edit a.rs", &[]).is_empty());
    }
}
