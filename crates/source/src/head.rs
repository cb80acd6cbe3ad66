//! What is checked out: branch and commit, read from the files git keeps them in.
//!
//! Only the `reftable` format is left to git itself.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::fingerprint::is_object_id;
use crate::place::Place;
use crate::{git, read};

/// The state of a working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// Without `refs/heads/`; None when detached.
    pub branch: Option<String>,
    /// None before the first commit.
    pub commit: Option<String>,
}

/// The largest repositories known have some ten megabytes of packed refs.
const MAX_PACKED: u64 = 256 * 1024 * 1024;

/// A ref may point to another; git gives up at the same depth.
const MAX_HOPS: usize = 5;

/// Reads the head of a place; one without git, or whose git is damaged, has none.
pub fn head(place: &Place) -> Head {
    let Some(git_dir) = &place.git_dir else { return Head::default() };
    if place.key_dir.join("reftable").is_dir() {
        return ask_git(git_dir);
    }
    match value(&git_dir.join("HEAD")) {
        Some(Value::Commit(commit)) => Head { branch: None, commit: Some(commit) },
        Some(Value::Ref(name)) => {
            let commit = commit(git_dir, &place.key_dir, &name);
            Head { branch: Some(branch(&name)), commit }
        }
        None => Head::default(),
    }
}

/// What `HEAD` or a loose ref holds.
enum Value {
    Commit(String),
    Ref(String),
}

fn value(path: &Path) -> Option<Value> {
    // Very old repositories have a symlink for a `HEAD`; its target is the name of the ref.
    if let Ok(target) = fs::read_link(path)
        && let Some(name) = target.to_str().filter(|it| is_ref_name(it))
    {
        return Some(Value::Ref(name.to_owned()));
    }
    let bytes = read::bytes(path, read::POINTER).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?.trim();
    match text.strip_prefix("ref:") {
        Some(name) => {
            Some(name.trim()).filter(|it| is_ref_name(it)).map(|it| Value::Ref(it.to_owned()))
        }
        None => Some(text).filter(|it| is_object_id(it)).map(|it| Value::Commit(it.to_owned())),
    }
}

/// Git's rules as far as they keep a name inside the repository and printable.
fn is_ref_name(name: &str) -> bool {
    name.starts_with("refs/")
        && name.split('/').all(|it| !it.is_empty() && !it.starts_with('.'))
        && !name.contains(['\\', ':', '?', '*', '[', '^', '~', ' '])
        && !name.contains("..")
        && !name.chars().any(char::is_control)
}

fn commit(git_dir: &Path, common: &Path, name: &str) -> Option<String> {
    let mut name = name.to_owned();
    for _ in 0..MAX_HOPS {
        // A worktree has a few refs of its own (`refs/bisect`, `refs/worktree`); branches are shared.
        let loose = [git_dir, common].iter().find_map(|it| value(&it.join(&name)));
        match loose {
            Some(Value::Commit(commit)) => return Some(commit),
            Some(Value::Ref(next)) => name = next,
            None => return packed(common, &name),
        }
    }
    None
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let file = read::regular(&common.join("packed-refs")).ok()?;
    let lines = BufReader::new(file.take(MAX_PACKED)).split(b'\n');
    for line in lines.map_while(Result::ok) {
        let Ok(line) = std::str::from_utf8(&line) else { continue };
        if let Some((commit, found)) = line.trim_end().split_once(' ')
            && found == name
        {
            return is_object_id(commit).then(|| commit.to_owned());
        }
    }
    None
}

fn ask_git(git_dir: &Path) -> Head {
    let line = |args: &[&str]| git::ask(git_dir, args).map(|it| it.trim().to_owned());
    let name = line(&["symbolic-ref", "--quiet", "HEAD"]).filter(|it| is_ref_name(it));
    let commit = line(&["rev-parse", "--quiet", "--verify", "HEAD"]).filter(|it| is_object_id(it));
    Head { branch: name.map(|it| branch(&it)), commit }
}

fn branch(name: &str) -> String {
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
