//! Evidence: the details of one sighting, as far as a memory can be composed of them.
//!
//! A sighting is one pattern seen in one session, such as an error with its fix; a signal is the kind of
//! pattern (`error_retry`). Detectors build the evidence, drafts of memories read it.
//!
//! In the program, evidence is an enum with one variant per signal. In the database, it is one flat JSON
//! object for all signals ([`EvidenceFields`]), whose fields mean different things for different signals.
//! Example: `TimeAnomaly { command: "make e2e", seconds: 400 }` is stored as
//! `{"command":"make e2e","number":400}`. The only conversions are in `fields.rs`: together they are the
//! definition of the stored format.

mod claim;
mod fields;

use model::{MemoryScope, ProjectPath};
use serde_json::Value;

use crate::episode::{self, EndingKind};
use crate::error_line::ErrorKind;
use crate::pattern_key::{PatternKey, TestTiming};
use crate::person::WishKind;

pub use claim::{ClaimEvidence, ClaimSource, TellCue};
use fields::EvidenceFields;

/// The details of one sighting. A variant is named after its signal. Two signals have a second variant:
/// `error_retry` has `MovedFile`, and `dead_end` has `RevertedSession`.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    FileAccess {
        /// Files touched early in the session.
        files: Vec<ProjectPath>,
        /// Edits of the module's files.
        n_edits: u64,
    },
    CoAccess {
        /// The file that was touched first.
        first: ProjectPath,
        second: ProjectPath,
    },
    ErrorRetry {
        command: String,
        /// The output line that names the error, for display.
        message: String,
        /// The same line without accidental parts. Rows of early versions have none.
        normalised_message: Option<String>,
        /// The sentence in which the agent explained the error.
        explanation: Option<String>,
        /// Commands that succeeded shortly before the failure: a fix among them did not help.
        preceding: Vec<String>,
        /// Rows of early versions have none.
        error_kind: Option<ErrorKind>,
        fix: Option<CommandFix>,
    },
    /// `error_retry` of a file that was looked for in the wrong place.
    MovedFile {
        wrong: ProjectPath,
        right: ProjectPath,
    },
    Backtrack {
        file: ProjectPath,
        /// The last sentence of the agent before it reverted the edit.
        reason: Option<String>,
    },
    ReadAbandon {
        read: ProjectPath,
        /// The file that was edited instead.
        edited: ProjectPath,
    },
    RepeatedGrep {
        query: String,
        file: ProjectPath,
        /// The last query before it that matched nothing.
        missed_query: Option<String>,
    },
    Sequence {
        steps: Vec<String>,
    },
    TimeAnomaly {
        command: String,
        seconds: u64,
    },
    SelfCorrection {
        files: Vec<ProjectPath>,
        fact: String,
        /// The sentence that corrects; the fact can be in the one after it.
        sentence: Option<String>,
    },
    ExternalReference {
        query: String,
        edited_file: ProjectPath,
    },
    GlobIgnore {
        pattern: String,
        used_files: Vec<ProjectPath>,
        n_listed: u64,
    },
    ImportChase {
        from: ProjectPath,
        to: ProjectPath,
    },
    TestOrder {
        timing: TestTiming,
    },
    ConfigTouch {
        file: ProjectPath,
        config: ProjectPath,
    },
    StepOverrun {
        actual_steps: u64,
        planned_steps: u64,
    },
    ParallelConflict {
        file: ProjectPath,
        /// Subagents that edited the file, this session included.
        n_agents: u64,
    },
    ContextTokenSpike {
        file: ProjectPath,
        /// Average tokens of one read.
        tokens: u64,
    },
    DeadEnd {
        files: Vec<ProjectPath>,
        sentence: String,
        /// The sentences before and after it.
        before: Option<String>,
        after: Option<String>,
    },
    /// `dead_end` of a whole session whose edits were reverted later.
    RevertedSession {
        files: Vec<ProjectPath>,
        task: Option<String>,
        /// Subject of the commit that reverted the edits; `None` if they were never committed.
        revert_subject: Option<String>,
    },
    CausalStatement {
        files: Vec<ProjectPath>,
        sentence: String,
        from: String,
        to: String,
    },
    UserCorrection {
        files: Vec<ProjectPath>,
        sentence: String,
        kind: WishKind,
    },
    Recorded {
        files: Vec<ProjectPath>,
        content: String,
        /// Slug of the memory type that the agent chose.
        kind_slug: Option<String>,
        tags: Vec<String>,
        modules: Vec<String>,
        scope: Option<MemoryScope>,
        /// As the agent stated it; `draft/statements.rs` completes it.
        payload: Option<Value>,
    },
    Claim(Box<ClaimEvidence>),
    /// Stored fields that do not have the form of their signal: damaged, or written by a newer
    /// version. They are shown, and no memory is composed of them.
    Other(Box<EvidenceFields>),
}

/// The steps that ended an error, up to the command that succeeded after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFix {
    /// The kind of fix. Rows of early versions do not say it.
    pub kind: Option<EndingKind>,
    /// The command that succeeded.
    pub command: String,
    /// Commands that ran first and prepared it.
    pub steps: Vec<String>,
    /// Files edited between the error and the fix.
    pub edited_files: Vec<ProjectPath>,
    /// Identifiers in the text that these edits added or removed.
    pub names: Vec<String>,
    /// The words of a person who said what to do.
    pub remedy: Option<String>,
    /// Calls from the error to the fix, the fixing one included; 0 in rows of early versions.
    pub n_calls: u64,
}

impl CommandFix {
    /// Every text that can contain a secret.
    fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { command, steps, names, remedy, .. } = self;
        std::iter::once(command).chain(steps).chain(names).chain(remedy)
    }
}

impl Evidence {
    /// The JSON that is stored.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&EvidenceFields::from_evidence(self))
            .expect("evidence has string keys and finite numbers")
    }

    /// Parses stored JSON. The key gives the signal, and decides between the two variants of a signal that
    /// has two.
    pub fn parse(key: &PatternKey, stored: &str) -> Self {
        // Unknown fields are ignored, so that rows of newer versions are readable.
        let fields: EvidenceFields = serde_json::from_str(stored).unwrap_or_default();
        fields.clone().into_evidence(key).unwrap_or_else(|| Self::Other(Box::new(fields)))
    }

    /// The details in one line, for people.
    pub fn summary_line(&self) -> String {
        let fields = EvidenceFields::from_evidence(self);
        match self {
            // The type of a note is stored in the field of a query.
            Self::Recorded { .. } => fields.without_query().summary_line(),
            _ => fields.summary_line(),
        }
    }

    /// The files, in the order in which they are stored.
    pub fn files(&self) -> Vec<ProjectPath> {
        EvidenceFields::from_evidence(self).files
    }

    /// The stored field `text`: the quoted sentence, explanation or reason. Of `test_order` it is the timing,
    /// of a reverted session the subject of the commit.
    pub fn quoted_text(&self) -> Option<String> {
        EvidenceFields::from_evidence(self).text
    }

    /// Returns whether this session met the error although it had applied the fix of an earlier one. An edit of
    /// another session is not in place here, so that meeting the error again says nothing about it.
    pub fn refutes_fix_of(&self, earlier: &Self) -> bool {
        let Self::ErrorRetry { command, preceding, .. } = self else { return false };
        let Self::ErrorRetry { fix: Some(fix), .. } = earlier else { return false };
        let kind = fix.kind.unwrap_or(EndingKind::OtherCommand);
        matches!(kind, EndingKind::OtherCommand | EndingKind::MissingStep)
            && episode::is_refuted(kind, &fix.command, &fix.steps, command, preceding)
    }

    /// The error without its fix, if that was an edit or needs one to be understood.
    #[must_use]
    pub fn without_edit(mut self) -> Self {
        if let Self::ErrorRetry { fix, .. } = &mut self {
            let is_command = |it: &CommandFix| {
                matches!(it.kind, Some(EndingKind::OtherCommand | EndingKind::MissingStep))
            };
            *fix = fix.take().filter(is_command);
        }
        self
    }

    /// Returns whether an error is recorded with what ended it.
    pub const fn has_fix(&self) -> bool {
        matches!(self, Self::ErrorRetry { fix: Some(_), .. })
    }

    /// Applies `change` to every text, for instance to mask secrets.
    pub(crate) fn map_texts(&mut self, change: impl FnMut(&mut String)) {
        self.texts_mut().into_iter().for_each(change);
    }

    /// Every text that can contain a secret.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            // Paths are not masked: a masked path would name no file.
            Self::FileAccess { .. }
            | Self::CoAccess { .. }
            | Self::MovedFile { .. }
            | Self::ReadAbandon { .. }
            | Self::ImportChase { .. }
            | Self::TestOrder { .. }
            | Self::ConfigTouch { .. }
            | Self::StepOverrun { .. }
            | Self::ParallelConflict { .. }
            | Self::ContextTokenSpike { .. } => Vec::new(),
            Self::ErrorRetry {
                command,
                message,
                normalised_message,
                explanation,
                preceding,
                error_kind: _,
                fix,
            } => {
                let mut acc = vec![command, message];
                acc.extend(normalised_message);
                acc.extend(explanation);
                acc.extend(preceding);
                acc.extend(fix.iter_mut().flat_map(CommandFix::texts_mut));
                acc
            }
            Self::Backtrack { reason, .. } => reason.iter_mut().collect(),
            Self::RepeatedGrep { query, missed_query, .. } => {
                std::iter::once(query).chain(missed_query).collect()
            }
            Self::Sequence { steps } => steps.iter_mut().collect(),
            Self::TimeAnomaly { command, .. } => vec![command],
            Self::SelfCorrection { fact, sentence, .. } => {
                std::iter::once(fact).chain(sentence).collect()
            }
            Self::ExternalReference { query, .. } => vec![query],
            Self::GlobIgnore { pattern, .. } => vec![pattern],
            Self::DeadEnd { sentence, before, after, .. } => {
                std::iter::once(sentence).chain(before).chain(after).collect()
            }
            Self::RevertedSession { task, revert_subject, .. } => {
                task.iter_mut().chain(revert_subject).collect()
            }
            Self::CausalStatement { sentence, from, to, .. } => vec![sentence, from, to],
            Self::UserCorrection { sentence, .. } => vec![sentence],
            Self::Recorded { content, kind_slug, tags, modules, payload, .. } => {
                let mut acc: Vec<&mut String> = vec![content];
                acc.extend(kind_slug.iter_mut().chain(tags).chain(modules));
                if let Some(payload) = payload {
                    add_json_texts(&mut acc, payload);
                }
                acc
            }
            Self::Claim(claim) => claim.texts_mut(),
            Self::Other(fields) => fields.texts_mut(),
        }
    }
}

/// Adds every text of a JSON value, also those in lists and objects. Names of fields are no texts.
fn add_json_texts<'a>(acc: &mut Vec<&'a mut String>, value: &'a mut Value) {
    match value {
        Value::String(text) => acc.push(text),
        Value::Array(items) => items.iter_mut().for_each(|it| add_json_texts(acc, it)),
        Value::Object(fields) => fields.values_mut().for_each(|it| add_json_texts(acc, it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests;
