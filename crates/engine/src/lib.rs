//! Read, think, write: the API boundary. Everything a person or an agent can do is a function here.
//!
//! Each operation reads from the store, decides with the pure rooms, and writes one transaction.
//! Knows no JSON, no clock, no environment: plain structs in and out, `now` as an argument.

mod error;

mod engine;
mod mind;
mod progress;
mod project;

mod admit;
mod agent;
mod anchor;
mod texts;

mod find;
mod models;
mod recall;
mod remember;
mod resolve;

mod change;
mod correct;
mod undo;

mod graph;
mod learn;

mod carry;
mod intake;
mod purge;
mod rules;

mod doctor;
mod host;
mod settings;
mod upkeep;

pub use crate::graph::{
    CodeWatch, Dependency, FollowedUp, Freshness, HistoryRead, Impact, Indexed, Link, MapEdit,
    MappedModule, Mention, ModuleMap, Pass, Refined, Route, read_index,
};
pub use admit::{Admitted, OnSecret};
pub use agent::{AgentNote, AgentSession, Noted};
pub use carry::Package;
pub use change::Edit;
pub use correct::{Corrected, Correction};
pub use doctor::{Check, Health};
pub use engine::{Config, Engine, Manners, Notebook, Reach};
pub use error::{Error, SecretPlace, is_about_key};
pub use find::{Found, Shown};
pub use host::{HostChange, change_host, connect_plan, disconnect_plan, trust_plan};
pub use intake::{ImportProblem, ImportRecord, Imported, Intake, Taken};
pub use learn::{
    Dropped, Explained, Journalled, Kept, KeptHow, Learned, Saved, SiblingNote, Standing,
    Strictness, Tail, Told, TranscriptRead, Visited, Waiting, Witness, framed_notes,
    keep_for_later, session_root, transcripts_in, waiting,
};
pub use models::{Models, Recipe, VectorSource};
pub use progress::Progress;
pub use project::{ProjectState, Recognised};
pub use purge::{Proof, Purged};
pub use recall::{
    Answer, Because, Context, Coverage, Embedded, Hit, Occasion, Omitted, PassedOver, Placement,
    Prose, Question, RecipeFound, Reply, StepAsked, StepContext, StepOffer, StopLimit, Telling,
    Warned, by_shell,
};
pub use remember::{Novelty, OnDuplicate, Remembered, Teaching};
pub use rules::{Rule, RuleBook, RulesTaken};
pub use settings::{Form, SETTINGS, Setting, SettingScope, check_setting};
pub use undo::{Past, Undone};
pub use upkeep::{Activity, Maintained, REPLACED, Stats, Trial};

// What callers hold without naming the room it comes from.
pub use ::graph::{
    Chunk, Coverage as ModuleCoverage, DefKind, EdgeKind, How, Module, Neighbour, Symbol, Tool,
    ToolKind,
};
pub use ::recall::decide::{FIRST_STEP, Ground, Withheld};
pub use ::recall::{
    Class, Factors, PaidBy, Path, Pipeline, Purpose, Silence, Stage, Trace, Verdict, Without,
    frame, tokens,
};
pub use agents::{
    FilePlace, HOSTS, Heard, Host, Moment, OurHook, SettingsFile, Setup, Trust, Version, host,
    is_our_name, read_version, with_event,
};
pub use infer::{
    Embedder, EmbeddingApi, EmbeddingConfig, Endpoint, Error as ProviderError, Generator,
    Key as ProviderKey, MODEL_NOTICE, Probe, RerankApi, RerankConfig, RerankProbe, Reranker,
    TextApi, TextConfig, TextProbe, ollama,
};
pub use observe::{Expected, FEWEST_ALIKE, Foreseen};
pub use promote::{Compared, instruction_like};
pub use source::{Place, PlaceKind, Transcript, locate};
pub use store::Error as StoreError;
pub use store::{
    Backup, Contents, ENCRYPTION_AVAILABLE, Entry, Filter, Finding, Key, SessionRow, SightingRow,
    Size, Tally, TouchedRow, survive_file_size_limit, write_private,
};
