//! The one module that knows the operating system: sockets, owners, priority, signals.

pub(crate) use imp::{
    Listener, Stream, asked_to_stop, bind, connect, identity, is_ours, longest_name, private_dir,
    private_file, step_back, user,
};

/// Where sockets go whose name would be too long beside the data.
pub(crate) const SHORT: &str = "/tmp";

/// Leaves the host that started this process: its terminal and its process group are not ours, and what
/// ends them does not end us.
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

    pub(crate) type Listener = tokio::net::UnixListener;
    pub(crate) type Stream = tokio::net::UnixStream;

    /// What the background leaves to others: 0 is usual, 19 is least.
    const NICE: i32 = 10;

    /// The longest name of a socket; the least that any Unix allows is 104 with its end.
    pub(crate) const fn longest_name() -> usize {
        100
    }

    pub(crate) fn user() -> u32 {
        #[expect(
            unsafe_code,
            reason = "geteuid takes nothing, cannot fail and has no safe twin in std"
        )]
        unsafe {
            libc::geteuid()
        }
    }

    /// A folder of ours that nobody else may enter; refuses one that is somebody else's, or a link.
    pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let found = fs::symlink_metadata(path)?;
        if !found.is_dir() || found.uid() != user() {
            let what = "it is not a folder of ours, so nothing in it is trusted";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        if found.mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Opens a file that only we may read; makes it if need be.
    pub(crate) fn private_file(path: &Path) -> io::Result<fs::File> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
    }

    /// Listens in a private folder, in the place of whoever listened before. Only the holder of the lock
    /// may do this.
    pub(crate) fn bind(path: &Path) -> io::Result<Listener> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = Listener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Whether whoever connected is the person we work for.
    pub(crate) fn is_ours(stream: &Stream) -> bool {
        stream.peer_cred().is_ok_and(|it| it.uid() == user())
    }

    /// Connects to a socket that is ours; what is no socket, or another's, is nobody.
    pub(crate) fn connect(path: &Path) -> io::Result<std::os::unix::net::UnixStream> {
        let found = fs::symlink_metadata(path)?;
        if !found.file_type().is_socket() || found.uid() != user() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it is not a socket of ours"));
        }
        std::os::unix::net::UnixStream::connect(path)
    }

    pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
        fs::symlink_metadata(path).ok().map(|it| (it.dev(), it.ino()))
    }

    /// Lets everybody else's work go first. Of this thread only, where the system can tell threads
    /// apart; elsewhere the whole process would be slowed, so nothing is done.
    pub(crate) fn step_back() {
        #[cfg(target_os = "linux")]
        #[expect(
            unsafe_code,
            reason = "setpriority takes numbers, changes this thread alone, and has no twin in std"
        )]
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = NICE;
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

    /// Returns when somebody asks the process to end.
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

/// Elsewhere there is no socket of this kind: nobody listens, and hooks answer by themselves.
#[cfg(not(unix))]
mod imp {
    use std::io;
    use std::path::Path;

    pub(crate) struct Listener;
    pub(crate) type Stream = tokio::io::DuplexStream;

    impl Listener {
        pub(crate) async fn accept(&self) -> io::Result<(Stream, ())> {
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

    pub(crate) fn bind(_: &Path) -> io::Result<Listener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn is_ours(_: &Stream) -> bool {
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
        // Where it cannot be heard, nobody asks.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
