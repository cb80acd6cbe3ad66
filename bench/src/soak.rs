//! A daemon that is spoken to for long: what it keeps of it.

use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::clock::show;
use crate::desk::{Daemon, Desk, begin, event, session};
use crate::table::{Row, row};

const EVENTS: usize = 1_000_000;

/// Programs that ask at the same time, so that every thread that ever opens a database has done so.
const CROWD: usize = 8;
const QUESTIONS: usize = 50;

/// A million events of one session, each followed by a question that is answered when it is journalled.
pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let desk = Desk::new()?;
    desk.run(&["remember", "--type", "gotcha", "the limiter counts in windows of a minute"])?;
    let daemon = desk.start()?;
    let (mut line, own) = (daemon.line()?, session(1));
    line.send(&begin(&desk.project, &own))?;
    let ping = json!({ "id": 1, "request": "ping" }).to_string();
    let mut send = |n: usize| -> anyhow::Result<Duration> {
        let both = format!("{}\n{ping}", event(&own, n));
        let began = Instant::now();
        line.send(&both)?;
        let mut answer = String::new();
        line.reader.read_line(&mut answer)?;
        anyhow::ensure!(answer.starts_with("{\"id\":1,\"ok\""), "{answer}");
        Ok(began.elapsed())
    };
    for n in 0..1_000 {
        send(n)?;
    }
    let open = ask_at_once(&daemon)?;
    let before = daemon.resident()?;
    let mut all = Vec::with_capacity(EVENTS);
    let mut most = before;
    for n in 1_000..EVENTS {
        all.push(send(n)?);
        if n.is_multiple_of(50_000) {
            most = most.max(daemon.resident()?);
        }
    }
    let total: Duration = all.iter().sum();
    all.sort_unstable();
    let at = |per_mille: usize| show(all[all.len() * per_mille / 1000]);
    let resident = daemon.resident()?;
    let open_after = ask_at_once(&daemon)?;
    let mut more = open_after.clone();
    for it in &open {
        more.iter().position(|other| other == it).map(|at| more.remove(at));
    }
    let more = if more.is_empty() { String::new() } else { format!("new: {more:?}") };
    let status = daemon.status()?;
    let pid = daemon.child.id();
    let ended = daemon.end()?;
    anyhow::ensure!(!Path::new(&format!("/proc/{pid}")).exists(), "nothing is left of it");
    let times = format!("{} p50, {} p99, {} p99.9", at(500), at(990), at(999));
    let files = format!("{} before, {} after", open.len(), open_after.len());
    Ok(vec![
        row(
            format!("soak: {EVENTS} events of one session, each journalled and answered"),
            times,
            "p99 < 2 ms",
            format!("in {:.0} s; {} events counted", total.as_secs_f64(), status["events"]),
        ),
        row(
            "soak: memory",
            format!("{:+.0} MB, at most {:+.0} MB", resident - before, most - before),
            "≤ 50 MB more",
            format!("{before:.0} MB before"),
        ),
        row("soak: open files", files, "no more", more),
        row("soak: end", show(ended), "< 1 s, no process left", ""),
    ])
}

/// Asks with several programs at once, and says what is open when they have gone.
fn ask_at_once(daemon: &Daemon<'_>) -> anyhow::Result<Vec<String>> {
    let project = &daemon.desk.project;
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let client = || -> anyhow::Result<()> {
            let mut line = daemon.line()?;
            for n in 0..QUESTIONS {
                line.ask(&json!({ "id": n, "request": "search", "project": project, "query": "limiter" }))?;
            }
            Ok(())
        };
        let all: Vec<_> = (0..CROWD).map(|_| scope.spawn(client)).collect();
        all.into_iter().try_for_each(|it| it.join().expect("a client does not panic"))
    })?;
    daemon.settle()?;
    // Ours and the one that asks.
    while daemon.status()?["connections"].as_u64() > Some(2) {
        std::thread::sleep(Duration::from_millis(10));
    }
    daemon.open_files()
}
