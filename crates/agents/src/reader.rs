//! Reads a transcript line by line, whichever host wrote it.

use model::Envelope;
use serde_json::Value;

use crate::dialect::{Dialect, Form};
use crate::document::{Document, Part};
use crate::log::{Counts, Log};
use crate::mend::mended;
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
    /// Formats that are one JSON document are taken apart while it streams by.
    document: Document,
}

#[derive(Debug)]
enum State {
    ClaudeCode(claude_code::State),
    Codex(codex::State),
    SpecStory(specstory::State),
    Aider(aider::State),
    SweAgent(swe_agent::State),
    None,
}

impl Reader {
    pub fn new(dialect: Dialect, origin: Origin) -> Self {
        let state = match dialect {
            Dialect::ClaudeCode => State::ClaudeCode(claude_code::State::new(origin.subagent)),
            Dialect::Codex => State::Codex(codex::State::default()),
            Dialect::SpecStory => State::SpecStory(specstory::State::default()),
            Dialect::Aider => State::Aider(aider::State::default()),
            Dialect::SweAgent => State::SweAgent(swe_agent::State::default()),
            _ => State::None,
        };
        let list = match dialect {
            Dialect::SweAgent => "trajectory",
            Dialect::Moatless => "nodes",
            _ => "messages",
        };
        let log = Log::new(dialect.slug(), origin.project, origin.name);
        Self { dialect, log, state, document: Document::new(list) }
    }

    /// Takes the next line, or the next piece of a document; the events it completes are added to `acc`.
    pub fn line(&mut self, acc: &mut Vec<Envelope>, line: &[u8]) {
        if self.dialect.form() == Form::Document {
            self.piece(line);
            acc.append(&mut self.log.acc);
            return;
        }
        self.log.counts.lines += 1;
        // Some editors put a mark before the first line.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        match &mut self.state {
            State::SpecStory(state) => specstory::line(&mut self.log, state, &prose(line)),
            State::Aider(state) => aider::line(&mut self.log, state, &prose(line)),
            _ if self.dialect == Dialect::Journal => journal::line(&mut self.log, line),
            _ => self.record(line),
        }
        acc.append(&mut self.log.acc);
    }

    /// The end of the file.
    pub fn finish(&mut self, acc: &mut Vec<Envelope>) {
        self.document.finish();
        self.log.counts.damaged += std::mem::take(&mut self.document.n_damaged);
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

    fn piece(&mut self, piece: &[u8]) {
        let Self { dialect, log, state, document } = self;
        document.feed(piece, |part| {
            log.counts.lines += 1;
            let (Part::Head(text) | Part::Element(text)) = part;
            let Some(value) = parse(text) else {
                log.counts.damaged += 1;
                return;
            };
            match (part, &mut *state) {
                (Part::Element(_), State::SweAgent(state)) => swe_agent::step(log, state, &value),
                (Part::Head(_), State::SweAgent(_)) => {}
                (Part::Element(_), _) if *dialect == Dialect::Moatless => {
                    moatless::node(log, &value);
                }
                (Part::Head(_), _) if *dialect == Dialect::Moatless => moatless::head(log, &value),
                _ => gemini::record(log, &value),
            }
        });
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

/// A line without the end that some systems put before the end.
fn prose(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.strip_suffix('\r').unwrap_or(&text).to_owned()
}

/// Bytes that are no UTF-8 are replaced, not refused, and so is what only other writers of JSON take for
/// valid: the rest of the line is intact.
fn parse(line: &[u8]) -> Option<Value> {
    if let Ok(value) = serde_json::from_slice(line) {
        return Some(value);
    }
    let text = String::from_utf8_lossy(line);
    serde_json::from_str(&text).or_else(|_| serde_json::from_str(&mended(&text))).ok()
}
