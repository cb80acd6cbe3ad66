//! Tests of project identity: which folders belong to one project and share its memories.
//!
//! Worktrees, subfolders, moved repositories and clones with the same remote URL share the memories of
//! their project; forks, clones with another remote and unrelated folders have their own. `-C DIR` runs
//! a command as if it were started in that folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{Sandbox, files_containing, has_program, run_command, skip};

#[test]
fn worktrees_and_subfolders_share_one_memory() {
    let Some(git) = GitSandbox::new("worktrees") else { return };
    let main = git.repository("main", None);
    git.remember_in(&main, "noted in the main checkout");
    let tree = git.sandbox.root.join("tree");
    git.git(&main, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    git.remember_in(&tree, "noted in the worktree");
    let deep = main.join("packages/api/src");
    fs::create_dir_all(&deep).unwrap();
    git.remember_in(&deep, "noted in a subfolder");
    for folder in [&main, &tree, &deep] {
        assert_eq!(git.count_memories_in(folder), 3, "{}", folder.display());
    }
    // Each project has a data folder; this asserts that there is only one.
    git.sandbox.project_data_dir();
}

#[test]
fn a_moved_repository_keeps_its_memory() {
    let Some(git) = GitSandbox::new("moved repositories") else { return };
    for remote in [None, Some("https://example.org/team/tool.git")] {
        let old = git.repository("old", remote);
        git.remember_in(&old, "noted before the move");
        let new = git.sandbox.root.join("elsewhere/new");
        fs::create_dir_all(new.parent().unwrap()).unwrap();
        fs::rename(&old, &new).unwrap();
        assert_eq!(git.count_memories_in(&new), 1, "remote {remote:?}");
        git.remember_in(&new, "noted after the move");
        assert_eq!(git.count_memories_in(&new), 2, "remote {remote:?}");
        // The next round uses the same path.
        fs::remove_dir_all(&new).unwrap();
    }
}

#[test]
fn a_clone_is_the_same_project_and_a_fork_is_not() {
    let Some(git) = GitSandbox::new("clones and forks") else { return };
    let url = "https://example.org/team/tool.git";
    let first = git.repository("first", Some(url));
    git.remember_in(&first, "noted in the first repository");
    let clone_first = |name: &str| {
        let path = git.sandbox.root.join(name);
        let args = ["clone", "-q", first.to_str().unwrap(), path.to_str().unwrap()];
        git.git(&git.sandbox.root, &args);
        path
    };

    // The remote of this clone is not a URL but the folder `first`. As that folder still exists, the
    // clone is no moved repository but a separate project.
    let local_clone = clone_first("second");
    assert_eq!(git.count_memories_in(&local_clone), 0);

    // With a remote URL, the URL decides. Protocol, user name and suffix do not matter.
    for (remote, n_memories) in [
        ("git@example.org:team/tool.git", 1),
        ("https://someone:word@example.org/team/tool", 1),
        ("https://example.org/fork/tool.git", 0),
        ("https://example.com/team/tool.git", 0),
    ] {
        let name = format!("clone-{}", remote.replace(|it: char| !it.is_alphanumeric(), "-"));
        let clone = clone_first(&name);
        git.git(&clone, &["remote", "set-url", "origin", remote]);
        assert_eq!(git.count_memories_in(&clone), n_memories, "{remote}");
    }
    // The password in a URL is not stored.
    assert_eq!(files_containing(&git.sandbox.home, "someone:word"), Vec::<PathBuf>::new());
}

#[test]
fn folders_without_git_are_separate_projects() {
    let sandbox = Sandbox::new();
    sandbox.remember("noted in a plain folder");
    let other = sandbox.root.join("other");
    fs::create_dir(&other).unwrap();
    let other_path = other.to_str().unwrap();
    assert_eq!(sandbox.json(&["-C", other_path, "list"])["memories"], serde_json::json!([]));
    sandbox.json(&["-C", other_path, "remember", "noted in another folder"]);
    assert_eq!(sandbox.contents().len(), 1);
    assert_eq!(sandbox.json(&["-C", other_path, "list"])["memories"].as_array().unwrap().len(), 1);

    // A moved folder is recognised without git, too.
    let moved = sandbox.root.join("moved");
    fs::rename(&other, &moved).unwrap();
    let found = sandbox.json(&["-C", moved.to_str().unwrap(), "list"]);
    assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn dash_c_selects_another_folder() {
    let sandbox = Sandbox::new();
    sandbox.remember("noted in the project");
    let below = sandbox.project.join("below");
    fs::create_dir(&below).unwrap();
    for (from, dir) in [(&sandbox.root, "project"), (&below, ".."), (&sandbox.root, "./project/")] {
        let mut command = sandbox.command(&["list", "--json", "-C", dir]);
        command.current_dir(from);
        let output = run_command(command).expect_code(0, dir);
        assert_eq!(output.json()["memories"].as_array().unwrap().len(), 1, "-C {dir}");
    }
    sandbox.run(&["-C", "nowhere", "list"]).expect_code(2, "a folder that does not exist");
    let file = sandbox.project.join("file");
    fs::write(&file, "").unwrap();
    sandbox.run(&["-C", file.to_str().unwrap(), "list"]).expect_no_panic("-C with a file");
}

#[test]
fn reading_commands_create_no_files() {
    let sandbox = Sandbox::new();
    let reading_commands =
        [&["list"][..], &["search", "anything"], &["stats"], &["doctor"], &["export"], &["config"]];
    for args in reading_commands {
        sandbox.run(args).expect_no_panic(&format!("{args:?}"));
        assert!(!sandbox.home.exists(), "{args:?} created the home folder");
    }

    let n_project_files = || fs::read_dir(&sandbox.project).unwrap().count();
    assert_eq!(n_project_files(), 0);
    // Not even a writing command puts files into the project.
    sandbox.remember("a thing");
    assert_eq!(n_project_files(), 0);
}

/// A sandbox with several git repositories, independent of the developer's git configuration.
struct GitSandbox {
    sandbox: Sandbox,
}

impl GitSandbox {
    /// Returns `None`, and reports a skip of `what`, where git is missing.
    fn new(what: &str) -> Option<Self> {
        if !has_program("git") {
            skip(what, "git is absent");
            return None;
        }
        Some(Self { sandbox: Sandbox::new() })
    }

    fn git(&self, dir: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        self.sandbox.set_environment(&mut command);
        command.current_dir(dir).args(["-c", "init.defaultBranch=main"]).args(args);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Somebody");
            command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
        }
        run_command(command).expect_code(0, &format!("git {args:?}"));
    }

    /// Creates a repository with one commit. The commit message makes its root commit unique.
    fn repository(&self, name: &str, remote: Option<&str>) -> PathBuf {
        let path = self.sandbox.root.join(name);
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

    fn remember_in(&self, dir: &Path, text: &str) {
        self.sandbox.json(&["-C", dir.to_str().unwrap(), "remember", "--new", text]);
    }

    fn count_memories_in(&self, dir: &Path) -> usize {
        let listed = self.sandbox.json(&["-C", dir.to_str().unwrap(), "list"]);
        listed["memories"].as_array().unwrap().len()
    }
}
