//! Time and size limits by kind of call.

use std::time::Duration;

use super::deadline::CallDeadline;

/// No answer is larger. 512 vectors of 4,096 numbers, each written with ten characters, are 20 MB.
pub(super) const ANSWER_LIMIT: u64 = 32 << 20;

/// As much of a refusal as is read; one line of it is shown.
pub(super) const REFUSAL_LIMIT: u64 = 16 << 10;

/// A server that requests a longer wait is not retried.
pub(super) const MAX_RETRY_WAIT: Duration = Duration::from_secs(20);

/// The pause before the second attempt; it doubles with each further one.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// Purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Reachability check; the user waits for it.
    Detect,
    /// Models and what they are; the server only reads files.
    List,
    /// The server may have to load the model first.
    Embed,
    Rerank,
    Generate,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CallLimits {
    /// Name, connection and handshake.
    pub(crate) connect: Duration,
    /// Silence, from one piece of the answer to the next; the first is the longest.
    pub(crate) silence: Duration,
    /// Everything, with all attempts and pauses. A caller's deadline can only be shorter.
    pub(crate) total: Duration,
    pub(crate) attempts: u32,
}

impl CallKind {
    /// Begins now. The caller's budget counts when it is shorter than the row's total.
    pub(crate) fn deadline_within(self, budget: Duration) -> CallDeadline {
        CallDeadline::after(self.limits().total.min(budget))
    }

    #[rustfmt::skip]
    pub(crate) const fn limits(self) -> CallLimits {
        match self {
            //                        connect silence total    attempts (times in milliseconds)
            Self::Detect   => limits_row(   300,     300,     300, 1),
            Self::List     => limits_row( 1_000,   2_000,   5_000, 2),
            Self::Embed    => limits_row( 3_000, 120_000, 180_000, 4),
            Self::Rerank   => limits_row( 2_000,  10_000,  15_000, 2),
            Self::Generate => limits_row( 3_000, 120_000, 180_000, 3),
        }
    }
}

const fn limits_row(connect: u64, silence: u64, total: u64, attempts: u32) -> CallLimits {
    assert!(
        connect <= silence && silence <= total && attempts > 0,
        "a part is not longer than the whole"
    );
    CallLimits {
        connect: Duration::from_millis(connect),
        silence: Duration::from_millis(silence),
        total: Duration::from_millis(total),
        attempts,
    }
}
