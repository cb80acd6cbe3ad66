//! Reads the data folder: compressed JSON lines, and the texts inside transcripts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::read::GzDecoder;
use serde_json::Value;

/// Says loudly that a task was skipped, when its input is not there.
pub(crate) fn is_present(input: &Path) -> bool {
    let present = input.exists();
    if !present {
        println!("SKIPPED: no data at `{}`; nothing was measured", input.display());
    }
    present
}

pub(crate) fn read_gz(path: &Path) -> anyhow::Result<String> {
    let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn rows(path: &Path) -> anyhow::Result<Vec<Value>> {
    let text = read_gz(path)?;
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| Ok(serde_json::from_str(it)?)).collect()
}

/// All files below a folder, in the order of their paths.
pub(crate) fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut acc = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { acc.push(path) }
        }
    }
    acc.sort();
    Ok(acc)
}

/// The texts of one transcript: every string in its JSON, or the whole of any other format.
pub(crate) fn texts(transcript: &str) -> Vec<String> {
    let mut acc = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(transcript) {
        strings(&mut acc, &value);
        return acc;
    }
    let lines: Result<Vec<Value>, _> =
        transcript.lines().filter(|it| !it.trim().is_empty()).map(serde_json::from_str).collect();
    match lines {
        Ok(lines) => lines.iter().for_each(|it| strings(&mut acc, it)),
        Err(_) => acc.push(transcript.to_owned()),
    }
    acc
}

fn strings(acc: &mut Vec<String>, value: &Value) {
    match value {
        Value::String(it) => acc.push(it.clone()),
        Value::Array(it) => it.iter().for_each(|it| strings(acc, it)),
        Value::Object(it) => it.values().for_each(|it| strings(acc, it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
