//! Soak test of the daemon (the process that journals the events of sessions, that is, appends them to
//! a file): memory and open files after a million events.

use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench_project::{
    BenchProject, RunningDaemon, event_line, session_id, session_start_line,
};
use crate::table::{BenchRow, row};
use crate::timing::format_duration;

const SOAK_EVENTS: usize = 1_000_000;

/// Clients that query at the same time, so that every reader thread has opened its database.
const CONCURRENT_CLIENTS: usize = 8;
const REQUESTS_PER_CLIENT: usize = 50;

/// Sends a million events of one session, each followed by a `ping` that is answered after the
/// event is journalled.
pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let fixture = BenchProject::new()?;
    fixture.run(&["remember", "--type", "gotcha", "the limiter counts in windows of a minute"])?;
    let daemon = fixture.start_daemon()?;
    let (mut connection, session) = (daemon.connect()?, session_id(1));
    connection.send_line(&session_start_line(&fixture.root, &session))?;
    let ping = json!({ "id": 1, "request": "ping" }).to_string();
    let mut send = |n: usize| -> anyhow::Result<Duration> {
        let lines = format!("{}\n{ping}", event_line(&session, n));
        let started = Instant::now();
        connection.send_line(&lines)?;
        let mut answer = String::new();
        connection.reader.read_line(&mut answer)?;
        anyhow::ensure!(answer.starts_with("{\"id\":1,\"ok\""), "{answer}");
        Ok(started.elapsed())
    };
    // Warm-up: the journal and the database of the session are open afterwards.
    for n in 0..1_000 {
        send(n)?;
    }
    let open_before = query_concurrently(&daemon)?;
    let before = daemon.resident_mb()?;

    let mut samples = Vec::with_capacity(SOAK_EVENTS);
    let mut peak = before;
    for n in 1_000..SOAK_EVENTS {
        samples.push(send(n)?);
        // Reading `/proc` for every event would disturb the measurement.
        if n.is_multiple_of(50_000) {
            peak = peak.max(daemon.resident_mb()?);
        }
    }

    let total: Duration = samples.iter().sum();
    samples.sort_unstable();
    let at = |per_mille: usize| format_duration(samples[samples.len() * per_mille / 1000]);
    let resident = daemon.resident_mb()?;
    let open_after = query_concurrently(&daemon)?;
    let added = describe_added(&open_before, &open_after);
    let status = daemon.status()?;
    let pid = daemon.child.id();
    let ended = daemon.terminate()?;
    anyhow::ensure!(!Path::new(&format!("/proc/{pid}")).exists(), "the process is still there");
    let times = format!("{} p50, {} p99, {} p99.9", at(500), at(990), at(999));
    let files = format!("{} before, {} after", open_before.len(), open_after.len());
    Ok(vec![
        row(
            format!("soak: {SOAK_EVENTS} events of one session, each journalled and answered"),
            times,
            "p99 < 2 ms",
            format!("in {:.0} s; {} events counted", total.as_secs_f64(), status["events"]),
        ),
        row(
            "soak: memory",
            format!("{:+.0} MB, at most {:+.0} MB", resident - before, peak - before),
            "≤ 50 MB more",
            format!("{before:.0} MB before"),
        ),
        row("soak: open files", files, "no more", added),
        row("soak: end", format_duration(ended), "< 1 s, no process left", ""),
    ])
}

/// The files that are open only afterwards; each is counted as often as it is open.
fn describe_added(before: &[String], after: &[String]) -> String {
    let mut added = after.to_vec();
    for target in before {
        // Removes one copy only.
        if let Some(at) = added.iter().position(|it| it == target) {
            added.remove(at);
        }
    }
    if added.is_empty() { String::new() } else { format!("new: {added:?}") }
}

/// Queries from several clients at once; returns the open files after they have disconnected.
fn query_concurrently(daemon: &RunningDaemon<'_>) -> anyhow::Result<Vec<String>> {
    let project = &daemon.fixture.root;
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let client = || -> anyhow::Result<()> {
            let mut connection = daemon.connect()?;
            for n in 0..REQUESTS_PER_CLIENT {
                connection.request(&json!({ "id": n, "request": "search", "project": project, "query": "limiter" }))?;
            }
            Ok(())
        };
        let all: Vec<_> = (0..CONCURRENT_CLIENTS).map(|_| scope.spawn(client)).collect();
        all.into_iter().try_for_each(|it| it.join().expect("a client does not panic"))
    })?;
    daemon.wait_until_idle()?;
    // The connection that sends events, and the one that asks for the status.
    while daemon.status()?["connections"].as_u64() > Some(2) {
        std::thread::sleep(Duration::from_millis(10));
    }
    daemon.open_files()
}
