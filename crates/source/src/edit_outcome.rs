//! Finds out whether edits were reverted, so that the files are as before.
//!
//! Learning asks this about the edits of a session, some time after it. Three states of each file
//! are compared: before the session, in HEAD, and in the working tree. Git selects commits by time:
//! `--min-age=T` means before `T`, `--max-age=T` after it.

use crate::git;
use crate::project_place::ProjectPlace;

/// Limits the commits whose subjects are searched for a revert.
const MAX_SUBJECTS_FLAG: &str = "--max-count=50";

/// Edits that were reverted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedEdits {
    /// Subject of a commit that announces the revert.
    pub revert_subject: Option<String>,
}

/// Returns the revert of a session that edited `files` from `since` until `until` (in seconds): all
/// of them are again as they were before it, in HEAD and in the working tree, although there are
/// commits after it, and no other branch, remote branch or stash has changed them. `None` if that is
/// not so, or if it cannot be known.
pub fn find_reverted_edits(
    place: &ProjectPlace,
    files: &[&str],
    since: i64,
    until: i64,
) -> Option<RevertedEdits> {
    let git_dir = place.git_dir.as_deref()?;
    if files.is_empty() {
        return None;
    }
    // The last commit before the edits.
    let before = git::run_git(
        git_dir,
        &["rev-list", "-n", "1", &format!("--min-age={since}"), "HEAD", "--"],
    )?;
    let before = Some(before.trim()).filter(|it| !it.is_empty())?;
    let later_flag = format!("--max-age={until}");
    // Without later commits the edits may just not be committed yet.
    let later_commit = git::run_git(git_dir, &["rev-list", "-n", "1", &later_flag, "HEAD", "--"])?;
    if later_commit.trim().is_empty() {
        return None;
    }
    for file in files {
        let old_text = file_at_commit(git_dir, before, file);
        let new_text = match std::fs::read(place.root.join(file)) {
            // Git gives texts only, so the states of a binary file cannot be compared.
            Ok(bytes) => Some(String::from_utf8(bytes).ok()?),
            Err(_) => None,
        };
        // One file that differs is enough: the edits still have an effect. A file that did not
        // exist before must be missing again.
        if file_at_commit(git_dir, "HEAD", file) != old_text || new_text != old_text {
            return None;
        }
    }
    if is_changed_elsewhere(git_dir, files, since) {
        return None;
    }
    let subjects = git::run_git(
        git_dir,
        &["log", MAX_SUBJECTS_FLAG, &later_flag, "--format=%s", "HEAD", "--"],
    );
    let announces_revert = |it: &&str| it.to_ascii_lowercase().starts_with("revert");
    let revert_subject =
        subjects.as_deref().and_then(|it| it.lines().find(announces_revert)).map(str::to_owned);
    Some(RevertedEdits { revert_subject })
}

/// Returns whether a commit since then that HEAD does not reach touches one of the files: the work of the
/// session may be on another branch. An answer that git cannot give counts as one.
fn is_changed_elsewhere(git_dir: &std::path::Path, files: &[&str], since: i64) -> bool {
    let newer_flag = format!("--max-age={since}");
    // Paths are literal: a name may hold a wildcard.
    let mut args = vec!["--literal-pathspecs", "rev-list", "-n", "1", &newer_flag, "--all"];
    args.extend(["^HEAD", "--"]);
    args.extend(files);
    git::run_git(git_dir, &args).is_none_or(|it| !it.trim().is_empty())
}

/// Content of a file in a commit; `None` if it is missing or not UTF-8.
fn file_at_commit(git_dir: &std::path::Path, commit: &str, file: &str) -> Option<String> {
    git::run_git(git_dir, &["cat-file", "blob", &format!("{commit}:{file}")])
}
