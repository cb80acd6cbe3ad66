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
mod statements;

use std::collections::BTreeSet;

use model::{
    MemoryKind, MemoryScope, MemoryType, Payload, ProjectPath, SessionId, SignalKind, Timestamp,
};

use crate::ModuleLookup;
use crate::evidence::Evidence;
use crate::pattern_key::{PatternKey, PatternParts};
use crate::person::WishKind;

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
    /// Its own session confirms it, so that no second session is needed: a failed command succeeded after the
    /// fix.
    pub is_confirmed: bool,
    /// The kind of wish, if a person said it.
    pub wish: Option<WishKind>,
}

/// Composes a draft from all sightings of one pattern, oldest first; `None` if they contain nothing
/// that an agent could act on.
pub fn compose_draft(
    key: &PatternKey,
    seen: &[SessionSighting],
    modules: &ModuleLookup,
) -> Option<MemoryDraft> {
    if seen.is_empty() {
        return None;
    }
    // A signal whose keys have two forms has two functions, which the parts of the key decide between.
    let draft = match (key.signal(), key.parts()) {
        (SignalKind::ErrorRetry, PatternParts::MissingFile(_)) => errors::draft_moved_file(seen),
        (SignalKind::ErrorRetry, _) => errors::draft_fixed_error(key.as_str(), seen),
        (SignalKind::ParallelConflict, _) => draft_contested_file(seen),
        (SignalKind::Backtrack, _) => statements::draft_reverted_edit(seen),
        (SignalKind::SelfCorrection, _) => statements::draft_corrected_fact(seen),
        (SignalKind::DeadEnd, PatternParts::RevertedSession(_)) => {
            statements::draft_reverted_session(seen)
        }
        (SignalKind::DeadEnd, _) => statements::draft_dead_end(seen),
        (SignalKind::CausalStatement, _) => statements::draft_causal_statement(seen),
        (SignalKind::UserCorrection, _) => statements::draft_wish(seen),
        (SignalKind::Recorded, _) => statements::draft_note(seen),
        (SignalKind::Claim, _) => statements::draft_claim(seen),
        // Statistics are told at their moment and have no draft (`SignalUse::Statistics`).
        (
            SignalKind::FileAccess
            | SignalKind::CoAccess
            | SignalKind::ReadAbandon
            | SignalKind::RepeatedGrep
            | SignalKind::Sequence
            | SignalKind::TimeAnomaly
            | SignalKind::ExternalReference
            | SignalKind::GlobIgnore
            | SignalKind::ImportChase
            | SignalKind::TestOrder
            | SignalKind::ConfigTouch
            | SignalKind::StepOverrun
            | SignalKind::ContextTokenSpike,
            _,
        ) => None,
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
            is_confirmed: false,
            wish: None,
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

/// A file that two subagents edited at the same time.
fn draft_contested_file(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::ParallelConflict { file, .. } = &seen.last()?.evidence else { return None };
    let content = format!(
        "Do not let two subagents edit `{file}` at once: they did, and one has to work on what the other wrote. Give it to one of them."
    );
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(vec![file.clone()]))
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

/// Counts the distinct sessions among the sightings.
pub(crate) fn count_sessions(seen: &[SessionSighting]) -> u32 {
    let sessions: BTreeSet<SessionId> = seen.iter().map(|it| it.session).collect();
    u32::try_from(sessions.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
