//! Progress of a long task, such as indexing. The worker updates the counters; another thread shows
//! them and may stop the worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Progress of one task. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct TaskProgress {
    shared: Arc<ProgressCounts>,
}

#[derive(Debug, Default)]
struct ProgressCounts {
    n_total: AtomicUsize,
    n_done: AtomicUsize,
    is_stopped: AtomicBool,
    is_waiting: AtomicBool,
}

// No other memory access depends on the counters, so relaxed ordering suffices everywhere.
impl TaskProgress {
    /// Items found so far; grows while the worker finds more.
    pub fn n_total(&self) -> usize {
        self.shared.n_total.load(Ordering::Relaxed)
    }

    pub fn n_done(&self) -> usize {
        self.shared.n_done.load(Ordering::Relaxed)
    }

    /// Makes the worker stop after its current item. Finished items stay.
    pub fn stop(&self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.shared.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns whether the worker waits for another process that does the same work.
    pub fn is_waiting(&self) -> bool {
        self.shared.is_waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn set_waiting(&self, is_waiting: bool) {
        self.shared.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    pub(crate) fn add_total(&self, more: usize) {
        self.shared.n_total.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn add_done(&self, more: usize) {
        self.shared.n_done.fetch_add(more, Ordering::Relaxed);
    }
}
