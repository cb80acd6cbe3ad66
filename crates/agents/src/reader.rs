//! Reads a transcript line by line, whichever host wrote it.

use model::Envelope;
use serde_json::Value;

use crate::dialect::Dialect;
use crate::log::{Counts, Log};
use crate::{aider, claude_code, codex, copilot, gemini, journal, moatless, specstory, swe_agent};

/// What is known about a transcript before it is read.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The project's root on this machine.
    pub project: Option<String>,
    /// Names the session where the host does not; the file's name will do.
    pub name: String,
    /// The file holds what a subagent did, under this name.
    pub subagent: Option<String>,
}

/// A transcript being read. Lines come from a [`crate::Cutter`], so each is bounded.
#[derive(Debug)]
pub struct Reader {
    dialect: Dialect,
    log: Log,
    state: State,
    /// Formats that are one JSON document are read when it is complete.
    whole: Vec<u8>,
}

#[derive(Debug)]
enum State {
    ClaudeCode(claude_code::State),
    Codex(codex::State),
    SpecStory(specstory::State),
    Aider(aider::State),
    None,
}

/// The largest document read as a whole, in bytes; its strings were cut before.
const MAX_WHOLE: usize = 64 << 20;

impl Reader {
    pub fn new(dialect: Dialect, origin: Origin) -> Self {
        let state = match dialect {
            Dialect::ClaudeCode => State::ClaudeCode(claude_code::State::new(origin.subagent)),
            Dialect::Codex => State::Codex(codex::State::default()),
            Dialect::SpecStory => State::SpecStory(specstory::State::default()),
            Dialect::Aider => State::Aider(aider::State::default()),
            _ => State::None,
        };
        let log = Log::new(dialect.slug(), origin.project, origin.name);
        Self { dialect, log, state, whole: Vec::new() }
    }

    /// Takes the next line; the events it completes are added to `acc`.
    pub fn line(&mut self, acc: &mut Vec<Envelope>, line: &[u8]) {
        self.log.counts.lines += 1;
        // Some editors put a mark before the first line.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        match self.dialect {
            Dialect::SpecStory | Dialect::Aider => {
                let text = String::from_utf8_lossy(line);
                let text = text.strip_suffix('\r').unwrap_or(&text);
                match &mut self.state {
                    State::SpecStory(state) => specstory::line(&mut self.log, state, text),
                    State::Aider(state) => aider::line(&mut self.log, state, text),
                    _ => {}
                }
            }
            Dialect::SweAgent | Dialect::Moatless => self.keep(line),
            Dialect::Gemini if self.log.counts.lines == 1 && !is_complete(line) => self.keep(line),
            Dialect::Gemini if !self.whole.is_empty() => self.keep(line),
            Dialect::Journal => journal::line(&mut self.log, line),
            _ => self.record(line),
        }
        acc.append(&mut self.log.acc);
    }

    /// The end of the file.
    pub fn finish(&mut self, acc: &mut Vec<Envelope>) {
        if !self.whole.is_empty() {
            let whole = std::mem::take(&mut self.whole);
            match parse(&whole) {
                Some(value) if self.dialect == Dialect::SweAgent => {
                    swe_agent::document(&mut self.log, &value);
                }
                Some(value) if self.dialect == Dialect::Moatless => {
                    moatless::document(&mut self.log, &value);
                }
                Some(value) => gemini::record(&mut self.log, &value),
                None => self.log.counts.damaged += 1,
            }
        }
        match &mut self.state {
            State::SpecStory(state) => specstory::finish(&mut self.log, state),
            State::Aider(state) => aider::finish(&mut self.log, state),
            _ => {}
        }
        if self.log.has_started() {
            self.log.end_step();
        }
        acc.append(&mut self.log.acc);
    }

    pub fn counts(&self) -> Counts {
        self.log.counts
    }

    fn keep(&mut self, line: &[u8]) {
        if self.whole.len() + line.len() < MAX_WHOLE {
            self.whole.extend_from_slice(line);
            self.whole.push(b'\n');
        }
    }

    fn record(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Some(value) = parse(line).filter(Value::is_object) else {
            self.log.counts.damaged += 1;
            return;
        };
        match &mut self.state {
            State::ClaudeCode(state) => claude_code::record(&mut self.log, state, &value),
            State::Codex(state) => codex::record(&mut self.log, state, &value),
            _ if self.dialect == Dialect::Copilot => copilot::record(&mut self.log, &value),
            _ => gemini::record(&mut self.log, &value),
        }
    }
}

fn is_complete(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// Bytes that are no UTF-8 are replaced, not refused: the rest of the line is intact.
fn parse(line: &[u8]) -> Option<Value> {
    match serde_json::from_slice(line) {
        Ok(value) => Some(value),
        Err(_) if std::str::from_utf8(line).is_err() => {
            serde_json::from_str(&String::from_utf8_lossy(line)).ok()
        }
        Err(_) => None,
    }
}
