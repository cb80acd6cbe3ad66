//! What became of edits that nobody committed: are the files as they were before?

use crate::git;
use crate::place::Place;

/// Commits whose subjects are looked at.
const LOOKED_AT: &str = "--max-count=50";

/// How edits were taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The subject of the commit that says so.
    pub by: Option<String>,
}

/// Whether these files are, in HEAD and in the working tree, what they were before `since`, although
/// work went on after `until` (both in seconds). `None`: they are not, or nobody can tell.
pub fn taken_back(place: &Place, files: &[&str], since: i64, until: i64) -> Option<TakenBack> {
    let git_dir = place.git_dir.as_deref()?;
    let before =
        git::ask(git_dir, &["rev-list", "-n", "1", &format!("--min-age={since}"), "HEAD", "--"])?;
    let before = Some(before.trim()).filter(|it| !it.is_empty())?;
    let later = format!("--max-age={until}");
    let goes_on = git::ask(git_dir, &["rev-list", "-n", "1", &later, "HEAD", "--"])?;
    if goes_on.trim().is_empty() || files.is_empty() {
        return None;
    }
    for file in files {
        let then = content(git_dir, before, file);
        let now = std::fs::read_to_string(place.root.join(file)).ok();
        if content(git_dir, "HEAD", file) != then || now != then {
            return None;
        }
    }
    let subjects = git::ask(git_dir, &["log", LOOKED_AT, &later, "--format=%s", "HEAD", "--"]);
    let reverts = |it: &&str| it.to_ascii_lowercase().starts_with("revert");
    let by = subjects.as_deref().and_then(|it| it.lines().find(reverts)).map(str::to_owned);
    Some(TakenBack { by })
}

/// A file as it stood in a commit; `None` where it was not, or is no text.
fn content(git_dir: &std::path::Path, commit: &str, file: &str) -> Option<String> {
    git::ask(git_dir, &["cat-file", "blob", &format!("{commit}:{file}")])
}
