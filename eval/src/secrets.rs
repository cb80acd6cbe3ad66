//! Secret scanner: recall, false positives, and speed.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::data;
use crate::report::{self, MetricLine};

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let input = folder.join("secrets/secrets.jsonl.gz");
    if !data::check_present(&input) {
        return Ok(());
    }
    // The patterns are compiled on first use; the time of the first scan is measured apart.
    secrets::compile_all();
    let score = score_snippets(folder, &data::read_json_lines(&input)?)?;
    let clean = scan_transcripts(&folder.join("transcripts"))?;
    let lines = metric_lines(&score, &clean)?;
    report::print_metrics("secrets", &lines);
    let named: serde_json::Map<String, Value> =
        lines.iter().map(|it| (it.name.to_owned(), json!(it.value))).collect();
    let all = json!({ "numbers": named, "score": score });
    std::fs::write(
        report::output_folder()?.join("secrets.json"),
        serde_json::to_vec_pretty(&all)?,
    )?;
    Ok(())
}

/// The metrics with their goals.
fn metric_lines(score: &Value, clean: &CleanScan) -> anyhow::Result<Vec<MetricLine>> {
    let number = |it: &str| score[it].as_f64().unwrap_or_default();
    Ok(vec![
        MetricLine { name: "recall", value: number("recall"), unit: "%", goal: ">= 60" },
        MetricLine {
            name: "recall, tier 1",
            value: number("recall_tier1"),
            unit: "%",
            goal: ">= 99",
        },
        MetricLine {
            name: "false positives, strong negatives",
            value: number("fpr"),
            unit: "%",
            goal: "<= 15",
        },
        MetricLine {
            name: "characters redacted, clean transcripts",
            value: clean.redacted_percent(),
            unit: "%",
            goal: "<= 0.1",
        },
        MetricLine {
            name: "findings, clean transcripts",
            value: clean.n_findings as f64,
            unit: "",
            goal: "",
        },
        MetricLine {
            name: "clean transcripts",
            value: clean.n_bytes as f64 / 1e6,
            unit: "MB",
            goal: "",
        },
        MetricLine {
            name: "speed, clean transcripts, one thread",
            value: clean.megabytes_per_second(),
            unit: "MB/s",
            goal: ">= 20",
        },
        MetricLine {
            name: "2 KiB warm, 99th percentile",
            value: to_micros(clean.warm_p99),
            unit: "us",
            goal: "< 1000",
        },
        MetricLine {
            name: "slowest megabyte of hostile text",
            value: to_micros(slowest_hostile_scan()) / 1e3,
            unit: "ms",
            goal: "< 1000",
        },
        MetricLine {
            name: "2 KiB in a fresh process, median",
            value: median_cold_micros()?,
            unit: "us",
            goal: "< 3000",
        },
    ])
}

/// Prints the time of the first scan in this process, in microseconds; `run` starts it as a fresh
/// process.
#[expect(clippy::unnecessary_wraps, reason = "has the shape of every task")]
pub(crate) fn run_cold(_: &Path) -> anyhow::Result<()> {
    let text = plain_text(2048);
    let (_, took) = time_call(|| secrets::scan(&text));
    println!("{}", to_micros(took));
    Ok(())
}

fn score_snippets(folder: &Path, rows: &[Value]) -> anyhow::Result<Value> {
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
    let output = report::output_folder()?.join("secrets.jsonl");
    std::fs::write(&output, lines)?;
    report::run_scorer(folder, "secrets", &output)
}

/// Sums over the scan of transcripts without secrets.
#[derive(Default)]
struct CleanScan {
    n_bytes: usize,
    n_characters: usize,
    n_redacted: usize,
    n_findings: usize,
    took: Duration,
    warm_p99: Duration,
}

impl CleanScan {
    fn redacted_percent(&self) -> f64 {
        100.0 * self.n_redacted as f64 / self.n_characters.max(1) as f64
    }

    fn megabytes_per_second(&self) -> f64 {
        self.n_bytes as f64 / 1e6 / self.took.as_secs_f64()
    }
}

/// Scans every text of every transcript, and writes the findings for review by hand.
fn scan_transcripts(folder: &Path) -> anyhow::Result<CleanScan> {
    let mut acc = CleanScan::default();
    let mut found = String::new();
    let mut chunk_times = Vec::new();
    for path in
        data::list_files(folder)?.iter().filter(|it| it.extension().is_some_and(|it| it == "gz"))
    {
        for text in data::transcript_texts(&data::read_gzip(path)?) {
            let (findings, took) = time_call(|| secrets::scan(&text));
            acc.took += took;
            acc.n_bytes += text.len();
            acc.n_characters += text.chars().count();
            acc.n_findings += findings.len();
            // Texts of about 2 KiB, the size of a typical excerpt.
            if (1536..2560).contains(&text.len()) {
                chunk_times.push(took);
            }
            for it in findings {
                acc.n_redacted += text[it.start..it.end].chars().count();
                // A few characters before the finding, for the reviewer.
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
    std::fs::write(report::output_folder()?.join("secrets-in-transcripts.jsonl"), found)?;
    Ok(acc)
}

/// The longest scan of a megabyte of one repeated piece; each piece triggers one of the detectors.
fn slowest_hostile_scan() -> Duration {
    const HOSTILE_PIECES: &[&str] = &[
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
    let texts = HOSTILE_PIECES.iter().map(|it| it.repeat((1 << 20) / it.len()));
    texts.map(|it| time_call(|| secrets::scan(&it)).1).max().unwrap_or_default()
}

/// Median time of the first scan over a few fresh processes.
fn median_cold_micros() -> anyhow::Result<f64> {
    let mut times = Vec::new();
    // An odd number, so that the median is one of the samples.
    for _ in 0..21 {
        let child = Command::new(std::env::current_exe()?).arg("secrets-cold").output()?;
        times.push(String::from_utf8_lossy(&child.stdout).trim().parse::<f64>()?);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Prose and code as in a session, with words that trigger the parsers but no secret.
fn plain_text(len: usize) -> String {
    const TEXT: &str = "The retry loop lives in src/client/retry.rs and gives up after five attempts.\n\
        fn open(token: &str, key: KeyId) -> Result<Session, Error> {\n    let session = connect(token)?;\n    Ok(session)\n}\n\
        See https://example.org/docs/auth for the password reset flow; tests pass on main at 3f2a9c1.\n";
    TEXT.chars().cycle().take(len).collect()
}

#[expect(clippy::disallowed_methods, reason = "the benchmark measures time")]
fn time_call<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}

fn to_micros(it: Duration) -> f64 {
    it.as_secs_f64() * 1e6
}
