//! Reads the checked-out branch and commit from git's own files.
//!
//! That takes microseconds, so it can be done at every hook event. `HEAD` names a branch, the
//! branch is a small file with the commit id, or a line in `packed-refs`. Only the `reftable`
//! format is left to git itself.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::project_place::ProjectPlace;
use crate::repository_fingerprint::is_object_id;
use crate::{git, read};

/// The branch and commit of a working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitHead {
    /// Without `refs/heads/`; `None` if detached.
    pub branch: Option<String>,
    /// `None` before the first commit.
    pub commit: Option<String>,
}

/// Largest file of packed refs that is read; the largest known repositories have some ten
/// megabytes.
const MAX_PACKED_REFS_BYTES: u64 = 256 * 1024 * 1024;

/// Longest chain of refs that point to other refs; git has the same limit.
const MAX_SYMBOLIC_REFS: usize = 5;

/// Reads the head of a place; empty without git or with a damaged repository.
pub fn read_head(place: &ProjectPlace) -> GitHead {
    let Some(git_dir) = &place.git_dir else { return GitHead::default() };
    if place.key_dir.join("reftable").is_dir() {
        return head_by_git(git_dir);
    }
    match read_ref(&git_dir.join("HEAD")) {
        Some(RefValue::Commit(commit)) => GitHead { branch: None, commit: Some(commit) },
        Some(RefValue::Ref(name)) => {
            let commit = resolve_ref(git_dir, &place.key_dir, &name);
            GitHead { branch: Some(branch_name(&name)), commit }
        }
        None => GitHead::default(),
    }
}

/// The content of `HEAD` or a loose ref.
enum RefValue {
    Commit(String),
    Ref(String),
}

/// Reads one file; `None` if it is missing or malformed.
fn read_ref(path: &Path) -> Option<RefValue> {
    // In very old repositories `HEAD` is a symlink whose target is the name of the ref.
    if let Ok(target) = fs::read_link(path)
        && let Some(name) = target.to_str().filter(|it| is_ref_name(it))
    {
        return Some(RefValue::Ref(name.to_owned()));
    }
    let bytes = read::read_bytes(path, read::MAX_POINTER_BYTES).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?.trim();
    match text.strip_prefix("ref:") {
        Some(name) => {
            Some(name.trim()).filter(|it| is_ref_name(it)).map(|it| RefValue::Ref(it.to_owned()))
        }
        None => Some(text).filter(|it| is_object_id(it)).map(|it| RefValue::Commit(it.to_owned())),
    }
}

/// Checks git's rules as far as they keep a name inside the repository and printable.
fn is_ref_name(name: &str) -> bool {
    name.starts_with("refs/")
        && name.split('/').all(|it| !it.is_empty() && !it.starts_with('.'))
        && !name.contains(['\\', ':', '?', '*', '[', '^', '~', ' '])
        && !name.contains("..")
        && !name.chars().any(char::is_control)
}

/// The commit of a ref, loose or packed.
fn resolve_ref(git_dir: &Path, common: &Path, name: &str) -> Option<String> {
    let mut name = name.to_owned();
    for _ in 0..MAX_SYMBOLIC_REFS {
        // A worktree has a few refs of its own (`refs/bisect`, `refs/worktree`) and shares the
        // branches.
        let loose = [git_dir, common].iter().find_map(|it| read_ref(&it.join(&name)));
        match loose {
            Some(RefValue::Commit(commit)) => return Some(commit),
            Some(RefValue::Ref(next)) => name = next,
            None => return find_packed_ref(common, &name),
        }
    }
    None
}

/// The commit of a ref in `packed-refs`, in which each line is `commit name`.
fn find_packed_ref(common: &Path, name: &str) -> Option<String> {
    let file = read::open_regular(&common.join("packed-refs")).ok()?;
    let lines = BufReader::new(file.take(MAX_PACKED_REFS_BYTES)).split(b'\n');
    for line in lines.map_while(Result::ok) {
        // A name that is no UTF-8 is not the one searched for.
        let Ok(line) = std::str::from_utf8(&line) else { continue };
        if let Some((commit, found)) = line.trim_end().split_once(' ')
            && found == name
        {
            // A damaged line is not worth a search for a second one.
            return is_object_id(commit).then(|| commit.to_owned());
        }
    }
    None
}

/// The head according to the git program, for ref formats that are not read here.
fn head_by_git(git_dir: &Path) -> GitHead {
    let line = |args: &[&str]| git::run_git(git_dir, args).map(|it| it.trim().to_owned());
    let name = line(&["symbolic-ref", "--quiet", "HEAD"]).filter(|it| is_ref_name(it));
    let commit = line(&["rev-parse", "--quiet", "--verify", "HEAD"]).filter(|it| is_object_id(it));
    GitHead { branch: name.map(|it| branch_name(&it)), commit }
}

/// The short name of a branch, as `git branch` prints it.
fn branch_name(name: &str) -> String {
    name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_name_cannot_leave_the_repository() {
        for name in ["refs/heads/main", "refs/heads/feature/ä-1", "refs/remotes/origin/main"] {
            assert!(is_ref_name(name), "{name}");
        }
        for name in [
            "",
            "main",
            "/etc/passwd",
            "refs/../../../etc/passwd",
            "refs/heads/..",
            "refs/heads//x",
            "refs/heads/.hidden",
            "refs/heads/a..b",
            "refs\\heads\\x",
            "refs/heads/a\u{1b}b",
            "refs/heads/C:x",
        ] {
            assert!(!is_ref_name(name), "{name}");
        }
    }
}
