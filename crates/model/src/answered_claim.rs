//! Words about claims that a language model makes about a session: whom a quote is from, how far a claim
//! reaches, and why one is refused.

use crate::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The author of a line that a claim quotes.
    pub enum QuoteSource : "source of a quote" {
        /// A person typed it.
        Person = "person",
        /// A plan of the agent that a person accepted.
        Plan = "plan",
        /// A command that failed, its output, or the command that ended the failure.
        Failure = "failure",
        /// The agent wrote it.
        Agent = "agent",
        /// The message of a commit.
        Commit = "commit",
    }
}

closed! {
    /// Where a claim holds.
    pub enum AnsweredScope : "scope of a claim" {
        Repository = "repository",
        /// Only on this machine: addresses, folders, worktrees.
        Machine = "machine",
        /// Wherever this person works.
        Person = "person",
        /// Wherever this tool is used.
        Tool = "tool",
    }
}

closed! {
    /// The check that a claim of a model failed.
    pub enum AnswerRefusal : "refusal of a claim" {
        /// No text, no type of the list, too short or too long.
        Form = "form",
        /// The model itself is not sure enough.
        Unsure = "unsure",
        /// The model itself does not think it worth telling.
        Worthless = "worthless",
        /// A quote is not in the dossier word for word, or there is none.
        Quote = "quote",
        /// The quoted lines do not speak of it.
        Unsupported = "unsupported",
        /// It names a file, identifier or number that is neither in the session nor in the repository.
        UnknownName = "unknown_name",
        /// Nothing that happened afterwards bears the quoted lines out.
        Unconfirmed = "unconfirmed",
        /// Something in the session contradicts it.
        Contradicted = "contradicted",
        /// It contains a secret.
        Secret = "secret",
        /// Reads like an instruction to an agent, and no person said it.
        Instruction = "instruction",
        /// A rule file or a memory states it.
        Known = "known",
        /// It holds on one machine only.
        MachineBound = "machine_bound",
        /// Enough better ones came before it in the answer.
        Budget = "budget",
    }
}

impl AnswerRefusal {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Form         => "not in the requested form",
            Self::Unsure       => "the model is not sure of it",
            Self::Worthless    => "the model does not find it worth telling",
            Self::Quote        => "a quote is not in the record",
            Self::Unsupported  => "its quotes do not support it",
            Self::UnknownName  => "names something that neither the session nor the repository has",
            Self::Unconfirmed  => "nothing bears it out",
            Self::Contradicted => "the session contradicts it",
            Self::Secret       => "contains a secret",
            Self::Instruction  => "reads like an instruction",
            Self::Known        => "known already",
            Self::MachineBound => "holds on one machine only",
            Self::Budget       => "one claim too many",
        }
    }
}
