//! How long each kind of call may take, and how much may come back.

use std::time::Duration;

use super::deadline::Deadline;

/// No answer is larger. 512 vectors of 4,096 numbers, each written with ten characters, are 20 MB.
pub(super) const ANSWER_LIMIT: u64 = 32 << 20;

/// As much of a refusal as is read; one line of it is shown.
pub(super) const REFUSAL_LIMIT: u64 = 16 << 10;

/// A server that wants more patience than this is not asked again.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The pause before the second attempt; it doubles with each further one.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Is anybody there? Somebody waits for the program to begin.
    Detect,
    /// Models and what they are; the server only reads files.
    List,
    /// The server may have to load the model first.
    Embed,
    Rerank,
    Generate,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Name, connection and handshake.
    pub(crate) connect: Duration,
    /// Silence, from one piece of the answer to the next; the first is the longest.
    pub(crate) silence: Duration,
    /// Everything, with all attempts and pauses. A caller's deadline can only be shorter.
    pub(crate) total: Duration,
    pub(crate) attempts: u32,
}

impl Call {
    /// Begins now. The caller's budget counts when it is shorter than the row's total.
    pub(crate) fn within(self, budget: Duration) -> Deadline {
        Deadline::after(self.limits().total.min(budget))
    }

    #[rustfmt::skip]
    pub(crate) const fn limits(self) -> Limits {
        match self {
            //                        connect silence total    attempts (times in milliseconds)
            Self::Detect   => limits(   300,     300,     300, 1),
            Self::List     => limits( 1_000,   2_000,   5_000, 2),
            Self::Embed    => limits( 3_000, 120_000, 180_000, 4),
            Self::Rerank   => limits( 2_000,  10_000,  15_000, 2),
            Self::Generate => limits( 3_000, 120_000, 180_000, 3),
        }
    }
}

const fn limits(connect: u64, silence: u64, total: u64, attempts: u32) -> Limits {
    assert!(
        connect <= silence && silence <= total && attempts > 0,
        "a part is not longer than the whole"
    );
    Limits {
        connect: Duration::from_millis(connect),
        silence: Duration::from_millis(silence),
        total: Duration::from_millis(total),
        attempts,
    }
}
