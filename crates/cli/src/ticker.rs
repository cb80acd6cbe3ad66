//! Tells a terminal how far long work is.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::Progress;

use crate::output::Output;

/// How often it is told.
const TICK: Duration = Duration::from_millis(200);

/// Tells it until it is dropped.
pub(crate) struct Ticker {
    over: mpsc::Sender<()>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Ticker {
    /// `things` is what is counted.
    pub(crate) fn start(progress: &Progress, things: &'static str, output: &Output) -> Self {
        let (over, ended) = mpsc::channel();
        let progress = progress.clone();
        let output = Output { json: output.json, quiet: output.quiet };
        let tell = move || {
            let mut was_said = false;
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if progress.is_waiting() && !was_said {
                    output.say("another process is at it in this project; waiting for it to end");
                    was_said = true;
                }
                output.tick(&format!("{} of {} {things}", progress.done(), progress.total()));
            }
            output.tick("");
        };
        Self { over, thread: Some(thread::spawn(tell)) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let _ = self.over.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
