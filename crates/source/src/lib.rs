//! The outside: where a project lives on disk, what its git repository says, and which paths belong to it.
//!
//! Everything read here was written by somebody else, so files are small, regular and data: nothing is executed
//! but a few plumbing commands of `git` itself, with every hook, transport and pager switched off.
//! This room does not know the environment, the clock, projects' ids or where they are stored; it never writes.

mod aftermath;
mod config;
mod fingerprint;
mod git;
mod gitdir;
mod glance;
mod head;
mod history;
mod identity;
mod log;
mod os;
mod path;
mod place;
mod read;
mod remote;
mod state;
mod transcript;
mod walk;
mod watch;

use std::io;
use std::path::PathBuf;

pub use aftermath::{TakenBack, taken_back};
pub use fingerprint::{Fingerprint, fingerprint};
pub use gitdir::SkipReason;
pub use glance::{files_in, glance};
pub use head::{Head, head};
pub use history::{FileChange, changes, committed, is_part_of_head, tracked, unmerged};
pub use identity::{Known, Match, Why, same_project};
pub use log::{Commit, CommitFile, Renames, commits_since, log};
pub use path::{entries, exists, prose, relative};
pub use place::{Place, PlaceKind, Skipped, locate};
pub use state::{FileState, state};
pub use transcript::{DATABASE, Transcript, pieces, pieces_from, transcripts, transcripts_at};
pub use walk::{LARGEST, Passed, Stamp, Walked, contents, files, files_among, stamp, stamp_behind};
pub use watch::{Seen, StopWatch, Watch};

/// The whole of a regular file of at most `limit` bytes.
pub fn bytes(path: &std::path::Path, limit: u64) -> Result<Vec<u8>, Error> {
    read::bytes(path, limit).map_err(|it| Error::reading(path, it))
}

/// What the caller has to do about a path that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ask for another directory, or forget this one.
    #[error("`{}` does not exist", path.display())]
    Missing { path: PathBuf },
    /// Tell the user: permissions or hardware are in the way.
    #[error("`{}` cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Drop the path: it belongs to somebody else.
    #[error("`{}` is outside the project `{}`", path.display(), root.display())]
    Outside { path: PathBuf, root: PathBuf },
    /// Drop the path: no project file can have this name.
    #[error("`{}` {why}", path.display())]
    BadPath { path: PathBuf, why: &'static str },
    /// Drop the path, and say so: the file may exist, but its name cannot be kept as text.
    #[error("`{}` is not valid UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
}

impl Error {
    /// Names the path that an operating system error was about.
    fn reading(path: &std::path::Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing { path },
            _ => Self::Unreadable { path, source },
        }
    }
}
