//! The history of a repository as a list of commits over file ids.
//!
//! `source` reads the git log, `engine` adds the commits here oldest first, and the store keeps the
//! result. A file has an id of its own, so a rename changes one path and no commit:
//!
//! ```text
//! commit 1 creates a and b    ids: a = 0, b = 1       commit 1: files 0, 1
//! commit 2 renames a to c     ids: c = 0 (was a)      commit 2: file 0
//! ```
//!
//! Of a commit's subject only the hashes of its keywords are stored: enough to compare subjects, and
//! the text stays out of the database.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use model::hasher::{FastBuildHasher, FastHasher};
use model::words;

/// Largest number of files in a commit that is recorded. A larger one (formatting, licence
/// headers, mass moves) does not show which files belong together; only its renames count.
const MAX_COMMIT_FILES: usize = 50;

/// Id of a file in a [`CommitHistory`]: its index there, stable across renames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryFileId(pub u32);

impl HistoryFileId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A file as a commit changed it.
#[derive(Clone, Copy, Debug)]
pub struct TouchedFile<'a> {
    pub path: &'a str,
    /// The path before the commit, if the commit renamed the file, or the path it was copied from.
    pub old_path: Option<&'a str>,
    /// The commit created the file; a copy is new as well.
    pub is_new: bool,
}

/// A commit as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    /// Seconds since the Unix epoch.
    pub committed_at: i64,
    /// Hashes of the keywords of its subject, sorted.
    pub word_hashes: Vec<u32>,
    /// Sorted.
    pub files: Vec<HistoryFileId>,
}

/// A path that a file has or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPath {
    pub path: String,
    pub file: HistoryFileId,
    /// The path is the file's present one, not an earlier one.
    pub is_current: bool,
}

/// The recorded commits of a repository, oldest first, and the paths of their files.
#[derive(Clone, Debug, Default)]
pub struct CommitHistory {
    /// The present path of each file, by id; `None` after another file was renamed to that path.
    current_paths: Vec<Option<Box<str>>>,
    /// The file of every present and earlier path.
    by_path: HashMap<Box<str>, HistoryFileId, FastBuildHasher>,
    pub commits: Vec<CommitRecord>,
}

impl CommitHistory {
    /// Rebuilds a history from its stored parts.
    pub fn restore(known_paths: Vec<KnownPath>, commits: Vec<CommitRecord>) -> Self {
        let mut history = Self { commits, ..Self::default() };
        for known in known_paths {
            let index = known.file.index();
            if index >= history.current_paths.len() {
                history.current_paths.resize(index + 1, None);
            }
            if known.is_current {
                history.current_paths[index] = Some(known.path.as_str().into());
            }
            history.by_path.insert(known.path.into(), known.file);
        }
        // Damaged rows may hold ids without a path. Dropping them here keeps every later lookup in
        // bounds.
        let n_files = history.current_paths.len();
        for commit in &mut history.commits {
            commit.files.retain(|it| it.index() < n_files);
        }
        history
    }

    /// Every present and earlier path, sorted.
    pub fn known_paths(&self) -> Vec<KnownPath> {
        let mut known_paths: Vec<KnownPath> =
            self.by_path.iter().map(|(path, file)| self.known_path(path, *file)).collect();
        known_paths.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        known_paths
    }

    fn known_path(&self, path: &str, file: HistoryFileId) -> KnownPath {
        let is_current = self.current_path(file) == Some(path);
        KnownPath { path: path.to_owned(), file, is_current }
    }

    /// The present path of a file; `None` if another file took it over.
    pub fn current_path(&self, file: HistoryFileId) -> Option<&str> {
        self.current_paths.get(file.index())?.as_deref()
    }

    /// The file whose present path this is; `None` for an earlier path of a file.
    pub fn find_file(&self, path: &str) -> Option<HistoryFileId> {
        self.by_path.get(path).copied().filter(|it| self.current_path(*it) == Some(path))
    }

    pub fn n_files(&self) -> usize {
        self.current_paths.len()
    }

    /// Time of the newest commit, in seconds since the Unix epoch. Ages are counted from it, so
    /// that a repository without recent commits still ranks its files.
    pub fn newest_commit_at(&self) -> i64 {
        self.commits.iter().map(|it| it.committed_at).max().unwrap_or(0)
    }

    /// Adds the next commit.
    pub fn add_commit(&mut self, committed_at: i64, subject: &str, touched: &[TouchedFile<'_>]) {
        // All old paths are resolved before any file gets its new path. Otherwise a commit that
        // swaps two paths would give both files the same id.
        let mut renamed_files: Vec<Option<HistoryFileId>> = Vec::new();
        for touched_file in touched {
            // A copy has an old path too, but that is another file, which stays.
            let renamed_from = if touched_file.is_new { None } else { touched_file.old_path };
            renamed_files.push(renamed_from.map(|it| self.resolve_path(it)));
        }

        let mut files: Vec<HistoryFileId> = Vec::new();
        for (touched_file, renamed_file) in touched.iter().zip(renamed_files) {
            let path = touched_file.path;
            files.push(match renamed_file {
                Some(file) => self.rename_file(file, path),
                None if touched_file.is_new => self.add_created_file(path),
                None => self.resolve_path(path),
            });
        }

        // The paths above are up to date in any case; only the commit itself is left out.
        if files.is_empty() || files.len() > MAX_COMMIT_FILES {
            return;
        }
        files.sort_unstable();
        files.dedup();
        let word_hashes = hash_keywords(subject);
        self.commits.push(CommitRecord { committed_at, word_hashes, files });
    }

    /// The file that has or had a path, else a new one. Earlier paths count because a commit on a
    /// branch may still use the path from before a rename on another branch.
    fn resolve_path(&mut self, path: &str) -> HistoryFileId {
        match self.by_path.get(path) {
            Some(file) => *file,
            None => self.allocate_file(path),
        }
    }

    /// The file of a path that a commit creates. A deleted file that comes back keeps its id. If
    /// the path is an earlier one of a renamed file, that file still exists and this is another one.
    fn add_created_file(&mut self, path: &str) -> HistoryFileId {
        match self.find_file(path) {
            Some(file) => file,
            None => self.allocate_file(path),
        }
    }

    fn allocate_file(&mut self, path: &str) -> HistoryFileId {
        let id = u32::try_from(self.current_paths.len());
        let file = HistoryFileId(id.expect("a repository has fewer than 2^32 files"));
        self.current_paths.push(Some(path.into()));
        self.by_path.insert(path.into(), file);
        file
    }

    /// Moves a file to a new path. A file that had this path loses it.
    fn rename_file(&mut self, file: HistoryFileId, new_path: &str) -> HistoryFileId {
        if let Some(other) = self.find_file(new_path).filter(|it| *it != file) {
            self.current_paths[other.index()] = None;
        }
        self.current_paths[file.index()] = Some(new_path.into());
        self.by_path.insert(new_path.into(), file);
        file
    }
}

/// Hashes of the keywords of a text, sorted. They are stored, so the hash must stay as it is.
pub fn hash_keywords(text: &str) -> Vec<u32> {
    let hash = |keyword: &String| {
        let mut hasher = FastHasher::default();
        keyword.hash(&mut hasher);
        // 64 bits become 32: the upper half is mixed into the lower one, which is kept.
        let wide = hasher.finish();
        u32::try_from((wide ^ (wide >> 32)) & u64::from(u32::MAX)).unwrap_or_default()
    };
    let mut hashes: Vec<u32> = words::query_keywords(text).iter().map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history from one line per commit: `+created changed old>new`.
    fn history(lines: &[&str]) -> CommitHistory {
        let mut history = CommitHistory::default();
        replay(&mut history, lines);
        history
    }

    /// Adds commits in the notation of [`history`].
    fn replay(acc: &mut CommitHistory, lines: &[&str]) {
        for (committed_at, line) in (0..).zip(lines) {
            let files: Vec<TouchedFile<'_>> = line.split(' ').map(parse_touched_file).collect();
            acc.add_commit(committed_at, "a change", &files);
        }
    }

    /// One word of the notation: `+created`, `old>new` or `changed`.
    fn parse_touched_file(word: &str) -> TouchedFile<'_> {
        if let Some(path) = word.strip_prefix('+') {
            TouchedFile { path, old_path: None, is_new: true }
        } else if let Some((old_path, path)) = word.split_once('>') {
            TouchedFile { path, old_path: Some(old_path), is_new: false }
        } else {
            TouchedFile { path: word, old_path: None, is_new: false }
        }
    }

    /// One line per commit: the present paths of its files, in the order in which the history first
    /// saw the files (the order of their ids).
    fn commit_paths(history: &CommitHistory) -> Vec<String> {
        let mut lines = Vec::new();
        for commit in &history.commits {
            let paths: Vec<&str> =
                commit.files.iter().map(|it| history.current_path(*it).unwrap_or("?")).collect();
            lines.push(paths.join(" "));
        }
        lines
    }

    #[test]
    fn a_renamed_file_keeps_its_commits() {
        let history = history(&["+a +b", "a b", "a>c", "c b"]);
        assert_eq!(commit_paths(&history), ["c b", "c b", "c", "c b"]);
        assert!(history.find_file("a").is_none());
        assert!(history.find_file("c").is_some());
    }

    #[test]
    fn a_branch_that_uses_the_path_from_before_a_rename_means_the_same_file() {
        assert_eq!(commit_paths(&history(&["+a +b", "a>c", "a b"])), ["c b", "c", "c b"]);
    }

    #[test]
    fn a_new_file_under_an_earlier_path_is_another_file() {
        let history = history(&["+a", "a>c", "+a", "a c"]);
        assert_eq!(commit_paths(&history), ["c", "c", "a", "c a"]);
    }

    #[test]
    fn a_restored_history_continues_like_the_original() {
        // The fourth commit moves the second `a` away and `b` to its path.
        let lines = ["+a +b", "a>c", "+a c", "b>a a>d", "d a c"];
        let expected = ["c a", "c", "c d", "a d", "c a d"];
        // Stored and restored after any number of commits, the result is the same.
        for n_before in 0..lines.len() {
            let before = history(&lines[..n_before]);
            let mut restored = CommitHistory::restore(before.known_paths(), before.commits);
            replay(&mut restored, &lines[n_before..]);
            assert_eq!(commit_paths(&restored), expected, "restored after {n_before} commits");
        }
    }

    #[test]
    fn of_a_commit_with_many_files_only_the_renames_count() {
        let many: Vec<String> = (0..60).map(|it| format!("+f{it}")).collect();
        let history = history(&["+a", &format!("{} a>b", many.join(" ")), "b"]);
        assert_eq!(commit_paths(&history), ["b", "b"]);
    }
}
