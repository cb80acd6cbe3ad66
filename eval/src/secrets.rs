//! How many secrets are found, how many harmless texts are touched, and how fast.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::data;
use crate::report::{self, Line};

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let input = folder.join("secrets/secrets.jsonl.gz");
    if !data::is_present(&input) {
        return Ok(());
    }
    secrets::warm();
    let score = score(folder, &data::rows(&input)?)?;
    let clean = scan_transcripts(&folder.join("transcripts"))?;
    let number = |it: &str| score[it].as_f64().unwrap_or_default();
    let lines = [
        Line { name: "recall", value: number("recall"), unit: "%", wanted: ">= 60" },
        Line { name: "recall, tier 1", value: number("recall_tier1"), unit: "%", wanted: ">= 99" },
        Line {
            name: "false positives, strong negatives",
            value: number("fpr"),
            unit: "%",
            wanted: "<= 15",
        },
        Line {
            name: "characters redacted, clean transcripts",
            value: clean.share(),
            unit: "%",
            wanted: "<= 0.1",
        },
        Line {
            name: "findings, clean transcripts",
            value: clean.n_findings as f64,
            unit: "",
            wanted: "",
        },
        Line {
            name: "clean transcripts",
            value: clean.n_bytes as f64 / 1e6,
            unit: "MB",
            wanted: "",
        },
        Line {
            name: "speed, clean transcripts, one thread",
            value: clean.speed(),
            unit: "MB/s",
            wanted: ">= 20",
        },
        Line {
            name: "2 KiB warm, 99th percentile",
            value: micros(clean.warm_p99),
            unit: "us",
            wanted: "< 1000",
        },
        Line {
            name: "slowest megabyte of hostile text",
            value: micros(slowest_hostile()) / 1e3,
            unit: "ms",
            wanted: "< 1000",
        },
        Line {
            name: "2 KiB in a fresh process, median",
            value: cold()?,
            unit: "us",
            wanted: "< 3000",
        },
    ];
    report::print("secrets", &lines);
    let named: serde_json::Map<String, Value> =
        lines.iter().map(|it| (it.name.to_owned(), json!(it.value))).collect();
    let all = json!({ "numbers": named, "score": score });
    std::fs::write(report::folder()?.join("secrets.json"), serde_json::to_vec_pretty(&all)?)?;
    Ok(())
}

/// Times the first scan of this process, in microseconds; `run` starts it as a fresh process.
#[expect(clippy::unnecessary_wraps, reason = "has the shape of every task")]
pub(crate) fn run_cold(_: &Path) -> anyhow::Result<()> {
    let text = plain(2048);
    let (_, took) = timed(|| secrets::scan(&text));
    println!("{}", micros(took));
    Ok(())
}

fn score(folder: &Path, rows: &[Value]) -> anyhow::Result<Value> {
    let mut lines = String::new();
    for row in rows {
        let findings = secrets::scan(row["text"].as_str().unwrap_or_default());
        let kinds: Vec<_> = findings.iter().map(|it| it.kind).collect();
        writeln!(
            lines,
            "{}",
            json!({ "id": row["id"], "flag": !findings.is_empty(), "kinds": kinds })
        )?;
    }
    let output = report::folder()?.join("secrets.jsonl");
    std::fs::write(&output, lines)?;
    report::score(folder, "secrets", &output)
}

#[derive(Default)]
struct Clean {
    n_bytes: usize,
    n_characters: usize,
    n_redacted: usize,
    n_findings: usize,
    took: Duration,
    warm_p99: Duration,
}

impl Clean {
    fn share(&self) -> f64 {
        100.0 * self.n_redacted as f64 / self.n_characters.max(1) as f64
    }

    fn speed(&self) -> f64 {
        self.n_bytes as f64 / 1e6 / self.took.as_secs_f64()
    }
}

/// Scans every text of every transcript, and writes what was found for a person to judge.
fn scan_transcripts(folder: &Path) -> anyhow::Result<Clean> {
    let mut acc = Clean::default();
    let mut found = String::new();
    let mut chunk_times = Vec::new();
    for path in data::files(folder)?.iter().filter(|it| it.extension().is_some_and(|it| it == "gz"))
    {
        for text in data::texts(&data::read_gz(path)?) {
            let (findings, took) = timed(|| secrets::scan(&text));
            acc.took += took;
            acc.n_bytes += text.len();
            acc.n_characters += text.chars().count();
            acc.n_findings += findings.len();
            if (1536..2560).contains(&text.len()) {
                chunk_times.push(took);
            }
            for it in findings {
                acc.n_redacted += text[it.start..it.end].chars().count();
                let context = text.floor_char_boundary(it.start.saturating_sub(60));
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                writeln!(
                    found,
                    "{}",
                    json!([it.kind, &text[context..it.start], &text[it.start..it.end], file])
                )?;
            }
        }
    }
    chunk_times.sort_unstable();
    acc.warm_p99 = chunk_times.get(chunk_times.len() * 99 / 100).copied().unwrap_or_default();
    std::fs::write(report::folder()?.join("secrets-in-transcripts.jsonl"), found)?;
    Ok(acc)
}

/// The longest scan of a megabyte of one repeated piece, each meant to make one finder work.
fn slowest_hostile() -> Duration {
    const PIECES: &[&str] = &[
        "A",
        "=",
        "\"",
        "://",
        "key=",
        "key-",
        "key=a1B2",
        "password=",
        "eyJ",
        "eyJ.",
        "curl ",
        "sk-",
        "T3BlbkFJ",
        "secret-a1b2c3d4e5f6",
        "LS0tLS1CRUdJTi",
        "-----BEGIN PRIVATE KEY-----",
    ];
    let texts = PIECES.iter().map(|it| it.repeat((1 << 20) / it.len()));
    texts.map(|it| timed(|| secrets::scan(&it)).1).max().unwrap_or_default()
}

/// The median of a few fresh processes.
fn cold() -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..21 {
        let res = Command::new(std::env::current_exe()?).arg("secrets-cold").output()?;
        times.push(String::from_utf8_lossy(&res.stdout).trim().parse::<f64>()?);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Prose and code as a session holds them, with words that wake the parsers but no secret.
fn plain(len: usize) -> String {
    const TEXT: &str = "The retry loop lives in src/client/retry.rs and gives up after five attempts.\n\
        fn open(token: &str, key: KeyId) -> Result<Session, Error> {\n    let session = connect(token)?;\n    Ok(session)\n}\n\
        See https://example.org/docs/auth for the password reset flow; tests pass on main at 3f2a9c1.\n";
    TEXT.chars().cycle().take(len).collect()
}

#[expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let res = work();
    (res, start.elapsed())
}

fn micros(it: Duration) -> f64 {
    it.as_secs_f64() * 1e6
}
