//! The folders of a project that hold indexed files, with the names of their entries.
//!
//! The module map looks for dozens of files in every folder: manifests, README files, headers. One
//! listing per folder answers for those that are missing, which are nearly all.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Entry names by folder, as found when the listing was made.
pub(super) struct ProjectFolders {
    names: BTreeMap<String, HashSet<String>>,
}

impl ProjectFolders {
    /// Lists the root and every folder above one of the files.
    pub(super) fn list<'a>(root: &Path, files: impl Iterator<Item = &'a str>) -> Self {
        let mut folders: HashSet<&str> = HashSet::from([""]);
        for file in files {
            let mut folder = file;
            while let Some((parent, _)) = folder.rsplit_once('/') {
                // The folders above a known one are known as well.
                if !folders.insert(parent) {
                    break;
                }
                folder = parent;
            }
        }
        let list = |it: &str| source::entry_names(root, it).into_iter().collect();
        Self { names: folders.into_iter().map(|it| (it.to_owned(), list(it))).collect() }
    }

    /// The folders, sorted by path. The root is the empty path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// False if the path certainly does not exist.
    pub(super) fn may_have(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.names.get(folder).is_none_or(|it| it.contains(name))
    }
}

/// The path of an entry of a folder.
pub(super) fn join_path(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
