//! Operating system interface of the daemon: sockets, file owners, thread priority, signals. The
//! rest of the crate calls these functions and holds no code for a particular system.
//!
//! `imp` exists twice: for Unix, and for other systems, where no daemon runs and hooks answer by
//! themselves. Both have the same functions.

pub use imp::detach_from_host;
pub(crate) use imp::{
    BlockingStream, SocketListener, SocketStream, bind_socket, connect_socket, create_private_dir,
    file_identity, into_blocking, is_peer_same_user, lower_priority, max_socket_path_len,
    open_private_file, termination_signal, user_id,
};

/// Directory for sockets whose path would be too long in the data folder.
pub(crate) const SHORT_SOCKET_DIR: &str = "/tmp";

#[cfg(unix)]
mod imp {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{
        DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
    };
    use std::path::Path;

    use tokio::signal::unix::{SignalKind, signal};

    // The daemon's side of a connection. `connect_socket` returns the blocking type of the standard library,
    // because clients such as hooks have no runtime.
    pub(crate) type SocketListener = tokio::net::UnixListener;
    pub(crate) type SocketStream = tokio::net::UnixStream;
    /// A connection whose reads and writes block.
    pub(crate) type BlockingStream = std::os::unix::net::UnixStream;

    /// Niceness of background work: 0 is normal, 19 the lowest priority.
    const BACKGROUND_NICENESS: i32 = 10;

    /// The longest socket path in bytes. The smallest limit of any Unix is 104 with the closing NUL;
    /// 100 leaves a margin.
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
    pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        // The folder may have existed before. `symlink_metadata` does not follow a link that another
        // user may have placed there.
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_dir() || metadata.uid() != user_id() {
            let what = "it is not a folder of this user, so it is not trusted";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        let is_open_to_others = metadata.mode() & 0o077 != 0;
        if is_open_to_others {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Opens or creates a file with mode 0600.
    pub(crate) fn open_private_file(path: &Path) -> io::Result<fs::File> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
    }

    /// Binds the socket and replaces a stale one. Only the holder of the daemon's lock file may call this.
    pub(crate) fn bind_socket(path: &Path) -> io::Result<SocketListener> {
        match fs::remove_file(path) {
            Ok(()) => {}
            // The usual case: the last daemon removed its socket.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listener = SocketListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// True if the peer process belongs to the same user.
    pub(crate) fn is_peer_same_user(stream: &SocketStream) -> bool {
        stream.peer_cred().is_ok_and(|it| it.uid() == user_id())
    }

    /// Connects to a socket of this user; anything else counts as not running.
    pub(crate) fn connect_socket(path: &Path) -> io::Result<BlockingStream> {
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.file_type().is_socket() || metadata.uid() != user_id() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it is not a socket of this user"));
        }
        BlockingStream::connect(path)
    }

    /// Both directions of a connection, for threads that wait for it.
    pub(crate) fn into_blocking(
        stream: SocketStream,
    ) -> io::Result<(BlockingStream, BlockingStream)> {
        let stream = stream.into_std()?;
        stream.set_nonblocking(false)?;
        Ok((stream.try_clone()?, stream))
    }

    /// Device and inode of a file: they differ if another process has replaced the file.
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
        // Elsewhere the call would slow down the whole process.
        #[cfg(not(target_os = "linux"))]
        let _ = BACKGROUND_NICENESS;
    }

    /// Detaches from the host that started this process: leaves its terminal and process group, so
    /// that their end does not stop the daemon.
    pub fn detach_from_host() {
        #[expect(
            unsafe_code,
            reason = "setsid takes nothing; where it fails, this process leads a group already"
        )]
        unsafe {
            libc::setsid();
        }
    }

    /// Returns when the process gets SIGTERM, SIGINT or SIGHUP.
    pub(crate) async fn termination_signal() {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = kinds.map(signal) else {
            // The daemon still ends by a `stop` request or when it is idle.
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;
    use std::path::Path;

    /// Never accepts a connection.
    pub(crate) struct SocketListener;
    pub(crate) type SocketStream = tokio::io::DuplexStream;
    pub(crate) type BlockingStream = std::net::TcpStream;

    impl SocketListener {
        pub(crate) async fn accept(&self) -> io::Result<(SocketStream, ())> {
            std::future::pending().await
        }
    }

    pub(crate) const fn max_socket_path_len() -> usize {
        usize::MAX
    }

    pub(crate) fn user_id() -> u32 {
        0
    }

    pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    pub(crate) fn open_private_file(path: &Path) -> io::Result<std::fs::File> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).open(path)
    }

    pub(crate) fn bind_socket(_: &Path) -> io::Result<SocketListener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn is_peer_same_user(_: &SocketStream) -> bool {
        false
    }

    /// Clients understand `NotFound` as: no daemon is running.
    pub(crate) fn connect_socket(_: &Path) -> io::Result<BlockingStream> {
        Err(io::ErrorKind::NotFound.into())
    }

    pub(crate) fn into_blocking(_: SocketStream) -> io::Result<(BlockingStream, BlockingStream)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn file_identity(_: &Path) -> Option<(u64, u64)> {
        None
    }

    pub(crate) fn lower_priority() {}

    pub fn detach_from_host() {}

    pub(crate) async fn termination_signal() {
        // Without signal support, wait forever.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
