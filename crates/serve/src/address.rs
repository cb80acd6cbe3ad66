//! Lock and socket paths of the daemon of a data folder.

use std::path::{Path, PathBuf};

use crate::os;

/// The lock file that the daemon holds and the socket it listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonAddress {
    pub lock: PathBuf,
    pub socket: PathBuf,
}

impl DaemonAddress {
    /// Depends on the data folder alone, so that all processes find the same daemon.
    pub fn for_data_dir(data: &Path) -> Self {
        let folder = data.join("serve");
        let (lock, near) = (folder.join("lock"), folder.join("socket"));
        if near.as_os_str().len() <= os::max_socket_path_len() {
            return Self { lock, socket: near };
        }
        let print = model::fingerprint_text(&data.to_string_lossy());
        let folder =
            Path::new(os::SHORT_SOCKET_DIR).join(format!("waylore-{}-{print}", os::user_id()));
        Self { lock, socket: folder.join("socket") }
    }

    /// The folders of lock and socket, without duplicates.
    pub(crate) fn parent_folders(&self) -> Vec<&Path> {
        let mut res: Vec<&Path> =
            [&self.lock, &self.socket].map(|it| it.parent()).into_iter().flatten().collect();
        res.dedup();
        res
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_lies_beside_the_data_unless_its_name_is_too_long() {
        let near = DaemonAddress::for_data_dir(Path::new("/home/me/.local/share/waylore"));
        assert_eq!(near.socket, Path::new("/home/me/.local/share/waylore/serve/socket"));
        let long = Path::new("/home/me").join("d".repeat(120));
        let far = DaemonAddress::for_data_dir(&long);
        assert!(far.lock.starts_with(&long) && !far.socket.starts_with(&long), "{far:?}");
        assert!(far.socket.as_os_str().len() <= os::max_socket_path_len());
        assert_ne!(far.socket, DaemonAddress::for_data_dir(&long.join("e")).socket);
        assert_eq!((near.parent_folders().len(), far.parent_folders().len()), (1, 2));
    }
}
