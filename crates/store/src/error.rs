//! Errors of the store, shaped by what the caller can do next. I/O errors and errors of the
//! database library are translated here and nowhere else.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the store. Cheap to clone: one failed commit answers every write that shared it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("the disk is full; nothing was saved")]
    DiskFull,
    #[error("`{}` cannot be written: {why}", path.display())]
    ReadOnly { path: PathBuf, why: String },
    #[error("no permission to use `{}`", path.display())]
    PermissionDenied { path: PathBuf },
    #[error("`{}` belongs to another user (uid {owner})", path.display())]
    ForeignOwner { path: PathBuf, owner: u32 },
    #[error("`{}` was made by a newer version (schema {found}, this one knows {known})", path.display())]
    NewerSchema { path: PathBuf, found: i64, known: i64 },
    #[error("`{}` is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    /// Neither a plain database nor, as far as can be seen without its key, an encrypted one.
    #[error("`{}` is damaged: it is not a database; if it is encrypted, its key is missing", path.display())]
    NotADatabase { path: PathBuf },
    #[error("`{}` is encrypted and the key does not open it", path.display())]
    WrongKey { path: PathBuf },
    #[error("this build cannot encrypt; build with the `encryption` feature")]
    EncryptionUnavailable,
    #[error("the memory changed meanwhile (version {found}, expected {expected})")]
    VersionConflict { expected: u32, found: u32 },
    #[error("no memory {id}")]
    MemoryNotFound { id: String },
    #[error("memory {id} was erased for good and cannot come back")]
    MemoryErased { id: String },
    /// The caller passed a value that cannot be stored.
    #[error("{what}")]
    InvalidInput { what: String },
    #[error("`{}`: {why}", path.display())]
    Io { path: PathBuf, why: String },
    /// A bug, or a state that no caller can do anything about.
    #[error("database error: {what}")]
    Internal { what: String },
}

impl Error {
    /// Translates an I/O error about the file at `path`.
    pub(crate) fn from_io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::DiskFull,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, why: error.to_string() },
            _ => Self::Io { path, why: error.to_string() },
        }
    }

    /// Translates an `SQLite` error about the file at `path`.
    pub(crate) fn from_database(path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let what = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Self::ReadOnly { path, why: what },
            Some(ErrorCode::PermissionDenied) => Self::PermissionDenied { path },
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, what },
            Some(ErrorCode::SystemIoFailure) => Self::Io { path, why: what },
            // Not from SQLite, but from reading a cell.
            None if is_unexpected_value(error) => Self::Damaged { path, what },
            _ => Self::Internal { what },
        }
    }
}

/// Returns whether a cell holds a type that this program never writes there.
fn is_unexpected_value(error: &rusqlite::Error) -> bool {
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
