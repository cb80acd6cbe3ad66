//! Deadlines of calls. The only module of this crate that reads a clock.

use std::thread;
use std::time::{Duration, Instant};

/// A point in time that all attempts, pauses and requests of one call share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallDeadline {
    /// Time of the whole call.
    pub(crate) budget: Duration,
    start: Instant,
}

impl CallDeadline {
    pub(crate) fn after(budget: Duration) -> Self {
        Self { budget, start: instant_now() }
    }

    /// Time until the deadline; zero when it has passed.
    pub(crate) fn time_left(&self) -> Duration {
        self.budget.saturating_sub(instant_now().duration_since(self.start))
    }

    /// Sleeps and returns true, unless no time would be left afterwards.
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
