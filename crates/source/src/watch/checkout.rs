//! What is checked out, and where git writes when that becomes another commit.
//!
//! A commit changes no file of a working tree, so whoever follows only those hears of it with the next
//! edit. Git writes few files for it: `HEAD`, the ref it names, the packed refs, or a table of refs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::head::{Head, head};
use crate::place::Place;

/// The commit of a place as it was last looked at.
pub(super) struct Checkout {
    place: Place,
    commit: Option<String>,
    /// Folders that git writes into; each is watched by itself.
    pub(super) folders: HashSet<PathBuf>,
}

impl Checkout {
    pub(super) fn new(place: &Place) -> Self {
        let commit = head(place).commit;
        Self { place: place.clone(), commit, folders: HashSet::new() }
    }

    /// Whether something at this path may have made it another commit.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        path.parent().is_some_and(|it| self.folders.contains(it)) && {
            let git_dirs = [self.place.git_dir.as_deref(), Some(self.place.key_dir.as_path())];
            let is_top = path.parent().is_some_and(|it| git_dirs.contains(&Some(it)));
            // Beside these, whoever asks for a status writes there, too.
            !is_top || path.file_name().is_some_and(|it| it == "HEAD" || it == "packed-refs")
        }
    }

    /// The folders to be watched now; none without git.
    pub(super) fn wanted(&self) -> HashSet<PathBuf> {
        let Some(git_dir) = &self.place.git_dir else { return HashSet::new() };
        let common = &self.place.key_dir;
        let mut res = HashSet::from([git_dir.clone(), common.clone()]);
        let tables = common.join("reftable");
        if tables.is_dir() {
            res.insert(tables);
        } else if let Head { branch: Some(branch), .. } = head(&self.place) {
            res.extend(nearest(&common.join("refs/heads").join(branch)));
        }
        res
    }

    /// Looks again; whether it is another commit than before.
    pub(super) fn has_moved(&mut self) -> bool {
        let now = head(&self.place).commit;
        std::mem::replace(&mut self.commit, now.clone()) != now
    }
}

/// The folder a ref is written into, or the one it will be made in.
fn nearest(loose: &Path) -> Option<PathBuf> {
    loose.ancestors().skip(1).find(|it| it.is_dir()).map(Path::to_owned)
}
