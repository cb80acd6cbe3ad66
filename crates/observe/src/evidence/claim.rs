//! The evidence of a claim: a statement that was made at a moment of a session, with the words it was cut
//! from and what came of it.
//!
//! The detector of claims builds it; drafts and `waylore review` read it. The source is part of the pattern
//! key and not stored twice.

use model::{PerMille, ProjectPath, Timestamp, closed};

closed! {
    /// The origin of a claim.
    pub enum ClaimSource : "claim source" {
        /// Words that a person typed.
        Person = "person",
        /// A command, tool or check that failed, and what ended the failure.
        Failure = "failure",
        /// A plan that a person accepted.
        Plan = "plan",
        /// A conclusion of the agent.
        Agent = "agent",
        /// A later commit that changed what an agent wrote.
        History = "history",
        /// A language model that was shown the session; its quotes are the person's, a tool's or the agent's.
        Model = "model",
    }
}

impl ClaimSource {
    /// The one who made the claim, for people: `the agent`.
    pub const fn speaker(self) -> &'static str {
        match self {
            Self::Person => "a person",
            Self::Failure => "a failure that was resolved",
            Self::Plan => "an accepted plan",
            Self::Agent => "the agent",
            Self::History => "a later commit",
            Self::Model => "a language model",
        }
    }
}

/// The details of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimEvidence {
    pub source: ClaimSource,
    /// The claim as it was cut: it stands alone.
    pub text: String,
    /// The words of the session that it was cut from.
    pub quote: String,
    /// Files that it is about.
    pub files: Vec<ProjectPath>,
    /// The moments at which it is to be told.
    pub tell_at: Vec<TellCue>,
    /// The events after it, as a short sentence; `None` if there were none.
    pub outcome: Option<String>,
    /// The score of the claim.
    pub score: PerMille,
    /// Time at which it was said; `None` if the host does not tell.
    pub said_at: Option<Timestamp>,
}

impl ClaimEvidence {
    /// Every text that can contain a secret.
    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut acc = vec![&mut self.text, &mut self.quote];
        acc.extend(&mut self.outcome);
        acc.extend(self.tell_at.iter_mut().map(TellCue::text_mut));
        acc
    }
}

/// A moment at which a claim is worth telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TellCue {
    /// This file is opened or edited.
    File(String),
    /// A command like this one is run.
    Command(String),
    /// A message like this one appears.
    Error(String),
    /// The task has these words.
    Task(String),
}

impl TellCue {
    /// The stored form: `command npm test`.
    pub(super) fn to_stored(&self) -> String {
        let (word, text) = match self {
            Self::File(text) => ("file", text),
            Self::Command(text) => ("command", text),
            Self::Error(text) => ("error", text),
            Self::Task(text) => ("task", text),
        };
        format!("{word} {text}")
    }

    /// Parses the stored form; `None` if the kind is unknown.
    pub(super) fn parse(stored: &str) -> Option<Self> {
        let (word, text) = stored.split_once(' ')?;
        let text = text.to_owned();
        match word {
            "file" => Some(Self::File(text)),
            "command" => Some(Self::Command(text)),
            "error" => Some(Self::Error(text)),
            "task" => Some(Self::Task(text)),
            _ => None,
        }
    }

    fn text_mut(&mut self) -> &mut String {
        match self {
            Self::File(text) | Self::Command(text) | Self::Error(text) | Self::Task(text) => text,
        }
    }
}
