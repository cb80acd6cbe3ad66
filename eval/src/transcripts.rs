//! The transcripts of the data folder, as events and scratchpads.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use agents::{LineSplitter, TranscriptOrigin, TranscriptReader, detect_format};
use anyhow::Context;
use flate2::read::GzDecoder;
use model::{EventEnvelope, Timestamp};
use observe::Scratchpad;
use serde_json::Value;

/// A transcript as the manifest lists it.
pub(crate) struct DataTranscript {
    pub(crate) id: String,
    pub(crate) repo: String,
    pub(crate) format: String,
    pub(crate) start: Timestamp,
    pub(crate) file: std::path::PathBuf,
}

/// Reads the manifest, oldest transcript first.
pub(crate) fn read_manifest(data: &Path) -> anyhow::Result<Vec<DataTranscript>> {
    let folder = data.join("transcripts");
    let json = std::fs::read_to_string(folder.join("manifest.json")).context("no manifest")?;
    let rows: Vec<Value> = serde_json::from_str(&json)?;
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let mut transcripts: Vec<DataTranscript> = rows
        .iter()
        .map(|row| DataTranscript {
            id: text(row, "id"),
            repo: text(row, "source_repo"),
            format: text(row, "format"),
            start: agents::parse_time(&row["start"]).unwrap_or_default(),
            file: folder.join(text(row, "file")),
        })
        .collect();
    transcripts.sort_by(|a, b| (a.start, &a.id).cmp(&(b.start, &b.id)));
    Ok(transcripts)
}

/// The bytes of a transcript, decompressed.
pub(crate) fn read_bytes(transcript: &DataTranscript) -> anyhow::Result<Vec<u8>> {
    let mut acc = Vec::new();
    let mut file = File::open(&transcript.file)?;
    if transcript.file.extension().is_some_and(|it| it == "gz") {
        GzDecoder::new(file).read_to_end(&mut acc)?;
    } else {
        file.read_to_end(&mut acc)?;
    }
    Ok(acc)
}

pub(crate) fn read_events(transcript: &DataTranscript) -> anyhow::Result<Vec<EventEnvelope>> {
    let bytes = read_bytes(transcript)?;
    // A format that is not recognised has no events.
    let Some(format) = detect_format(&bytes[..bytes.len().min(1 << 16)]) else {
        return Ok(Vec::new());
    };
    let origin = TranscriptOrigin {
        project: None,
        fallback_session_id: transcript.id.clone(),
        subagent: None,
    };
    let mut reader = TranscriptReader::new(format, origin);
    let mut splitter = LineSplitter::new(format.layout());
    let mut acc = Vec::new();
    splitter.feed(&bytes, |line| reader.read_line(&mut acc, line));
    splitter.finish(|line| reader.read_line(&mut acc, line));
    reader.finish(&mut acc);
    Ok(acc)
}

pub(crate) fn read_scratchpad(transcript: &DataTranscript) -> anyhow::Result<Scratchpad> {
    let mut pad = Scratchpad::new();
    read_events(transcript)?.iter().for_each(|it| pad.observe(it));
    Ok(pad)
}
