//! The workspace for the rules: the text of every file that git tracks or would add, and cargo's metadata.
//!
//! Reads the working tree, never a commit, so the rules give the same result before and after a commit.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, bail};
use serde_json::Value;

/// The files of the workspace.
pub(crate) struct Tree {
    /// The absolute path of the checkout: a text no file may contain.
    pub(crate) root: String,
    pub(crate) files: Vec<File>,
}

/// One text file.
pub(crate) struct File {
    /// Relative to the workspace, `/`-separated.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Tree {
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|it| it.path == path)
    }
}

/// Reads every tracked or addable text file; ignored files, links and binaries are left out.
pub(crate) fn read(root: &Path) -> anyhow::Result<Tree> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let mut files = Vec::new();
    for path in output(git)?.split('\0').filter(|it| !it.is_empty()) {
        if let Some(text) = read_text(&root.join(path)).with_context(|| path.to_owned())? {
            files.push(File { path: path.to_owned(), text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(Tree { root: root.display().to_string(), files })
}

/// The packages of the workspace with their direct dependencies, as `cargo metadata` prints them.
pub(crate) fn metadata(root: &Path) -> anyhow::Result<Value> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root);
    Ok(serde_json::from_str(&output(cargo)?)?)
}

/// As [`metadata`], with every package of the lock file, for every platform; cargo fetches missing
/// ones.
pub(crate) fn graph(root: &Path) -> anyhow::Result<Value> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--locked", "--all-features", "--format-version", "1"]);
    cargo.current_dir(root);
    Ok(serde_json::from_str(&output(cargo)?)?)
}

/// Does not touch an unchanged file, so that nothing is rebuilt for it.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> anyhow::Result<bool> {
    if fs::read_to_string(path).is_ok_and(|it| it == text) {
        return Ok(false);
    }
    fs::create_dir_all(path.parent().context("a document is in a folder")?)?;
    fs::write(path, text)?;
    Ok(true)
}

/// The text of a file; `None` for a link, a folder or a binary.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(path) {
        Ok(it) if it.is_file() => Ok(String::from_utf8(fs::read(path)?).ok()),
        Ok(_) => Ok(None),
        // In git's index, but deleted on disk.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs a command and returns what it printed.
fn output(mut command: Command) -> anyhow::Result<String> {
    let name = command.get_program().display().to_string();
    let res = command.output().with_context(|| format!("`{name}` could not be started"))?;
    if !res.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&res.stderr).trim());
    }
    Ok(String::from_utf8(res.stdout)?)
}
