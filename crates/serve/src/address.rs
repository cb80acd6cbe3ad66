//! Lock and socket paths of the daemon of a data folder. The daemon creates both; hooks and
//! commands compute the same paths to reach it.
//!
//! ```text
//! /home/me/.local/share/waylore   → lock and socket in /home/me/.local/share/waylore/serve
//! a folder with a long path       → lock in its `serve`, socket in /tmp/waylore-USER-FINGERPRINT
//! ```

use std::path::{Path, PathBuf};

use crate::os;

/// Name of the file beside the lock, known to `purge` in the store.
const LAST_ERROR_FILE: &str = "last-error";

/// The lock file that the daemon holds and the socket it listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonAddress {
    pub lock: PathBuf,
    pub socket: PathBuf,
}

impl DaemonAddress {
    /// Depends on the data folder alone, so that all processes find the same daemon.
    pub fn for_data_dir(data_dir: &Path) -> Self {
        let folder = data_dir.join("serve");
        let (lock, socket) = (folder.join("lock"), folder.join("socket"));
        if socket.as_os_str().len() <= os::max_socket_path_len() {
            return Self { lock, socket };
        }
        // The operating system limits the length of socket paths. A long data folder gets a socket
        // elsewhere; the fingerprint keeps data folders apart, the user id users.
        let fingerprint = model::fingerprint_text(&data_dir.to_string_lossy());
        let short_folder = Path::new(os::SHORT_SOCKET_DIR)
            .join(format!("waylore-{}-{fingerprint}", os::user_id()));
        Self { lock, socket: short_folder.join("socket") }
    }

    /// The file with the last error of a background job, for `doctor` after the daemon has stopped.
    pub fn last_error_file(&self) -> PathBuf {
        self.lock.with_file_name(LAST_ERROR_FILE)
    }

    /// A file that exists while the daemon is taken for hanging: it did not answer a hook in time, and
    /// no hook since. Hooks write and remove it.
    pub fn hang_marker(&self) -> PathBuf {
        self.lock.with_file_name("hanging")
    }

    /// The folders of lock and socket, without duplicates.
    pub(crate) fn parent_folders(&self) -> Vec<&Path> {
        let mut folders: Vec<&Path> = Vec::new();
        for path in [&self.lock, &self.socket] {
            folders.extend(path.parent());
        }
        folders.dedup();
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_lies_in_the_data_folder() {
        let address = DaemonAddress::for_data_dir(Path::new("/home/me/.local/share/waylore"));
        assert_eq!(address.socket, Path::new("/home/me/.local/share/waylore/serve/socket"));
        assert_eq!(address.parent_folders().len(), 1);
    }

    #[test]
    fn a_long_data_folder_gets_a_socket_of_its_own_elsewhere() {
        let data_dir = Path::new("/home/me").join("d".repeat(120));
        let address = DaemonAddress::for_data_dir(&data_dir);
        assert!(address.lock.starts_with(&data_dir), "{address:?}");
        assert!(!address.socket.starts_with(&data_dir), "{address:?}");
        assert!(address.socket.as_os_str().len() <= os::max_socket_path_len());
        assert_eq!(address.parent_folders().len(), 2);

        let other = DaemonAddress::for_data_dir(&data_dir.join("e"));
        assert_ne!(address.socket, other.socket);
    }
}
