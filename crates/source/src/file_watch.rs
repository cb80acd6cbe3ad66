//! Watches a project and reports the files that may have changed, gathered until the changes pause.
//!
//! It reports what to read again, never what happened: events of the system come late, twice and
//! out of order. It watches the folders that a walk of the project enters (see `file_walk`), and
//! the files in which git records the checked-out commit.
//!
//! | Change                                          | Report after a pause of 500 ms              |
//! |-------------------------------------------------|---------------------------------------------|
//! | wanted files were written, created or deleted   | `Files` with their paths                    |
//! | another commit was checked out, no file changed | `Files` without paths                       |
//! | a folder or an ignore rule changed              | `Everything`; all watches are set up again  |
//! | the system lost events                          | `Everything`; all watches are set up again  |
//! | a file in an ignored folder changed             | none                                        |
//!
//! If the system cannot watch, `Everything` is reported in intervals (*polling*).

mod checkout;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{
    ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, WatcherKind,
};

use checkout::CheckoutWatch;

use crate::file_walk;
use crate::project_place::ProjectPlace;

/// Time without changes after which the gathered ones are reported.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// Longest time for which changes are gathered if they do not pause.
const MAX_GATHER_TIME: Duration = Duration::from_secs(5);
/// Interval of a full report if the system cannot watch.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Most files gathered; with more a full walk is cheaper.
const MAX_GATHERED_FILES: usize = 1000;

// Error numbers of the system, which are the same on Linux and macOS.
/// Too many open files in the whole system.
const ERROR_ENFILE: i32 = 23;
/// Too many open files in this process.
const ERROR_EMFILE: i32 = 24;
/// No space on a device; from inotify, no more watches.
const ERROR_ENOSPC: i32 = 28;

/// The files to read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedFiles {
    /// These files, by their paths relative to the root; some may be deleted. Empty if only another
    /// commit was checked out.
    Files(BTreeSet<String>),
    Everything,
}

/// Watches one project.
pub struct FileWatcher {
    root: PathBuf,
    is_wanted: fn(&str) -> bool,
    messages: Receiver<WatchMessage>,
    sender: Sender<WatchMessage>,
    /// `None` if the system cannot watch, so that everything is reported in intervals.
    watcher: Option<RecommendedWatcher>,
    /// Number of the current watcher; messages of earlier ones are dropped.
    round: u64,
    /// Folders of the project that are watched, each without its subfolders.
    folders: HashSet<PathBuf>,
    checkout: CheckoutWatch,
    /// Error of the system, if it cannot watch.
    polling_reason: Option<String>,
}

/// Stops a watcher from another thread.
#[derive(Clone)]
pub struct WatchStopper(Sender<WatchMessage>);

impl WatchStopper {
    pub fn stop(&self) {
        // The watcher may have ended already.
        let _ = self.0.send(WatchMessage::Stop);
    }
}

/// A message to the thread that waits for changes.
enum WatchMessage {
    /// Number of the watcher, and its event.
    Event(u64, notify::Result<Event>),
    Stop,
}

impl FileWatcher {
    /// Starts to watch the files whose paths are wanted. Only changes from now on are reported.
    pub fn start(place: &ProjectPlace, is_wanted: fn(&str) -> bool) -> Self {
        let (sender, messages) = mpsc::channel();
        let mut watcher = Self {
            root: place.root.clone(),
            is_wanted,
            messages,
            sender,
            watcher: None,
            round: 0,
            folders: HashSet::new(),
            checkout: CheckoutWatch::new(place),
            polling_reason: None,
        };
        watcher.watch_folders();
        watcher
    }

    /// The reason why the system cannot watch; everything is then reported every few seconds.
    pub fn polling_reason(&self) -> Option<&str> {
        self.polling_reason.as_deref()
    }

    pub fn stopper(&self) -> WatchStopper {
        WatchStopper(self.sender.clone())
    }

    /// Waits for changes and for the pause after them; `None` once stopped. Blocks.
    pub fn wait_for_changes(&mut self) -> Option<ChangedFiles> {
        loop {
            let gathered = self.gather_changes()?;
            if gathered.everything || gathered.files.len() > MAX_GATHERED_FILES {
                // Once the system has refused to watch, it is not tried again.
                if self.watcher.is_some() {
                    self.watch_folders();
                }
                // The report covers a new commit as well, so whether there is one does not matter.
                self.checkout.update_commit();
                return Some(ChangedFiles::Everything);
            }
            if gathered.checkout {
                // The watches are renewed before the commit is read, so that no later commit is
                // missed.
                self.watch_checkout();
            }
            let is_new_commit = gathered.checkout && self.checkout.update_commit();
            if is_new_commit || !gathered.files.is_empty() {
                return Some(ChangedFiles::Files(gathered.files));
            }
            // Git wrote its files, but the commit is the same: the wait goes on.
        }
    }

    /// Gathers changes until they pause; `None` once stopped.
    fn gather_changes(&mut self) -> Option<GatheredChanges> {
        let mut gathered = GatheredChanges::default();
        loop {
            match self.receive(&gathered) {
                Ok(WatchMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(WatchMessage::Event(round, event)) if round == self.round => {
                    self.add_event(&mut gathered, event);
                }
                // An event of an earlier watcher.
                Ok(WatchMessage::Event(..)) => {}
                // The polling interval is over. (With watches, the wait for the first change has
                // no limit.)
                Err(RecvTimeoutError::Timeout) if gathered.is_empty() => {
                    gathered.add_everything();
                    return Some(gathered);
                }
                // The changes pause.
                Err(RecvTimeoutError::Timeout) => return Some(gathered),
            }
            if gathered.is_overdue() {
                return Some(gathered);
            }
        }
    }

    /// Waits for the next message: before the first change without a limit, or for the polling
    /// interval if the system cannot watch; afterwards until the changes pause.
    fn receive(&self, gathered: &GatheredChanges) -> Result<WatchMessage, RecvTimeoutError> {
        if !gathered.is_empty() {
            return self.messages.recv_timeout(QUIET_TIME);
        }
        if self.watcher.is_none() {
            return self.messages.recv_timeout(POLL_INTERVAL);
        }
        self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Adds the changes that an event of the system means.
    fn add_event(&self, acc: &mut GatheredChanges, event: notify::Result<Event>) {
        // What an error of the watcher hides is unknown.
        let Ok(event) = event else { return acc.add_everything() };
        // The queue of the kernel overflowed, so events were lost.
        if event.need_rescan() {
            return acc.add_everything();
        }
        // Of the accesses only the end of writing is a change.
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        if event.kind.is_access() && event.kind != written {
            return;
        }
        for path in &event.paths {
            self.add_path(acc, path);
        }
    }

    /// Adds a changed path as a file, as a possible new commit, or as a change of everything.
    fn add_path(&self, acc: &mut GatheredChanges, path: &Path) {
        // A file of git, such as `.git/HEAD`.
        if self.checkout.is_concerned(path) {
            return acc.add_checkout();
        }
        // A watched folder itself was moved or deleted.
        if self.folders.contains(path) {
            return acc.add_everything();
        }
        // In a folder that no walk enters, such as `target`.
        let is_in_watched_folder = path.parent().is_some_and(|it| self.folders.contains(it));
        if !is_in_watched_folder {
            return;
        }
        // New ignore rules change the result of a walk, and so does a new folder.
        let name = path.file_name().and_then(|it| it.to_str());
        if name.is_some_and(|it| file_walk::IGNORE_FILES.contains(&it)) {
            return acc.add_everything();
        }
        if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            return acc.add_everything();
        }
        // A file, by its path relative to the root. A name that is no UTF-8 is never wanted.
        let rel = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Option<Vec<&str>> = rel.components().map(|it| it.as_os_str().to_str()).collect();
        let Some(parts) = parts else { return };
        let path = parts.join("/");
        if (self.is_wanted)(&path) {
            acc.add_file(path);
        }
    }

    /// Replaces the watcher by a new one for all existing folders.
    fn watch_folders(&mut self) {
        // Events of the old watcher may still be queued; their number tells them apart.
        self.round += 1;
        self.folders.clear();
        (self.watcher, self.polling_reason) = match self.new_watcher() {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(describe_error(&error))),
        };
        self.checkout.folders.clear();
        self.watch_checkout();
    }

    /// Watches the folders in which git records the checked-out commit. If one cannot be watched,
    /// the commit is noticed with the next change of a file.
    fn watch_checkout(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted = self.checkout.folders_to_watch();
        for folder in self.checkout.folders.difference(&wanted) {
            // The folder may be deleted already.
            let _ = watcher.unwatch(folder);
        }
        // Known folders are watched again, because another one may have replaced them.
        let is_watched = |it: &PathBuf| watcher.watch(it, RecursiveMode::NonRecursive).is_ok();
        self.checkout.folders = wanted.into_iter().filter(is_watched).collect();
    }

    /// Starts a watcher for all folders that a walk enters.
    ///
    /// A folder may be created after its parent was listed and before the parent is watched; no
    /// event reports it. So the folders are listed again until there is no new one: from then on a
    /// new folder appears in one that is watched.
    fn new_watcher(&mut self) -> notify::Result<RecommendedWatcher> {
        let (round, sender) = (self.round, self.sender.clone());
        let mut watcher = notify::recommended_watcher(move |event| {
            // The receiver is gone once the watch has ended.
            let _ = sender.send(WatchMessage::Event(round, event));
        })?;
        // These systems watch single folders; the others watch a whole tree.
        let is_per_folder =
            matches!(RecommendedWatcher::kind(), WatcherKind::Inotify | WatcherKind::Kqueue);
        if !is_per_folder {
            watcher.watch(&self.root, RecursiveMode::Recursive)?;
        }
        loop {
            let n_known = self.folders.len();
            for folder in file_walk::walk_folders(&self.root) {
                if self.folders.contains(&folder) {
                    continue;
                }
                let result = if is_per_folder {
                    watcher.watch(&folder, RecursiveMode::NonRecursive)
                } else {
                    Ok(())
                };
                match result {
                    Ok(()) => _ = self.folders.insert(folder),
                    Err(error) if is_about_limit(&error) => return Err(error),
                    // Deleted meanwhile, or not readable.
                    Err(_) => {}
                }
            }
            if self.folders.len() == n_known {
                return Ok(watcher);
            }
        }
    }
}

/// Changes since the last report.
#[derive(Default)]
struct GatheredChanges {
    files: BTreeSet<String>,
    /// All files have to be read again.
    everything: bool,
    /// Another commit may be checked out.
    checkout: bool,
    /// Time of the first change; `None` before it.
    since: Option<Instant>,
}

#[expect(clippy::disallowed_methods, reason = "measures a span, not a time of day")]
impl GatheredChanges {
    fn add_file(&mut self, path: String) {
        self.files.insert(path);
        self.since.get_or_insert_with(Instant::now);
    }

    fn add_everything(&mut self) {
        self.everything = true;
        self.since.get_or_insert_with(Instant::now);
    }

    fn add_checkout(&mut self) {
        self.checkout = true;
        self.since.get_or_insert_with(Instant::now);
    }

    const fn is_empty(&self) -> bool {
        self.since.is_none()
    }

    /// True if changes have been coming for so long that they are reported without a pause.
    fn is_overdue(&self) -> bool {
        self.since.is_some_and(|it| it.elapsed() > MAX_GATHER_TIME)
    }
}

/// True if the system has no more watches or handles.
fn is_about_limit(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(it) => {
            matches!(it.raw_os_error(), Some(ERROR_ENFILE | ERROR_EMFILE | ERROR_ENOSPC))
        }
        _ => false,
    }
}

fn describe_error(error: &notify::Error) -> String {
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

    fn start(root: &Path) -> FileWatcher {
        let watcher = FileWatcher::start(&crate::locate_project(root, None).unwrap(), is_rust);
        assert_eq!(watcher.polling_reason(), None);
        watcher
    }

    /// All files reported up to `last`, in however many reports.
    fn reported_until(watch: &mut FileWatcher, last: &str) -> BTreeSet<String> {
        let mut acc = BTreeSet::new();
        while !acc.contains(last) {
            match watch.wait_for_changes() {
                Some(ChangedFiles::Files(files)) => acc.extend(files),
                other => panic!("{other:?}"),
            }
        }
        acc
    }

    /// Waits for a full report, then writes a file and waits until it is reported.
    fn expect_everything_then_file(watch: &mut FileWatcher, root: &Path, path: &str) {
        while watch.wait_for_changes() != Some(ChangedFiles::Everything) {}
        fs::write(root.join(path), "1").unwrap();
        loop {
            match watch.wait_for_changes() {
                Some(ChangedFiles::Files(files)) if files.contains(path) => return,
                Some(_) => {}
                None => panic!("the watcher ended"),
            }
        }
    }

    /// A project with a folder that is walked, one of third-party code and an ignored one.
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
    fn wanted_files_are_reported_and_skipped_ones_are_not() {
        let dir = tree();
        let mut watch = start(dir.path());
        for path in ["node_modules/x/i.rs", "out/made.rs", "src/notes.txt", "src/b.rs", "top.rs"] {
            fs::write(dir.path().join(path), "1").unwrap();
        }
        fs::remove_file(dir.path().join("src/a.rs")).unwrap();
        // The last change: once it is reported, so are all before it.
        fs::write(dir.path().join("z.rs"), "1").unwrap();
        let reported = reported_until(&mut watch, "z.rs");
        assert_eq!(Vec::from_iter(reported), ["src/a.rs", "src/b.rs", "top.rs", "z.rs"]);
    }

    #[test]
    fn new_folders_and_ignore_rules_cause_a_full_report() {
        let dir = tree();
        let mut watch = start(dir.path());
        fs::create_dir_all(dir.path().join("src/deep/er")).unwrap();
        expect_everything_then_file(&mut watch, dir.path(), "src/deep/er/c.rs");
        // Another folder takes the name of one that is watched.
        fs::rename(dir.path().join("src/deep"), dir.path().join("src/moved")).unwrap();
        fs::create_dir_all(dir.path().join("src/deep/er")).unwrap();
        expect_everything_then_file(&mut watch, dir.path(), "src/deep/er/d.rs");
        fs::write(dir.path().join(".gitignore"), "").unwrap();
        expect_everything_then_file(&mut watch, dir.path(), "out/made.rs");
    }

    #[test]
    fn a_stopped_watcher_ends() {
        let dir = tree();
        let mut watch = start(dir.path());
        watch.stopper().stop();
        assert_eq!(watch.wait_for_changes(), None);
    }
}
