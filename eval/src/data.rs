//! Reading of the data folder: compressed JSON lines, and the texts inside transcripts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::read::GzDecoder;
use serde_json::Value;

/// Checks that the input of a task exists, and reports the task as skipped otherwise.
pub(crate) fn check_present(input: &Path) -> bool {
    let present = input.exists();
    if !present {
        println!("SKIPPED: no data at `{}`; nothing was measured", input.display());
    }
    present
}

pub(crate) fn read_gzip(path: &Path) -> anyhow::Result<String> {
    let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn read_json_lines(path: &Path) -> anyhow::Result<Vec<Value>> {
    let text = read_gzip(path)?;
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| Ok(serde_json::from_str(it)?)).collect()
}

/// All files below a folder, sorted by path.
pub(crate) fn list_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
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

/// The texts of a transcript: every string in its JSON, or the whole file if it is not JSON.
pub(crate) fn transcript_texts(transcript: &str) -> Vec<String> {
    let mut acc = Vec::new();
    // One document.
    if let Ok(value) = serde_json::from_str::<Value>(transcript) {
        collect_strings(&mut acc, &value);
        return acc;
    }
    // Not one document: then one per line.
    let lines: Result<Vec<Value>, _> =
        transcript.lines().filter(|it| !it.trim().is_empty()).map(serde_json::from_str).collect();
    match lines {
        Ok(lines) => lines.iter().for_each(|it| collect_strings(&mut acc, it)),
        Err(_) => acc.push(transcript.to_owned()),
    }
    acc
}

fn collect_strings(acc: &mut Vec<String>, value: &Value) {
    match value {
        Value::String(text) => acc.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|it| collect_strings(acc, it)),
        Value::Object(fields) => fields.values().for_each(|it| collect_strings(acc, it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
