//! Line count and modification time of a project file.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::{project_path, read};

/// Largest file whose lines are counted; for larger ones their number is estimated.
const MAX_COUNTED_BYTES: u64 = 4 * 1024 * 1024;
/// Assumed length of a line for the estimate.
const ESTIMATED_LINE_BYTES: u64 = 40;

/// Properties of a file that need no parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Milliseconds since the epoch.
    pub modified: i64,
    pub n_lines: u32,
}

/// Reads the state of a file inside the project; `None` if it is missing or no regular file.
pub fn read_file_state(root: &Path, rel: &str) -> Option<FileState> {
    if !project_path::exists_in_project(root, rel) {
        return None;
    }
    // Links inside the project are followed; the test above has refused those that leave it.
    let file = read::open_regular(&fs::canonicalize(root.join(rel)).ok()?).ok()?;
    let metadata = file.metadata().ok()?;
    let since_epoch = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let n_lines = if metadata.len() > MAX_COUNTED_BYTES {
        metadata.len() / ESTIMATED_LINE_BYTES
    } else {
        let mut bytes = Vec::new();
        file.take(MAX_COUNTED_BYTES).read_to_end(&mut bytes).ok()?;
        count_lines(&bytes)
    };
    Some(FileState {
        modified: i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX),
        n_lines: u32::try_from(n_lines).unwrap_or(u32::MAX),
    })
}

/// Counts lines, including a last one without a line break.
fn count_lines(bytes: &[u8]) -> u64 {
    let n_breaks = bytes.iter().fold(0, |acc, it| acc + u64::from(*it == b'\n'));
    n_breaks + u64::from(bytes.last().is_some_and(|it| *it != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_state_and_folders_have_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        for (text, n_lines) in [("", 0), ("one", 1), ("one\ntwo\n", 2), ("one\n\nthree", 3)] {
            fs::write(dir.path().join("src/a.rs"), text).unwrap();
            let state = read_file_state(dir.path(), "src/a.rs").unwrap();
            assert_eq!(state.n_lines, n_lines, "{text:?}");
            assert!(state.modified > 0);
        }
        for gone in ["src", "src/b.rs", "../a.rs", "/etc/passwd"] {
            assert_eq!(read_file_state(dir.path(), gone), None, "{gone}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("a.rs")).unwrap();
        assert_eq!(read_file_state(dir.path(), "a.rs"), None);
    }
}
