//! Change history of a repository: a fold over the git log, and the rankings that follow from it
//! (co-change coupling, churn, files of commits with a similar subject).
//!
//! Pure and synchronous: commits come in as values, oldest first. The crate runs no git, reads no
//! files, stores nothing and knows no symbols; it sees paths and commit subjects only.

mod codec;
mod commit_history;
mod coupling;
mod ranking;

pub use codec::{decode_commit, decode_partners, encode_commit, encode_partners};
pub use commit_history::{
    CommitHistory, CommitRecord, HistoryFileId, KnownPath, TouchedFile, hash_keywords,
};
pub use coupling::{CoChangePartner, FileCoupling, file_couplings, recency_weight};
pub use ranking::{rank_by_churn, rank_by_subject};
