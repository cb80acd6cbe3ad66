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
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
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
