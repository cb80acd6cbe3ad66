//! Tests that a daemon which hangs costs a session one timeout, not one per event.
//!
//! The daemon is a real one, stopped with SIGSTOP: the system still accepts connections for it, and
//! nothing answers them.

use std::time::{Duration, Instant};

use crate::daemon::{RunningDaemon, socket};
use crate::hooks::{injected_text, sandbox_with_memories, session_start, user_prompt};
use crate::sandbox::{Sandbox, wait_until};

/// Time that a hook waits for the daemon at a prompt.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// A part of the decision in `sandbox_with_memories`.
const NOTE: &str = "All dates are stored in UTC";

/// Sends a prompt of a session and returns how long the hook took.
fn time_prompt(sandbox: &Sandbox, session: &str) -> Duration {
    let started = Instant::now();
    injected_text(sandbox, session, user_prompt("How long is a day?"));
    started.elapsed()
}

#[test]
fn only_the_first_hook_waits_for_a_hanging_daemon() {
    let mut sandbox = sandbox_with_memories();
    sandbox.has_long_hook_timeout = false;
    let daemon = RunningDaemon::start(&sandbox);
    daemon.signal("-STOP");

    assert!(time_prompt(&sandbox, "s1") >= PROMPT_TIMEOUT, "the first hook waits");
    assert!(time_prompt(&sandbox, "s1") < PROMPT_TIMEOUT, "the second one does not");
    // Hooks go on alone, in other sessions, too.
    let text = injected_text(&sandbox, "s2", session_start("startup"));
    assert!(text.contains(NOTE), "{text}");

    // The daemon is back. Hooks soon use it again: its marker goes, and it knows the session.
    daemon.signal("-CONT");
    let marker = socket(&sandbox).with_file_name("hanging");
    assert!(marker.exists(), "{marker:?}");
    wait_until("a hook got an answer of the daemon", || {
        injected_text(&sandbox, "s3", session_start("startup"));
        !marker.exists()
    });
    let n_sessions = sandbox.json(&["serve", "--status"])["sessions"].clone();
    assert!(n_sessions.as_u64().is_some_and(|it| it > 0), "{n_sessions}");
}
