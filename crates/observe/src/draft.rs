//! Drafts: the texts of possible memories, composed from evidence.
//!
//! A signal is a kind of pattern, such as `error_retry`; a sighting is one pattern seen in one session, with
//! its evidence. [`compose_draft`] gets all sightings of one pattern and calls the function for its signal;
//! the functions are in the files below, by subject. The crate `promote` decides whether a draft becomes a
//! memory. Example: a sighting in which `gh pr diff --stat` failed and `gh pr diff --name-only` succeeded
//! → "Use `gh pr diff --name-only` instead of `gh pr diff --stat`, which fails here with “unknown flag: --stat”."
//!
//! A memory is worth its tokens only if the next agent acts differently after reading it. So a draft
//! names the command, the message, the fix, the right file, the right query or the corrected fact.
//! Evidence that allows none of these gives no draft.
//!
//! The wording is stored, compared and evaluated. A changed word makes every memory of that kind look
//! new.

mod errors;
mod files;
mod statements;
mod workflow;

use model::{
    MemoryKind, MemoryScope, MemoryType, Payload, ProjectPath, SessionId, SignalKind, Timestamp,
};

use crate::ModuleLookup;
use crate::evidence::Evidence;
use crate::pattern_key::{PatternKey, PatternParts};

/// Modules that a memory names.
const MAX_MODULES: usize = 4;

/// The sighting of a pattern in one session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSighting {
    pub session: SessionId,
    /// The end of the session.
    pub at: Timestamp,
    pub occurrences: u32,
    pub evidence: Evidence,
}

/// Numbers of sessions against which a pattern is rated: three sightings are much if four sessions edited
/// the file, and little if forty did. The caller counts them in the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupportCounts {
    /// Sessions that edited the first file of the evidence, and the second.
    pub first_file: u32,
    pub second_file: u32,
    /// For the signal `sequence` (the steps of a change): all sessions with a sighting, also those whose work
    /// did not hold. For other signals: sessions that edited any file.
    pub baseline: u32,
}

/// The text of a possible memory, with its type and data.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryDraft {
    pub kind: MemoryType,
    pub content: String,
    pub files: Vec<ProjectPath>,
    pub modules: Vec<String>,
    pub tags: Vec<String>,
    pub payload: Option<Payload>,
    /// The scope that the agent stated; else the modules decide it.
    pub scope: Option<MemoryScope>,
    /// The sessions behind a draft of `synthesis`, which no sighting shows by itself. Empty in the drafts of
    /// this file, whose sessions are those of the sightings.
    pub sessions: Vec<SessionId>,
    /// What happened in its session confirms it, so that no second session is needed: a failed command
    /// succeeded after the fix.
    pub is_confirmed: bool,
}

/// Composes a draft from all sightings of one pattern, oldest first; `None` if they contain nothing
/// that an agent could act on.
pub fn compose_draft(
    key: &PatternKey,
    seen: &[SessionSighting],
    support: SupportCounts,
    modules: &ModuleLookup,
) -> Option<MemoryDraft> {
    if seen.is_empty() {
        return None;
    }
    // A signal whose keys have two forms has two functions, which the parts of the key decide between.
    let draft = match (key.signal(), key.parts()) {
        (SignalKind::FileAccess, _) => files::draft_first_files(key.as_str(), seen, modules),
        (SignalKind::CoAccess, _) => files::draft_coupled_files(seen, support),
        (SignalKind::ReadAbandon, _) => files::draft_wrong_start(seen),
        (SignalKind::RepeatedGrep, _) => files::draft_search_location(seen),
        (SignalKind::GlobIgnore, _) => files::draft_costly_listing(seen),
        (SignalKind::ImportChase, _) => files::draft_import_pair(seen),
        (SignalKind::ConfigTouch, _) => files::draft_config_coupling(seen, support),
        (SignalKind::ContextTokenSpike, _) => files::draft_costly_file(seen),
        (SignalKind::ParallelConflict, _) => files::draft_contested_file(seen),
        (SignalKind::ErrorRetry, PatternParts::MissingFile(_)) => errors::draft_moved_file(seen),
        (SignalKind::ErrorRetry, _) => errors::draft_fixed_error(key.as_str(), seen),
        (SignalKind::TimeAnomaly, _) => errors::draft_slow_command(seen),
        (SignalKind::Sequence, PatternParts::ModuleChange(module)) => {
            workflow::draft_module_routine(key.as_str(), module, seen, support)
        }
        (SignalKind::Sequence, _) => workflow::draft_commit_recipe(seen),
        (SignalKind::StepOverrun, _) => workflow::draft_calibration(key.as_str(), seen),
        (SignalKind::Backtrack, _) => statements::draft_reverted_edit(seen),
        (SignalKind::SelfCorrection, _) => statements::draft_corrected_fact(seen),
        (SignalKind::DeadEnd, PatternParts::RevertedSession(_)) => {
            statements::draft_reverted_session(seen)
        }
        (SignalKind::DeadEnd, _) => statements::draft_dead_end(seen),
        (SignalKind::CausalStatement, _) => statements::draft_causal_statement(seen),
        (SignalKind::UserCorrection, _) => statements::draft_preference(seen),
        (SignalKind::Recorded, _) => statements::draft_note(seen),
        (SignalKind::Claim, _) => statements::draft_claim(seen),
        // The order of tests does not say how to work, and a page that was read does not say what it
        // contains: both are only counted.
        (SignalKind::TestOrder | SignalKind::ExternalReference, _) => None,
    };
    draft.map(|it| it.finish(modules))
}

impl MemoryDraft {
    pub(crate) fn new(kind: MemoryKind, content: String) -> Self {
        Self {
            kind: MemoryType::Core(kind),
            content,
            files: Vec::new(),
            modules: Vec::new(),
            tags: Vec::new(),
            payload: None,
            scope: None,
            sessions: Vec::new(),
            is_confirmed: false,
        }
    }

    pub(crate) fn with_files(mut self, files: Vec<ProjectPath>) -> Self {
        self.files = files;
        self
    }

    pub(crate) fn with_payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    /// Adds the modules of the files, and cuts the text to the length of a memory.
    pub(crate) fn finish(mut self, modules: &ModuleLookup) -> Self {
        for file in &self.files {
            let module = modules.module_of_file(file.as_str()).to_owned();
            if !module.is_empty() && !self.modules.contains(&module) {
                self.modules.push(module);
            }
        }
        // The module of the pattern was added first and stays.
        self.modules.truncate(MAX_MODULES);
        let end = self.content.floor_char_boundary(model::MAX_CONTENT);
        self.content.truncate(end);
        self
    }
}

/// The paths as a list in prose: `` `a`, `b` and `c` ``.
pub(crate) fn quote_paths(paths: &[ProjectPath]) -> String {
    let quoted: Vec<String> = paths.iter().map(|it| format!("`{it}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The distinct sessions among the sightings.
fn distinct_sessions(seen: &[SessionSighting]) -> Vec<SessionId> {
    let mut sessions: Vec<SessionId> = seen.iter().map(|it| it.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

fn count_sessions(seen: &[SessionSighting]) -> u32 {
    u32::try_from(distinct_sessions(seen).len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
