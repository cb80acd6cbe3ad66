//! Operating system specifics: file modes, owners, file identities, signals.
//!
//! All files and folders of the store are created here, private to their owner. The functions are
//! the same on every system; the two `imp` modules at the end hold what differs. On systems other
//! than Unix, modes and identities do nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Identity of a file (device and inode): tells it from another file that later got its name.
pub(crate) type FileIdentity = (u64, u64);

/// Symbolic links followed in a row; more are taken for a cycle.
const MAX_LINKS: usize = 40;
/// Names tried for a scratch file. A process that had the same id may have left some behind.
const MAX_SCRATCH_NAMES: usize = 1_000;

/// Creates a folder that only its owner may enter; an existing one is closed to others. Rights that
/// the owner removed stay removed: a folder may be read-only on purpose.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return imp::limit_mode(path, 0o700);
    }
    imp::create_dir(path)?;
    // The name must be as durable as the files in the folder. If the folder above cannot be opened,
    // it becomes durable when the system writes it.
    let _ = path.parent().map(imp::sync_dir);
    imp::set_mode(path, 0o700)
}

/// Creates an empty file that only its owner may read; an existing one is closed to others.
/// `SQLite` gives `-wal` and `-shm` the mode of the main file.
///
/// An existing file is not opened: it may be a database in use, and closing any handle of a file
/// ends every POSIX lock the process holds on it.
pub(crate) fn private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    imp::create_mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => imp::set_mode(path, 0o600),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => imp::limit_mode(path, 0o600),
        Err(error) => Err(error),
    }
}

/// Reads a file that may be a database in use. The handle stays open for the life of the process:
/// closing it would end the locks this process holds on the file, and another process could corrupt
/// it.
pub fn read_open_database(path: &Path) -> Result<Vec<u8>, crate::Error> {
    static OPEN_FILES: Mutex<BTreeMap<FileIdentity, fs::File>> = Mutex::new(BTreeMap::new());
    let read = || {
        let Some(id) = file_identity(path) else { return fs::read(path) };
        let mut open_files = OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match open_files.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(fs::File::open(path)?),
        };
        let mut bytes = Vec::new();
        file.seek(io::SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|it| crate::Error::from_io(path, &it))
}

/// Copies a file. Only its owner may read the copy.
pub(crate) fn private_copy(from: &Path, to: &Path) -> io::Result<()> {
    private_file(to)?;
    fs::copy(from, to)?;
    imp::set_mode(to, 0o600)
}

/// Syncs a file to the disk.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    // Some systems sync only through a writable handle.
    fs::OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Removes a file. A missing file is not an error.
pub(crate) fn remove_file_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Identity of the file at a path, where the system can tell.
pub(crate) fn file_identity(path: &Path) -> Option<FileIdentity> {
    imp::identity(path)
}

/// Returns whether an open file is still the one at `path`; true where the system cannot tell.
pub(crate) fn is_at(file: &fs::File, path: &Path) -> bool {
    imp::identity_of(file).is_none_or(|it| file_identity(path) == Some(it))
}

/// Bytes of a path in the system's encoding.
pub(crate) fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Replaces a file atomically: readers see the old bytes or the new ones. A new file is private to
/// its owner; an existing one keeps its mode, and a symbolic link stays one.
pub fn write_private_file(path: &Path, bytes: &[u8]) -> Result<(), crate::Error> {
    let io = |it: io::Error| crate::Error::from_io(path, &it);
    let target = resolve_links(path).map_err(io)?;
    // The parent of a bare file name is the empty path.
    let parent = target.parent().filter(|it| !it.as_os_str().is_empty());
    let dir = parent.unwrap_or(Path::new("."));
    // An existing folder belongs to the user; its mode is not changed.
    let folder_ready = if dir.exists() { Ok(()) } else { private_dir(dir) };
    let (scratch, file) = folder_ready.and_then(|()| create_scratch_file(&target)).map_err(io)?;
    // A rename within one folder is atomic.
    let replaced = write_scratch_file(file, &scratch, bytes, &target)
        .and_then(|()| fs::rename(&scratch, &target))
        .and_then(|()| sync_dir(dir));
    if replaced.is_err() {
        // The error is returned below; a leftover scratch file would only add to it.
        let _ = fs::remove_file(&scratch);
    }
    replaced.map_err(io)
}

/// Writes the bytes and makes them durable, with the mode of the file that will be replaced.
fn write_scratch_file(
    mut file: fs::File,
    scratch: &Path,
    bytes: &[u8],
    target: &Path,
) -> io::Result<()> {
    file.write_all(bytes)?;
    if target.exists() {
        imp::copy_mode(target, scratch)?;
    }
    file.sync_all()
}

/// Creates a private file beside `target` under a name that no other file has.
fn create_scratch_file(target: &Path) -> io::Result<(PathBuf, fs::File)> {
    let Some(name) = target.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"));
    };
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    imp::create_mode(&mut options, 0o600);
    for n in 0..MAX_SCRATCH_NAMES {
        let mut scratch = name.to_owned();
        scratch.push(format!(".{}-{n}.writing", std::process::id()));
        let path = target.with_file_name(scratch);
        match options.open(&path) {
            // Left behind by an earlier process; the next number is tried.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                imp::set_mode(&path, 0o600)?;
                return Ok((path, file));
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many unfinished files beside it"))
}

/// Follows symbolic links to the file a path finally names, whether or not it exists.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&resolved) {
            // A relative link starts at the folder it lies in.
            Ok(next) => resolved = resolved.parent().unwrap_or(Path::new("")).join(next),
            // Not a link, or nothing at all: this is the file.
            Err(_) => return Ok(resolved),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link that leads nowhere"))
}

/// Syncs the names in a folder to the disk, where the system can.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    imp::sync_dir(path)
}

/// Owner of `path` if it is not the current user.
pub(crate) fn foreign_owner(path: &Path) -> Option<u32> {
    imp::foreign_owner(path)
}

/// Finds a file or folder below `root` that other users may read.
pub fn find_readable_by_others(root: &Path) -> Option<PathBuf> {
    let mut unvisited = vec![root.to_owned()];
    while let Some(path) = unvisited.pop() {
        if imp::is_open_to_others(&path) {
            return Some(path);
        }
        if path.is_dir() {
            unvisited
                .extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|it| it.path()));
        }
    }
    None
}

/// Size of the file that [`probe_writing`] writes: more than one block, so that a full disk refuses it.
const PROBE_BYTES: usize = 64 << 10;

/// Returns why nothing can be written into a folder: writes a scratch file there and removes it. A folder
/// that does not exist yet is not created; the folder above it is asked.
pub fn probe_writing(folder: &Path) -> Result<(), crate::Error> {
    let Some(existing) = folder.ancestors().find(|it| it.is_dir()) else {
        return Ok(());
    };
    if let Some(owner) = foreign_owner(existing).filter(|_| existing == folder) {
        return Err(crate::Error::ForeignOwner { path: existing.to_owned(), owner });
    }
    let path = existing.join(format!(".waylore-probe-{}", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(&vec![0; PROBE_BYTES])?;
        file.sync_all()
    })();
    // A file that could not be created is not there.
    let _ = fs::remove_file(&path);
    written.map_err(|it| crate::Error::from_io(existing, &it))
}

/// Makes a write beyond the file-size limit return an error instead of killing the process.
pub fn ignore_file_size_signal() {
    imp::ignore_file_size_signal();
}

#[cfg(unix)]
mod imp {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    use super::FileIdentity;

    pub(super) fn create_dir(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
        fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
    }

    pub(super) fn identity_of(file: &fs::File) -> Option<FileIdentity> {
        file.metadata().ok().map(|it| (it.dev(), it.ino()))
    }

    /// Removes the rights that `mode` lacks, and adds none.
    pub(super) fn limit_mode(path: &Path, mode: u32) -> io::Result<()> {
        let current = fs::metadata(path)?.permissions().mode() & 0o777;
        set_mode(path, current & mode)
    }

    pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        let current = fs::metadata(path)?.permissions();
        if current.mode() & 0o777 == mode {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    pub(super) fn copy_mode(from: &Path, to: &Path) -> io::Result<()> {
        set_mode(to, fs::metadata(from)?.permissions().mode() & 0o777)
    }

    pub(super) fn create_mode(options: &mut fs::OpenOptions, mode: u32) {
        options.mode(mode);
    }

    pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    pub(super) fn foreign_owner(path: &Path) -> Option<u32> {
        let owner = fs::metadata(path).ok()?.uid();
        #[expect(
            unsafe_code,
            reason = "geteuid takes nothing, cannot fail and has no safe twin in std"
        )]
        let me = unsafe { libc::geteuid() };
        (owner != me).then_some(owner)
    }

    pub(super) fn is_open_to_others(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|it| it.mode() & 0o077 != 0)
    }

    pub(super) fn ignore_file_size_signal() {
        #[expect(
            unsafe_code,
            reason = "SIG_IGN installs no handler, so nothing can run in signal context"
        )]
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::fs;
    use std::io;
    use std::path::Path;

    use super::FileIdentity;

    pub(super) fn create_dir(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    pub(super) fn identity(_: &Path) -> Option<FileIdentity> {
        None
    }

    pub(super) fn identity_of(_: &fs::File) -> Option<FileIdentity> {
        None
    }

    pub(super) fn limit_mode(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn copy_mode(_: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn create_mode(_: &mut fs::OpenOptions, _: u32) {}

    pub(super) fn sync_dir(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn foreign_owner(_: &Path) -> Option<u32> {
        None
    }

    pub(super) fn is_open_to_others(_: &Path) -> bool {
        false
    }

    pub(super) fn ignore_file_size_signal() {}
}
