//! Session events → scratchpad → signals → drafts of memories.
//!
//! 1. `scratchpad` folds the events of a session (messages, tool calls, results) into its state, the log
//!    on which everything else works.
//! 2. `facts` and `statements` observe: files touched together, sentences that correct a belief. `signal`
//!    detects patterns, such as an error and its fix, and returns sightings: one pattern in one session.
//! 3. `draft` composes a text from all sightings of one pattern; `synthesis` from the files of many sessions.
//!
//! Beside this chain the crate predicts files (`prefetch`, `file_prediction`) and measures the use of
//! memories (`memory_use`, `savings`).
//!
//! Pure and synchronous: a fold over events, and functions of its result. The crate knows no host (program
//! that runs an agent) by name, reads no clock and no file, and never fails: malformed input is counted and
//! skipped. It does not decide whether a draft becomes a memory; the crate `promote` does.

mod path_rules;
mod strings;

mod config_files;
mod episode;
mod error_line;
mod expected_errors;
mod import_words;
mod person;
mod sentences;
pub mod shell;
pub mod statements;

mod journal_fold;
mod scratchpad;

pub mod facts;

mod evidence;
mod pattern_key;
mod session;
mod sighting;
mod signal;

mod change_partner;
mod draft;
mod file_prediction;
mod memory_use;
mod modules;
mod payload_fields;
mod prefetch;
mod savings;
mod session_statistics;
mod session_visit;
mod work_statistics;

#[cfg(test)]
mod test_script;

pub use change_partner::is_source_and_dependent;
pub use config_files::is_config;
pub use draft::{MemoryDraft, SessionSighting, compose_draft};
pub use episode::{CommandIntent, EndingKind, EpisodeEnding, command_family, recognise_failure};
pub use error_line::{
    ErrorKind, RecognisedError, ToolFamily, is_generic_message, normalise_message, ran_nothing,
    recognise_error,
};
pub use evidence::{ClaimEvidence, ClaimSource, CommandFix, Evidence, TellCue};
pub use expected_errors::{KnownFix, MAX_EXPECTED_ERRORS_BYTES, format_expected_errors};
pub use file_prediction::{FilePrediction, MIN_SIMILAR_SESSIONS, PredictedFile, predict_files};
pub use journal_fold::{
    FoldedJournal, JournalNote, JournalNotes, fold_journal, fold_journal_notes,
};
pub use memory_use::{is_cited, was_followed};
pub use modules::ModuleLookup;
pub use path_rules::{folder_of, is_test_pair, is_test_path};
pub use pattern_key::{PatternKey, PatternParts, TestTiming};
pub use payload_fields::{complete_payload, payload_fields};
pub use person::{
    PersonMoment, PersonWish, Preceding, WishKind, hear_message, hear_person, is_objection,
};
pub use prefetch::{
    CommitEvidence, PastSession, PredictionInputs, TaskDescription, rank_likely_files,
};
pub use savings::{avoided_error, calls_to_fix};
pub use scratchpad::{
    AgentReply, AgentText, CallEffects, CallState, ErrorOccurrence, EventAnomalies, ExternalSource,
    FailedCall, FileListing, LoggedCall, LoggedMessage, LoggedTouch, MAX_CALLS, MAX_NOTES,
    RevertedEdit, Scratchpad, ServerTrust, SessionStatement, Speaker, SpokenSentence,
    StatementKind, SubagentRecord, TokenTotals, pad_words, states_cause,
};
pub use sentences::{code_words, names_code, split_sentences};
pub use session::{FileActivity, SessionOverview, summarise_session};
pub use session_statistics::{
    StepCalibration, UsualChecks, average_read_cost, first_files, step_calibration, usual_checks,
};
pub use session_visit::{SESSION_MILESTONES, SessionVisit, edited_modules};
pub use sighting::{Sighting, find_named_files};
pub use signal::{detect_sightings, parallel_conflicts, reverted_session};
pub use strings::{SessionStrings, StringId};
pub use work_statistics::{WorkStatistics, count_work};
