//! Progress display of long operations on a terminal: a thread that prints the counters of a
//! `TaskProgress`, which the working thread updates, five times a second: `120 of 400 files`.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::TaskProgress;

use crate::output::Output;

/// Refresh interval.
const TICK_INTERVAL: Duration = Duration::from_millis(200);

/// Displays progress until it is dropped.
pub(crate) struct ProgressTicker {
    stop_sender: mpsc::Sender<()>,
    /// `None` only while dropping.
    thread: Option<thread::JoinHandle<()>>,
}

impl ProgressTicker {
    /// Starts the display; `things` names the counted items.
    pub(crate) fn start(progress: &TaskProgress, things: &'static str, output: &Output) -> Self {
        let (stop_sender, stop_receiver) = mpsc::channel();
        // Clones share the counters. The thread outlives the borrows, so it gets values of its own.
        let progress = progress.clone();
        let output = Output::with_modes(output.json, output.quiet);
        let display = move || {
            let mut has_reported_waiting = false;
            // A timeout is a tick; a message means the end.
            while stop_receiver.recv_timeout(TICK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // The worker waits for the write lock of the project.
                if progress.is_waiting() && !has_reported_waiting {
                    output.say("another process is working in this project; waiting for it");
                    has_reported_waiting = true;
                }
                output.print_progress(&format!(
                    "{} of {} {things}",
                    progress.n_done(),
                    progress.n_total()
                ));
            }
            // Clear the line.
            output.print_progress("");
        };
        Self { stop_sender, thread: Some(thread::spawn(display)) }
    }
}

impl Drop for ProgressTicker {
    fn drop(&mut self) {
        // Both fail only if the thread has panicked, which spoils no more than the display.
        let _ = self.stop_sender.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
