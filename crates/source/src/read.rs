//! Reads small regular files and lists folders: manifests, README files, CI descriptions, and the files with
//! which git points to another folder. Never waits for a FIFO and never reads a device.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{Error, os, project_path};

/// Largest manifest, README or CI description that is read.
const MAX_SMALL_FILE_BYTES: u64 = 512 * 1024;
/// Most files listed of one folder, in the order of their names.
const MAX_LISTED_FILES: usize = 64;
/// Size limit for `HEAD`, a loose ref, `commondir` and a `.git` pointer; the longest path fits.
pub(crate) const MAX_POINTER_BYTES: u64 = 8 * 1024;

/// The content of a regular file of at most `limit` bytes.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_bytes(path, limit).map_err(|it| Error::from_io(path, it))
}

/// The text of a small file of the project; `None` for a larger file, a link that leaves the project, and
/// anything that is no file.
pub fn read_small_text(root: &Path, rel: &str) -> Option<String> {
    if !project_path::exists_in_project(root, rel) {
        return None;
    }
    read_lossy_text(&root.join(rel), MAX_SMALL_FILE_BYTES).ok()
}

/// The files directly in a folder below the root of the project, as sorted paths relative to the root. `rel`
/// is not empty. Links and names that are not UTF-8 are left out.
pub fn list_files(root: &Path, rel: &str) -> Vec<String> {
    if !project_path::exists_in_project(root, rel) {
        return Vec::new();
    }
    let entries = fs::read_dir(root.join(rel)).into_iter().flatten().flatten();
    let files = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_file()));
    let mut paths: Vec<String> =
        files.filter_map(|it| Some(format!("{rel}/{}", it.file_name().to_str()?))).collect();
    // Sorted before it is truncated: `read_dir` gives no order, so the result would vary otherwise.
    paths.sort_unstable();
    paths.truncate(MAX_LISTED_FILES);
    paths
}

/// The names of all entries directly in a folder of the project, in no order. Links are included,
/// names that are not UTF-8 are left out.
pub fn entry_names(root: &Path, rel: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join(rel)).into_iter().flatten().flatten();
    entries.filter_map(|it| it.file_name().into_string().ok()).collect()
}

/// Opens a regular file. The check uses the open handle, so the file cannot be swapped in between.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Opens without waiting: the usual way to open would block on a FIFO before it can be checked.
    let file = os::open_file(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// The content of a file that must not be larger than `limit` bytes.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut acc = Vec::new();
    // One byte more than allowed shows that there is more; the size in the metadata may be stale.
    let n_bytes = open_regular(path)?.take(limit + 1).read_to_end(&mut acc)?;
    if n_bytes as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than expected"));
    }
    Ok(acc)
}

/// The content as text, with invalid UTF-8 replaced.
pub(crate) fn read_lossy_text(path: &Path, limit: u64) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&read_bytes(path, limit)?).into_owned())
}

/// The path that a file contains, after `prefix` and up to the end of the line. A `.git` file has the
/// prefix `gitdir:`, as in `gitdir: /repo/.git/worktrees/tree`; `commondir` has none.
pub(crate) fn read_pointer(path: &Path, prefix: &str) -> io::Result<PathBuf> {
    let bytes = read_bytes(path, MAX_POINTER_BYTES)?;
    bytes
        .strip_prefix(prefix.as_bytes())
        .map(<[u8]>::trim_ascii_start)
        .and_then(|it| it.split(|byte| matches!(byte, b'\n' | b'\r' | 0)).next())
        .filter(|it| !it.is_empty())
        .and_then(os::path_from)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a pointer to a directory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More files than the limit, created in an order that no directory index follows.
    #[test]
    fn a_large_folder_is_listed_from_its_first_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ci")).unwrap();
        let n_files = MAX_LISTED_FILES * 4;
        let name = |n: usize| format!("ci/{n:04}.yml");
        // 7 has no common factor with the number of files, so each file is created once.
        for n in 0..n_files {
            fs::write(dir.path().join(name(n * 7 % n_files)), "").unwrap();
        }
        // A folder with the first name of all is not a file.
        fs::create_dir(dir.path().join("ci/0000")).unwrap();
        let expected: Vec<String> = (0..MAX_LISTED_FILES).map(name).collect();
        assert_eq!(list_files(dir.path(), "ci"), expected);
        assert_eq!(list_files(dir.path(), "../ci"), Vec::<String>::new());
    }
}
