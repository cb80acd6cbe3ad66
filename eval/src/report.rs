//! Where results go: one table on stdout, one file per task under `target/eval`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

/// One measured number, with what it should be.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) wanted: &'static str,
}

pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    let folder = PathBuf::from("target/eval");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

pub(crate) fn print(task: &str, lines: &[Line]) {
    println!("{task}");
    for it in lines {
        println!("  {:<44} {:>12.3} {:<6} {}", it.name, it.value, it.unit, it.wanted);
    }
}

/// Runs the scorer that came with the data.
pub(crate) fn score(
    data: &std::path::Path,
    task: &str,
    output: &std::path::Path,
) -> anyhow::Result<Value> {
    let res = Command::new("python3")
        .arg(data.join("score.py"))
        .args([data.as_os_str(), task.as_ref(), output.as_os_str()])
        .output()
        .context("cannot start python3 for the scorer")?;
    anyhow::ensure!(
        res.status.success(),
        "the scorer failed: {}",
        String::from_utf8_lossy(&res.stderr)
    );
    Ok(serde_json::from_slice(&res.stdout)?)
}
