//! How far long work has come. Shared with whoever wants to look or to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Clone, Debug, Default)]
pub struct Progress {
    shared: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    total: AtomicUsize,
    done: AtomicUsize,
    stop: AtomicBool,
    waits: AtomicBool,
}

impl Progress {
    pub fn total(&self) -> usize {
        self.shared.total.load(Ordering::Relaxed)
    }

    pub fn done(&self) -> usize {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Ends it after what is at hand; what was done stays.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Somebody else does the same at the moment, and is waited for.
    pub fn is_waiting(&self) -> bool {
        self.shared.waits.load(Ordering::Relaxed)
    }

    pub(crate) fn wait(&self, waits: bool) {
        self.shared.waits.store(waits, Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, more: usize) {
        self.shared.total.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, by: usize) {
        self.shared.done.fetch_add(by, Ordering::Relaxed);
    }
}
