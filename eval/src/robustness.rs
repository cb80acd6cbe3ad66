//! Robustness: mutated transcripts of the fuzzer that comes with the data, read as `learn` reads them.
//!
//! What must hold is said in the fuzzer's own words: nothing fails, nearly every intact line is taken,
//! what is broken is counted, and neither time nor memory gets out of hand.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::learning::Desk;
use crate::{data, report, transcripts};

/// Transcripts of each format that are mutated.
const EACH: usize = 4;
const FORMATS: &[&str] = &["claude_code_jsonl", "codex_rollout_jsonl", "copilot_cli_jsonl"];
/// Mutations that leave something which cannot be read.
const BROKEN: &[&str] = &[
    "truncated_tail",
    "two_records_one_line",
    "split_record",
    "nul_block",
    "deep_nesting",
    "wrong_types",
];
/// Seconds for ten megabytes, and what any file may take.
const SLOWEST: f64 = 2.0;
const MEGABYTES: f64 = 512.0;

#[expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]
pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let fuzzer = folder.join("robustness/fuzz_transcripts.py");
    if !data::is_present(&fuzzer) {
        return Ok(());
    }
    let dir = tempfile::tempdir()?;
    let manifest = transcripts::manifest(folder)?;
    let chosen = FORMATS
        .iter()
        .flat_map(|format| manifest.iter().filter(move |it| it.format == *format).take(EACH));
    let files: Vec<_> = chosen.map(|it| it.file.clone()).collect();
    let made =
        Command::new("python3").arg(fuzzer).arg("1").arg(dir.path()).args(&files).output()?;
    anyhow::ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path().join("expect.json"))?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut desk = runtime.block_on(Desk::new())?;
    let (mut n_files, mut n_failed, mut slowest) = (0_u32, 0_u32, 0.0_f64);
    for (name, it) in expected.as_object().context("no list of what to expect")? {
        let path = dir.path().join(name);
        let began = Instant::now();
        let transcript = engine::Transcript { path, subagent: None, session: None };
        let read = desk.engine.read_transcript(&transcript)?;
        if let Some(read) = &read {
            runtime.block_on(desk.engine.learn(&read.pad))?;
        }
        let megabytes = it["bytes"].as_f64().unwrap_or_default() / 1e6;
        let took = began.elapsed().as_secs_f64() / (megabytes / 10.0).max(1.0);
        slowest = slowest.max(took);
        n_files += 1;
        let kind = it["kind"].as_str().unwrap_or_default();
        let intact = it["intact_lines"].as_u64().unwrap_or_default();
        let (taken, damaged) = read.map_or((0, 0), |it| (it.lines - it.damaged, it.damaged));
        let missed = taken * 100 < intact * 99 || (BROKEN.contains(&kind) && damaged == 0);
        if missed || took > SLOWEST {
            n_failed += 1;
            println!("{name}: {taken} of {intact} lines, {damaged} damaged, {took:.1} s for 10 MB");
        }
    }
    report::print(
        "mutated transcripts",
        &[
            report::Line { name: "files", value: f64::from(n_files), unit: "", wanted: "" },
            report::Line {
                name: "that miss a condition",
                value: f64::from(n_failed),
                unit: "",
                wanted: "0",
            },
            report::Line { name: "slowest, for 10 MB", value: slowest, unit: "s", wanted: "< 2" },
            report::Line { name: "most resident", value: resident()?, unit: "MB", wanted: "< 512" },
        ],
    );
    anyhow::ensure!(resident()? < MEGABYTES, "too much memory");
    Ok(())
}

/// The most memory this process has had, in megabytes; nothing where the system does not say.
fn resident() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
