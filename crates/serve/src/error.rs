//! Errors that keep a daemon from starting.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder may belong to another user, or the disk may be full.
    #[error("cannot serve at `{}`: {why}", path.display())]
    Io { path: PathBuf, why: std::io::Error },
    /// An older daemon was asked to exit and has not done so in time; the user can try again.
    #[error("another daemon holds `{}` and does not step down", lock.display())]
    Busy { lock: PathBuf },
}
