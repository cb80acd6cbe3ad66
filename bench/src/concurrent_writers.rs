//! Eight processes write to one database for ten seconds: no write is lost, none is refused as
//! busy, and no writer starves.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::waylore_binary;
use crate::table::{BenchRow, row};
use crate::timing::format_duration;

const WRITER_PROCESSES: usize = 8;
const WRITING_TIME: Duration = Duration::from_secs(10);

/// The result of one writer.
#[derive(Default)]
struct WriterResult {
    n_written: usize,
    n_refused: usize,
    slowest_call: Duration,
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let binary = waylore_binary()?;
    let dir = tempfile::tempdir()?;
    let home = dir.path();
    let writer = |which: usize| {
        let mut result = WriterResult::default();
        let start = Instant::now();
        while start.elapsed() < WRITING_TIME {
            let text = format!("writer {which} stores fact number {}", result.n_written);
            // The time of a whole call: waiting for the lock is part of it.
            let started = Instant::now();
            let status = Command::new(&binary)
                .env("WAYLORE_HOME", home)
                .current_dir(home)
                // `--new` stores every text, however much it resembles another.
                .args(["remember", "--new", "--quiet", &text])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            result.slowest_call = result.slowest_call.max(started.elapsed());
            if status.is_ok_and(|it| it.success()) {
                result.n_written += 1;
            } else {
                result.n_refused += 1;
            }
        }
        result
    };
    let results: Vec<WriterResult> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..WRITER_PROCESSES).map(|which| scope.spawn(move || writer(which))).collect();
        threads.into_iter().map(|it| it.join().expect("a writer finishes")).collect()
    });
    let output = Command::new(&binary)
        .env("WAYLORE_HOME", home)
        .current_dir(home)
        .args(["--json", "list", "-n", "1000000"])
        .output()?;
    // Every acknowledged write must be in the database.
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let stored = listed["memories"].as_array().map_or(0, Vec::len);
    let mut written: Vec<usize> = results.iter().map(|it| it.n_written).collect();
    written.sort_unstable();
    let acknowledged: usize = written.iter().sum();
    let refused: usize = results.iter().map(|it| it.n_refused).sum();
    let slowest = results.iter().map(|it| it.slowest_call).max().unwrap_or_default();
    // Of the slowest writer against the median one: 100 % means that all got the same share.
    let fairness = written[0] * 100 / written[WRITER_PROCESSES / 2].max(1);
    Ok(vec![
        row(
            "8 processes, 10 s: acknowledged / stored / refused",
            format!("{acknowledged} / {stored} / {refused}"),
            "equal, 0 refused",
            "",
        ),
        row(
            "slowest writer against the median",
            format!("{fairness} %"),
            "≥ 50 %",
            format!("slowest call {}", format_duration(slowest)),
        ),
    ])
}
