//! Work that computes or waits, moved off the caller's runtime: git, files, parsing, models.

use tokio::task;

/// Runs work on tokio's pool of blocking threads, so that the runtime keeps serving other requests.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    task::spawn_blocking(work).await.expect("blocking work reports errors and does not panic")
}
