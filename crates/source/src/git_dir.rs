//! Finds the git repository of a working tree.
//!
//! A `.git` file or symlink may name any directory on the machine. If it were trusted, an unpacked
//! archive could claim to be a worktree of a private repository and would receive its memories. So
//! a pointer that leaves its directory counts only if the repository points back, which only its
//! owner can arrange. A pointer to a repository inside the directory does not leave it and needs no proof.
//! Two exceptions, both marked below, are cases in which git itself leaves no pointer back.
//!
//! ```text
//! app/.git (a file)                  gitdir: ../main/.git/worktrees/app
//! main/.git/worktrees/app/gitdir     ../../../../app/.git                  points back: a linked worktree
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use crate::project_place::PlaceKind;
use crate::{git_config, os, read};

/// A repository as seen from one working tree.
#[derive(Debug)]
pub(crate) struct GitRepository {
    /// Contains `HEAD`; differs from `common` in a linked worktree.
    pub(crate) git_dir: PathBuf,
    /// Contains objects, refs and configuration.
    pub(crate) common: PathBuf,
    pub(crate) kind: PlaceKind,
}

/// A reason to skip a `.git` on the way up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It is in the home directory or above: dotfiles, not the project below. Only `project_place`
    /// knows the home directory and sets this.
    AtHome,
    /// It is no repository: empty, incomplete, or a pointer to a missing directory.
    Broken,
    /// It may be a repository but cannot be opened.
    Unreadable,
    /// It points to a repository that does not point back.
    Unproven,
}

/// The repository whose working tree has its top at `dir` (canonical); `None` without a `.git`.
pub(crate) fn find_repository(dir: &Path) -> Option<Result<GitRepository, SkipReason>> {
    let dot_git = dir.join(".git");
    let is_dir = match fs::metadata(&dot_git) {
        Ok(metadata) => metadata.is_dir(),
        // There is no `.git`, not even a symlink whose target is missing. Such a symlink is skipped with a
        // reason, in the next arm.
        Err(error) if is_absent(&error) && fs::symlink_metadata(&dot_git).is_err() => return None,
        Err(error) => return Some(Err(skip_reason(&error))),
    };
    Some(if is_dir { open_repository(dir, &dot_git) } else { follow_pointer(dir, &dot_git) })
}

/// True if `dir` itself is a bare repository.
pub(crate) fn is_bare(dir: &Path) -> bool {
    // The `.git` of a working tree or of a submodule belongs to that working tree.
    let may_be_bare = dir.file_name().is_none_or(|it| it != ".git");
    may_be_bare && is_repository(dir, dir) && {
        let entries = git_config::read_entries(dir);
        git_config::last_value(&entries, "core", "bare").is_some_and(git_config::is_true)
    }
}

/// Opens the repository that a `.git` file points to.
fn follow_pointer(dir: &Path, dot_git: &Path) -> Result<GitRepository, SkipReason> {
    let target = read::read_pointer(dot_git, "gitdir:").map_err(|it| skip_reason(&it))?;
    open_repository(dir, &dir.join(target))
}

/// Opens a git directory and checks that it belongs to `dir`.
fn open_repository(dir: &Path, git_dir: &Path) -> Result<GitRepository, SkipReason> {
    let git_dir = fs::canonicalize(git_dir).map_err(|it| skip_reason(&it))?;
    let common = match read::read_pointer(&git_dir.join("commondir"), "") {
        Ok(common) => fs::canonicalize(git_dir.join(common)).map_err(|it| skip_reason(&it))?,
        Err(error) if is_absent(&error) => git_dir.clone(),
        Err(error) => return Err(skip_reason(&error)),
    };
    if !is_repository(&git_dir, &common) {
        return Err(SkipReason::Broken);
    }
    let kind = if common == git_dir {
        prove_only_worktree(dir, &git_dir)
    } else {
        prove_linked_worktree(dir, &git_dir, &common)
    };
    Ok(GitRepository { git_dir, common, kind: kind.ok_or(SkipReason::Unproven)? })
}

/// The test that git itself applies.
fn is_repository(git_dir: &Path, common: &Path) -> bool {
    let head = git_dir.join("HEAD");
    // A ref, or a commit id. Only its first 40 digits are tested: it has 40 with SHA-1, 64 with
    // SHA-256. A shorter text of digits passes as well; `objects` and `refs` are tested below.
    let is_ref =
        |it: &str| it.starts_with("ref:") || it.chars().take(40).all(|it| it.is_ascii_hexdigit());
    // In very old repositories `HEAD` is a symlink.
    let has_head = fs::symlink_metadata(&head).is_ok_and(|it| it.is_symlink())
        || read::read_lossy_text(&head, read::MAX_POINTER_BYTES)
            .is_ok_and(|it| !it.trim().is_empty() && is_ref(it.trim()));
    has_head && common.join("objects").is_dir() && common.join("refs").is_dir()
}

/// Proves that `dir` is the main working tree of a repository, the only one that is not linked, and
/// returns its kind; `None` without proof.
fn prove_only_worktree(dir: &Path, git_dir: &Path) -> Option<PlaceKind> {
    if git_dir == dir.join(".git") {
        return Some(PlaceKind::Git);
    }
    let entries = git_config::read_entries(git_dir);
    let worktree =
        git_config::last_value(&entries, "core", "worktree").and_then(|it| it.value.as_ref());
    // Git sets `core.worktree` for a submodule, whose git directory is inside that of the outer repository.
    if let Some(worktree) = worktree {
        let points_back = fs::canonicalize(git_dir.join(worktree)).is_ok_and(|it| it == dir);
        return points_back.then_some(PlaceKind::Submodule);
    }
    // The repository is inside `dir`, so the pointer does not leave it. The author of `dir` made the
    // repository too, and no memories of another one can be taken.
    if git_dir.starts_with(dir) {
        return Some(PlaceKind::Git);
    }
    // First exception: `git init --separate-git-dir` writes no pointer back, so a repository
    // without one is accepted unless it visibly belongs elsewhere: to the folder around a `.git`,
    // or, if bare, to no working tree at all.
    let belongs_elsewhere = git_dir.file_name().is_some_and(|it| it == ".git")
        || git_config::last_value(&entries, "core", "bare").is_some_and(git_config::is_true);
    (!belongs_elsewhere).then_some(PlaceKind::Git)
}

/// Proves that `dir` is a linked worktree, which its repository must list at this path; `None`
/// without proof.
fn prove_linked_worktree(dir: &Path, git_dir: &Path, common: &Path) -> Option<PlaceKind> {
    if git_dir.parent() != Some(&common.join("worktrees")) {
        // A pointer to anything else inside a repository was not written by git.
        return None;
    }
    let listed = git_dir.join(read::read_pointer(&git_dir.join("gitdir"), "").ok()?);
    let is_proven = match fs::canonicalize(&listed) {
        Ok(it) => it == dir.join(".git"),
        // Second exception: nothing is at the listed path any more, so the worktree was probably
        // moved by hand to `dir`. Git corrects the list later.
        Err(error) => is_absent(&error),
    };
    is_proven.then_some(PlaceKind::Worktree)
}

/// True if the error means that there is no such file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn skip_reason(error: &io::Error) -> SkipReason {
    if error.kind() == io::ErrorKind::PermissionDenied {
        SkipReason::Unreadable
    } else {
        SkipReason::Broken
    }
}

/// `dir` and the directories above it on the same filesystem, nearest first; git stops at the same
/// border.
pub(crate) fn ancestors_on_device(dir: &Path) -> impl Iterator<Item = &Path> {
    let device = |it: &Path| fs::metadata(it).ok().map(|it| os::device_id(&it));
    let own_device = device(dir);
    iter::successors(Some(dir), |it| it.parent()).take_while(move |it| device(it) == own_device)
}
