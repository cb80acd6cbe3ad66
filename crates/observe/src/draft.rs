//! Drafts: what a memory would say, composed from evidence.
//!
//! A memory is worth its tokens only if the next agent acts differently after reading it. So a draft
//! names the command, the message, the fix, the right file, the right query, the corrected fact; what
//! cannot do that is no draft.

mod behaviour;
mod errors;
mod files;
mod spoken;

use model::{Kind, MemoryType, Payload, ProjectPath, SessionId, SignalKind, Timestamp};

use crate::Modules;
use crate::sighting::Evidence;
use crate::signal::dead_end::TAKEN_BACK;
use crate::signal::sequence::CHANGE;

/// One sighting among all of its pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub session: SessionId,
    pub at: Timestamp,
    pub n: u32,
    pub evidence: Evidence,
}

/// What the project's sessions say about the files of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// Sessions that edited the first file, and the second.
    pub first: u32,
    pub second: u32,
    /// Sessions that edited anything; of a routine, those that began it.
    pub all: u32,
    /// Sessions that edited something in the module.
    pub module: u32,
}

/// What a memory would say.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub kind: MemoryType,
    pub content: String,
    pub files: Vec<ProjectPath>,
    pub modules: Vec<String>,
    pub tags: Vec<String>,
    pub payload: Option<Payload>,
    /// The sessions that show it, where no sighting does: what is said of them all together.
    pub sessions: Vec<SessionId>,
}

/// Composes what all sightings of one pattern say, oldest first; `None` when they say nothing an
/// agent could act on.
pub fn draft(
    signal: SignalKind,
    key: &str,
    seen: &[Seen],
    support: Support,
    modules: &Modules,
) -> Option<Draft> {
    if seen.is_empty() {
        return None;
    }
    let res = match signal {
        SignalKind::FileAccess => files::first_files(key, seen, support, modules),
        SignalKind::CoAccess => files::coupled(seen, support),
        SignalKind::ReadAbandon => files::not_there(seen),
        SignalKind::RepeatedGrep => files::found_at(seen),
        SignalKind::GlobIgnore => files::listed(seen),
        SignalKind::ImportChase => files::imported(seen),
        SignalKind::ConfigTouch => files::configured(seen, support),
        SignalKind::ContextTokenSpike => files::costly(seen),
        SignalKind::ParallelConflict => files::contested(seen),
        SignalKind::ErrorRetry => errors::fixed(key, seen),
        SignalKind::TimeAnomaly => errors::slow(seen),
        SignalKind::Sequence if key.starts_with(CHANGE) => behaviour::routine(key, seen, support),
        SignalKind::Sequence => behaviour::recipe(seen),
        SignalKind::StepOverrun => behaviour::calibration(key, seen),
        SignalKind::Backtrack => spoken::undone(seen),
        SignalKind::SelfCorrection => spoken::corrected(seen),
        SignalKind::DeadEnd if key.starts_with(TAKEN_BACK) => spoken::taken_back(seen),
        SignalKind::DeadEnd => spoken::dead_end(seen),
        SignalKind::CausalStatement => spoken::causal(seen),
        SignalKind::UserCorrection => spoken::wished(seen),
        SignalKind::Recorded => spoken::recorded(seen),
        // What came first says nothing about how to do it, and which page was read nothing about what it
        // says: both are counted, not told.
        SignalKind::TestOrder | SignalKind::ExternalReference => None,
    };
    res.map(|it| it.complete(modules))
}

impl Draft {
    pub(crate) fn new(kind: Kind, content: String) -> Self {
        Self {
            kind: MemoryType::Core(kind),
            content,
            files: Vec::new(),
            modules: Vec::new(),
            tags: Vec::new(),
            payload: None,
            sessions: Vec::new(),
        }
    }

    pub(crate) fn about(mut self, files: Vec<ProjectPath>) -> Self {
        self.files = files;
        self
    }

    pub(crate) fn with(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    pub(crate) fn complete(mut self, modules: &Modules) -> Self {
        for file in &self.files {
            let module = modules.of(file.as_str()).to_owned();
            if !module.is_empty() && !self.modules.contains(&module) {
                self.modules.push(module);
            }
        }
        self.modules.truncate(4);
        let end = self.content.floor_char_boundary(model::MAX_CONTENT);
        self.content.truncate(end);
        self
    }
}

/// `` `a`, `b` and `c` ``.
pub(crate) fn list(paths: &[ProjectPath]) -> String {
    let quoted: Vec<String> = paths.iter().map(|it| format!("`{it}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn n_sessions(seen: &[Seen]) -> usize {
    let mut all: Vec<SessionId> = seen.iter().map(|it| it.session).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

#[cfg(test)]
mod tests;
