//! What a session of an agent was shown, so that nothing is said twice: one word a line, in a file
//! of its own. Not worth a transaction: what is lost is said once more.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::{DataDir, Error, os};

/// The most sessions that are kept; those that were touched longest ago go first.
const SESSIONS: usize = 500;

/// The list of one session.
#[derive(Clone, Debug)]
pub struct ShownLog {
    dir: PathBuf,
    path: PathBuf,
}

impl ShownLog {
    /// `session` is the host's name for it; any text.
    pub fn of(data: &DataDir, session: &str) -> Self {
        let name = blake3::hash(session.as_bytes()).to_hex();
        let dir = data.root.join("shown");
        Self { path: dir.join(&name[..32]), dir }
    }

    /// What was shown so far. A list that cannot be read is an empty one.
    pub fn read(&self) -> HashSet<String> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn add(&self, words: &[String]) -> Result<(), Error> {
        let io = |it: std::io::Error| Error::io(&self.path, &it);
        if words.is_empty() {
            return Ok(());
        }
        let is_new = !self.path.exists();
        os::private_dir(&self.dir).and_then(|()| os::private_file(&self.path)).map_err(io)?;
        let lines = words.join("\n") + "\n";
        let file = fs::OpenOptions::new().append(true).open(&self.path);
        file.and_then(|mut it| it.write_all(lines.as_bytes())).map_err(io)?;
        if is_new && self.looks_after() {
            self.forget_old();
        }
        Ok(())
    }

    /// Forgets what was shown: the conversation it was shown in is gone.
    pub fn clear(&self) {
        // One that is not there is as good as cleared.
        let _ = os::remove(&self.path);
    }

    /// Whether this session looks after the others: one in sixteen does, for it takes longer than the rest.
    fn looks_after(&self) -> bool {
        let name = self.path.file_name().map(|it| it.to_string_lossy().into_owned());
        name.is_some_and(|it| it.starts_with('0'))
    }

    fn forget_old(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
            .collect();
        all.sort();
        let n_old = all.len().saturating_sub(SESSIONS);
        for (_, path) in &all[..n_old] {
            // Another process may have been faster.
            let _ = os::remove(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_is_known_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        let log = ShownLog::of(&data, "a/../session");
        assert!(log.read().is_empty());
        log.add(&["one".to_owned()]).unwrap();
        log.add(&["two".to_owned()]).unwrap();
        assert_eq!(log.read(), HashSet::from(["one".to_owned(), "two".to_owned()]));
        assert!(ShownLog::of(&data, "another").read().is_empty());
        log.clear();
        assert!(log.read().is_empty());
    }

    #[test]
    fn old_sessions_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        for n in 0..SESSIONS + 200 {
            ShownLog::of(&data, &n.to_string()).add(&["x".to_owned()]).unwrap();
        }
        let left = fs::read_dir(dir.path().join("shown")).unwrap().count();
        assert!((SESSIONS..SESSIONS + 100).contains(&left), "{left}");
    }
}
