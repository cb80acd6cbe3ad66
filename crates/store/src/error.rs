//! What can go wrong, shaped by what the caller can do next.

use std::io;
use std::path::{Path, PathBuf};

/// Cheap to clone: one failed commit answers every write that shared it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("the disk is full; nothing was saved")]
    Full,
    #[error("`{}` cannot be written: {why}", path.display())]
    ReadOnly { path: PathBuf, why: String },
    #[error("no permission to use `{}`", path.display())]
    Denied { path: PathBuf },
    #[error("`{}` belongs to another user (uid {owner})", path.display())]
    ForeignOwner { path: PathBuf, owner: u32 },
    #[error("`{}` was made by a newer version (schema {found}, this one knows {known})", path.display())]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error("`{}` is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("`{}` is encrypted and the key does not open it", path.display())]
    WrongKey { path: PathBuf },
    #[error("this build cannot encrypt; build with the `encryption` feature")]
    NoEncryption,
    #[error("the memory changed meanwhile (version {found}, expected {expected})")]
    Conflict { expected: u32, found: u32 },
    #[error("no memory {id}")]
    Missing { id: String },
    #[error("memory {id} was erased for good and cannot come back")]
    Erased { id: String },
    #[error("{what}")]
    Invalid { what: String },
    #[error("`{}`: {why}", path.display())]
    Io { path: PathBuf, why: String },
    #[error("database error: {what}")]
    Engine { what: String },
}

impl Error {
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full,
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, why: error.to_string() },
            _ => Self::Io { path, why: error.to_string() },
        }
    }

    /// Translates what the database says about the file at `path`.
    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let what = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Self::ReadOnly { path, why: what },
            Some(ErrorCode::PermissionDenied) => Self::Denied { path },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, what }
            }
            Some(ErrorCode::SystemIoFailure) => Self::Io { path, why: what },
            None if is_misread(error) => Self::Damaged { path, what },
            _ => Self::Engine { what },
        }
    }
}

/// A cell that cannot be what our own statements put there.
fn is_misread(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..)
    )
}
