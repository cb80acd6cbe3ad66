//! Transcript tail: the host's transcript of a running session, read as far as it is written. It holds
//! the agent's reasoning and other events that no hook reports.

use std::path::{Path, PathBuf};

use agents::{LineSplitter, TranscriptOrigin, TranscriptReader};
use model::EventEnvelope;
use source::Transcript;

use super::transcript::read_header;

/// Bytes read per call; the rest is read by the next one.
const MAX_BYTES_PER_READ: u64 = 4 << 20;

/// A position in a transcript. Reading blocks, and is bounded.
#[derive(Debug)]
pub struct TranscriptTail {
    path: PathBuf,
    root: String,
    offset: u64,
    /// The parser's state; `None` until the file exists and its format is recognised.
    parser: Option<(TranscriptReader, LineSplitter)>,
}

impl TranscriptTail {
    /// `root` is the project's root.
    pub fn new(path: &Path, root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        Self { path: path.to_owned(), root, offset: 0, parser: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The events written since the last call, and whether more are left to read. A file that does
    /// not exist, or is not a transcript, has no events.
    pub fn read_new_events(&mut self) -> (Vec<EventEnvelope>, bool) {
        let length = std::fs::metadata(&self.path).map_or(0, |it| it.len());
        if length < self.offset {
            // The file shrank, so that it is another one under the same name.
            (self.offset, self.parser) = (0, None);
        }
        if self.parser.is_none() {
            self.parser = self.new_parser();
        }
        let mut acc = Vec::new();
        let Some((reader, splitter)) = self.parser.as_mut().filter(|_| length > self.offset) else {
            return (acc, false);
        };
        let mut n_read = 0;
        let read = source::read_pieces_from(&self.path, self.offset, |piece| {
            splitter.feed(piece, |line| reader.read_line(&mut acc, line));
            n_read += piece.len() as u64;
            n_read < MAX_BYTES_PER_READ
        });
        self.offset += n_read;
        (acc, read.is_ok() && n_read >= MAX_BYTES_PER_READ)
    }

    fn new_parser(&self) -> Option<(TranscriptReader, LineSplitter)> {
        let transcript = Transcript { path: self.path.clone(), subagent: None, session: None };
        let format = read_header(&transcript)?.format;
        let name = self.path.file_stem().map(|it| it.to_string_lossy().into_owned());
        let project = Some(self.root.clone());
        let origin = TranscriptOrigin { project, name: name.unwrap_or_default(), subagent: None };
        Some((TranscriptReader::new(format, origin), LineSplitter::new(format.layout())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_log_is_read_as_far_as_it_was_written_whatever_the_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s1.jsonl");
        let mut tail = TranscriptTail::new(&path, Path::new("/p"));
        assert!(tail.read_new_events().0.is_empty(), "it is not there yet");
        let said = |id: &str, text: &str| {
            format!(
                "{{\"type\":\"assistant\",\"sessionId\":\"s1\",\"cwd\":\"/p\",\"uuid\":\"{id}\",\"message\":{{\"id\":\"m{id}\",\"content\":[{{\"type\":\"thinking\",\"thinking\":\"{text}\"}}]}}}}\n"
            )
        };
        let (first, second) = (said("1", "it may be the clock"), said("2", "it is the clock"));
        let whole = format!("{first}{second}");
        let mut ids = Vec::new();
        let mut file = std::fs::File::create(&path).unwrap();
        for piece in whole.as_bytes().chunks(70) {
            file.write_all(piece).unwrap();
            ids.extend(tail.read_new_events().0.into_iter().map(|it| it.id));
        }
        assert_eq!(ids, ["start", "1", "2"]);
        std::fs::write(&path, &first).unwrap();
        let again: Vec<String> = tail.read_new_events().0.into_iter().map(|it| it.id).collect();
        assert_eq!(again, ["start", "1"], "another file under the same name");
    }
}
