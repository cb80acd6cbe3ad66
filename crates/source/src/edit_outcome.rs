//! The outcome of edits: were they reverted, so that the files are as before?

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

/// Tests if these files are, in HEAD and in the working tree, as they were before `since`, although
/// work continued after `until` (both in seconds). `None` if they are not, or if it cannot be
/// known.
pub fn find_reverted_edits(
    place: &ProjectPlace,
    files: &[&str],
    since: i64,
    until: i64,
) -> Option<RevertedEdits> {
    let git_dir = place.git_dir.as_deref()?;
    let before = git::run_git(
        git_dir,
        &["rev-list", "-n", "1", &format!("--min-age={since}"), "HEAD", "--"],
    )?;
    let before = Some(before.trim()).filter(|it| !it.is_empty())?;
    let later_flag = format!("--max-age={until}");
    // Without later commits the edits may just not be committed yet.
    let later_commit = git::run_git(git_dir, &["rev-list", "-n", "1", &later_flag, "HEAD", "--"])?;
    if later_commit.trim().is_empty() || files.is_empty() {
        return None;
    }
    for file in files {
        let then = file_at_commit(git_dir, before, file);
        let now = std::fs::read_to_string(place.root.join(file)).ok();
        if file_at_commit(git_dir, "HEAD", file) != then || now != then {
            return None;
        }
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

/// Content of a file in a commit; `None` if it is missing or no text.
fn file_at_commit(git_dir: &std::path::Path, commit: &str, file: &str) -> Option<String> {
    git::run_git(git_dir, &["cat-file", "blob", &format!("{commit}:{file}")])
}
