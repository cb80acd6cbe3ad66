//! The one module that knows the operating system: file modes, owners, signals.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What tells one file from another that later took its name.
pub(crate) type FileId = (u64, u64);

/// How many links in a row are followed before they are taken for a circle.
const LINKS: usize = 40;
/// How many names for a scratch file are tried: leftovers of an earlier process with the same number.
const SCRATCH_NAMES: usize = 1_000;

/// Creates a folder only its owner may enter; an existing one is closed to everybody else. What its
/// owner denied themselves stays denied: they may want it read-only.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return imp::limit_mode(path, 0o700);
    }
    imp::create_dir(path)?;
    // The folder's name is to last as long as what is saved in it. Where the folder above
    // cannot even be opened, the system decides.
    let _ = path.parent().map(imp::sync_dir);
    imp::set_mode(path, 0o700)
}

/// Creates an empty file only its owner may read, unless it exists; then it is closed to others.
/// The database gives its companions (`-wal`, `-shm`) the mode of the main file.
///
/// An existing file is not opened: it may be a database in use, and closing any handle of a file
/// ends every lock the process has on it.
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

/// Reads a file that may be a database in use. The handle is kept: closing it would end the locks
/// this process has on the file, and another process could believe itself alone with it.
pub fn read_in_use(path: &Path) -> Result<Vec<u8>, crate::Error> {
    static KEPT: Mutex<BTreeMap<FileId, fs::File>> = Mutex::new(BTreeMap::new());
    let read = || {
        let Some(id) = identity(path) else { return fs::read(path) };
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match kept.entry(id) {
            Entry::Occupied(it) => it.into_mut(),
            Entry::Vacant(it) => it.insert(fs::File::open(path)?),
        };
        let mut res = Vec::new();
        file.seek(io::SeekFrom::Start(0))?;
        file.read_to_end(&mut res)?;
        Ok(res)
    };
    read().map_err(|it| crate::Error::io(path, &it))
}

/// Copies a file so that the copy, too, is only its owner's.
pub(crate) fn private_copy(from: &Path, to: &Path) -> io::Result<()> {
    private_file(to)?;
    fs::copy(from, to)?;
    imp::set_mode(to, 0o600)
}

/// Makes a file's bytes durable.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    // Some systems sync only through a handle that may write.
    fs::OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Removes a file; one that is already gone is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Which file has this name now, where the system can tell.
pub(crate) fn identity(path: &Path) -> Option<FileId> {
    imp::identity(path)
}

/// Whether an open file is the one that has this name now; where the system cannot tell, it is.
pub(crate) fn is_at(file: &fs::File, path: &Path) -> bool {
    imp::identity_of(file).is_none_or(|it| identity(path) == Some(it))
}

/// The bytes of a path as the system knows it.
pub(crate) fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Replaces a file as a whole: readers see the old bytes or the new ones. A new file is its owner's
/// alone; one that exists keeps its mode, and one that is a link stays a link to what is written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), crate::Error> {
    let io = |it: io::Error| crate::Error::io(path, &it);
    let target = behind_links(path).map_err(io)?;
    let named = target.parent().filter(|it| !it.as_os_str().is_empty());
    let dir = named.unwrap_or(Path::new("."));
    // A folder that is there already belongs to the person; its mode is their business.
    let made = if dir.exists() { Ok(()) } else { private_dir(dir) };
    let (written, file) = made.and_then(|()| scratch_file(&target)).map_err(io)?;
    let res = fill(file, &written, bytes, &target)
        .and_then(|()| fs::rename(&written, &target))
        .and_then(|()| sync_dir(dir));
    if res.is_err() {
        // What went wrong is told; a leftover nobody can read would only be one more.
        let _ = fs::remove_file(&written);
    }
    res.map_err(io)
}

fn fill(mut file: fs::File, written: &Path, bytes: &[u8], target: &Path) -> io::Result<()> {
    file.write_all(bytes)?;
    if target.exists() {
        imp::copy_mode(target, written)?;
    }
    file.sync_all()
}

/// A file of its own beside `target`, private, that nobody had before.
fn scratch_file(target: &Path) -> io::Result<(PathBuf, fs::File)> {
    let Some(name) = target.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"));
    };
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    imp::create_mode(&mut options, 0o600);
    for n in 0..SCRATCH_NAMES {
        let mut scratch = name.to_owned();
        scratch.push(format!(".{}-{n}.writing", std::process::id()));
        let path = target.with_file_name(scratch);
        match options.open(&path) {
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

/// The file that a path names in the end, whether or not it exists.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut res = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&res) {
            // A link is read from the folder it lies in.
            Ok(next) => res = res.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(res),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link that leads nowhere"))
}

/// Makes the names in a folder durable, where the system can.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    imp::sync_dir(path)
}

/// The owner of `path` when that is not the user we run as.
pub(crate) fn foreign_owner(path: &Path) -> Option<u32> {
    imp::foreign_owner(path)
}

/// The first file or folder below `root` that somebody else may read.
pub fn open_to_others(root: &Path) -> Option<PathBuf> {
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        if imp::is_open_to_others(&path) {
            return Some(path);
        }
        if path.is_dir() {
            todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|it| it.path()));
        }
    }
    None
}

/// Makes writing beyond a file-size limit an error instead of the end of the process.
pub fn survive_file_size_limit() {
    imp::survive_file_size_limit();
}

#[cfg(unix)]
mod imp {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    use super::FileId;

    pub(super) fn create_dir(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    pub(super) fn identity(path: &Path) -> Option<FileId> {
        fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
    }

    pub(super) fn identity_of(file: &fs::File) -> Option<FileId> {
        file.metadata().ok().map(|it| (it.dev(), it.ino()))
    }

    /// Takes away what the mode does not grant, and grants nothing.
    pub(super) fn limit_mode(path: &Path, mode: u32) -> io::Result<()> {
        let now = fs::metadata(path)?.permissions().mode() & 0o777;
        set_mode(path, now & mode)
    }

    pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        let now = fs::metadata(path)?.permissions();
        if now.mode() & 0o777 == mode {
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

    pub(super) fn survive_file_size_limit() {
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

    use super::FileId;

    pub(super) fn create_dir(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    pub(super) fn identity(_: &Path) -> Option<FileId> {
        None
    }

    pub(super) fn identity_of(_: &fs::File) -> Option<FileId> {
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

    pub(super) fn survive_file_size_limit() {}
}
