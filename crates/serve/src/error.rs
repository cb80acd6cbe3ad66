//! Errors that keep a daemon from starting.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder may belong to another user, or the disk may be full.
    #[error("cannot serve at `{}`: {why}", path.display())]
    Place { path: PathBuf, why: std::io::Error },
    /// The older daemon was asked to exit and has not yet; try again.
    #[error("another daemon holds `{}` and does not step down", lock.display())]
    Busy { lock: PathBuf },
}
