//! Why there is no daemon.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Look at the folder; it may be somebody else's, or the disk full.
    #[error("cannot serve at `{}`: {why}", path.display())]
    Place { path: PathBuf, why: std::io::Error },
    /// Try again: the one that was asked to step down is still at it.
    #[error("another daemon holds `{}` and does not step down", lock.display())]
    Busy { lock: PathBuf },
}
