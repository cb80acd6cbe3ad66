//! Ctrl-C: the first stops long work cleanly, the second ends the process.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Exit code of a process ended by Ctrl-C.
const INTERRUPT_EXIT_CODE: i32 = 130;

/// Runs the work; the first Ctrl-C calls `stop`, and the work finishes.
pub(crate) async fn run_stoppable<T>(work: impl Future<Output = T>, stop: impl Fn()) -> T {
    let mut work = pin!(work);
    let mut signals = pin!(watch_signals(stop));
    poll_fn(|context| {
        // Polled first, so that the handler is installed before the work starts.
        let _ = signals.as_mut().poll(context);
        match work.as_mut().poll(context) {
            Poll::Ready(res) => Poll::Ready(res),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

async fn watch_signals(stop: impl Fn()) {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler the system ends the process; stored data stays consistent.
        return std::future::pending::<()>().await;
    }
    stop();
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(INTERRUPT_EXIT_CODE);
    }
    std::future::pending::<()>().await;
}
