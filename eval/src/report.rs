//! Output of results: one table on stdout, one file per task under `target/eval`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

/// One measured number with its goal.
pub(crate) struct MetricLine {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) goal: &'static str,
}

pub(crate) fn output_folder() -> anyhow::Result<PathBuf> {
    let folder = PathBuf::from("target/eval");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

pub(crate) fn print_metrics(task: &str, lines: &[MetricLine]) {
    println!("{task}");
    for line in lines {
        println!("  {:<44} {:>12.3} {:<6} {}", line.name, line.value, line.unit, line.goal);
    }
}

/// Writes rows for the scorer, one JSON object per line, and returns the path of the file.
pub(crate) fn write_json_lines(name: &str, rows: &[Value]) -> anyhow::Result<PathBuf> {
    let path = output_folder()?.join(name);
    let lines: Vec<String> = rows.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(&path, lines.concat())?;
    Ok(path)
}

/// Runs the scorer that comes with the data.
pub(crate) fn run_scorer(
    data: &std::path::Path,
    task: &str,
    output: &std::path::Path,
) -> anyhow::Result<Value> {
    let scorer = Command::new("python3")
        .arg(data.join("score.py"))
        .args([data.as_os_str(), task.as_ref(), output.as_os_str()])
        .output()
        .context("cannot start python3 for the scorer")?;
    anyhow::ensure!(
        scorer.status.success(),
        "the scorer failed: {}",
        String::from_utf8_lossy(&scorer.stderr)
    );
    Ok(serde_json::from_slice(&scorer.stdout)?)
}
