//! The branch and commit that were checked out at a past time, from git's reflog (`logs/HEAD`).
//!
//! Git appends a line to this file whenever `HEAD` moves, so reading it answers for any time since the
//! clone without running git. Learning asks it about sessions that ended some time ago, whatever the
//! host recorded.
//!
//! ```text
//! OLD NEW Name <mail> 1794000000 +0000    checkout: moving from main to topic
//! ```

use crate::git_head::{GitHead, read_head};
use crate::project_place::ProjectPlace;
use crate::read;
use crate::repository_fingerprint::is_object_id;

/// Largest reflog that is read. Git drops entries after 90 days, so real ones are far smaller.
const MAX_REFLOG_BYTES: u64 = 16 * 1024 * 1024;

/// One move of `HEAD`.
struct HeadMove<'a> {
    commit: &'a str,
    /// In seconds.
    at: i64,
    message: &'a str,
}

/// Returns the head of a working tree at a time (in seconds); `None` if the reflog is missing or begins
/// later.
pub fn read_head_at(place: &ProjectPlace, at: i64) -> Option<GitHead> {
    let path = place.git_dir.as_deref()?.join("logs").join("HEAD");
    let text = read::read_lossy_text(&path, MAX_REFLOG_BYTES).ok()?;
    head_at(&text, at, read_head(place).branch)
}

/// Finds the head in the text of a reflog. `branch` is the branch that is checked out now.
fn head_at(reflog: &str, at: i64, branch: Option<String>) -> Option<GitHead> {
    let moves: Vec<HeadMove<'_>> = reflog.lines().filter_map(parse_move).collect();
    let last = moves.iter().rposition(|it| it.at <= at)?;
    // The reflog names a branch only when it is left, so the branch of a time is the one that the next
    // checkout leaves, or the present one. A renamed branch has its new name then, as in the repository.
    let next_checkout =
        moves[last + 1..].iter().find_map(|it| it.message.strip_prefix("checkout: moving from "));
    let branch = match next_checkout {
        // `moving from main to topic`; no branch name contains a space. A commit id: it was detached.
        Some(checkout) => {
            let left = checkout.split(' ').next().unwrap_or_default();
            Some(left.to_owned()).filter(|it| !it.is_empty() && !is_object_id(it))
        }
        None => branch,
    };
    Some(GitHead { branch, commit: Some(moves[last].commit.to_owned()) })
}

/// Parses one line; `None` if it is damaged.
fn parse_move(line: &str) -> Option<HeadMove<'_>> {
    // An entry may have no message.
    let (head, message) = line.split_once('\t').unwrap_or((line, ""));
    let commit = head.split(' ').nth(1).filter(|it| is_object_id(it))?;
    // The name may contain anything but `>`, so the time is found from the end of the mail address.
    let (_, time) = head.rsplit_once("> ")?;
    let at = time.split(' ').next()?.parse().ok()?;
    Some(HeadMove { commit, at, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID_A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const ID_B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    #[test]
    fn the_branch_and_commit_of_a_time_are_found() {
        let entry = |commit: &str, at: i64, message: &str| {
            format!("{ID_A} {commit} A. B <a@b> {at} +0100\t{message}\n")
        };
        let reflog = [
            entry(ID_A, 100, "commit (initial): a"),
            "damaged\n".to_owned(),
            entry(ID_A, 200, "checkout: moving from main to topic/x"),
            entry(ID_B, 300, "commit: b"),
            entry(ID_A, 400, &format!("checkout: moving from topic/x to {ID_A}")),
            entry(ID_A, 500, &format!("checkout: moving from {ID_A} to main")),
        ]
        .concat();
        let head = |at| head_at(&reflog, at, Some("main".to_owned()));
        let expected = |commit: &str, branch: Option<&str>| {
            Some(GitHead { branch: branch.map(str::to_owned), commit: Some(commit.to_owned()) })
        };
        assert_eq!(head(99), None);
        assert_eq!(head(150), expected(ID_A, Some("main")));
        assert_eq!(head(250), expected(ID_A, Some("topic/x")));
        assert_eq!(head(350), expected(ID_B, Some("topic/x")));
        assert_eq!(head(450), expected(ID_A, None));
        assert_eq!(head(550), expected(ID_A, Some("main")));
    }
}
