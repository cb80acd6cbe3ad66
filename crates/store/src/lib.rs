//! The only crate that knows SQL: memories in libSQL files, their backups, and the files beside
//! them.
//!
//! Async outside, owned threads inside: local database calls block. [`Store`] writes and reads,
//! [`StoreReader`] only reads, [`GraphStore`] holds the code graph. Callers get plain structs of
//! `model`. The groups of `mod` lines below are in reading order.
//!
//! The crate deliberately knows no scores, no clock, no environment and no meaning of evidence or
//! journal lines: `now` and the data folder come from the caller.

// Errors and the operating system.
mod error;
mod os;

// The data folder and its locks.
mod data_dir;
mod file_lock;
mod high_water_mark;

// Formats: statements, rows, schema, change clock, encryption, shown log, the database of another host.
mod change_clock;
mod encryption_key;
mod fts_occurrences;
mod memory_row;
mod opencode_database;
mod query;
mod schema;
mod shown_log_file;

// Data: one module per kind, the batches that change it, and the text files beside the databases.
mod apply_batch;
mod failed_sessions;
mod history;
mod inbox;
mod index_delta;
mod index_snapshot;
mod injection_log;
mod injection_spool;
mod journal;
mod learning;
mod line_file;
mod line_seal;
mod lookup_tables;
mod masked_event;
mod memories;
mod memory_filter;
mod memory_list;
mod registry;
mod settings;
mod term_lookup;
mod vectors;
mod write_batch;

// Connections, the state that they share, and checks for damage.
mod connection;
mod cross_check;
mod damage_check;
mod database_state;

// Operations on whole databases and files.
mod backup;
mod data_removal;
mod erase;
mod erasure_proof;
mod maintenance;
mod rekey;
mod restore;
mod text_conversion;
mod text_erasure;

// The public handles and the threads that run their queries. The code graph has its own database and
// handles.
mod graph;
mod store;
mod store_reader;
mod worker_threads;
mod writer_connection;

// Records statements, for tests that replay them on a server.
#[cfg(feature = "replay")]
pub mod recorder;

pub use backup::{BackupContents, BackupFile, MAX_BACKUPS};
pub use damage_check::DamageFinding;
pub use data_dir::{DataDir, DatabasePaths};
pub use encryption_key::{ENCRYPTION_AVAILABLE, EncryptionKey};
pub use error::Error;
pub use failed_sessions::{FailedSession, FailedSessionFile};
pub use graph::{
    CommitRow, FileHistoryRow, FileNameRow, FileNeighbors, GraphBatch, GraphBody, GraphFile,
    GraphReader, GraphSkippedFile, GraphStamp, GraphStore, GraphWriteLock, HistoryBatch,
    ModuleMapRows, remove_code_graph,
};
pub use history::{AuditEntry, HistoryQueries, UndoStep};
pub use inbox::Inbox;
pub use index_delta::{IndexDelta, IndexPosition, MemoryOutline};
pub use index_snapshot::IndexSnapshot;
pub use injection_log::{
    InjectionFilter, InjectionQueries, MAX_INJECTION_DAYS, MAX_INJECTION_ROWS, TierTotals,
};
pub use injection_spool::{InjectionRow, InjectionSpool, SpooledInjections};
pub use journal::{
    JOURNAL_EXTENSION, JournalDurability, JournalFiles, JournalPart, JournalWriter, read_journal,
};
pub use learning::{
    CoAccessedFiles, FailedCallRow, LearningQueries, Milestone, SessionLesson, SessionRow,
    SightingRow, TouchedFileRow,
};
pub use maintenance::CompactMode;
pub use masked_event::{MaskedEvent, mask_payload};
pub use memories::{MemoryQueries, StatusCount, TextHit};
pub use memory_filter::MemoryFilter;
pub use memory_row::DamagedRow;
pub use opencode_database::{
    HostMessageRow, HostSessionRow, read_host_messages, read_host_sessions,
};
pub use os::{
    find_readable_by_others, ignore_file_size_signal, probe_writing, read_open_database,
    write_private_file,
};
pub use registry::{ProjectLocation, RegistryQueries};
pub use shown_log_file::{ShownEntry, ShownLog, UnknownShownLine, erase_text_from_shown_logs};
pub use store::Store;
pub use store_reader::{DatabaseSize, StoreReader};
pub use term_lookup::{
    FileWarnings, MemorySubjects, QuietPeriods, TermLookup, TermMatches, WARNING_KINDS,
};
pub use text_conversion::{convert_text_files, list_plain_text_files, seal_text_files};
pub use vectors::{MemoryEmbedding, MemoryVectors, VectorCode, VectorPart, VectorQueries};
pub use write_batch::{AppliedBatch, AuditAction, StoreChange, WriteBatch};
