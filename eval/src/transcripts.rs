//! The transcripts of the data folder, as events.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use agents::{Cutter, Origin, Reader, recognise};
use anyhow::Context;
use flate2::read::GzDecoder;
use model::{Envelope, Timestamp};
use observe::Scratchpad;
use serde_json::Value;

/// One transcript with what the manifest says about it.
pub(crate) struct Transcript {
    pub(crate) id: String,
    pub(crate) repo: String,
    pub(crate) format: String,
    pub(crate) start: Timestamp,
    pub(crate) file: std::path::PathBuf,
}

/// Those of the manifest, oldest first.
pub(crate) fn manifest(data: &Path) -> anyhow::Result<Vec<Transcript>> {
    let folder = data.join("transcripts");
    let text = std::fs::read_to_string(folder.join("manifest.json")).context("no manifest")?;
    let rows: Vec<Value> = serde_json::from_str(&text)?;
    let word = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let mut res: Vec<Transcript> = rows
        .iter()
        .map(|row| Transcript {
            id: word(row, "id"),
            repo: word(row, "source_repo"),
            format: word(row, "format"),
            start: agents::parse_time(&row["start"]).unwrap_or_default(),
            file: folder.join(word(row, "file")),
        })
        .collect();
    res.sort_by(|a, b| (a.start, &a.id).cmp(&(b.start, &b.id)));
    Ok(res)
}

/// The text of a transcript, unpacked.
pub(crate) fn bytes(transcript: &Transcript) -> anyhow::Result<Vec<u8>> {
    let mut acc = Vec::new();
    let mut file = File::open(&transcript.file)?;
    if transcript.file.extension().is_some_and(|it| it == "gz") {
        GzDecoder::new(file).read_to_end(&mut acc)?;
    } else {
        file.read_to_end(&mut acc)?;
    }
    Ok(acc)
}

pub(crate) fn events(transcript: &Transcript) -> anyhow::Result<Vec<Envelope>> {
    let bytes = bytes(transcript)?;
    let Some(dialect) = recognise(&bytes[..bytes.len().min(1 << 16)]) else {
        return Ok(Vec::new());
    };
    let origin = Origin { project: None, name: transcript.id.clone(), subagent: None };
    let mut reader = Reader::new(dialect, origin);
    let mut cutter = Cutter::new(dialect.form());
    let mut acc = Vec::new();
    cutter.feed(&bytes, |line| reader.line(&mut acc, line));
    cutter.finish(|line| reader.line(&mut acc, line));
    reader.finish(&mut acc);
    Ok(acc)
}

pub(crate) fn pad(transcript: &Transcript) -> anyhow::Result<Scratchpad> {
    let mut res = Scratchpad::new();
    events(transcript)?.iter().for_each(|it| res.observe(it));
    Ok(res)
}
