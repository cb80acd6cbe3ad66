//! Deadlines of calls. The only module of this crate that reads a clock.

use std::thread;
use std::time::{Duration, Instant};

/// A point in time that all attempts, pauses and requests of one call share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallDeadline {
    pub(crate) budget: Duration,
    began: Instant,
}

impl CallDeadline {
    pub(crate) fn after(budget: Duration) -> Self {
        Self { budget, began: instant_now() }
    }

    /// Zero when it is over.
    pub(crate) fn time_left(&self) -> Duration {
        self.budget.saturating_sub(instant_now().duration_since(self.began))
    }

    /// Waits, unless there would be no time for anything afterwards.
    #[expect(
        clippy::disallowed_methods,
        reason = "a pause between two attempts is waiting by the clock"
    )]
    pub(crate) fn sleep_within(&self, pause: Duration) -> bool {
        let fits = pause < self.time_left();
        if fits {
            thread::sleep(pause);
        }
        fits
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a monotonic clock measures how long a server takes; nothing is dated by it"
)]
pub(crate) fn instant_now() -> Instant {
    Instant::now()
}
