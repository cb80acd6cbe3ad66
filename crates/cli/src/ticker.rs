//! Progress display of long operations on a terminal.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::TaskProgress;

use crate::output::Output;

/// Refresh interval.
const TICK_INTERVAL: Duration = Duration::from_millis(200);

/// Displays progress until dropped.
pub(crate) struct ProgressTicker {
    over: mpsc::Sender<()>,
    thread: Option<thread::JoinHandle<()>>,
}

impl ProgressTicker {
    /// `things` names the counted items.
    pub(crate) fn start_ticker(
        progress: &TaskProgress,
        things: &'static str,
        output: &Output,
    ) -> Self {
        let (over, ended) = mpsc::channel();
        let progress = progress.clone();
        let output = Output { json: output.json, quiet: output.quiet };
        let tell = move || {
            let mut was_said = false;
            while ended.recv_timeout(TICK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if progress.is_waiting() && !was_said {
                    output.say("another process is working in this project; waiting for it");
                    was_said = true;
                }
                output.print_progress(&format!(
                    "{} of {} {things}",
                    progress.n_done(),
                    progress.n_total()
                ));
            }
            output.print_progress("");
        };
        Self { over, thread: Some(thread::spawn(tell)) }
    }
}

impl Drop for ProgressTicker {
    fn drop(&mut self) {
        let _ = self.over.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
