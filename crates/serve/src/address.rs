//! Where the daemon of a data folder is to be found.

use std::path::{Path, PathBuf};

use crate::os;

/// The lock that one daemon holds, and the socket it listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub lock: PathBuf,
    pub socket: PathBuf,
}

impl Address {
    /// Follows from the data folder alone: whoever asks, with whatever environment, finds the same one.
    pub fn of(data: &Path) -> Self {
        let folder = data.join("serve");
        let (lock, near) = (folder.join("lock"), folder.join("socket"));
        if near.as_os_str().len() <= os::longest_name() {
            return Self { lock, socket: near };
        }
        let print = model::fingerprint(&data.to_string_lossy());
        let folder = Path::new(os::SHORT).join(format!("waylore-{}-{print}", os::user()));
        Self { lock, socket: folder.join("socket") }
    }

    /// The folder of the socket, and that of the lock where they differ.
    pub(crate) fn folders(&self) -> Vec<&Path> {
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
        let near = Address::of(Path::new("/home/me/.local/share/waylore"));
        assert_eq!(near.socket, Path::new("/home/me/.local/share/waylore/serve/socket"));
        let long = Path::new("/home/me").join("d".repeat(120));
        let far = Address::of(&long);
        assert!(far.lock.starts_with(&long) && !far.socket.starts_with(&long), "{far:?}");
        assert!(far.socket.as_os_str().len() <= os::longest_name());
        assert_ne!(far.socket, Address::of(&long.join("e")).socket);
        assert_eq!((near.folders().len(), far.folders().len()), (1, 2));
    }
}
