//! Time and size limits of calls, as a table by kind of call.

use std::time::Duration;

use super::deadline::CallDeadline;

/// Largest accepted answer. 512 vectors of 4,096 numbers with ten characters each are 20 MB.
pub(super) const MAX_ANSWER_BYTES: u64 = 32 << 20;

/// Bytes read of an error response; one line of it is shown.
pub(super) const MAX_REFUSAL_BYTES: u64 = 16 << 10;

/// A server that requests a longer wait is not retried.
pub(super) const MAX_RETRY_WAIT: Duration = Duration::from_secs(20);

/// The pause before the second attempt; it doubles with each further one.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// Purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Reachability check; the user waits for it.
    Detect,
    /// Lists models or their properties; the server only reads files.
    List,
    /// The server may have to load the model first.
    Embed,
    Rerank,
    Generate,
}

/// Limits of one kind of call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallLimits {
    /// Time for name resolution, connection and handshake.
    pub(crate) connect: Duration,
    /// Longest wait for the next piece of the answer. The first piece takes longest, because the
    /// model computes before it.
    pub(crate) silence: Duration,
    /// Time of the whole call, with all attempts and pauses. A caller's deadline can only be shorter.
    pub(crate) total: Duration,
    pub(crate) attempts: u32,
}

impl CallKind {
    /// A deadline that begins now: the total of the row, or the caller's budget if that is shorter.
    pub(crate) fn deadline_within(self, budget: Duration) -> CallDeadline {
        CallDeadline::after(self.limits().total.min(budget))
    }

    #[rustfmt::skip]
    pub(crate) const fn limits(self) -> CallLimits {
        match self {
            //                           connect  silence  total    attempts (times in milliseconds)
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
