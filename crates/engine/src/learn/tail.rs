//! The host's own log of a session that goes on, read as far as it was written: what was thought and
//! what no hook reports.

use std::path::{Path, PathBuf};

use agents::{Cutter, Origin, Reader};
use model::Envelope;
use source::Transcript;

use super::transcript::start;

/// The most that is read at once, in bytes; the rest is read the next time.
const AT_ONCE: u64 = 4 << 20;

/// A place in a log. What is read of it is blocking work, and bounded.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    root: String,
    offset: u64,
    reading: Option<(Reader, Cutter)>,
}

impl Tail {
    /// `root` is the project's.
    pub fn new(path: &Path, root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        Self { path: path.to_owned(), root, offset: 0, reading: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The events written since, and whether there are more. A log that is not there yet, or is none,
    /// has none.
    pub fn more(&mut self) -> (Vec<Envelope>, bool) {
        let length = std::fs::metadata(&self.path).map_or(0, |it| it.len());
        if length < self.offset {
            // Another file has taken its name.
            (self.offset, self.reading) = (0, None);
        }
        if self.reading.is_none() {
            self.reading = self.begin();
        }
        let mut acc = Vec::new();
        let Some((reader, cutter)) = self.reading.as_mut().filter(|_| length > self.offset) else {
            return (acc, false);
        };
        let mut n = 0;
        let read = source::pieces_from(&self.path, self.offset, |piece| {
            cutter.feed(piece, |line| reader.line(&mut acc, line));
            n += piece.len() as u64;
            n < AT_ONCE
        });
        self.offset += n;
        (acc, read.is_ok() && n >= AT_ONCE)
    }

    fn begin(&self) -> Option<(Reader, Cutter)> {
        let transcript = Transcript { path: self.path.clone(), subagent: None, session: None };
        let dialect = start(&transcript)?.dialect;
        let name = self.path.file_stem().map(|it| it.to_string_lossy().into_owned());
        let project = Some(self.root.clone());
        let origin = Origin { project, name: name.unwrap_or_default(), subagent: None };
        Some((Reader::new(dialect, origin), Cutter::new(dialect.form())))
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
        let mut tail = Tail::new(&path, Path::new("/p"));
        assert!(tail.more().0.is_empty(), "it is not there yet");
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
            ids.extend(tail.more().0.into_iter().map(|it| it.id));
        }
        assert_eq!(ids, ["start", "1", "2"]);
        std::fs::write(&path, &first).unwrap();
        let again: Vec<String> = tail.more().0.into_iter().map(|it| it.id).collect();
        assert_eq!(again, ["start", "1"], "another file under the same name");
    }
}
