//! Eight processes for ten seconds on one database: nothing lost, nobody starved, nobody told `busy`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::clock::show;
use crate::process::binary;
use crate::table::{Row, row};

const PROCESSES: usize = 8;
const SPAN: Duration = Duration::from_secs(10);

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let binary = binary()?;
    let dir = tempfile::tempdir()?;
    let home = dir.path();
    let writer = |which: usize| {
        let (mut done, mut slowest, mut refused) = (0_usize, Duration::ZERO, 0_usize);
        let start = Instant::now();
        while start.elapsed() < SPAN {
            let text = format!("writer {which} keeps fact number {done}");
            let began = Instant::now();
            let status = Command::new(&binary)
                .env("WAYLORE_HOME", home)
                .current_dir(home)
                .args(["remember", "--new", "--quiet", &text])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            slowest = slowest.max(began.elapsed());
            if status.is_ok_and(|it| it.success()) { done += 1 } else { refused += 1 }
        }
        (done, slowest, refused)
    };
    let results: Vec<(usize, Duration, usize)> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..PROCESSES).map(|which| scope.spawn(move || writer(which))).collect();
        threads.into_iter().map(|it| it.join().expect("a writer finishes")).collect()
    });
    let out = Command::new(&binary)
        .env("WAYLORE_HOME", home)
        .current_dir(home)
        .args(["--json", "list", "-n", "1000000"])
        .output()?;
    let listed: serde_json::Value = serde_json::from_slice(&out.stdout)?;
    let stored = listed["memories"].as_array().map_or(0, Vec::len);
    let mut done: Vec<usize> = results.iter().map(|it| it.0).collect();
    done.sort_unstable();
    let acknowledged: usize = done.iter().sum();
    let refused: usize = results.iter().map(|it| it.2).sum();
    let slowest = results.iter().map(|it| it.1).max().unwrap_or_default();
    let fair = done[0] * 100 / done[PROCESSES / 2].max(1);
    Ok(vec![
        row(
            "8 processes, 10 s: acknowledged / stored / refused",
            format!("{acknowledged} / {stored} / {refused}"),
            "equal, 0 refused",
            "",
        ),
        row(
            "slowest writer against the median",
            format!("{fair} %"),
            "≥ 50 %",
            format!("slowest call {}", show(slowest)),
        ),
    ])
}
