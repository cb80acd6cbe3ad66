//! Finds the project of a directory by searching upwards. It starts no process and reads only small
//! files.
//!
//! The nearest git working tree wins, then the nearest folder with a build manifest, then the
//! directory itself. The search does not leave the filesystem of the start, as in git, so a mount
//! point ends it. The result is the place of a project, not its identity: that requires the known
//! locations (`project_match`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::git_dir::{self, SkipReason};
use crate::{Error, os};

/// The place of a project on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlace {
    /// Top of the working tree; paths are relative to it.
    pub root: PathBuf,
    /// Directory that identifies the project on this machine: the canonical git common directory,
    /// or the root.
    pub key_dir: PathBuf,
    /// Directory that contains `HEAD`; a linked worktree has its own.
    pub git_dir: Option<PathBuf>,
    pub kind: PlaceKind,
    /// Key of `key_dir` that survives a rename; another directory at the same path has another key.
    pub dir_key: Option<String>,
    /// Every `.git` between the start and the root that was not used.
    pub skipped: Vec<SkippedGitDir>,
}

/// The reason why a directory is the root of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A working tree with a repository of its own.
    Git,
    /// A linked worktree: the same project as its main working tree. A second clone is `Git` and a
    /// project of its own.
    Worktree,
    /// A repository inside the working tree of another one; a project of its own.
    Submodule,
    /// A repository without a working tree.
    Bare,
    /// A directory with a build manifest.
    Manifest,
    /// No sign of a project; the directory itself.
    Plain,
}

/// A `.git` that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedGitDir {
    pub path: PathBuf,
    pub why: SkipReason,
}

/// Finds the project of `start`, a directory or a file in one.
///
/// `home`, its ancestors and the top of the filesystem are shared directories: a `.git` or manifest
/// in one of them counts only if `start` is that directory. Dotfiles in git or a stray
/// `package.json` must not turn everything below into one project.
pub fn locate_project(start: &Path, home: Option<&Path>) -> Result<ProjectPlace, Error> {
    let dir = canonical_directory(start)?;
    let home = home.and_then(|it| fs::canonicalize(it).ok());
    let is_shared =
        |it: &Path| it.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(it));
    let may_be_root = |it: &Path| it == dir || !is_shared(it);

    let mut skipped = Vec::new();
    let mut bare = None;
    for ancestor in git_dir::ancestors_on_device(&dir) {
        let why = match git_dir::find_repository(ancestor) {
            Some(Ok(found)) if may_be_root(ancestor) => {
                return Ok(git_place(ancestor, found, skipped));
            }
            Some(Ok(_)) => SkipReason::AtHome,
            Some(Err(why)) => why,
            None => {
                // The search continues: a bare repository inside a working tree is content of that
                // tree.
                if bare.is_none() && may_be_root(ancestor) && git_dir::is_bare(ancestor) {
                    bare = Some(ancestor);
                }
                continue;
            }
        };
        skipped.push(SkippedGitDir { path: ancestor.join(".git"), why });
    }
    if let Some(root) = bare {
        return Ok(new_place(root, root, Some(root), PlaceKind::Bare, skipped));
    }
    // Without git the nearest manifest marks the root.
    let manifest =
        git_dir::ancestors_on_device(&dir).find(|it| may_be_root(it) && has_manifest(it));
    Ok(match manifest {
        Some(root) => new_place(root, root, None, PlaceKind::Manifest, skipped),
        None => new_place(&dir, &dir, None, PlaceKind::Plain, skipped),
    })
}

/// Names of files that mark the root of a project, grouped by ecosystem; the order has no meaning.
const MANIFEST_NAMES: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "deno.json",
    "deno.jsonc",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "go.mod",
    "go.work",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "build.sbt",
    "build.xml",
    "project.clj",
    "deps.edn",
    "Gemfile",
    "composer.json",
    "Package.swift",
    "pubspec.yaml",
    "mix.exs",
    "rebar.config",
    "gleam.toml",
    "stack.yaml",
    "cabal.project",
    "dune-project",
    "build.zig",
    "Project.toml",
    "DESCRIPTION",
    "CMakeLists.txt",
    "meson.build",
    "configure.ac",
    "WORKSPACE",
    "MODULE.bazel",
    "flake.nix",
    "justfile",
    "Makefile",
    "GNUmakefile",
];

/// Endings of manifests that are named after their project: files, or folders such as
/// `App.xcodeproj`.
const MANIFEST_ENDINGS: &[&str] = &[
    ".gemspec",
    ".sln",
    ".slnx",
    ".csproj",
    ".fsproj",
    ".vbproj",
    ".xcodeproj",
    ".cabal",
    ".nimble",
];

/// Most entries of a directory that are searched for a manifest with a known ending.
const MAX_SCANNED_ENTRIES: usize = 4096;

fn has_manifest(dir: &Path) -> bool {
    // A FIFO or a directory of that name is no manifest.
    MANIFEST_NAMES.iter().any(|name| dir.join(name).is_file())
        // Needs the list of all entries, so it is tested last.
        || has_entry_with_manifest_ending(dir)
}

/// True if an entry of the directory has the ending of a manifest.
fn has_entry_with_manifest_ending(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    entries.take(MAX_SCANNED_ENTRIES).flatten().any(|entry| {
        let name = entry.file_name();
        // `.cabal` alone is a folder of settings: something must precede the ending.
        let has_ending = |ending: &&str| {
            name.to_str().is_some_and(|it| it.len() > ending.len() && it.ends_with(ending))
        };
        MANIFEST_ENDINGS.iter().any(has_ending)
    })
}

/// The canonical directory of `start`.
fn canonical_directory(start: &Path) -> Result<PathBuf, Error> {
    let mut path = fs::canonicalize(start).map_err(|it| Error::from_io(start, it))?;
    if !path.is_dir() {
        path.pop();
    }
    Ok(path)
}

fn git_place(
    root: &Path,
    found: git_dir::GitRepository,
    skipped: Vec<SkippedGitDir>,
) -> ProjectPlace {
    new_place(root, &found.common, Some(&found.git_dir), found.kind, skipped)
}

fn new_place(
    root: &Path,
    key_dir: &Path,
    git_dir: Option<&Path>,
    kind: PlaceKind,
    skipped: Vec<SkippedGitDir>,
) -> ProjectPlace {
    let dir_key = fs::metadata(key_dir).ok().and_then(|it| os::dir_key(&it));
    ProjectPlace {
        root: root.to_owned(),
        key_dir: key_dir.to_owned(),
        git_dir: git_dir.map(Path::to_owned),
        kind,
        dir_key,
        skipped,
    }
}
