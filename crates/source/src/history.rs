//! What has happened in git since: which branches are not merged yet, and which files changed how much.
//!
//! Both are questions about history, so git itself answers them; where it cannot, nothing is known.

use crate::git;
use crate::place::Place;

/// What became of one file between a commit and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path now, relative to the root of the repository.
    pub path: String,
    /// Its path then, when it was another.
    pub before: Option<String>,
    pub added: u32,
    pub removed: u32,
}

/// The local branches whose last commit is not part of what is checked out.
pub fn unmerged(place: &Place) -> Option<Vec<String>> {
    let args = ["for-each-ref", "--no-merged=HEAD", "--format=%(refname:lstrip=2)", "refs/heads"];
    let text = git::ask(place.git_dir.as_deref()?, &args)?;
    Some(text.lines().map(str::to_owned).collect())
}

/// Whether a commit is part of what is checked out; not where git does not know.
pub fn is_part_of_head(place: &Place, commit: &str) -> bool {
    let is_id = !commit.is_empty() && commit.bytes().all(|it| it.is_ascii_hexdigit());
    let Some(git_dir) = place.git_dir.as_deref().filter(|_| is_id) else { return false };
    let range = format!("{commit}^{{commit}}");
    let ask = git::ask(git_dir, &["rev-list", "-n", "1", &range, "^HEAD", "--"]);
    ask.is_some_and(|it| it.trim().is_empty())
}

/// The tree without files, which every repository knows.
const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The files that differ in the history of HEAD between two moments (in seconds): what was committed then
/// and not taken back. `None` where there is no history to ask.
pub fn committed(place: &Place, since: i64, until: i64) -> Option<Vec<String>> {
    let git_dir = place.git_dir.as_deref()?;
    let at = |moment: i64| {
        let age = format!("--min-age={moment}");
        let text = git::ask(git_dir, &["rev-list", "-n", "1", &age, "HEAD", "--"])?;
        Some(text.trim().to_owned()).filter(|it| !it.is_empty())
    };
    let (from, to) = (at(since).unwrap_or_else(|| NOTHING.to_owned()), at(until)?);
    changed_files(git_dir, &from, &to)
}

/// The files that git follows, as they are in HEAD.
pub fn tracked(place: &Place) -> Option<Vec<String>> {
    let args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"];
    let text = git::ask(place.git_dir.as_deref()?, &args)?;
    Some(text.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

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
    let text = git::ask(git_dir, &args)?;
    Some(text.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

/// The files that differ between `commit` and what is checked out, renames followed. A file without
/// lines, such as an image, counts as wholly changed. `None`: not known, for example because the
/// commit is not here.
pub fn changes(place: &Place, commit: &str) -> Option<Vec<FileChange>> {
    if !crate::fingerprint::is_object_id(commit) {
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
    Some(read(&git::ask(place.git_dir.as_deref()?, &args)?))
}

/// Reads `added TAB removed TAB path NUL`, or with an empty path `before NUL path NUL` after it.
fn read(text: &str) -> Vec<FileChange> {
    let mut res = Vec::new();
    let mut fields = text.split('\0');
    while let Some(field) = fields.next().filter(|it| !it.is_empty()) {
        let mut columns = field.splitn(3, '\t');
        let mut number = || columns.next().map_or(0, |it| it.parse().unwrap_or(u32::MAX));
        let (added, removed) = (number(), number());
        let Some(path) = columns.next() else { break };
        let (before, path) = if path.is_empty() {
            (fields.next(), fields.next().unwrap_or_default())
        } else {
            (None, path)
        };
        let before = before.map(str::to_owned);
        res.push(FileChange { path: path.to_owned(), before, added, removed });
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_renamed_and_binary_files_are_read() {
        let change = |path: &str, before: Option<&str>, added, removed| FileChange {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            added,
            removed,
        };
        let text = "3\t1\tsrc/a b.rs\0\x31\t0\t\0old.rs\0new.rs\0-\t-\tlogo.png\0";
        let expected = [
            change("src/a b.rs", None, 3, 1),
            change("new.rs", Some("old.rs"), 1, 0),
            change("logo.png", None, u32::MAX, u32::MAX),
        ];
        assert_eq!(read(text), expected);
        assert_eq!(read(""), []);
        assert_eq!(read("nonsense"), []);
    }
}
