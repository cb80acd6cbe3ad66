//! What an answer is for: how much habit weighs beside relevance, and what may enter at all.

use model::{PerMille, Status, closed};

closed! {
    /// Why memories are looked for.
    pub enum Purpose : "purpose" {
        /// Somebody asked in words and will look at the answer.
        Search = "search",
        /// What an agent should know when it begins.
        Start = "start",
        /// What an agent should know about the files it is at.
        File = "file",
        /// A few lines between two steps, unasked.
        Step = "step",
    }
}

/// The rules of one purpose. Weights are in thousandths and add up to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurposeRow {
    pub relevance: u16,
    pub recency: u16,
    pub frequency: u16,
    /// How much of the score hangs on how sure a memory is now. A person who asks sees how sure it is
    /// and wants what fits; unasked, what grew old in silence had better stay silent.
    pub sureness: u16,
    /// What is less sure than this stays out.
    pub least: PerMille,
    /// Whether it reaches an agent unasked: then only memories nobody has doubts about enter.
    pub automatic: bool,
    /// Whether there is time for a model that reads every candidate.
    pub reranks: bool,
    /// Whether a second search with an imagined answer is worth its time.
    pub imagines: bool,
}

impl Purpose {
    #[rustfmt::skip]
    pub const fn row(self) -> PurposeRow {
        match self {
            //                  relevance recency frequency sureness least automatic reranks imagines
            Self::Search => row(960,      25,     15,       200,     0,    false,    true,   true),
            Self::Start  => row(600,      250,    150,      1000,    400,  true,     true,   false),
            Self::File | Self::Step => row(600, 250, 150,   1000,    400,  true,     false,  false),
        }
    }

    /// The statuses a memory may have to take part; what a person asks for by filter is up to them.
    pub const fn statuses(self) -> &'static [Status] {
        if self.row().automatic {
            &[Status::Live]
        } else {
            &[Status::Tainted, Status::Stale, Status::NeedsReview, Status::Live]
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one for each column of the table above")]
const fn row(
    relevance: u16,
    recency: u16,
    frequency: u16,
    sureness: u16,
    least: u16,
    automatic: bool,
    reranks: bool,
    imagines: bool,
) -> PurposeRow {
    assert!(relevance + recency + frequency == 1000, "a row must add up to 1000");
    assert!(sureness <= 1000, "a share");
    let least = PerMille::new(least);
    PurposeRow { relevance, recency, frequency, sureness, least, automatic, reranks, imagines }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < Purpose::ALL.len() {
        Purpose::ALL[i].row();
        i += 1;
    }
};
