//! The end of a call's time, and waiting that respects it: the only place of the room that reads a clock.

use std::thread;
use std::time::{Duration, Instant};

/// A point in time that all attempts, pauses and requests of one call share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) budget: Duration,
    began: Instant,
}

impl Deadline {
    pub(crate) fn after(budget: Duration) -> Self {
        Self { budget, began: now() }
    }

    /// Zero when it is over.
    pub(crate) fn left(&self) -> Duration {
        self.budget.saturating_sub(now().duration_since(self.began))
    }

    /// Waits, unless there would be no time for anything afterwards.
    #[expect(
        clippy::disallowed_methods,
        reason = "a pause between two attempts is waiting by the clock"
    )]
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let fits = pause < self.left();
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
pub(crate) fn now() -> Instant {
    Instant::now()
}
