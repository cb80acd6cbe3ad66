//! The outside world of a project: its place on disk, its git repository, its files and the
//! transcripts that hosts keep of it.
//!
//! Everything that is read here was written by others and is not trusted. Files are read up to a
//! limit and only if they are regular. Nothing is executed but a few plumbing commands of `git`,
//! with all hooks, transports and pagers disabled. The crate does not read environment variables,
//! does not know project ids or their storage, and never writes. It reads the clock only to judge
//! whether a file has just been written, and to measure pauses between changes.
//!
//! The groups of `mod` lines below: reading files safely, git's own files, which project a folder
//! belongs to, the git history, and the files of a project with the transcripts about it.

mod os;
mod project_path;
mod read;
mod reflog;

mod git;
mod git_config;
mod git_dir;
mod git_head;
mod remote_url;

mod project_match;
mod project_place;
mod repository_fingerprint;

mod commit_log;
mod edit_outcome;
mod git_history;

mod file_state;
mod file_walk;
mod file_watch;
mod project_words;
mod transcript_files;

use std::io;
use std::path::{Path, PathBuf};

pub use commit_log::{
    CommitFile, LoggedCommit, RenameDetection, count_commits_since, read_commits,
};
pub use edit_outcome::{RevertedEdits, find_reverted_edits};
pub use file_state::{FileState, read_file_state};
pub use file_walk::{
    FileSkipReason, FileStamp, MAX_SOURCE_BYTES, SourceCode, WalkedFiles, file_stamp, read_code,
    read_source, target_stamp, walk_files, walk_some_files,
};
pub use file_watch::{ChangedFiles, FileWatcher, WatchStopper};
pub use git::is_git_available;
pub use git_dir::SkipReason;
pub use git_head::{GitHead, read_head};
pub use git_history::{
    FileChange, are_on_default_branch, changes_since, committed_files, index_stamp,
    is_ancestor_of_head, renames_since, tracked_files, unmerged_branches,
};
pub use project_match::{KnownLocation, MatchEvidence, ProjectMatch, match_project};
pub use project_path::{exists_in_project, list_folder, read_text, relative_path};
pub use project_place::{PlaceKind, ProjectPlace, SkippedGitDir, locate_project};
pub use project_words::ProjectWords;
pub use read::{entry_names, list_files, read_file, read_small_text};
pub use reflog::read_head_at;
pub use repository_fingerprint::{RepositoryFingerprint, read_fingerprint};
pub use transcript_files::{
    DATABASE_EXTENSION, Transcript, TranscriptTrust, find_transcripts, read_pieces,
    read_pieces_from, transcript_trust, transcripts_at,
};

/// A path that could not be used. The variants differ in what the caller has to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ask for another directory, or forget this one.
    #[error("`{}` does not exist", path.display())]
    Missing { path: PathBuf },
    /// Tell the user: permissions or hardware are in the way.
    #[error("`{}` cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Drop the path: it belongs to another project.
    #[error("`{}` is outside the project `{}`", path.display(), root.display())]
    Outside { path: PathBuf, root: PathBuf },
    /// Drop the path: no project file can have this name.
    #[error("`{}` {why}", path.display())]
    BadPath { path: PathBuf, why: &'static str },
    /// Drop the path and report it: the file may exist, but its name cannot be stored as text.
    #[error("`{}` is not valid UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
}

impl Error {
    /// Adds the path to an error of the operating system.
    pub fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing { path },
            _ => Self::Unreadable { path, source },
        }
    }
}
