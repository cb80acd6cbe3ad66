//! Transcript tail: reads the transcript of a running session while the host is still writing it.
//!
//! Transcripts hold the agent's reasoning and other events that no hook reports. The daemon calls
//! the tail again and again, and each call returns the events written since the last one.

use std::path::{Path, PathBuf};

use agents::{LineSplitter, TranscriptReader};
use model::EventEnvelope;

use super::transcript::{read_header, transcript_origin};

/// Most bytes read per call, so that a call is short. The next call reads on.
const MAX_BYTES_PER_READ: u64 = 4 << 20;

/// A position in a transcript file that may grow.
#[derive(Debug)]
pub struct TranscriptTail {
    path: PathBuf,
    project_root: String,
    /// Bytes read so far.
    offset: u64,
    /// Parser and its state between calls; `None` until the file exists and its format is
    /// recognised.
    parser: Option<(TranscriptReader, LineSplitter)>,
}

impl TranscriptTail {
    pub fn new(path: &Path, project_root: &Path) -> Self {
        let project_root = project_root.to_string_lossy().into_owned();
        Self { path: path.to_owned(), project_root, offset: 0, parser: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the events written since the last call, and returns whether the file may hold more that
    /// this call did not read. A file that does not exist, or is not a transcript, has no events.
    /// Blocks.
    pub fn read_new_events(&mut self) -> (Vec<EventEnvelope>, bool) {
        let length = std::fs::metadata(&self.path).map_or(0, |it| it.len());
        if length < self.offset {
            // The file shrank, so it is another one under the same name.
            (self.offset, self.parser) = (0, None);
        }
        if self.parser.is_none() {
            self.parser = self.new_parser();
        }
        let mut events = Vec::new();
        let Some((reader, splitter)) = self.parser.as_mut().filter(|_| length > self.offset) else {
            return (events, false);
        };
        let mut n_read = 0;
        let read = source::read_pieces_from(&self.path, self.offset, |piece| {
            // The splitter keeps an incomplete last line until the next piece completes it.
            splitter.feed(piece, |line| reader.read_line(&mut events, line));
            n_read += piece.len() as u64;
            n_read < MAX_BYTES_PER_READ
        });
        self.offset += n_read;
        (events, read.is_ok() && n_read >= MAX_BYTES_PER_READ)
    }

    /// Detects the format; `None` if the file does not exist yet or its format is not recognised
    /// yet.
    fn new_parser(&self) -> Option<(TranscriptReader, LineSplitter)> {
        let format = read_header(&self.path, None)?.format;
        let origin = transcript_origin(&self.path, self.project_root.clone(), None);
        Some((TranscriptReader::new(format, origin), LineSplitter::new(format.layout())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_growing_transcript_is_read_to_its_end_wherever_the_writes_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s1.jsonl");
        let mut tail = TranscriptTail::new(&path, Path::new("/p"));
        assert!(tail.read_new_events().0.is_empty(), "the file does not exist yet");
        // A line of a Claude Code transcript with a thought of the agent.
        let thought = |id: &str, text: &str| {
            format!(
                "{{\"type\":\"assistant\",\"sessionId\":\"s1\",\"cwd\":\"/p\",\"uuid\":\"{id}\",\"message\":{{\"id\":\"m{id}\",\"content\":[{{\"type\":\"thinking\",\"thinking\":\"{text}\"}}]}}}}\n"
            )
        };
        let (first, second) =
            (thought("1", "it may be the clock"), thought("2", "it is the clock"));
        let whole = format!("{first}{second}");
        let mut ids = Vec::new();
        let mut file = std::fs::File::create(&path).unwrap();
        // 70 bytes is less than a line, so every line is cut.
        for piece in whole.as_bytes().chunks(70) {
            file.write_all(piece).unwrap();
            ids.extend(tail.read_new_events().0.into_iter().map(|it| it.id));
        }
        assert_eq!(ids, ["start", "1", "2"]);
        // A shorter file replaces the first one, and is read from its start.
        std::fs::write(&path, &first).unwrap();
        let again: Vec<String> = tail.read_new_events().0.into_iter().map(|it| it.id).collect();
        assert_eq!(again, ["start", "1"]);
    }
}
