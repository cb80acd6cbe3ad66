//! Evidence: the details of one sighting, as far as a memory can be composed of them.
//!
//! A sighting is one pattern seen in one session, such as an error with its fix; a signal is the kind of
//! pattern (`error_retry`). Detectors build the evidence, drafts of memories read it.
//!
//! In the program, evidence is an enum with one variant per signal. In the database, it is one flat JSON
//! object for all signals ([`EvidenceFields`]), whose fields mean different things for different signals.
//! Example: `TimeAnomaly { command: "make e2e", seconds: 400 }` is stored as
//! `{"command":"make e2e","number":400}`. The only conversions are [`Evidence::to_fields`] and
//! [`Evidence::from_fields`]: together they are the definition of the stored format.

mod claim;

use model::{MemoryScope, PerMille, ProjectPath, SignalKind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::episode::EndingKind;
use crate::pattern_key::{PatternKey, PatternParts, TestTiming};
use crate::person::WishKind;

pub use claim::{ClaimEvidence, ClaimSource, TellCue};

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

/// What ended an error, up to the command that succeeded after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFix {
    /// What the fix consists of. Rows of early versions do not say it.
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

/// The stored form of all evidence. A field is never renamed, and its order is the order in the JSON. What
/// a field means depends on the signal: see [`Evidence::to_fields`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvidenceFields {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<ProjectPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    normalised: Option<String>,
    /// The command that fixed an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    worked: Option<String>,
    /// The quoted sentence; in `before` and `after`, the sentences around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    /// The kind of a person's wish; absent for a standing rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    wish: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<String>,
    /// A count, a duration or a size.
    #[serde(skip_serializing_if = "is_zero")]
    number: u64,
    /// A second number: the planned steps of `step_overrun`, the time of a claim in milliseconds.
    #[serde(skip_serializing_if = "is_zero")]
    other: u64,
    /// Modules, scope and payload of a recorded note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modules: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<MemoryScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Value>,
    /// Slug of the [`EndingKind`] of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    ending: Option<String>,
    /// Identifiers in edits that fixed an error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    /// Commands before an error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    preceding: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Evidence {
    /// The JSON that is stored.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.to_fields())
            .expect("evidence has string keys and finite numbers")
    }

    /// Parses stored JSON. The key gives the signal, and decides between the two variants of a signal that
    /// has two.
    pub fn parse(key: &PatternKey, stored: &str) -> Self {
        // Unknown fields are ignored, so that rows of newer versions are readable.
        let fields: EvidenceFields = serde_json::from_str(stored).unwrap_or_default();
        Self::from_fields(key, fields.clone()).unwrap_or_else(|| Self::Other(Box::new(fields)))
    }

    /// The details in one line, for people.
    pub fn summary_line(&self) -> String {
        self.to_fields().summary_line()
    }

    /// The files, in the order in which they are stored.
    pub fn files(&self) -> Vec<ProjectPath> {
        self.to_fields().files
    }

    /// The stored field `text`: the quoted sentence, explanation or reason. Of `test_order` it is the timing,
    /// of a reverted session the subject of the commit.
    pub fn quoted_text(&self) -> Option<String> {
        self.to_fields().text
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
                fix,
            } => {
                let mut acc = vec![command, message];
                acc.extend(normalised_message);
                acc.extend(explanation);
                acc.extend(preceding);
                if let Some(CommandFix { command, steps, names, remedy, .. }) = fix {
                    acc.extend(std::iter::once(command).chain(steps).chain(names).chain(remedy));
                }
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
            Self::Claim(claim) => {
                let ClaimEvidence { text, quote, tell_at, outcome, .. } = claim.as_mut();
                let mut acc = vec![text, quote];
                acc.extend(outcome);
                acc.extend(tell_at.iter_mut().map(TellCue::text_mut));
                acc
            }
            Self::Other(fields) => fields.texts_mut(),
        }
    }

    /// The fields that are stored. They begin empty, and each variant sets only those that it uses; empty fields
    /// are not written.
    fn to_fields(&self) -> EvidenceFields {
        let mut acc = EvidenceFields::default();
        match self.clone() {
            Self::FileAccess { files, n_edits } => (acc.files, acc.number) = (files, n_edits),
            Self::CoAccess { first, second } => acc.files = vec![first, second],
            Self::ErrorRetry {
                command,
                message,
                normalised_message,
                explanation,
                preceding,
                fix,
            } => {
                (acc.command, acc.message) = (Some(command), Some(message));
                (acc.normalised, acc.text) = (normalised_message, explanation);
                acc.preceding = preceding;
                // The other fields belong to the fix; without one they stay empty.
                if let Some(fix) = fix {
                    acc.worked = Some(fix.command);
                    (acc.files, acc.number) = (fix.edited_files, fix.n_calls);
                    acc.ending = fix.kind.map(|it| it.slug().to_owned());
                    (acc.steps, acc.names, acc.after) = (fix.steps, fix.names, fix.remedy);
                }
            }
            Self::MovedFile { wrong, right } => acc.files = vec![wrong, right],
            Self::Backtrack { file, reason } => (acc.files, acc.text) = (vec![file], reason),
            Self::ReadAbandon { read, edited } => acc.files = vec![read, edited],
            Self::RepeatedGrep { query, file, missed_query } => {
                (acc.query, acc.files, acc.before) = (Some(query), vec![file], missed_query);
            }
            Self::Sequence { steps } => acc.steps = steps,
            Self::TimeAnomaly { command, seconds } => {
                (acc.command, acc.number) = (Some(command), seconds);
            }
            Self::SelfCorrection { files, fact, sentence } => {
                (acc.files, acc.text, acc.before) = (files, Some(fact), sentence);
            }
            Self::ExternalReference { query, edited_file } => {
                (acc.query, acc.files) = (Some(query), vec![edited_file]);
            }
            Self::GlobIgnore { pattern, used_files, n_listed } => {
                (acc.query, acc.files, acc.number) = (Some(pattern), used_files, n_listed);
            }
            Self::ImportChase { from, to } => acc.files = vec![from, to],
            Self::TestOrder { timing } => acc.text = Some(timing.as_str().to_owned()),
            Self::ConfigTouch { file, config } => acc.files = vec![file, config],
            Self::StepOverrun { actual_steps, planned_steps } => {
                (acc.number, acc.other) = (actual_steps, planned_steps);
            }
            Self::ParallelConflict { file, n_agents } => {
                (acc.files, acc.number) = (vec![file], n_agents);
            }
            Self::ContextTokenSpike { file, tokens } => {
                (acc.files, acc.number) = (vec![file], tokens);
            }
            Self::DeadEnd { files, sentence, before, after } => {
                (acc.files, acc.text) = (files, Some(sentence));
                (acc.before, acc.after) = (before, after);
            }
            Self::RevertedSession { files, task, revert_subject } => {
                (acc.files, acc.before, acc.text) = (files, task, revert_subject);
            }
            Self::CausalStatement { files, sentence, from, to } => {
                (acc.files, acc.text, acc.steps) = (files, Some(sentence), vec![from, to]);
            }
            Self::UserCorrection { files, sentence, kind } => {
                (acc.files, acc.text) = (files, Some(sentence));
                acc.wish = (kind != WishKind::StandingRule).then(|| kind.slug().to_owned());
            }
            Self::Recorded { files, content, kind_slug, tags, modules, scope, payload } => {
                (acc.files, acc.text) = (files, Some(content));
                (acc.query, acc.steps) = (kind_slug, tags);
                (acc.modules, acc.scope, acc.payload) = (modules, scope, payload);
            }
            Self::Claim(claim) => {
                (acc.files, acc.text, acc.before) =
                    (claim.files, Some(claim.text), Some(claim.quote));
                (acc.after, acc.number) = (claim.outcome, u64::from(claim.score.get()));
                acc.steps = claim.tell_at.iter().map(TellCue::to_stored).collect();
                acc.other = claim.said_at.map_or(0, |it| it.0.unsigned_abs());
            }
            Self::Other(fields) => acc = *fields,
        }
        acc
    }

    /// The evidence that stored fields hold; `None` if a field that the signal needs is missing. `?` marks
    /// these fields: without them no draft can be composed. The others may be missing, so that rows of early
    /// versions are accepted.
    fn from_fields(key: &PatternKey, fields: EvidenceFields) -> Option<Self> {
        let EvidenceFields { files, text, before, after, query, steps, number, .. } = fields;
        Some(match key.signal() {
            SignalKind::FileAccess => Self::FileAccess { files, n_edits: number },
            SignalKind::CoAccess => {
                let [first, second] = to_pair(files)?;
                Self::CoAccess { first, second }
            }
            SignalKind::ErrorRetry if matches!(key.parts(), PatternParts::MissingFile(_)) => {
                let [wrong, right] = to_pair(files)?;
                Self::MovedFile { wrong, right }
            }
            SignalKind::ErrorRetry => Self::ErrorRetry {
                command: fields.command?,
                message: fields.message?,
                normalised_message: fields.normalised,
                explanation: text,
                preceding: fields.preceding,
                fix: fields.worked.map(|command| CommandFix {
                    kind: fields.ending.and_then(|it| EndingKind::from_slug(&it)),
                    command,
                    steps,
                    edited_files: files,
                    n_calls: number,
                    names: fields.names,
                    remedy: after,
                }),
            },
            SignalKind::Backtrack => Self::Backtrack { file: first_of(files)?, reason: text },
            SignalKind::ReadAbandon => {
                let [read, edited] = to_pair(files)?;
                Self::ReadAbandon { read, edited }
            }
            SignalKind::RepeatedGrep => {
                Self::RepeatedGrep { query: query?, file: first_of(files)?, missed_query: before }
            }
            SignalKind::Sequence => Self::Sequence { steps },
            SignalKind::TimeAnomaly => {
                Self::TimeAnomaly { command: fields.command?, seconds: number }
            }
            SignalKind::SelfCorrection => {
                Self::SelfCorrection { files, fact: text?, sentence: before }
            }
            SignalKind::ExternalReference => {
                Self::ExternalReference { query: query?, edited_file: first_of(files)? }
            }
            SignalKind::GlobIgnore => {
                Self::GlobIgnore { pattern: query?, used_files: files, n_listed: number }
            }
            SignalKind::ImportChase => {
                let [from, to] = to_pair(files)?;
                Self::ImportChase { from, to }
            }
            SignalKind::TestOrder => Self::TestOrder { timing: TestTiming::parse(&text?)? },
            SignalKind::ConfigTouch => {
                let [file, config] = to_pair(files)?;
                Self::ConfigTouch { file, config }
            }
            SignalKind::StepOverrun => {
                Self::StepOverrun { actual_steps: number, planned_steps: fields.other }
            }
            SignalKind::ParallelConflict => {
                Self::ParallelConflict { file: first_of(files)?, n_agents: number }
            }
            SignalKind::ContextTokenSpike => {
                Self::ContextTokenSpike { file: first_of(files)?, tokens: number }
            }
            SignalKind::DeadEnd if matches!(key.parts(), PatternParts::RevertedSession(_)) => {
                Self::RevertedSession { files, task: before, revert_subject: text }
            }
            SignalKind::DeadEnd => Self::DeadEnd { files, sentence: text?, before, after },
            SignalKind::CausalStatement => {
                let [from, to] = to_pair(steps)?;
                Self::CausalStatement { files, sentence: text?, from, to }
            }
            SignalKind::UserCorrection => person_wish(files, text?, fields.wish.as_deref()),
            SignalKind::Recorded => Self::Recorded {
                files,
                content: text?,
                kind_slug: query,
                tags: steps,
                modules: fields.modules,
                scope: fields.scope,
                payload: fields.payload,
            },
            SignalKind::Claim => {
                let PatternParts::Claim { source, .. } = key.parts() else { return None };
                Self::Claim(Box::new(ClaimEvidence {
                    source,
                    text: text?,
                    quote: before?,
                    files,
                    tell_at: steps.iter().map(|it| TellCue::parse(it)).collect::<Option<_>>()?,
                    outcome: after,
                    score: PerMille::new(u16::try_from(number).ok()?),
                    said_at: i64::try_from(fields.other).ok().filter(|it| *it > 0).map(Timestamp),
                }))
            }
        })
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

fn person_wish(files: Vec<ProjectPath>, sentence: String, slug: Option<&str>) -> Evidence {
    Evidence::UserCorrection { files, sentence, kind: WishKind::from_slug(slug) }
}

fn to_pair<T>(items: Vec<T>) -> Option<[T; 2]> {
    items.try_into().ok()
}

fn first_of(files: Vec<ProjectPath>) -> Option<ProjectPath> {
    files.into_iter().next()
}

impl EvidenceFields {
    /// The fields in one line: `The linter requires it. · command: make · a.go`.
    fn summary_line(&self) -> String {
        let labelled = [
            // Sentences first, in the order in which they were written.
            ("", &self.before),
            ("", &self.text),
            ("", &self.after),
            ("command: ", &self.command),
            ("message: ", &self.message),
            ("then: ", &self.worked),
            ("query: ", &self.query),
        ];
        let mut acc: Vec<String> = Vec::new();
        for (label, field) in labelled {
            if let Some(text) = field
                && !text.is_empty()
            {
                acc.push(format!("{label}{text}"));
            }
        }
        if !self.steps.is_empty() {
            acc.push(self.steps.join(" → "));
        }
        if !self.files.is_empty() {
            let files: Vec<&str> = self.files.iter().map(ProjectPath::as_str).collect();
            acc.push(files.join(", "));
        }
        acc.join(" · ")
    }

    /// Every text that can contain a secret.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let optional = [
            &mut self.command,
            &mut self.message,
            &mut self.normalised,
            &mut self.worked,
            &mut self.text,
            &mut self.before,
            &mut self.after,
            &mut self.query,
        ];
        let lists = [&mut self.steps, &mut self.modules, &mut self.names, &mut self.preceding];
        let texts = optional.into_iter().flatten().chain(lists.into_iter().flatten());
        let mut acc: Vec<&mut String> = texts.collect();
        if let Some(payload) = &mut self.payload {
            add_json_texts(&mut acc, payload);
        }
        acc
    }
}

#[cfg(test)]
mod tests;
