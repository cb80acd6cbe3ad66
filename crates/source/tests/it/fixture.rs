//! A directory for repositories, and a git that ignores the configuration of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use waylore_source::{ProjectPlace, locate_project};

/// A temporary directory, and the operations that tests need in it. All paths are relative to it.
pub(crate) struct Fixture {
    /// Canonical.
    pub(crate) top: PathBuf,
    _dir: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { top: fs::canonicalize(dir.path()).unwrap(), _dir: dir }
    }

    pub(crate) fn path(&self, rel: &str) -> PathBuf {
        self.top.join(rel)
    }

    /// A new directory.
    pub(crate) fn dir(&self, rel: &str) -> PathBuf {
        let path = self.path(rel);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn write(&self, rel: &str, text: &str) {
        let path = self.path(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs git in `rel`, with words split at blanks, and returns its output.
    pub(crate) fn git(&self, rel: &str, words: &str) -> String {
        let output = self.try_git(rel, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words}: {error}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Like [`Self::git`], for a command that may fail.
    pub(crate) fn try_git(&self, rel: &str, words: &str) -> Output {
        let mut git = Command::new("git");
        git.current_dir(self.path(rel)).args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "init.defaultBranch=main",
        ]);
        for variable in
            ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"]
        {
            git.env_remove(variable);
        }
        // Fixed people and times, so that commit ids depend on the content alone.
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "Ada")
                .env(format!("GIT_{role}_EMAIL"), "ada@example.com");
            git.env(format!("GIT_{role}_DATE"), "1700000000 +0000");
        }
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", &self.top);
        git.args(words.split(' ')).output().unwrap()
    }

    /// A repository with one empty commit; the message makes its history unique.
    pub(crate) fn repository(&self, rel: &str, message: &str) -> PathBuf {
        self.git(".", &format!("init --quiet {rel}"));
        self.commit(rel, message);
        self.path(rel)
    }

    /// Commits what is staged, even if that is nothing, and returns the id of the commit.
    pub(crate) fn commit(&self, rel: &str, message: &str) -> String {
        self.git(rel, &format!("commit --quiet --allow-empty --message {message}"));
        self.git(rel, "rev-parse HEAD")
    }

    pub(crate) fn locate(&self, rel: &str) -> ProjectPlace {
        locate_project(&self.path(rel), None).unwrap()
    }

    /// Kind, root and key directory as one line, relative to the fixture.
    pub(crate) fn describe_place(&self, rel: &str) -> String {
        let place = self.locate(rel);
        format!("{:?} {} {}", place.kind, self.short(&place.root), self.short(&place.key_dir))
    }

    /// A path relative to the fixture.
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.top).unwrap_or(path).display().to_string()
    }

    pub(crate) fn copy(&self, from: &str, to: &str) {
        let copied =
            Command::new("cp").arg("-a").arg(self.path(from)).arg(self.path(to)).status().unwrap();
        assert!(copied.success());
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn fifo(&self, rel: &str) {
        let made = Command::new("mkfifo").arg(self.path(rel)).status().unwrap();
        assert!(made.success());
    }
}
