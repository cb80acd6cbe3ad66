//! The stored form of evidence: one flat JSON object for all signals.
//!
//! [`EvidenceFields::from_evidence`] and [`EvidenceFields::into_evidence`] are the only conversions: together
//! they are the definition of the stored format.

use model::{MemoryScope, PerMille, ProjectPath, SignalKind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ClaimEvidence, CommandFix, Evidence, TellCue, add_json_texts};
use crate::episode::EndingKind;
use crate::error_line::ErrorKind;
use crate::pattern_key::{PatternKey, PatternParts, TestTiming};
use crate::person::WishKind;

/// The stored form of all evidence. A field is never renamed, and its order is the order in the JSON. What
/// a field means depends on the signal: see [`EvidenceFields::from_evidence`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvidenceFields {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<ProjectPath>,
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
    pub(super) text: Option<String>,
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
    /// Slug of the [`ErrorKind`] of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_kind: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl EvidenceFields {
    /// The fields that are stored. They begin empty, and each variant sets only those that it uses; empty fields
    /// are not written.
    pub(super) fn from_evidence(evidence: &Evidence) -> Self {
        let mut acc = Self::default();
        match evidence.clone() {
            Evidence::FileAccess { files, n_edits } => (acc.files, acc.number) = (files, n_edits),
            Evidence::CoAccess { first, second } => acc.files = vec![first, second],
            Evidence::ErrorRetry {
                command,
                message,
                normalised_message,
                explanation,
                preceding,
                error_kind,
                fix,
            } => {
                (acc.command, acc.message) = (Some(command), Some(message));
                (acc.normalised, acc.text) = (normalised_message, explanation);
                acc.preceding = preceding;
                acc.error_kind = error_kind.map(|it| it.slug().to_owned());
                // The other fields belong to the fix; without one they stay empty.
                if let Some(fix) = fix {
                    acc.set_fix(fix);
                }
            }
            Evidence::MovedFile { wrong, right } => acc.files = vec![wrong, right],
            Evidence::Backtrack { file, reason } => (acc.files, acc.text) = (vec![file], reason),
            Evidence::ReadAbandon { read, edited } => acc.files = vec![read, edited],
            Evidence::RepeatedGrep { query, file, missed_query } => {
                (acc.query, acc.files, acc.before) = (Some(query), vec![file], missed_query);
            }
            Evidence::Sequence { steps } => acc.steps = steps,
            Evidence::TimeAnomaly { command, seconds } => {
                (acc.command, acc.number) = (Some(command), seconds);
            }
            Evidence::SelfCorrection { files, fact, sentence } => {
                (acc.files, acc.text, acc.before) = (files, Some(fact), sentence);
            }
            Evidence::ExternalReference { query, edited_file } => {
                (acc.query, acc.files) = (Some(query), vec![edited_file]);
            }
            Evidence::GlobIgnore { pattern, used_files, n_listed } => {
                (acc.query, acc.files, acc.number) = (Some(pattern), used_files, n_listed);
            }
            Evidence::ImportChase { from, to } => acc.files = vec![from, to],
            Evidence::TestOrder { timing } => acc.text = Some(timing.as_str().to_owned()),
            Evidence::ConfigTouch { file, config } => acc.files = vec![file, config],
            Evidence::StepOverrun { actual_steps, planned_steps } => {
                (acc.number, acc.other) = (actual_steps, planned_steps);
            }
            Evidence::ParallelConflict { file, n_agents } => {
                (acc.files, acc.number) = (vec![file], n_agents);
            }
            Evidence::ContextTokenSpike { file, tokens } => {
                (acc.files, acc.number) = (vec![file], tokens);
            }
            Evidence::DeadEnd { files, sentence, before, after } => {
                (acc.files, acc.text) = (files, Some(sentence));
                (acc.before, acc.after) = (before, after);
            }
            Evidence::RevertedSession { files, task, revert_subject } => {
                (acc.files, acc.before, acc.text) = (files, task, revert_subject);
            }
            Evidence::CausalStatement { files, sentence, from, to } => {
                (acc.files, acc.text, acc.steps) = (files, Some(sentence), vec![from, to]);
            }
            Evidence::UserCorrection { files, sentence, kind } => {
                (acc.files, acc.text) = (files, Some(sentence));
                acc.wish = (kind != WishKind::StandingRule).then(|| kind.slug().to_owned());
            }
            Evidence::Recorded { files, content, kind_slug, tags, modules, scope, payload } => {
                (acc.files, acc.text) = (files, Some(content));
                (acc.query, acc.steps) = (kind_slug, tags);
                (acc.modules, acc.scope, acc.payload) = (modules, scope, payload);
            }
            Evidence::Claim(claim) => acc.set_claim(*claim),
            Evidence::Other(fields) => acc = *fields,
        }
        acc
    }

    fn set_fix(&mut self, fix: CommandFix) {
        self.worked = Some(fix.command);
        (self.files, self.number) = (fix.edited_files, fix.n_calls);
        self.ending = fix.kind.map(|it| it.slug().to_owned());
        (self.steps, self.names, self.after) = (fix.steps, fix.names, fix.remedy);
    }

    fn set_claim(&mut self, claim: ClaimEvidence) {
        (self.files, self.text, self.before) = (claim.files, Some(claim.text), Some(claim.quote));
        (self.after, self.number) = (claim.outcome, u64::from(claim.score.get()));
        self.steps = claim.tell_at.iter().map(TellCue::to_stored).collect();
        self.other = claim.said_at.map_or(0, |it| it.0.unsigned_abs());
    }

    /// The evidence that stored fields hold; `None` if a field that the signal needs is missing. `?` marks
    /// these fields: without them no draft can be composed. The others may be missing, so that rows of early
    /// versions are accepted.
    pub(super) fn into_evidence(self, key: &PatternKey) -> Option<Evidence> {
        if key.signal() == SignalKind::ErrorRetry
            && !matches!(key.parts(), PatternParts::MissingFile(_))
        {
            return self.into_error();
        }
        let Self { files, text, before, after, query, steps, number, .. } = self;
        Some(match key.signal() {
            SignalKind::FileAccess => Evidence::FileAccess { files, n_edits: number },
            SignalKind::CoAccess => {
                let [first, second] = to_pair(files)?;
                Evidence::CoAccess { first, second }
            }
            // Of a missing file; other errors were read above.
            SignalKind::ErrorRetry => {
                let [wrong, right] = to_pair(files)?;
                Evidence::MovedFile { wrong, right }
            }
            SignalKind::Backtrack => Evidence::Backtrack { file: first_of(files)?, reason: text },
            SignalKind::ReadAbandon => {
                let [read, edited] = to_pair(files)?;
                Evidence::ReadAbandon { read, edited }
            }
            SignalKind::RepeatedGrep => Evidence::RepeatedGrep {
                query: query?,
                file: first_of(files)?,
                missed_query: before,
            },
            SignalKind::Sequence => Evidence::Sequence { steps },
            SignalKind::TimeAnomaly => {
                Evidence::TimeAnomaly { command: self.command?, seconds: number }
            }
            SignalKind::SelfCorrection => {
                Evidence::SelfCorrection { files, fact: text?, sentence: before }
            }
            SignalKind::ExternalReference => {
                Evidence::ExternalReference { query: query?, edited_file: first_of(files)? }
            }
            SignalKind::GlobIgnore => {
                Evidence::GlobIgnore { pattern: query?, used_files: files, n_listed: number }
            }
            SignalKind::ImportChase => {
                let [from, to] = to_pair(files)?;
                Evidence::ImportChase { from, to }
            }
            SignalKind::TestOrder => Evidence::TestOrder { timing: TestTiming::parse(&text?)? },
            SignalKind::ConfigTouch => {
                let [file, config] = to_pair(files)?;
                Evidence::ConfigTouch { file, config }
            }
            SignalKind::StepOverrun => {
                Evidence::StepOverrun { actual_steps: number, planned_steps: self.other }
            }
            SignalKind::ParallelConflict => {
                Evidence::ParallelConflict { file: first_of(files)?, n_agents: number }
            }
            SignalKind::ContextTokenSpike => {
                Evidence::ContextTokenSpike { file: first_of(files)?, tokens: number }
            }
            SignalKind::DeadEnd if matches!(key.parts(), PatternParts::RevertedSession(_)) => {
                Evidence::RevertedSession { files, task: before, revert_subject: text }
            }
            SignalKind::DeadEnd => Evidence::DeadEnd { files, sentence: text?, before, after },
            SignalKind::CausalStatement => {
                let [from, to] = to_pair(steps)?;
                Evidence::CausalStatement { files, sentence: text?, from, to }
            }
            SignalKind::UserCorrection => person_wish(files, text?, self.wish.as_deref()),
            SignalKind::Recorded => Evidence::Recorded {
                files,
                content: text?,
                kind_slug: query,
                tags: steps,
                modules: self.modules,
                scope: self.scope,
                payload: self.payload,
            },
            SignalKind::Claim => {
                let PatternParts::Claim { source, .. } = key.parts() else { return None };
                Evidence::Claim(Box::new(ClaimEvidence {
                    source,
                    text: text?,
                    quote: before?,
                    files,
                    tell_at: steps.iter().map(|it| TellCue::parse(it)).collect::<Option<_>>()?,
                    outcome: after,
                    score: PerMille::new(u16::try_from(number).ok()?),
                    said_at: i64::try_from(self.other).ok().filter(|it| *it > 0).map(Timestamp),
                }))
            }
        })
    }

    /// The error that stored fields hold, with its fix.
    fn into_error(self) -> Option<Evidence> {
        let fix = self.worked.map(|command| CommandFix {
            kind: self.ending.and_then(|it| EndingKind::from_slug(&it)),
            command,
            steps: self.steps,
            edited_files: self.files,
            n_calls: self.number,
            names: self.names,
            remedy: self.after,
        });
        Some(Evidence::ErrorRetry {
            command: self.command?,
            message: self.message?,
            normalised_message: self.normalised,
            explanation: self.text,
            preceding: self.preceding,
            error_kind: self.error_kind.and_then(|it| ErrorKind::from_slug(&it)),
            fix,
        })
    }

    /// The same fields without the query.
    pub(super) fn without_query(self) -> Self {
        Self { query: None, ..self }
    }

    /// The fields in one line: `The linter requires it. · command: make · a.go`.
    pub(super) fn summary_line(&self) -> String {
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
    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
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

fn person_wish(files: Vec<ProjectPath>, sentence: String, slug: Option<&str>) -> Evidence {
    Evidence::UserCorrection { files, sentence, kind: WishKind::from_slug(slug) }
}

fn to_pair<T>(items: Vec<T>) -> Option<[T; 2]> {
    items.try_into().ok()
}

fn first_of(files: Vec<ProjectPath>) -> Option<ProjectPath> {
    files.into_iter().next()
}
