//! Differences between operating systems; the only module with `cfg(unix)`.
//!
//! Both modules below offer the same functions. A directory key identifies a directory beyond its
//! path: `born:` keys from inode and birth time, `node:` keys from device and inode, `made:` keys
//! from the creation time alone.

#[cfg(not(unix))]
pub(crate) use other::{as_argument, device_id, dir_key, open_file, path_from};
#[cfg(unix)]
pub(crate) use unix::{as_argument, device_id, dir_key, open_file, path_from};

/// Prefix of the keys that survive a rename of the directory and are never assigned twice.
const LASTING_KEY_PREFIX: &str = "born:";

/// True if an equal key at another path proves that a directory was moved there.
///
/// An inode number alone does not: a new directory may get the number of one just deleted.
pub(crate) fn is_lasting(dir_key: &str) -> bool {
    dir_key.starts_with(LASTING_KEY_PREFIX)
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

    /// Opens for reading without waiting, even for a FIFO without a writer or a terminal.
    pub(crate) fn open_file(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
    }

    /// A canonical path as other programs accept it.
    pub(crate) fn as_argument(path: &Path) -> &Path {
        path
    }

    /// The filesystem a file is on.
    pub(crate) fn device_id(metadata: &Metadata) -> u64 {
        metadata.dev()
    }

    /// Identity of a directory, which survives a rename.
    ///
    /// The device number is left out if a birth time makes the inode unique: device numbers change
    /// from boot to boot on btrfs, network and removable filesystems.
    #[expect(clippy::unnecessary_wraps, reason = "the other half of the pair can fail")]
    pub(crate) fn dir_key(metadata: &Metadata) -> Option<String> {
        let born = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        Some(match born.map(|it| it.as_nanos()) {
            Some(nanos) if nanos > 0 => {
                format!("{}{}:{nanos}", super::LASTING_KEY_PREFIX, metadata.ino())
            }
            _ => format!("node:{}:{}", metadata.dev(), metadata.ino()),
        })
    }

    /// A path from the bytes in a file.
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

    pub(crate) fn open_file(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Removes the prefix of canonical paths (`\\?\C:\…`), which git does not accept.
    pub(crate) fn as_argument(path: &Path) -> &Path {
        let text = path.to_str().and_then(|it| it.strip_prefix(r"\\?\"));
        text.filter(|it| !it.starts_with("UNC")).map_or(path, Path::new)
    }

    /// Constant, because drives are separate roots: no walk upwards can cross from one to another.
    pub(crate) fn device_id(_metadata: &Metadata) -> u64 {
        0
    }

    /// The creation time alone, which copying tools can preserve: sufficient for "unchanged", not
    /// for "moved".
    pub(crate) fn dir_key(metadata: &Metadata) -> Option<String> {
        let made = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("made:{}", made.as_nanos()))
    }

    pub(crate) fn path_from(bytes: &[u8]) -> Option<PathBuf> {
        std::str::from_utf8(bytes).ok().map(PathBuf::from)
    }
}
