//! Told by the system which files may have changed, gathered until there is quiet.
//!
//! Says what to look at and never what happened: events come late, twice and out of order, and a file
//! is what it is when it is read. Follows the folders that a walk enters, and where git keeps what is
//! checked out.

mod checkout;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{
    ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, WatcherKind,
};

use checkout::Checkout;

use crate::place::Place;
use crate::walk;

/// So long nothing may happen before it is said what did.
const QUIET: Duration = Duration::from_millis(500);
/// Under steady fire it is said all the same.
const LONGEST: Duration = Duration::from_secs(5);
/// How often everything is looked at where the system tells nothing.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);
/// From here on looking at everything is less work.
const MANY: usize = 1000;

/// What to look at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// These files, by their paths below the root; they may be gone. None of them, when all that
    /// happened is that another commit is checked out.
    Files(BTreeSet<String>),
    Everything,
}

/// A project under watch.
pub struct Watch {
    root: PathBuf,
    is_wanted: fn(&str) -> bool,
    messages: Receiver<Message>,
    sender: Sender<Message>,
    /// None: everything is looked at now and then.
    watcher: Option<RecommendedWatcher>,
    /// Which watcher a message must be of; what an earlier one had left to say is of no interest.
    round: u64,
    folders: HashSet<PathBuf>,
    checkout: Checkout,
    trouble: Option<String>,
}

/// Ends a watch from outside.
#[derive(Clone)]
pub struct StopWatch(Sender<Message>);

impl StopWatch {
    pub fn stop(&self) {
        // A watch that is gone needs no end.
        let _ = self.0.send(Message::Stop);
    }
}

enum Message {
    Event(u64, notify::Result<Event>),
    Stop,
}

impl Watch {
    /// Begins to watch for files that `is_wanted` by their paths. What happens from now on is told;
    /// what was before is for the caller to look at.
    pub fn start(place: &Place, is_wanted: fn(&str) -> bool) -> Self {
        let (sender, messages) = mpsc::channel();
        let mut res = Self {
            root: place.root.clone(),
            is_wanted,
            messages,
            sender,
            watcher: None,
            round: 0,
            folders: HashSet::new(),
            checkout: Checkout::new(place),
            trouble: None,
        };
        res.follow();
        res
    }

    /// Why the system does not tell what happens, when it does not: everything is then looked at every
    /// few seconds.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    pub fn stopper(&self) -> StopWatch {
        StopWatch(self.sender.clone())
    }

    /// Waits until something happened and there is quiet again; `None` once it was stopped. Blocks.
    pub fn wait(&mut self) -> Option<Seen> {
        loop {
            let gathered = self.gather()?;
            if gathered.everything || gathered.files.len() > MANY {
                // Who has no watches left is not asked for them again and again.
                if self.watcher.is_some() {
                    self.follow();
                }
                self.checkout.has_moved();
                return Some(Seen::Everything);
            }
            if gathered.checkout {
                // First the watches: a commit after that is told.
                self.follow_checkout();
            }
            let has_moved = gathered.checkout && self.checkout.has_moved();
            if has_moved || !gathered.files.is_empty() {
                return Some(Seen::Files(gathered.files));
            }
        }
    }

    /// Gathers what happens until there is quiet; `None` once it was stopped.
    fn gather(&mut self) -> Option<Gathered> {
        let mut gathered = Gathered::default();
        loop {
            match self.receive(gathered.patience()) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(Message::Event(round, event)) if round == self.round => {
                    self.add(&mut gathered, event);
                }
                Ok(Message::Event(..)) => {}
                Err(RecvTimeoutError::Timeout) if gathered.is_empty() => gathered.everything = true,
                Err(RecvTimeoutError::Timeout) => break,
            }
            if gathered.is_overdue() || (gathered.everything && self.watcher.is_none()) {
                break;
            }
        }
        Some(gathered)
    }

    fn receive(&self, patience: Option<Duration>) -> Result<Message, RecvTimeoutError> {
        match patience.or(self.watcher.is_none().then_some(BETWEEN_LOOKS)) {
            Some(patience) => self.messages.recv_timeout(patience),
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn add(&self, acc: &mut Gathered, event: notify::Result<Event>) {
        let Ok(event) = event else { return acc.note_everything() };
        // The kernel's queue ran over: what was lost is not known.
        if event.need_rescan() {
            return acc.note_everything();
        }
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        if event.kind.is_access() && event.kind != written {
            return;
        }
        for path in &event.paths {
            self.add_path(acc, path);
        }
    }

    fn add_path(&self, acc: &mut Gathered, path: &Path) {
        let is_folder = || path.symlink_metadata().is_ok_and(|it| it.is_dir());
        if self.checkout.concerns(path) {
            return acc.note_checkout();
        }
        if self.folders.contains(path) {
            return acc.note_everything();
        }
        if !path.parent().is_some_and(|it| self.folders.contains(it)) {
            return;
        }
        let rules = path.file_name().and_then(|it| it.to_str());
        if rules.is_some_and(|it| walk::RULES.contains(&it)) || is_folder() {
            return acc.note_everything();
        }
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Option<Vec<&str>> =
            below.components().map(|it| it.as_os_str().to_str()).collect();
        if let Some(path) = parts.map(|it| it.join("/")).filter(|it| (self.is_wanted)(it)) {
            acc.note(path);
        }
    }

    /// Watches all folders there are now. Listed again until nothing new is found: what comes after
    /// that comes into a folder that is watched.
    fn follow(&mut self) {
        self.round += 1;
        self.folders.clear();
        (self.watcher, self.trouble) = match self.watched() {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(said(&error))),
        };
        self.checkout.folders.clear();
        self.follow_checkout();
    }

    /// Watches where git keeps what is checked out now. What cannot be watched is seen with the next
    /// change of a file.
    fn follow_checkout(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted = self.checkout.wanted();
        for folder in self.checkout.folders.difference(&wanted) {
            // Gone, or of no interest any more.
            let _ = watcher.unwatch(folder);
        }
        // Again also where it was watched before: another folder may have taken its place.
        let is_watched = |it: &PathBuf| watcher.watch(it, RecursiveMode::NonRecursive).is_ok();
        self.checkout.folders = wanted.into_iter().filter(is_watched).collect();
    }

    fn watched(&mut self) -> notify::Result<RecommendedWatcher> {
        let (round, sender) = (self.round, self.sender.clone());
        let mut res = notify::recommended_watcher(move |event| {
            // Nobody listens any more when sending fails.
            let _ = sender.send(Message::Event(round, event));
        })?;
        let one_by_one =
            matches!(RecommendedWatcher::kind(), WatcherKind::Inotify | WatcherKind::Kqueue);
        if !one_by_one {
            res.watch(&self.root, RecursiveMode::Recursive)?;
        }
        loop {
            let n_known = self.folders.len();
            for folder in walk::folders(&self.root) {
                if self.folders.contains(&folder) {
                    continue;
                }
                match if one_by_one {
                    res.watch(&folder, RecursiveMode::NonRecursive)
                } else {
                    Ok(())
                } {
                    Ok(()) => _ = self.folders.insert(folder),
                    Err(error) if is_about_limit(&error) => return Err(error),
                    // Gone since, or not ours to read.
                    Err(_) => {}
                }
            }
            if self.folders.len() == n_known {
                return Ok(res);
            }
        }
    }
}

/// What was told since the last time.
#[derive(Default)]
struct Gathered {
    files: BTreeSet<String>,
    everything: bool,
    checkout: bool,
    since: Option<Instant>,
}

#[expect(clippy::disallowed_methods, reason = "spans are measured here, not moments told")]
impl Gathered {
    fn note(&mut self, path: String) {
        self.files.insert(path);
        self.since.get_or_insert_with(Instant::now);
    }

    fn note_everything(&mut self) {
        self.everything = true;
        self.since.get_or_insert_with(Instant::now);
    }

    fn note_checkout(&mut self) {
        self.checkout = true;
        self.since.get_or_insert_with(Instant::now);
    }

    const fn is_empty(&self) -> bool {
        self.since.is_none()
    }

    fn patience(&self) -> Option<Duration> {
        (!self.is_empty()).then_some(QUIET)
    }

    fn is_overdue(&self) -> bool {
        self.since.is_some_and(|it| it.elapsed() > LONGEST)
    }
}

/// Whether the system has no more watches or handles to give.
fn is_about_limit(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        // EMFILE and ENFILE: too many open files.
        ErrorKind::Io(it) => matches!(it.raw_os_error(), Some(23 | 24 | 28)),
        _ => false,
    }
}

fn said(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => "the system has no more watches to give".to_owned(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn is_rust(path: &str) -> bool {
        Path::new(path).extension().is_some_and(|it| it == "rs")
    }

    fn start(root: &Path) -> Watch {
        let res = Watch::start(&crate::locate(root, None).unwrap(), is_rust);
        assert_eq!(res.trouble(), None);
        res
    }

    /// What is named until one file is, however many times the machine holds its breath between.
    fn named_until(watch: &mut Watch, last: &str) -> BTreeSet<String> {
        let mut res = BTreeSet::new();
        while !res.contains(last) {
            match watch.wait() {
                Some(Seen::Files(files)) => res.extend(files),
                other => panic!("{other:?}"),
            }
        }
        res
    }

    /// Waits until everything is to be looked at, and then until one file is named.
    fn everything_then(watch: &mut Watch, write: &Path, path: &str) {
        while watch.wait() != Some(Seen::Everything) {}
        fs::write(write.join(path), "1").unwrap();
        loop {
            match watch.wait() {
                Some(Seen::Files(files)) if files.contains(path) => return,
                Some(_) => {}
                None => panic!("it ended"),
            }
        }
    }

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["src", "node_modules/x", "out"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join(".gitignore"), "out/\n").unwrap();
        fs::write(dir.path().join("src/a.rs"), "").unwrap();
        dir
    }

    #[test]
    fn wanted_files_are_named_and_what_a_walk_passes_over_is_not() {
        let dir = tree();
        let mut watch = start(dir.path());
        for path in ["node_modules/x/i.rs", "out/made.rs", "src/notes.txt", "src/b.rs", "top.rs"] {
            fs::write(dir.path().join(path), "1").unwrap();
        }
        fs::remove_file(dir.path().join("src/a.rs")).unwrap();
        fs::write(dir.path().join("z.rs"), "1").unwrap();
        let named = named_until(&mut watch, "z.rs");
        assert_eq!(Vec::from_iter(named), ["src/a.rs", "src/b.rs", "top.rs", "z.rs"]);
    }

    #[test]
    fn folders_and_rules_concern_everything_and_new_folders_are_followed() {
        let dir = tree();
        let mut watch = start(dir.path());
        fs::create_dir_all(dir.path().join("src/deep/er")).unwrap();
        everything_then(&mut watch, dir.path(), "src/deep/er/c.rs");
        // Another folder takes the name of one that was followed.
        fs::rename(dir.path().join("src/deep"), dir.path().join("src/moved")).unwrap();
        fs::create_dir_all(dir.path().join("src/deep/er")).unwrap();
        everything_then(&mut watch, dir.path(), "src/deep/er/d.rs");
        fs::write(dir.path().join(".gitignore"), "").unwrap();
        everything_then(&mut watch, dir.path(), "out/made.rs");
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let dir = tree();
        let mut watch = start(dir.path());
        watch.stopper().stop();
        assert_eq!(watch.wait(), None);
    }
}
