//! Ctrl-C for `index` and `watch`: the first stops the work cleanly, the second ends the process.

use std::future::poll_fn;
use std::pin::pin;

/// Exit code of a process ended by Ctrl-C.
const INTERRUPT_EXIT_CODE: i32 = 130;

/// Runs the work to its end. The first Ctrl-C calls `stop`, which makes the work end early.
pub(crate) async fn run_stoppable<T>(work: impl Future<Output = T>, stop: impl Fn()) -> T {
    let mut work = pin!(work);
    let mut signals = pin!(watch_signals(stop));
    // Not `select!`: the signal future must never end the work, only be polled beside it.
    poll_fn(|context| {
        // Polled first, so that the handler is installed before the work starts.
        let _ = signals.as_mut().poll(context);
        work.as_mut().poll(context)
    })
    .await
}

/// Never returns, so that only the work decides when [`run_stoppable`] ends.
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
