//! The few things the operating systems do differently; the only module with `cfg(unix)` in it.
//!
//! Both halves offer the same functions; nothing here decides anything.

#[cfg(not(unix))]
pub(crate) use other::{argument, device, dir_key, open, path_from};
#[cfg(unix)]
pub(crate) use unix::{argument, device, dir_key, open, path_from};

/// Starts the keys that follow a directory through a rename and are never given out twice.
const LASTING: &str = "born:";

/// Says whether an equal key at another path proves that a directory was moved there.
///
/// An inode number alone does not: the next directory made may get the number of the one just deleted.
pub(crate) fn is_lasting(dir_key: &str) -> bool {
    dir_key.starts_with(LASTING)
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};
    use std::time::UNIX_EPOCH;

    /// Opens for reading; a FIFO without a writer, or a terminal, is opened at once instead of waited for.
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
    }

    /// A canonical path as other programs understand it.
    pub(crate) fn argument(path: &Path) -> &Path {
        path
    }

    /// The filesystem a file is on.
    pub(crate) fn device(metadata: &Metadata) -> u64 {
        metadata.dev()
    }

    /// The identity of a directory, equal after a rename.
    ///
    /// The device number is left out where a birth time makes the inode unique:
    /// device numbers change from boot to boot on btrfs, network and removable filesystems.
    #[expect(clippy::unnecessary_wraps, reason = "the other half of the pair can fail")]
    pub(crate) fn dir_key(metadata: &Metadata) -> Option<String> {
        let born = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        Some(match born.map(|it| it.as_nanos()) {
            Some(nanos) if nanos > 0 => format!("{}{}:{nanos}", super::LASTING, metadata.ino()),
            _ => format!("node:{}:{}", metadata.dev(), metadata.ino()),
        })
    }

    /// A path as a file spells it.
    #[expect(clippy::unnecessary_wraps, reason = "the other half of the pair can fail")]
    pub(crate) fn path_from(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(bytes)))
    }
}

#[cfg(not(unix))]
mod other {
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::{Path, PathBuf};
    use std::time::UNIX_EPOCH;

    pub(crate) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Canonical paths have a prefix (`\\?\C:\…`) that git does not know.
    pub(crate) fn argument(path: &Path) -> &Path {
        let text = path.to_str().and_then(|it| it.strip_prefix(r"\\?\"));
        text.filter(|it| !it.starts_with("UNC")).map_or(path, Path::new)
    }

    /// Drives are separate roots, so no walk upwards can cross from one to another.
    pub(crate) fn device(_metadata: &Metadata) -> u64 {
        0
    }

    /// Creation time alone, which copying tools can preserve: good enough for "unchanged", not for "moved".
    pub(crate) fn dir_key(metadata: &Metadata) -> Option<String> {
        let made = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("made:{}", made.as_nanos()))
    }

    pub(crate) fn path_from(bytes: &[u8]) -> Option<PathBuf> {
        std::str::from_utf8(bytes).ok().map(PathBuf::from)
    }
}
