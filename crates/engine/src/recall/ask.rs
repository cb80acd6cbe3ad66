//! What is asked, and what comes back: plain structs.

use model::{MemoryId, Phase, ProjectPath};
use recall::{Class, Factors, Purpose, Trace, Verdict, Without};
use store::Filter;

use crate::{Reach, Shown};

/// A question put to memory.
#[derive(Clone, Debug)]
pub struct Question {
    /// In any words; empty asks for what matters most.
    pub text: String,
    /// Files at hand: memories about them and about what is next to them are candidates.
    pub files: Vec<ProjectPath>,
    /// Who may answer; its limit and offset say how much of the answer is wanted.
    pub filter: Filter,
    pub reach: Option<Reach>,
    pub phase: Option<Phase>,
    pub purpose: Purpose,
    pub without: Without,
}

/// What memory says.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Best first. Empty when nothing is relevant.
    pub hits: Vec<Hit>,
    /// What was looked at and not given, with the reason, best first.
    pub passed_over: Vec<(Hit, PassedOver)>,
    pub class: Class,
    pub verdict: Verdict,
    /// What did not work as it should: a provider that was down, memories not embedded yet.
    pub notices: Vec<String>,
}

/// A memory that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub shown: Shown,
    pub score: f32,
    pub because: Because,
}

/// Why a memory stands where it stands.
#[derive(Clone, Debug)]
pub struct Because {
    /// What each path said, with its rank there.
    pub traces: Vec<Trace>,
    /// The words of the question that it holds.
    pub words: Vec<String>,
    /// What it gained from memories beside it.
    pub neighbours: f32,
    /// What it gained because its files are next to those of the best.
    pub boost: f32,
    pub factors: Factors,
    /// What a reranker said, from 0 to 1.
    pub reranked: Option<f32>,
    /// The hit that pulled it in, when it was not found itself.
    pub pulled_by: Option<MemoryId>,
    /// Reasons for doubt that are no reason to leave it out.
    pub doubts: Vec<String>,
}

/// Why a memory that was looked at is not in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedOver {
    /// Nothing is relevant enough.
    Irrelevant,
    /// Its confidence is below what the purpose asks for.
    Unsure,
    /// The phase has no use for its type.
    OutOfPhase,
    /// It says the same as a better one.
    Duplicate(MemoryId),
    /// Better ones filled the answer.
    Beyond,
    /// Surer than the purpose asks for, and not sure enough for the project's trust level.
    Untrusted,
    /// Every file it speaks of is gone.
    FilesGone,
    /// The file is there, and what it is bound to in it is gone.
    SymbolsGone,
    /// The session has seen it already.
    Shown,
    /// It is about a file and waits for it.
    Special,
    /// It stands in a rule file that the host reads by itself.
    ReadByHost,
}

impl PassedOver {
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Irrelevant => "irrelevant",
            Self::Unsure => "unsure",
            Self::OutOfPhase => "out_of_phase",
            Self::Duplicate(_) => "duplicate",
            Self::Beyond => "beyond",
            Self::Untrusted => "untrusted",
            Self::FilesGone => "files_gone",
            Self::SymbolsGone => "symbols_gone",
            Self::Shown => "shown",
            Self::Special => "special",
            Self::ReadByHost => "read_by_host",
        }
    }

    pub const fn reading(self) -> &'static str {
        match self {
            Self::Irrelevant => "not relevant enough",
            Self::Unsure => "its confidence is too low by now",
            Self::OutOfPhase => "of no use in this phase",
            Self::Duplicate(_) => "says the same as a better one",
            Self::Beyond => "better ones filled the answer",
            Self::Untrusted => "not sure enough for the trust level",
            Self::FilesGone => "the files it speaks of are gone",
            Self::SymbolsGone => "the code it is bound to is gone",
            Self::Shown => "was shown in this session already",
            Self::Special => "waits for the file it is about",
            Self::ReadByHost => "stands in a rule file that the host reads itself",
        }
    }
}
