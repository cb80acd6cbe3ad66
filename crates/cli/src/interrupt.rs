//! Ctrl-C: long work ends in order at the first, the process at the second.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// What a shell expects of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Does the work; at the first Ctrl-C `stop` is called, and the work goes on to its end.
pub(crate) async fn stoppable<T>(work: impl Future<Output = T>, stop: impl Fn()) -> T {
    let mut work = pin!(work);
    let mut signals = pin!(watch(stop));
    poll_fn(|context| {
        // First, so that a signal is listened for before anything begins.
        let _ = signals.as_mut().poll(context);
        match work.as_mut().poll(context) {
            Poll::Ready(res) => Poll::Ready(res),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

async fn watch(stop: impl Fn()) {
    if tokio::signal::ctrl_c().await.is_err() {
        // Nothing listens, so the system ends the process as ever; what is kept is whole all the same.
        return std::future::pending::<()>().await;
    }
    stop();
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(INTERRUPTED);
    }
    std::future::pending::<()>().await;
}
