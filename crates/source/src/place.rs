//! Finds the project a directory belongs to, by looking upwards; no process is started and only small files are read.
//!
//! It says where a project is, not which one: that needs memory of earlier places (`identity`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::gitdir::{self, SkipReason};
use crate::{Error, os};

/// Where a project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The top of the working tree; paths are relative to it.
    pub root: PathBuf,
    /// What names the project on this machine: the canonical git common directory, or the root.
    pub key_dir: PathBuf,
    /// Where `HEAD` is; a linked worktree has its own.
    pub git_dir: Option<PathBuf>,
    pub kind: PlaceKind,
    /// Follows `key_dir` through a rename; a different directory at the same path has a different key.
    pub dir_key: Option<String>,
    /// Every `.git` between the start and the root, or the top, that was not used.
    pub skipped: Vec<Skipped>,
}

/// What made a directory the root of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A working tree with a repository of its own.
    Git,
    /// A linked worktree: shares the project of its repository, unlike a second clone's `Git`.
    Worktree,
    /// A repository inside another one's working tree, and a project of its own.
    Submodule,
    /// A repository without a working tree.
    Bare,
    /// A directory with a build manifest.
    Manifest,
    /// Nothing but the directory.
    Plain,
}

/// A `.git` that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub why: SkipReason,
}

/// Finds the project of `start`, a directory or a file in one.
///
/// A `.git` or manifest in `home`, above it, or at the top of the filesystem counts only when `start` is that very directory:
/// dotfiles kept in git, or a stray `package.json`, must not turn everything below into one project.
pub fn locate(start: &Path, home: Option<&Path>) -> Result<Place, Error> {
    let dir = directory(start)?;
    let home = home.and_then(|it| fs::canonicalize(it).ok());
    let may_be_root = |it: &Path| {
        let is_shared =
            it.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(it));
        it == dir || !is_shared
    };

    let mut skipped = Vec::new();
    let mut bare = None;
    for above in gitdir::upwards(&dir) {
        let why = match gitdir::at(above) {
            Some(Ok(found)) if may_be_root(above) => return Ok(git_place(above, found, skipped)),
            Some(Ok(_)) => SkipReason::AtHome,
            Some(Err(why)) => why,
            None => {
                // Only remembered: a bare repository committed into a working tree is that tree's content.
                if bare.is_none() && may_be_root(above) && gitdir::is_bare(above) {
                    bare = Some(above);
                }
                continue;
            }
        };
        skipped.push(Skipped { path: above.join(".git"), why });
    }
    if let Some(root) = bare {
        return Ok(place(root, root, Some(root), PlaceKind::Bare, skipped));
    }
    let manifest = gitdir::upwards(&dir).find(|it| may_be_root(it) && has_manifest(it));
    Ok(match manifest {
        Some(root) => place(root, root, None, PlaceKind::Manifest, skipped),
        None => place(&dir, &dir, None, PlaceKind::Plain, skipped),
    })
}

/// How a manifest is recognised.
enum Manifest {
    Named(&'static str),
    Ending(&'static str),
}

/// Files that say "a project starts here", grouped by ecosystem; the order means nothing.
const MANIFESTS: &[Manifest] = {
    use Manifest::{Ending, Named};
    &[
        Named("Cargo.toml"),
        Named("package.json"),
        Named("deno.json"),
        Named("deno.jsonc"),
        Named("pyproject.toml"),
        Named("setup.py"),
        Named("setup.cfg"),
        Named("requirements.txt"),
        Named("Pipfile"),
        Named("go.mod"),
        Named("go.work"),
        Named("pom.xml"),
        Named("build.gradle"),
        Named("build.gradle.kts"),
        Named("settings.gradle"),
        Named("settings.gradle.kts"),
        Named("build.sbt"),
        Named("build.xml"),
        Named("project.clj"),
        Named("deps.edn"),
        Named("Gemfile"),
        Ending(".gemspec"),
        Named("composer.json"),
        Ending(".sln"),
        Ending(".slnx"),
        Ending(".csproj"),
        Ending(".fsproj"),
        Ending(".vbproj"),
        Named("Package.swift"),
        Ending(".xcodeproj"),
        Named("pubspec.yaml"),
        Named("mix.exs"),
        Named("rebar.config"),
        Named("gleam.toml"),
        Named("stack.yaml"),
        Named("cabal.project"),
        Ending(".cabal"),
        Named("dune-project"),
        Named("build.zig"),
        Named("Project.toml"),
        Ending(".nimble"),
        Named("DESCRIPTION"),
        Named("CMakeLists.txt"),
        Named("meson.build"),
        Named("configure.ac"),
        Named("WORKSPACE"),
        Named("MODULE.bazel"),
        Named("flake.nix"),
        Named("justfile"),
        Named("Makefile"),
        Named("GNUmakefile"),
    ]
};

/// A directory with more entries than this is not searched further for a manifest known by its ending.
const MAX_ENTRIES: usize = 4096;

fn has_manifest(dir: &Path) -> bool {
    MANIFESTS.iter().any(|it| match it {
        // A FIFO or a directory of that name is no manifest; nothing is opened.
        Manifest::Named(name) => dir.join(name).is_file(),
        Manifest::Ending(_) => false,
    }) || has_ending(dir)
}

fn has_ending(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    entries.take(MAX_ENTRIES).flatten().any(|entry| {
        let name = entry.file_name();
        let ends = |it: &Manifest| match it {
            Manifest::Named(_) => false,
            Manifest::Ending(ending) => {
                name.to_str().is_some_and(|it| it.len() > ending.len() && it.ends_with(ending))
            }
        };
        MANIFESTS.iter().any(ends)
    })
}

/// The canonical directory of `start`.
fn directory(start: &Path) -> Result<PathBuf, Error> {
    let mut path = fs::canonicalize(start).map_err(|it| Error::reading(start, it))?;
    if !path.is_dir() {
        path.pop();
    }
    Ok(path)
}

fn git_place(root: &Path, found: gitdir::Repository, skipped: Vec<Skipped>) -> Place {
    place(root, &found.common, Some(&found.git_dir), found.kind, skipped)
}

fn place(
    root: &Path,
    key_dir: &Path,
    git_dir: Option<&Path>,
    kind: PlaceKind,
    skipped: Vec<Skipped>,
) -> Place {
    let dir_key = fs::metadata(key_dir).ok().and_then(|it| os::dir_key(&it));
    Place {
        root: root.to_owned(),
        key_dir: key_dir.to_owned(),
        git_dir: git_dir.map(Path::to_owned),
        kind,
        dir_key,
        skipped,
    }
}
