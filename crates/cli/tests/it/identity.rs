//! Which project this is: worktrees, subfolders, moved and cloned repositories share their memory;
//! forks and neighbours do not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Desk, finish, has, skip};

#[test]
fn worktrees_and_subfolders_share_one_memory() {
    let Some(git) = Git::new("worktrees") else { return };
    let main = git.repository("main", None);
    git.keeps(&main, "said in the main checkout");
    let tree = git.desk.root.join("tree");
    git.git(&main, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    git.keeps(&tree, "said in the worktree");
    let deep = main.join("packages/api/src");
    fs::create_dir_all(&deep).unwrap();
    git.keeps(&deep, "said deep inside");
    for place in [&main, &tree, &deep] {
        assert_eq!(git.knows(place), 3, "{}", place.display());
    }
    git.desk.notebook();
}

#[test]
fn a_moved_repository_keeps_its_memory() {
    let Some(git) = Git::new("moved repositories") else { return };
    for remote in [None, Some("https://example.org/team/tool.git")] {
        let old = git.repository("old", remote);
        git.keeps(&old, "said before the move");
        let new = git.desk.root.join("elsewhere/new");
        fs::create_dir_all(new.parent().unwrap()).unwrap();
        fs::rename(&old, &new).unwrap();
        assert_eq!(git.knows(&new), 1, "remote {remote:?}");
        git.keeps(&new, "said after the move");
        assert_eq!(git.knows(&new), 2, "remote {remote:?}");
        fs::remove_dir_all(&new).unwrap();
    }
}

#[test]
fn a_clone_is_the_same_project_and_a_fork_is_not() {
    let Some(git) = Git::new("clones and forks") else { return };
    let url = "https://example.org/team/tool.git";
    let first = git.repository("first", Some(url));
    git.keeps(&first, "said in the first clone");
    let clone = git.desk.root.join("second");
    git.git(&git.desk.root, &["clone", "-q", first.to_str().unwrap(), clone.to_str().unwrap()]);
    assert_eq!(git.knows(&clone), 0, "a clone of a folder, while that is there, is a copy");
    for (remote, known) in [
        ("git@example.org:team/tool.git", 1),
        ("https://someone:word@example.org/team/tool", 1),
        ("https://example.org/fork/tool.git", 0),
        ("https://example.com/team/tool.git", 0),
    ] {
        let place = git
            .desk
            .root
            .join(format!("clone-{}", remote.replace(|it: char| !it.is_alphanumeric(), "-")));
        git.git(&git.desk.root, &["clone", "-q", first.to_str().unwrap(), place.to_str().unwrap()]);
        git.git(&place, &["remote", "set-url", "origin", remote]);
        assert_eq!(git.knows(&place), known, "{remote}");
    }
    assert_eq!(crate::kit::holding(&git.desk.home, "someone:word"), Vec::<PathBuf>::new());
}

#[test]
fn a_plain_folder_is_a_project_and_its_neighbour_another() {
    let desk = Desk::new();
    desk.remember("said in a plain folder");
    let other = desk.root.join("other");
    fs::create_dir(&other).unwrap();
    let there = other.to_str().unwrap();
    assert_eq!(desk.json(&["-C", there, "list"])["memories"], serde_json::json!([]));
    desk.json(&["-C", there, "remember", "said next door"]);
    assert_eq!(desk.contents().len(), 1);
    assert_eq!(desk.json(&["-C", there, "list"])["memories"].as_array().unwrap().len(), 1);
    let moved = desk.root.join("moved");
    fs::rename(&other, &moved).unwrap();
    let found = desk.json(&["-C", moved.to_str().unwrap(), "list"]);
    assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn another_folder_can_be_named() {
    let desk = Desk::new();
    desk.remember("said here");
    let below = desk.project.join("below");
    fs::create_dir(&below).unwrap();
    for (from, dir) in [(&desk.root, "project"), (&below, ".."), (&desk.root, "./project/")] {
        let mut command = desk.command(&["list", "--json", "-C", dir]);
        command.current_dir(from);
        let said = finish(command).ends(0, dir);
        assert_eq!(said.json()["memories"].as_array().unwrap().len(), 1, "-C {dir}");
    }
    desk.run(&["-C", "nowhere", "list"]).ends(2, "a folder that is not there");
    let file = desk.project.join("file");
    fs::write(&file, "").unwrap();
    desk.run(&["-C", file.to_str().unwrap(), "list"]).sound("a file is no folder");
}

#[test]
fn looking_creates_nothing() {
    let desk = Desk::new();
    let looks =
        [&["list"][..], &["search", "anything"], &["stats"], &["doctor"], &["export"], &["config"]];
    for args in looks {
        desk.run(args).sound(&format!("{args:?}"));
        assert!(!desk.home.exists(), "{args:?} made something");
    }
    assert_eq!(fs::read_dir(&desk.project).unwrap().count(), 0);
    desk.remember("a thing");
    assert_eq!(
        fs::read_dir(&desk.project).unwrap().count(),
        0,
        "nothing is written into a project"
    );
}

struct Git {
    desk: Desk,
}

impl Git {
    fn new(what: &str) -> Option<Self> {
        if !has("git") {
            skip(what, "git is absent");
            return None;
        }
        Some(Self { desk: Desk::new() })
    }

    fn git(&self, at: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        self.desk.surround(&mut command);
        command.current_dir(at).args(["-c", "init.defaultBranch=main"]).args(args);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@example.org");
        }
        finish(command).ends(0, &format!("git {args:?}"));
    }

    fn repository(&self, name: &str, remote: Option<&str>) -> PathBuf {
        let path = self.desk.root.join(name);
        fs::create_dir(&path).unwrap();
        self.git(&path, &["init", "-q"]);
        self.git(
            &path,
            &["commit", "-q", "--allow-empty", "-m", &format!("begin {name} {remote:?}")],
        );
        if let Some(remote) = remote {
            self.git(&path, &["remote", "add", "origin", remote]);
        }
        path
    }

    fn keeps(&self, at: &Path, text: &str) {
        self.desk.json(&["-C", at.to_str().unwrap(), "remember", "--new", text]);
    }

    /// How many memories are seen from a place.
    fn knows(&self, at: &Path) -> usize {
        let listed = self.desk.json(&["-C", at.to_str().unwrap(), "list"]);
        listed["memories"].as_array().unwrap().len()
    }
}
