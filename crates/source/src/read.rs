//! Reads regular files up to a limit, and nothing else: no FIFO is waited for, no device is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::os;

/// Enough for `HEAD`, a loose ref, `commondir` or a `.git` pointer with the longest path.
pub(crate) const POINTER: u64 = 8 * 1024;

/// Opens a regular file; the check is made on the open handle, so the file cannot be swapped in between.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    let file = os::open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// The whole of a file that must not be larger than `limit` bytes.
pub(crate) fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut acc = Vec::new();
    let n_bytes = regular(path)?.take(limit + 1).read_to_end(&mut acc)?;
    if n_bytes as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than expected"));
    }
    Ok(acc)
}

/// Text, where bytes that are no text cannot matter.
pub(crate) fn text(path: &Path, limit: u64) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&bytes(path, limit)?).into_owned())
}

/// A path that is the content of a file, after `prefix` and up to the end of the line.
pub(crate) fn pointer(path: &Path, prefix: &str) -> io::Result<PathBuf> {
    let bytes = bytes(path, POINTER)?;
    bytes
        .strip_prefix(prefix.as_bytes())
        .map(<[u8]>::trim_ascii_start)
        .and_then(|it| it.split(|byte| matches!(byte, b'\n' | b'\r' | 0)).next())
        .filter(|it| !it.is_empty())
        .and_then(os::path_from)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a pointer to a directory"))
}
