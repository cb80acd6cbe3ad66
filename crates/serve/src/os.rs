//! Operating system interface: sockets, file owners, priority, signals.

pub(crate) use imp::{
    SocketListener, SocketStream, asked_to_stop, bind_socket, connect_socket, file_identity,
    is_ours, lower_priority, max_socket_path_len, private_dir, private_file, user_id,
};

/// Directory for sockets whose path would be too long in the data folder.
pub(crate) const SHORT_SOCKET_DIR: &str = "/tmp";

/// Detaches from the host that started this process: leaves its terminal and process group, so that
/// their end does not stop the daemon.
pub fn leave_host() {
    imp::leave_host();
}

#[cfg(unix)]
mod imp {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{
        DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
    };
    use std::path::Path;

    use tokio::signal::unix::{SignalKind, signal};

    pub(crate) type SocketListener = tokio::net::UnixListener;
    pub(crate) type SocketStream = tokio::net::UnixStream;

    /// Niceness of background work: 0 is normal, 19 the lowest priority.
    const BACKGROUND_NICENESS: i32 = 10;

    /// The longest socket path; the smallest limit of any Unix is 104 bytes with the NUL.
    pub(crate) const fn max_socket_path_len() -> usize {
        100
    }

    pub(crate) fn user_id() -> u32 {
        #[expect(
            unsafe_code,
            reason = "geteuid takes nothing, cannot fail and has no safe twin in std"
        )]
        unsafe {
            libc::geteuid()
        }
    }

    /// Creates a folder with mode 0700; rejects one that belongs to another user or is a link.
    pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let found = fs::symlink_metadata(path)?;
        if !found.is_dir() || found.uid() != user_id() {
            let what = "it is not a folder of this user, so it is not trusted";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        if found.mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Opens or creates a file with mode 0600.
    pub(crate) fn private_file(path: &Path) -> io::Result<fs::File> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
    }

    /// Binds the socket and replaces a stale one. Only the holder of the lock may call this.
    pub(crate) fn bind_socket(path: &Path) -> io::Result<SocketListener> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = SocketListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// True if the peer process belongs to the same user.
    pub(crate) fn is_ours(stream: &SocketStream) -> bool {
        stream.peer_cred().is_ok_and(|it| it.uid() == user_id())
    }

    /// Connects to a socket of this user; anything else counts as not running.
    pub(crate) fn connect_socket(path: &Path) -> io::Result<std::os::unix::net::UnixStream> {
        let found = fs::symlink_metadata(path)?;
        if !found.file_type().is_socket() || found.uid() != user_id() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it is not a socket of this user"));
        }
        std::os::unix::net::UnixStream::connect(path)
    }

    pub(crate) fn file_identity(path: &Path) -> Option<(u64, u64)> {
        fs::symlink_metadata(path).ok().map(|it| (it.dev(), it.ino()))
    }

    /// Lowers the priority of this thread. Does nothing where only whole processes have one.
    pub(crate) fn lower_priority() {
        #[cfg(target_os = "linux")]
        #[expect(
            unsafe_code,
            reason = "setpriority takes numbers, changes this thread alone, and has no twin in std"
        )]
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, BACKGROUND_NICENESS);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = BACKGROUND_NICENESS;
    }

    pub(crate) fn leave_host() {
        #[expect(
            unsafe_code,
            reason = "setsid takes nothing; where it fails, this process leads a group already"
        )]
        unsafe {
            libc::setsid();
        }
    }

    /// Returns when the process gets a termination signal.
    pub(crate) async fn asked_to_stop() {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let [Ok(mut one), Ok(mut two), Ok(mut three)] = kinds.map(signal) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = one.recv() => {}
            _ = two.recv() => {}
            _ = three.recv() => {}
        }
    }
}

/// Other systems have no such sockets: no daemon runs, and hooks answer by themselves.
#[cfg(not(unix))]
mod imp {
    use std::io;
    use std::path::Path;

    pub(crate) struct Listener;
    pub(crate) type Stream = tokio::io::DuplexStream;

    impl SocketListener {
        pub(crate) async fn accept(&self) -> io::Result<(SocketStream, ())> {
            std::future::pending().await
        }
    }

    pub(crate) const fn longest_name() -> usize {
        usize::MAX
    }

    pub(crate) fn user() -> u32 {
        0
    }

    pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    pub(crate) fn private_file(path: &Path) -> io::Result<std::fs::File> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).open(path)
    }

    pub(crate) fn bind(_: &Path) -> io::Result<SocketListener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn is_ours(_: &SocketStream) -> bool {
        false
    }

    pub(crate) fn connect(_: &Path) -> io::Result<std::net::TcpStream> {
        Err(io::ErrorKind::NotFound.into())
    }

    pub(crate) fn identity(_: &Path) -> Option<(u64, u64)> {
        None
    }

    pub(crate) fn step_back() {}

    pub(crate) fn leave_host() {}

    pub(crate) async fn asked_to_stop() {
        // Without signal support, wait forever.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
