//! The API of Waylore: everything a user or an agent can do with one project.
//!
//! [`Project`] is the handle. It hands out capabilities, each a small struct in a file of its own;
//! their methods call functions in the module that belongs to the capability:
//!
//! | capability | functions in | does |
//! |---|---|---|
//! | [`Retriever`] | `retrieval/` | search, list, look up |
//! | [`Injector`] | `injection/` | notes at hook events, between steps, in context blocks |
//! | [`EmbeddingIndexer`] | `retrieval/embedding.rs` | vectors for new memories |
//! | [`Learner`] | `learn/` | sessions become memories |
//! | [`SessionJournal`], [`SessionHistory`] | `learn/` | running and past sessions |
//! | [`CodeGraph`], [`CodeIndexer`] | `code_index/` | callers, dependencies, modules |
//! | [`NotebookEditor`] | one file per operation | remember, edit, correct, undo |
//! | [`Maintenance`] | one file per operation | doctor, backups, statistics, erasure |
//!
//! The first argument of such a function is the project or its [`ProjectReader`]. It reads from the
//! store, decides with a pure crate and writes one transaction. With a reader it cannot change a
//! notebook.
//!
//! Deliberately knows no JSON, no SQL, no clock and no environment: plain structs in and out, and the
//! current time is part of the handle.

// The handle and its capabilities.
mod code_graph;
mod embedding_indexer;
mod injector;
mod learner;
mod maintenance;
mod notebook_editor;
mod payload_admission;
mod policy;
mod project;
mod project_identity;
mod retriever;
mod session_history;
mod session_journal;

// Retrieval and injection.
mod file_cache;
mod finding;
mod injection;
mod lookup;
pub mod model_text;
mod models;
mod retrieval;

// Learning.
mod agent;
mod learn;
mod rules;

// Editing.
mod anchor;
mod correction;
mod draft_resolution;
mod editing;
mod export;
mod import;
mod memory_texts;
mod person_wish;
mod remember;
mod text_admission;
mod undo;

// Code graph.
mod code_index;

// Maintenance.
mod backups;
mod doctor;
mod housekeeping;
mod purge;
mod statistics;

// Shared.
mod blocking;
mod error;
mod host_setup;
mod progress;
mod settings;

pub use agent::{AgentNote, AgentSession, RecordedAgentNote};
pub use backups::{CheckedBackup, REPLACED_BACKUP_NAME};
pub use code_graph::{CodeGraph, CodeIndexer};
pub use code_index::{
    CodeWatch, DependencyReport, FollowUpReport, HistoryReport, ImpactReport, IndexFreshness,
    IndexPass, IndexReport, MapEdit, MappedModule, ModuleMap, ReachedSymbol, RefineReport,
    RouteEdge, SymbolRoute, UnknownReceivers, read_scip_file,
};
pub use correction::{CorrectionResult, MemoryCorrection};
pub use doctor::{DoctorMode, HealthCheck, HealthLevel};
pub use editing::MemoryEdit;
pub use embedding_indexer::EmbeddingIndexer;
pub use error::{Error, SecretLocation, is_about_key};
pub use export::NotebookExport;
pub use finding::Finding;
pub use host_setup::{
    HostChange, apply_host_change, plan_connect, plan_disconnect, plan_trust, remove_new_folders,
};
pub use housekeeping::{MaintenanceOptions, MaintenanceReport};
pub use import::{ImportOptions, ImportProblem, ImportRecord, ImportReport, RecordOutcome};
pub use injection::{
    ContextBlock, ContextPlacement, ContextRequest, Injection, InjectionReport, MatchedRecipe,
    MemoryBreadth, NoteDetail, OmissionReason, SectionChoice, StepCandidate, StepContext,
    StepRequest, StopLimit, WarningSelection, shell_files_and_searches,
};
pub use injector::Injector;
pub use learn::{
    AnsweredQuestion, AskCounts, AskLimits, ClaimSighting, ContributingSession, DroppedCandidate,
    ExplainedSighting, Explanation, InboxSession, JournalState, JudgingStrictness, LearnedMemory,
    LearnedSession, LessonEffect, LessonState, ParsedTranscript, PreparedQuestion, QuestionOutcome,
    SessionExplanation, SessionFile, SessionSummary, SiblingNote, SiblingNotes,
    TRANSCRIPT_POLL_INTERVAL, ToolCallSavings, TranscriptTail, ask_folder, frame_sibling_notes,
    is_being_written, journalled_session_root, list_inbox, store_in_inbox, transcripts_at_paths,
};
pub use learner::Learner;
pub use lookup::{LocatedMemory, RatedMemory, format_count};
pub use maintenance::Maintenance;
pub use models::{EmbeddingSource, ModelFactory, ModelSet};
pub use notebook_editor::NotebookEditor;
pub use payload_admission::admit_note;
pub use person_wish::join_blocks;
pub use policy::{InjectionPolicy, LlmAccess, MemoryState, ProjectPolicy};
pub use progress::TaskProgress;
pub use project::{Config, Notebook, NotebookScope, Project, ProjectReader};
pub use project_identity::{ProjectRecognition, ProjectState};
pub use purge::{ErasureProof, PurgeReport};
pub use remember::{MemoryNovelty, NewMemory, OnDuplicate, RememberResult, StatementOrigin};
pub use retrieval::{
    AnsweredQuery, EmbeddingCoverage, EmbeddingReport, GeneratedAnswer, HitExplanation,
    RejectionReason, SearchHit, SearchQuery, SearchResults,
};
pub use retriever::Retriever;
pub use rules::{ParsedRuleFile, RuleImport, RuleTrust, WrittenRule};
pub use session_history::SessionHistory;
pub use session_journal::SessionJournal;
pub use settings::{SETTINGS, SettingForm, SettingScope, SettingSpec, check_setting};
pub use statistics::{MemoryCount, NotebookStats, ProjectActivity, TrialResults};
pub use text_admission::{AdmittedText, OnSecret};
pub use undo::{HistoryEntry, MemoryHistory, UndoReport};

// Types of other crates that are part of this API. The callers (`serve`, `mcp`, `cli`) may depend on
// `engine` and `model` only, so they reach these types through here.

// Hosts, their hook messages and their settings files.
pub use agents::{
    FilePlace, HOSTS, HookEvent, HookMessage, HookTrust, Host, HostSetup, HostVersion,
    InstalledHook, RefusedCall, SessionSource, SettingsFile, SettingsScope, derive_session_id,
    find_host, is_waylore_program, parse_version,
};
// Symbols and edges in the answers of the code graph.
pub use graph::{CodeChunk, DefKind, EdgeKind, NeighbourFile, ResolutionKind, SymbolInfo};
// Configuration and test calls of models.
pub use infer::{
    ASK_MARKER, AgentCli, AgentProgram, ApiKey as ProviderKey, BuiltInEmbedder, EmbeddingApi,
    EmbeddingConfig, EmbeddingProbe, Error as ProviderError, MODEL_NOTICE, ProviderEndpoint,
    QuestionModel, RerankApi, RerankConfig, RerankProbe, Reranker, TextApi, TextConfig,
    TextGenerator, TextProbe, ollama,
};
// Parts of the module map.
pub use modules::{Module, ModuleCoverage, ProjectTool, ProjectToolKind};
// Predictions from past sessions.
pub use observe::{
    ClaimSource, Evidence, FilePrediction, MIN_SIMILAR_SESSIONS, PredictedFile, TellCue,
};
// Comparison of trial groups, and the test for text that gives orders.
pub use promote::{TrialComparison, detect_instruction};
// Explanations of ranking and packing.
pub use recall::step_decision::{FIRST_NOTE_STEP, StepReason, WithholdReason};
pub use recall::{
    BudgetSource, DisabledStages, PathTrace, PipelineContext, QueryClass, RankingStage,
    RelevanceVerdict, RetrievalPath, ScoreFactors, SearchPurpose, SilenceReason, estimate_tokens,
};
// Project folders and transcript files.
pub use source::{
    PlaceKind, ProjectPlace, Transcript, TranscriptTrust, locate_project, transcript_trust,
};
// Backups, encryption, filters and reports of the store.
pub use store::Error as StoreError;
pub use store::{
    AuditAction, BackupContents, BackupFile, CompactMode, DamageFinding, DatabaseSize,
    ENCRYPTION_AVAILABLE, EncryptionKey, InjectionRow, MAX_INJECTION_DAYS, MAX_INJECTION_ROWS,
    MemoryFilter, TierTotals, ignore_file_size_signal, write_private_file,
};
