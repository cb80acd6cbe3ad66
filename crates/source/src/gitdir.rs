//! Tells whether a directory is the top of a git working tree, and which repository it belongs to.
//!
//! A `.git` file or symlink may name any directory on the machine. Taken at its word, an unpacked archive
//! could claim to be a worktree of a private repository and be given its memory. So a pointer that leaves its directory counts
//! only when the repository points back, which only its owner can arrange.

use std::io;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use crate::place::PlaceKind;
use crate::{config, os, read};

/// A repository as seen from one working tree.
#[derive(Debug)]
pub(crate) struct Repository {
    /// Holds `HEAD`; differs from `common` in a linked worktree.
    pub(crate) git_dir: PathBuf,
    /// Holds objects, refs and configuration.
    pub(crate) common: PathBuf,
    pub(crate) kind: PlaceKind,
}

/// Why a `.git` on the way up was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It is in the home directory or above it: dotfiles, not the project below.
    AtHome,
    /// It is no repository: empty, half deleted, or a pointer to nowhere.
    Broken,
    /// It may be a repository, but it cannot be opened.
    Unreadable,
    /// It points to a repository that does not point back.
    Unproven,
}

/// The repository whose working tree has its top at `dir` (canonical); None without a `.git`.
pub(crate) fn at(dir: &Path) -> Option<Result<Repository, SkipReason>> {
    let dot_git = dir.join(".git");
    let is_dir = match fs::metadata(&dot_git) {
        Ok(metadata) => metadata.is_dir(),
        // A symlink to nowhere is not the absence of a `.git`.
        Err(error) if is_absent(&error) && fs::symlink_metadata(&dot_git).is_err() => return None,
        Err(error) => return Some(Err(reason(&error))),
    };
    Some(if is_dir { open(dir, &dot_git) } else { follow(dir, &dot_git) })
}

/// Says whether `dir` itself is a bare repository.
pub(crate) fn is_bare(dir: &Path) -> bool {
    // The inside of a working tree's `.git`, or of a submodule's, belongs to that working tree.
    let named_bare = dir.file_name().is_none_or(|it| it != ".git");
    named_bare && is_repository(dir, dir) && {
        let entries = config::of_repository(dir);
        config::last(&entries, "core", "bare").is_some_and(config::is_true)
    }
}

/// Reads the pointer in a `.git` file.
fn follow(dir: &Path, dot_git: &Path) -> Result<Repository, SkipReason> {
    let target = read::pointer(dot_git, "gitdir:").map_err(|it| reason(&it))?;
    open(dir, &dir.join(target))
}

fn open(dir: &Path, git_dir: &Path) -> Result<Repository, SkipReason> {
    let git_dir = fs::canonicalize(git_dir).map_err(|it| reason(&it))?;
    let common = match read::pointer(&git_dir.join("commondir"), "") {
        Ok(common) => fs::canonicalize(git_dir.join(common)).map_err(|it| reason(&it))?,
        Err(error) if is_absent(&error) => git_dir.clone(),
        Err(error) => return Err(reason(&error)),
    };
    if !is_repository(&git_dir, &common) {
        return Err(SkipReason::Broken);
    }
    let kind = if common == git_dir {
        own_kind(dir, &git_dir)
    } else {
        linked_kind(dir, &git_dir, &common)
    };
    Ok(Repository { git_dir, common, kind: kind.ok_or(SkipReason::Unproven)? })
}

/// The same signs git asks for.
fn is_repository(git_dir: &Path, common: &Path) -> bool {
    let head = git_dir.join("HEAD");
    let is_ref =
        |it: &str| it.starts_with("ref:") || it.chars().take(40).all(|it| it.is_ascii_hexdigit());
    let has_head = fs::symlink_metadata(&head).is_ok_and(|it| it.is_symlink())
        || read::text(&head, read::POINTER)
            .is_ok_and(|it| !it.trim().is_empty() && is_ref(it.trim()));
    has_head && common.join("objects").is_dir() && common.join("refs").is_dir()
}

/// Checks a repository of which `dir` claims to be the only working tree.
fn own_kind(dir: &Path, git_dir: &Path) -> Option<PlaceKind> {
    if git_dir == dir.join(".git") {
        return Some(PlaceKind::Git);
    }
    let entries = config::of_repository(git_dir);
    let worktree = config::last(&entries, "core", "worktree").and_then(|it| it.value.as_ref());
    if let Some(worktree) = worktree {
        let points_back = fs::canonicalize(git_dir.join(worktree)).is_ok_and(|it| it == dir);
        return points_back.then_some(PlaceKind::Submodule);
    }
    // `git init --separate-git-dir` records no way back. What is left is to refuse
    // the repositories that visibly belong elsewhere; inside `dir` there is nothing to gain by lying.
    let elsewhere = git_dir.file_name().is_some_and(|it| it == ".git")
        || config::last(&entries, "core", "bare").is_some_and(config::is_true);
    (git_dir.starts_with(dir) || !elsewhere).then_some(PlaceKind::Git)
}

/// Checks a linked worktree: the repository must list it, at this path.
fn linked_kind(dir: &Path, git_dir: &Path, common: &Path) -> Option<PlaceKind> {
    if git_dir.parent() != Some(&common.join("worktrees")) {
        return None;
    }
    let listed = git_dir.join(read::pointer(&git_dir.join("gitdir"), "").ok()?);
    let points_back = match fs::canonicalize(&listed) {
        Ok(it) => it == dir.join(".git"),
        // A worktree moved by hand: git itself mends the pointer the next day.
        Err(error) => is_absent(&error),
    };
    points_back.then_some(PlaceKind::Worktree)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn reason(error: &io::Error) -> SkipReason {
    if error.kind() == io::ErrorKind::PermissionDenied {
        SkipReason::Unreadable
    } else {
        SkipReason::Broken
    }
}

/// The directories from `dir` upwards on the same filesystem, nearest first; git stops at the same border.
pub(crate) fn upwards(dir: &Path) -> impl Iterator<Item = &Path> {
    let device = |it: &Path| fs::metadata(it).ok().map(|it| os::device(&it));
    let home = device(dir);
    iter::successors(Some(dir), |it| it.parent()).take_while(move |it| device(it) == home)
}
