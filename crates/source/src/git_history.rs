//! Questions about the git history: unmerged branches, ancestry, and changed files.
//!
//! Git itself answers them. `None` means that it cannot, so nothing is known.

use std::time::{Duration, SystemTime};

use crate::git;
use crate::project_place::ProjectPlace;

/// Id of the empty tree in SHA-1 repositories, which every one of them knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Time limit for finding renames.
const RENAME_TIMEOUT: Duration = Duration::from_millis(300);
/// Limit on new and deleted files, above which only unchanged renames are found.
const RENAME_LIMIT_FLAG: &str = "-l200";

/// The change of one file between a commit and HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Path in HEAD, relative to the root of the repository.
    pub path: String,
    /// Path in the commit, if it was another.
    pub before: Option<String>,
    pub added: u32,
    pub removed: u32,
}

/// Local branches whose last commit is not an ancestor of HEAD.
pub fn unmerged_branches(place: &ProjectPlace) -> Option<Vec<String>> {
    let args = ["for-each-ref", "--no-merged=HEAD", "--format=%(refname:lstrip=2)", "refs/heads"];
    let text = git::run_git(place.git_dir.as_deref()?, &args)?;
    Some(text.lines().map(str::to_owned).collect())
}

/// True if a commit is an ancestor of HEAD; false if git does not know it.
pub fn is_ancestor_of_head(place: &ProjectPlace, commit: &str) -> bool {
    let is_id = !commit.is_empty() && commit.bytes().all(|it| it.is_ascii_hexdigit());
    let Some(git_dir) = place.git_dir.as_deref().filter(|_| is_id) else { return false };
    // `^{commit}` refuses ids of other objects.
    let commit = format!("{commit}^{{commit}}");
    // An ancestor reaches no commit that HEAD does not reach.
    let not_in_head = git::run_git(git_dir, &["rev-list", "-n", "1", &commit, "^HEAD", "--"]);
    not_in_head.is_some_and(|it| it.trim().is_empty())
}

/// Files that differ between HEAD's history at two times (in seconds): those committed in between
/// and not reverted.
pub fn committed_files(place: &ProjectPlace, since: i64, until: i64) -> Option<Vec<String>> {
    let git_dir = place.git_dir.as_deref()?;
    // The last commit before a time.
    let commit_at = |time: i64| {
        let age = format!("--min-age={time}");
        let text = git::run_git(git_dir, &["rev-list", "-n", "1", &age, "HEAD", "--"])?;
        Some(text.trim().to_owned()).filter(|it| !it.is_empty())
    };
    // Before the first commit the tree was empty.
    let from = commit_at(since).unwrap_or_else(|| EMPTY_TREE.to_owned());
    let to = commit_at(until)?;
    changed_files(git_dir, &from, &to)
}

/// Files that git tracks in HEAD.
pub fn tracked_files(place: &ProjectPlace) -> Option<Vec<String>> {
    let args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"];
    let text = git::run_git(place.git_dir.as_deref()?, &args)?;
    Some(text.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

/// True if the default branch has all of these files: the branch of the remote's HEAD, else `main` or
/// `master`, else the one that is checked out.
pub fn are_on_default_branch(place: &ProjectPlace, paths: &[&str]) -> bool {
    const DEFAULT_BRANCHES: [&str; 3] =
        ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"];
    let Some(git_dir) = place.git_dir.as_deref() else { return false };
    let mut args = vec!["for-each-ref", "--format=%(refname)"];
    args.extend(DEFAULT_BRANCHES);
    let existing = git::run_git(git_dir, &args).unwrap_or_default();
    let is_existing = |it: &&&str| existing.lines().any(|line| line == **it);
    let branch = DEFAULT_BRANCHES.iter().find(is_existing).copied().unwrap_or("HEAD");
    // Paths are literal: a name may hold a wildcard.
    let mut args =
        vec!["--literal-pathspecs", "ls-tree", "-z", "--name-only", "--full-tree", branch, "--"];
    args.extend(paths);
    let found = git::run_git(git_dir, &args).unwrap_or_default();
    paths.iter().all(|path| found.split('\0').any(|it| it == *path))
}

/// Files that differ between two trees.
fn changed_files(git_dir: &std::path::Path, from: &str, to: &str) -> Option<Vec<String>> {
    let args = [
        "diff-tree",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        from,
        to,
        "--",
    ];
    let text = git::run_git(git_dir, &args)?;
    Some(text.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

/// Files that differ between `commit` and HEAD, with renames followed. A file without lines, such
/// as an image, counts as wholly changed. `None` if the commit is missing.
pub fn changes_since(place: &ProjectPlace, commit: &str) -> Option<Vec<FileChange>> {
    if !crate::repository_fingerprint::is_object_id(commit) {
        return None;
    }
    let args = [
        "diff-tree",
        "-r",
        "-M",
        "-z",
        "--numstat",
        "--no-ext-diff",
        "--no-textconv",
        commit,
        "HEAD",
        "--",
    ];
    Some(parse_numstat(&git::run_git(place.git_dir.as_deref()?, &args)?))
}

/// Files that were renamed between `commit` and the index, so that a `git mv` counts before it is committed:
/// path before, path now. Hooks wait for it, so it has less time than other commands and reads no lines.
/// `None` if the commit is missing or git is too slow.
pub fn renames_since(place: &ProjectPlace, commit: &str) -> Option<Vec<(String, String)>> {
    if !crate::repository_fingerprint::is_object_id(commit) {
        return None;
    }
    let args = [
        "diff-index",
        "--cached",
        "-M",
        RENAME_LIMIT_FLAG,
        "-z",
        "--name-status",
        "--diff-filter=R",
        "--no-ext-diff",
        "--no-textconv",
        commit,
        "--",
    ];
    let text = git::run_git_within(place.git_dir.as_deref()?, &args, RENAME_TIMEOUT)?;
    let mut fields = text.split('\0');
    let mut acc = Vec::new();
    // `R090 NUL before NUL now NUL`.
    while let (Some(_), Some(before), Some(now)) = (fields.next(), fields.next(), fields.next()) {
        acc.push((before.to_owned(), now.to_owned()));
    }
    Some(acc)
}

/// The state of the index that [`renames_since`] compares with: the size and the modification time of its file.
/// `None` outside a repository, or without an index.
pub fn index_stamp(place: &ProjectPlace) -> Option<(u64, SystemTime)> {
    let index = std::fs::metadata(place.git_dir.as_deref()?.join("index")).ok()?;
    Some((index.len(), index.modified().ok()?))
}

/// Parses `--numstat -z`: `added TAB removed TAB path NUL`; for a rename the path is empty and
/// `before NUL path NUL` follows.
fn parse_numstat(text: &str) -> Vec<FileChange> {
    let mut acc = Vec::new();
    let mut fields = text.split('\0');
    while let Some(field) = fields.next().filter(|it| !it.is_empty()) {
        let mut columns = field.splitn(3, '\t');
        // Binary files have `-` instead of a number.
        let mut number = || columns.next().map_or(0, |it| it.parse().unwrap_or(u32::MAX));
        let (added, removed) = (number(), number());
        // Not the format of git: nothing after it can be trusted.
        let Some(path) = columns.next() else { break };
        let (before, path) = if path.is_empty() {
            (fields.next(), fields.next().unwrap_or_default())
        } else {
            (None, path)
        };
        let before = before.map(str::to_owned);
        acc.push(FileChange { path: path.to_owned(), before, added, removed });
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_renamed_and_binary_files_are_parsed() {
        let change = |path: &str, before: Option<&str>, added, removed| FileChange {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            added,
            removed,
        };
        // A plain file, a renamed one (`\x31` is `1`; `\01` would be an octal escape), a binary
        // one.
        let text = "3\t1\tsrc/a b.rs\0\x31\t0\t\0old.rs\0new.rs\0-\t-\tlogo.png\0";
        let expected = [
            change("src/a b.rs", None, 3, 1),
            change("new.rs", Some("old.rs"), 1, 0),
            change("logo.png", None, u32::MAX, u32::MAX),
        ];
        assert_eq!(parse_numstat(text), expected);
        assert_eq!(parse_numstat(""), []);
        assert_eq!(parse_numstat("nonsense"), []);
    }
}
