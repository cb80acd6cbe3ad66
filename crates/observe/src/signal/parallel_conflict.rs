//! Two subagents of one parent edited the same file.

use model::{ProjectPath, SignalKind};

use crate::session::Session;
use crate::sighting::{Evidence, Sighting};

/// Files that this session and a sibling of it both edited. A session without a parent has no siblings.
pub fn parallel_conflicts(session: &Session, siblings: &[Vec<ProjectPath>]) -> Vec<Sighting> {
    let mut acc = Vec::new();
    for file in session.files.iter().filter(|it| it.edits > 0 && session.parent.is_some()) {
        let n_others = siblings.iter().filter(|it| it.contains(&file.path)).count();
        if n_others > 0 {
            let number = u64::try_from(n_others + 1).unwrap_or(u64::MAX);
            let evidence =
                Evidence { files: vec![file.path.clone()], number, ..Evidence::default() };
            acc.push(Sighting::new(SignalKind::ParallelConflict, file.path.as_str(), evidence));
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::pad;
    use model::{SessionId, Timestamp};

    fn conflicts(parent: Option<u8>, script: &str, siblings: &[&str]) -> Vec<String> {
        let mut session = crate::session(&pad(script)).unwrap();
        session.parent = parent.map(|it| SessionId::new(Timestamp(1), [it; 10]));
        let edited = |it: &&str| vec![ProjectPath::parse(it).unwrap()];
        let siblings: Vec<Vec<ProjectPath>> = siblings.iter().map(edited).collect();
        parallel_conflicts(&session, &siblings).into_iter().map(|it| it.key).collect()
    }

    #[test]
    fn siblings_that_edit_one_file_are_in_conflict() {
        assert_eq!(conflicts(Some(9), "edit a.rs\nedit b.rs", &["a.rs", "c.rs"]), ["a.rs"]);
        assert!(conflicts(Some(9), "read a.rs", &["a.rs"]).is_empty());
        assert!(conflicts(None, "edit a.rs", &["a.rs"]).is_empty());
        assert!(conflicts(Some(9), "edit a.rs", &[]).is_empty());
    }
}
