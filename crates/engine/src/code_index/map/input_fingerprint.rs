//! Fingerprint of everything from which the module map is computed. While it is the stored one, the
//! stored map is up to date.
//!
//! It covers the code (by the generation of the graph, which grows with every change), the indexed
//! commit, the work of sessions, and the stamps of the manifests, README and CI files.

use std::path::Path;

use modules::{CI_CONFIG_PATHS, MANIFEST_FILES};
use observe::WorkStatistics;

use super::module_descriptions::README_FILES;
use super::project_folders::{ProjectFolders, join_path};

/// Every version of the program may detect modules in another way.
const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Increases with every change of the detection between two versions that can change its result.
const DETECTION_VERSION: u32 = 1;

/// Inputs of the map that are stored.
pub(super) struct StoredInputs<'a> {
    /// Generation of the graph. Read before the graph, so that a change in between leads to another
    /// detection.
    pub(super) generation: i64,
    /// The commit up to which the history is indexed.
    pub(super) indexed_commit: Option<String>,
    pub(super) work: &'a WorkStatistics,
}

/// Computes the fingerprint. `None` if a file was written just now: its stamp would not show another
/// change at the same moment.
pub(super) fn fingerprint_inputs(
    root: &Path,
    folders: &ProjectFolders,
    stored: &StoredInputs<'_>,
) -> Option<String> {
    let StoredInputs { generation, indexed_commit, work } = stored;
    let mut text =
        format!("{PROGRAM_VERSION} {DETECTION_VERSION} {generation} {indexed_commit:?} {work:?}");
    for path in list_input_files(root, folders) {
        let stamp = source::target_stamp(&root.join(&path));
        if stamp.is_some_and(|it| it.modified == 0) {
            return None;
        }
        text.extend(["\n", path.as_str(), " ", &format!("{stamp:?}")]);
    }
    Some(model::fingerprint_text(&text))
}

/// The manifests, README and CI files of a project.
fn list_input_files(root: &Path, folders: &ProjectFolders) -> Vec<String> {
    let names: Vec<&str> =
        MANIFEST_FILES.iter().map(|(name, _)| *name).chain(README_FILES.iter().copied()).collect();
    let mut paths = Vec::new();
    for folder in folders.paths() {
        let in_folder = names.iter().map(|name| join_path(folder, name));
        paths.extend(in_folder.filter(|it| folders.may_have(it)));
    }
    for place in CI_CONFIG_PATHS {
        let inside = source::list_files(root, place);
        // A CI path is a folder of files or a single file. The folder's own stamp says nothing.
        paths.extend(if inside.is_empty() { vec![(*place).to_owned()] } else { inside });
    }
    paths
}
