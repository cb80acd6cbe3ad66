//! What a session of an agent was shown, so that nothing is said twice: one word a line, in a file
//! of its own. Not worth a transaction: what is lost is said once more.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::{DataDir, Error, os};

/// The most sessions that are kept; those that were touched longest ago go first.
const SESSIONS: usize = 500;
/// Stands before a word that was shown in a conversation that is gone.
const GONE: &str = "gone ";

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

    /// What was shown so far and is still in the conversation. A list that cannot be read is an empty one.
    pub fn read(&self) -> HashSet<String> {
        self.fold().0
    }

    /// What went with a conversation and was not shown again since.
    pub fn lost(&self) -> HashSet<String> {
        let (shown, gone) = self.fold();
        gone.into_iter().filter(|it| !shown.contains(it)).collect()
    }

    /// What is in the conversation, and what ever went with an older one. A word that went may come back.
    fn fold(&self) -> (HashSet<String>, HashSet<String>) {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let (mut shown, mut gone) = (HashSet::new(), HashSet::new());
        for line in text.lines() {
            if let Some(word) = line.strip_prefix(GONE) {
                shown.remove(word);
                gone.insert(word.to_owned());
            } else {
                shown.insert(line.to_owned());
            }
        }
        (shown, gone)
    }

    /// Waits until no other process tells this session something, and keeps others waiting until what is
    /// returned goes.
    pub fn turn(&self) -> Result<fs::File, Error> {
        let io = |it: std::io::Error| Error::io(&self.path, &it);
        os::private_dir(&self.dir).and_then(|()| os::private_file(&self.path)).map_err(io)?;
        let file = fs::File::open(&self.path).map_err(io)?;
        file.lock().map_err(io)?;
        Ok(file)
    }

    pub fn add(&self, words: &[String]) -> Result<(), Error> {
        let io = |it: std::io::Error| Error::io(&self.path, &it);
        if words.is_empty() {
            return Ok(());
        }
        let is_new = fs::metadata(&self.path).map_or(0, |it| it.len()) == 0;
        os::private_dir(&self.dir).and_then(|()| os::private_file(&self.path)).map_err(io)?;
        let lines = words.join("\n") + "\n";
        let file = fs::OpenOptions::new().append(true).open(&self.path);
        file.and_then(|mut it| it.write_all(lines.as_bytes())).map_err(io)?;
        if is_new && self.looks_after() {
            self.forget_old();
        }
        Ok(())
    }

    /// The conversation is gone, and with it what was said in it: it may be shown once more. What went
    /// before already and came back counts as shown for good.
    pub fn lose(&self, was_said: impl Fn(&str) -> bool) -> Result<(), Error> {
        let (shown, gone) = self.fold();
        let lost = shown.iter().filter(|it| was_said(it) && !gone.contains(*it));
        let mut lines: Vec<String> = lost.map(|it| format!("{GONE}{it}")).collect();
        lines.sort();
        self.add(&lines)
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
    fn what_was_shown_is_known_and_may_come_back_once() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        let log = ShownLog::of(&data, "a/../session");
        assert!(log.read().is_empty());
        log.add(&["one".to_owned()]).unwrap();
        log.add(&["two".to_owned()]).unwrap();
        assert_eq!(log.read(), HashSet::from(["one".to_owned(), "two".to_owned()]));
        assert!(ShownLog::of(&data, "another").read().is_empty());
        let words = |it: HashSet<String>| {
            let mut res: Vec<String> = it.into_iter().collect();
            res.sort();
            res.join(" ")
        };
        log.lose(|it| it != "two").unwrap();
        assert_eq!((words(log.read()), words(log.lost())), ("two".to_owned(), "one".to_owned()));
        log.add(&["one".to_owned()]).unwrap();
        log.lose(|_| true).unwrap();
        let (shown, lost) = (words(log.read()), words(log.lost()));
        assert_eq!((shown.as_str(), lost.as_str()), ("one", "two"), "a third time is too often");
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
