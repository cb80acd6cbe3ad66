//! The checked-out commit, and the folders into which git writes when it changes.
//!
//! A commit changes no file of the working tree, so watching only those would notice it with the
//! next edit. Git writes few files for it: `HEAD`, the ref it names (`refs/heads/main`), the file
//! `packed-refs`, or a file in `reftable`, another format for refs.
//!
//! A *place* is the location of a project. Its `git_dir` is the git directory of the working tree,
//! with `HEAD`; its `key_dir` the one that all working trees of the repository share, with the refs.
//! They differ only in a linked worktree.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::git_head::{GitHead, read_head};
use crate::project_place::ProjectPlace;

/// The commit of a place when it was last read.
pub(super) struct CheckoutWatch {
    place: ProjectPlace,
    commit: Option<String>,
    /// Folders into which git writes; each is watched without its subfolders.
    pub(super) folders: HashSet<PathBuf>,
}

impl CheckoutWatch {
    pub(super) fn new(place: &ProjectPlace) -> Self {
        let commit = read_head(place).commit;
        Self { place: place.clone(), commit, folders: HashSet::new() }
    }

    /// True if a change at this path may mean another commit.
    pub(super) fn is_concerned(&self, path: &Path) -> bool {
        let Some(folder) = path.parent().filter(|it| self.folders.contains(*it)) else {
            return false;
        };
        let git_dirs = [self.place.git_dir.as_deref(), Some(self.place.key_dir.as_path())];
        if !git_dirs.contains(&Some(folder)) {
            // A folder of refs: everything in it counts.
            return true;
        }
        // Other files in the git directory itself change with every `git status`.
        path.file_name().is_some_and(|it| it == "HEAD" || it == "packed-refs")
    }

    /// The folders to watch now; none without git.
    pub(super) fn folders_to_watch(&self) -> HashSet<PathBuf> {
        let Some(git_dir) = &self.place.git_dir else { return HashSet::new() };
        let common = &self.place.key_dir;
        let mut acc = HashSet::from([git_dir.clone(), common.clone()]);
        let tables = common.join("reftable");
        if tables.is_dir() {
            acc.insert(tables);
        } else if let GitHead { branch: Some(branch), .. } = read_head(&self.place) {
            acc.extend(nearest_folder(&common.join("refs/heads").join(branch)));
        }
        acc
    }

    /// Reads the commit again, stores it, and returns true if it is another than before.
    pub(super) fn update_commit(&mut self) -> bool {
        let commit = read_head(&self.place).commit;
        let is_new = commit != self.commit;
        self.commit = commit;
        is_new
    }
}

/// The nearest existing folder above a loose ref, in which git creates the missing ones. For the
/// branch `feature/x` that is `refs/heads/feature`, or `refs/heads` if there is no such folder yet.
fn nearest_folder(loose: &Path) -> Option<PathBuf> {
    loose.ancestors().skip(1).find(|it| it.is_dir()).map(Path::to_owned)
}
