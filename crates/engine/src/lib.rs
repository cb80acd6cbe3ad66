//! The API of Waylore: everything a user or an agent can do with one project.
//!
//! [`Project`] is the handle. It hands out capabilities with named dependencies: [`Retriever`],
//! [`Injector`], [`EmbeddingIndexer`], [`Learner`], [`SessionJournal`], [`SessionHistory`],
//! [`CodeGraph`], [`CodeIndexer`], [`NotebookEditor`], [`Maintenance`]. A capability that holds a
//! [`ProjectReader`] cannot change a notebook. Their methods call free functions in the files of the
//! topics, context first; each reads from the store, decides with a pure crate, and writes one
//! transaction.
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
mod policy;
mod project;
mod project_identity;
mod retriever;
mod session_history;
mod session_journal;

// Retrieval and injection.
mod file_cache;
mod lookup;
mod models;
mod recall;

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
mod remember;
mod text_admission;
mod undo;

// Code graph.
mod graph;

// Maintenance.
mod backups;
mod doctor;
mod housekeeping;
mod purge;
mod statistics;

// Shared.
mod error;
mod host_setup;
mod progress;
mod settings;

pub use crate::graph::{
    CodeWatch, DependencyReport, FollowUpReport, HistoryReport, ImpactReport, IndexFreshness,
    IndexPass, IndexReport, MapEdit, MappedModule, ModuleMap, ReachedSymbol, RefineReport,
    RouteEdge, SymbolRoute, read_scip_file,
};
pub use agent::{AgentNote, AgentSession, RecordedAgentNote};
pub use backups::{CheckedBackup, REPLACED_BACKUP_NAME};
pub use code_graph::{CodeGraph, CodeIndexer};
pub use correction::{CorrectionResult, MemoryCorrection};
pub use doctor::{DoctorMode, HealthCheck, HealthLevel};
pub use editing::MemoryEdit;
pub use embedding_indexer::EmbeddingIndexer;
pub use error::{Error, SecretLocation, is_about_key};
pub use export::NotebookExport;
pub use host_setup::{HostChange, apply_host_change, plan_connect, plan_disconnect, plan_trust};
pub use housekeeping::{MaintenanceOptions, MaintenanceReport};
pub use import::{ImportOptions, ImportProblem, ImportRecord, ImportReport, RecordOutcome};
pub use injector::Injector;
pub use learn::{
    ContributingSession, DroppedCandidate, ExplainedSighting, Explanation, InboxSession,
    JournalState, JudgingStrictness, LearnedMemory, LearnedSession, LessonEffect, LessonState,
    ParsedTranscript, SessionExplanation, SessionFile, SessionSummary, SiblingNote,
    ToolCallSavings, TranscriptTail, frame_sibling_notes, journalled_session_root, list_inbox,
    store_in_inbox, transcripts_at_paths,
};
pub use learner::Learner;
pub use lookup::{LocatedMemory, RatedMemory};
pub use maintenance::Maintenance;
pub use models::{EmbeddingSource, ModelFactory, ModelSet};
pub use notebook_editor::NotebookEditor;
pub use policy::{InjectionPolicy, LlmAccess, MemoryState, ProjectPolicy};
pub use progress::TaskProgress;
pub use project::{Config, Notebook, NotebookScope, Project, ProjectReader};
pub use project_identity::{ProjectRecognition, ProjectState};
pub use purge::{ErasureProof, PurgeReport};
pub use recall::{
    AnsweredQuery, ContextBlock, ContextPlacement, ContextRequest, EmbeddingCoverage,
    EmbeddingReport, GeneratedAnswer, HitExplanation, Injection, MatchedRecipe, MemoryBreadth,
    NoteDetail, OmissionReason, RejectionReason, SearchHit, SearchQuery, SearchResults,
    SectionChoice, StepCandidate, StepContext, StepRequest, StopLimit, WarningSelection,
    shell_files_and_searches,
};
pub use remember::{MemoryNovelty, NewMemory, OnDuplicate, RememberResult};
pub use retriever::Retriever;
pub use rules::{ParsedRuleFile, RuleImport, RuleTrust, WrittenRule};
pub use session_history::SessionHistory;
pub use session_journal::SessionJournal;
pub use settings::{SETTINGS, SettingForm, SettingScope, SettingSpec, check_setting};
pub use statistics::{MemoryCount, NotebookStats, ProjectActivity, TrialResults};
pub use text_admission::{AdmittedText, OnSecret};
pub use undo::{HistoryEntry, MemoryHistory, UndoReport};

// Types of other crates that are part of this API, so that callers need not depend on them.
pub use ::graph::{CodeChunk, DefKind, EdgeKind, NeighbourFile, ResolutionKind, SymbolInfo};
pub use ::recall::step_decision::{FIRST_NOTE_STEP, StepReason, WithholdReason};
pub use ::recall::{
    BudgetSource, DisabledStages, PathTrace, PipelineContext, QueryClass, RankingStage,
    RelevanceVerdict, RetrievalPath, ScoreFactors, SearchPurpose, SilenceReason, estimate_tokens,
    frame,
};
pub use agents::{
    FilePlace, HOSTS, HookEvent, HookMessage, HookTrust, Host, HostSetup, HostVersion,
    InstalledHook, RefusedCall, SessionSource, SettingsFile, SettingsScope, find_host,
    is_waylore_program, parse_version,
};
pub use infer::{
    ApiKey as ProviderKey, BuiltInEmbedder, EmbeddingApi, EmbeddingConfig, EmbeddingProbe,
    Error as ProviderError, MODEL_NOTICE, ProviderEndpoint, RerankApi, RerankConfig, RerankProbe,
    Reranker, TextApi, TextConfig, TextGenerator, TextProbe, ollama,
};
pub use modules::{Module, ModuleCoverage, ProjectTool, ProjectToolKind};
pub use observe::{FilePrediction, MIN_SIMILAR_SESSIONS, PredictedFile};
pub use promote::{TrialComparison, detect_instruction};
pub use source::{PlaceKind, ProjectPlace, Transcript, locate_project};
pub use store::Error as StoreError;
pub use store::{
    AuditAction, BackupContents, BackupFile, CompactMode, DamageFinding, DatabaseSize,
    ENCRYPTION_AVAILABLE, EncryptionKey, MemoryFilter, ignore_file_size_signal, write_private_file,
};
