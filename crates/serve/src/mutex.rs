//! Locking for the shared state of the daemon.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. Values are only read and assigned under it, so a poisoned one (a thread panicked
/// while it held the lock) does no harm.
pub(crate) fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
