//! Files that grow by whole lines: appended to, and rewritten while no other process appends.
//!
//! Both lock the file and check afterwards that it is still the one at its path: a rewrite puts
//! another file in its place, and a reader of the inbox removes it. Journals and the inbox use this.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::{Error, os};

/// Attempts to lock a file that other processes keep replacing between opening and locking.
const MAX_OPEN_ATTEMPTS: usize = 10;

/// Appends to a file, which is created if it is missing. `build` gets the length of the file and
/// returns the lines, or `None` to leave it. Returns the file, or `None` if it was left.
pub(crate) fn append_lines(
    path: &Path,
    build: impl Fn(u64) -> Result<Option<String>, Error>,
) -> Result<Option<File>, Error> {
    let io = |it: std::io::Error| Error::from_io(path, &it);
    for _ in 0..MAX_OPEN_ATTEMPTS {
        // Until it is locked, another process may remove the file at any time.
        let created = os::private_file(path);
        let opened = created.and_then(|()| OpenOptions::new().read(true).append(true).open(path));
        let Some(mut file) = opened.map(Some).or_else(none_if_missing).map_err(io)? else {
            continue;
        };
        file.lock().map_err(io)?;
        if !os::is_at(&file, path) {
            continue;
        }
        let length = file.metadata().map_err(io)?.len();
        let Some(lines) = build(length)? else { return Ok(None) };
        // A crash may have cut the last line short; the new lines must not continue it.
        // An empty file has no last byte; the line break stands for it.
        let mut last_byte = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last_byte).map_err(io)?;
        }
        let lines = if last_byte == [b'\n'] { lines } else { format!("\n{lines}") };
        file.write_all(lines.as_bytes()).map_err(io)?;
        return Ok(Some(file));
    }
    Err(io(std::io::Error::other("other processes keep replacing the file")))
}

/// Replaces the contents of a file by what `change` makes of them; `None` leaves the file. A missing
/// file is no error.
pub(crate) fn rewrite_file(
    path: &Path,
    change: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, Error>,
) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::from_io(path, &it);
    for _ in 0..MAX_OPEN_ATTEMPTS {
        let opened = File::open(path).map(Some).or_else(none_if_missing);
        let Some(mut file) = opened.map_err(io)? else { return Ok(()) };
        file.lock().map_err(io)?;
        if !os::is_at(&file, path) {
            continue;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        return match change(&bytes)? {
            Some(changed) => os::write_private_file(path, &changed),
            None => Ok(()),
        };
    }
    Err(io(std::io::Error::other("other processes keep replacing the file")))
}

/// Files of a folder, sorted; none if the folder is missing.
pub(crate) fn list_files(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter(|it| it.file_type().is_ok_and(|it| it.is_file()))
        .map(|it| it.path())
        .collect();
    files.sort();
    files
}

/// Turns the error of a missing file into `None`.
pub(crate) fn none_if_missing(error: std::io::Error) -> std::io::Result<Option<File>> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}
