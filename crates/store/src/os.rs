//! The one module that knows the operating system: file modes, owners, signals.

use std::fs;
use std::io;
use std::path::Path;

/// Creates a folder only its owner may enter; an existing one is brought to that.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    imp::set_mode(path, 0o700)
}

/// Creates an empty file only its owner may read, unless it exists; then its mode is put right.
/// The database gives its companions (`-wal`, `-shm`) the mode of the main file.
pub(crate) fn private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    imp::create_mode(&mut options, 0o600);
    options.open(path)?;
    imp::set_mode(path, 0o600)
}

/// Makes the names in a folder durable, where the system can.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    imp::sync_dir(path)
}

/// The owner of `path` when that is not the user we run as.
pub(crate) fn foreign_owner(path: &Path) -> Option<u32> {
    imp::foreign_owner(path)
}

/// Makes writing beyond a file-size limit an error instead of the end of the process.
pub fn survive_file_size_limit() {
    imp::survive_file_size_limit();
}

#[cfg(unix)]
mod imp {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        let now = fs::metadata(path)?.permissions();
        if now.mode() & 0o777 == mode {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
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

    pub(super) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn create_mode(_: &mut fs::OpenOptions, _: u32) {}

    pub(super) fn sync_dir(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn foreign_owner(_: &Path) -> Option<u32> {
        None
    }

    pub(super) fn survive_file_size_limit() {}
}
