//! Robustness: transcripts mutated by the fuzzer that comes with the data, read as `learn` reads
//! them.
//!
//! The fuzzer lists what must hold: nothing fails, nearly every intact line is read, damaged lines
//! are counted, and time and memory stay within bounds.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::learning::LearningProject;
use crate::{data, report, transcripts};

/// Transcripts mutated per format.
const TRANSCRIPTS_PER_FORMAT: usize = 4;
const MUTATED_FORMATS: &[&str] = &["claude_code_jsonl", "codex_rollout_jsonl", "copilot_cli_jsonl"];
/// Mutations that leave at least one unreadable line.
const DAMAGING_MUTATIONS: &[&str] = &[
    "truncated_tail",
    "two_records_one_line",
    "split_record",
    "nul_block",
    "deep_nesting",
    "wrong_types",
];
/// Bounds on time per ten megabytes and on memory.
const MAX_SECONDS_PER_10_MB: f64 = 2.0;
const MAX_RESIDENT_MB: f64 = 512.0;

#[expect(clippy::disallowed_methods, reason = "the benchmark measures time")]
pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let fuzzer = folder.join("robustness/fuzz_transcripts.py");
    if !data::check_present(&fuzzer) {
        return Ok(());
    }
    let dir = tempfile::tempdir()?;
    let expected = mutate_transcripts(folder, &fuzzer, dir.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut learning = runtime.block_on(LearningProject::new())?;
    let (mut n_files, mut n_failed, mut slowest) = (0_u32, 0_u32, 0.0_f64);
    for (name, row) in expected.as_object().context("`expect.json` is not an object")? {
        let path = dir.path().join(name);
        let started = Instant::now();
        let transcript = engine::Transcript::of_file(path);
        // An error here ends the run: reading must never fail.
        let read = learning.project.session_history().read_transcript(&transcript)?;
        if let Some(read) = &read {
            runtime.block_on(learning.project.learner().learn_session(&read.pad))?;
        }
        let megabytes = row["bytes"].as_f64().unwrap_or_default() / 1e6;
        // Per ten megabytes; a smaller file counts as ten, because fixed costs dominate there.
        let took = started.elapsed().as_secs_f64() / (megabytes / 10.0).max(1.0);
        slowest = slowest.max(took);
        n_files += 1;
        let kind = row["kind"].as_str().unwrap_or_default();
        let n_intact = row["intact_lines"].as_u64().unwrap_or_default();
        let (n_read, n_damaged) =
            read.map_or((0, 0), |it| (it.n_lines - it.n_damaged_lines, it.n_damaged_lines));
        let is_missed =
            n_read * 100 < n_intact * 99 || (DAMAGING_MUTATIONS.contains(&kind) && n_damaged == 0);
        if is_missed || took > MAX_SECONDS_PER_10_MB {
            n_failed += 1;
            println!(
                "{name}: {n_read} of {n_intact} lines, {n_damaged} damaged, {took:.1} s for 10 MB"
            );
        }
    }
    print_metrics(n_files, n_failed, slowest)?;
    anyhow::ensure!(peak_resident_mb()? < MAX_RESIDENT_MB, "the process used too much memory");
    Ok(())
}

/// Runs the fuzzer and returns what it expects of each mutated file.
fn mutate_transcripts(folder: &Path, fuzzer: &Path, output: &Path) -> anyhow::Result<Value> {
    let manifest = transcripts::read_manifest(folder)?;
    let chosen = MUTATED_FORMATS.iter().flat_map(|format| {
        manifest.iter().filter(move |it| it.format == *format).take(TRANSCRIPTS_PER_FORMAT)
    });
    let files: Vec<_> = chosen.map(|it| it.file.clone()).collect();
    // The seed is fixed, so every run reads the same mutations.
    let mutation =
        Command::new("python3").arg(fuzzer).arg("1").arg(output).args(&files).output()?;
    anyhow::ensure!(mutation.status.success(), "{}", String::from_utf8_lossy(&mutation.stderr));
    Ok(serde_json::from_str(&std::fs::read_to_string(output.join("expect.json"))?)?)
}

fn print_metrics(n_files: u32, n_failed: u32, slowest: f64) -> anyhow::Result<()> {
    report::print_metrics(
        "mutated transcripts",
        &[
            report::MetricLine { name: "files", value: f64::from(n_files), unit: "", goal: "" },
            report::MetricLine {
                name: "files that miss a condition",
                value: f64::from(n_failed),
                unit: "",
                goal: "0",
            },
            report::MetricLine {
                name: "slowest, for 10 MB",
                value: slowest,
                unit: "s",
                goal: "< 2",
            },
            report::MetricLine {
                name: "peak resident",
                value: peak_resident_mb()?,
                unit: "MB",
                goal: "< 512",
            },
        ],
    );
    Ok(())
}

/// Peak resident memory of this process in megabytes; 0 where `/proc` does not exist.
fn peak_resident_mb() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
