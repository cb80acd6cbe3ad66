//! Inspects the files of a store without the store.

use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder, sorted.
pub(crate) fn files_under(dir: &Path) -> Vec<PathBuf> {
    let mut result = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() {
            result.extend(files_under(&entry.path()));
        } else {
            result.push(entry.path());
        }
    }
    result.sort();
    result
}

/// Files that contain these bytes.
pub(crate) fn files_containing(dir: &Path, needle: &[u8]) -> Vec<String> {
    let holds = |it: &PathBuf| fs::read(it).unwrap().windows(needle.len()).any(|it| it == needle);
    files_under(dir).into_iter().filter(holds).map(|it| it.display().to_string()).collect()
}

/// Copies a folder, except the shared memory of a database in use.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else if !entry.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns whether a file is only of use to work in progress.
pub(crate) fn is_scratch(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    ["restoring", "restored", "rewriting", "sealing", "unproved", "erasing", "converting"]
        .iter()
        .any(|it| name.contains(it))
}
