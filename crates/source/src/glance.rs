//! A glance at single files of the project: manifests, READMEs, descriptions of CI.

use std::fs;
use std::path::Path;

use crate::{path, read};

/// Larger files are no manifests.
const LARGEST: u64 = 512 * 1024;
/// More files than this in a folder of workflows are not looked at.
const MOST: usize = 64;

/// The text of a small file of the project; nothing for links that lead out of it, and for what is no file.
pub fn glance(root: &Path, rel: &str) -> Option<String> {
    path::exists(root, rel).then(|| read::text(&root.join(rel), LARGEST).ok())?
}

/// The files right in a folder of the project, as paths of the project in order.
pub fn files_in(root: &Path, rel: &str) -> Vec<String> {
    if !path::exists(root, rel) {
        return Vec::new();
    }
    let entries = fs::read_dir(root.join(rel)).into_iter().flatten().flatten();
    let files = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_file()));
    let mut res: Vec<String> = files
        .filter_map(|it| Some(format!("{rel}/{}", it.file_name().to_str()?)))
        .take(MOST)
        .collect();
    res.sort_unstable();
    res
}
