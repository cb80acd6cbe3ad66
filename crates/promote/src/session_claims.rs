//! Claims that a language model makes about a session: parses its answer, and checks every claim by rules
//! that need no model. What fails one is refused with the reason; nothing is repaired.
//!
//! The model reads a *dossier* of the session, whose quotable lines are numbered, and answers with a JSON
//! array. The engine composes the dossier, sends it and stores the result; this module is pure.
//!
//! ```text
//! [7] failed, step 12: go test ./...
//! {"type": "gotcha", "text": "…", "quotes": [{"n": 7, "text": "go test"}], "sure": 0.9, "worth": 0.7, …}
//! ```

mod answer;
mod checks;
mod claim_words;
#[cfg(test)]
mod tests;

use model::{AnswerRefusal, AnsweredScope, MemoryKind, QuoteSource};

pub use answer::parse_answer;
pub use checks::{AnswerFacts, KnownMemory, check_claims};

/// A quotable line of a dossier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DossierLine {
    /// Counted from 1.
    pub n: u32,
    pub source: QuoteSource,
    pub text: String,
    /// Stated after the session read text from outside the project.
    pub tainted: bool,
    /// What happened afterwards bears it out.
    pub confirmed: bool,
}

/// A passage of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineQuote {
    pub n: u32,
    pub text: String,
    /// The source of the line; `None` until the quote is found.
    pub source: Option<QuoteSource>,
}

/// A claim as the model states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredClaim {
    pub kind: MemoryKind,
    pub text: String,
    pub quotes: Vec<LineQuote>,
    /// Paths of the files it is about.
    pub files: Vec<String>,
    /// The command, error or kind of task at which it should be told.
    pub when: String,
    pub scope: AnsweredScope,
    /// The short id of a known memory that no longer holds after this claim.
    pub replaces: Option<String>,
    /// How sure the model is that it is right, and that telling it is worth it; per mille.
    pub sure: u16,
    pub worth: u16,
}

/// The result of the checks of one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// It may be told at once.
    Live,
    /// It rests on text that may come from outside the project, and waits for the user.
    Review,
    Refused {
        why: AnswerRefusal,
        detail: String,
    },
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedClaim {
    pub claim: AnsweredClaim,
    pub verdict: ClaimVerdict,
}
