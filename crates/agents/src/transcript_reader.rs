//! Reads a transcript of any format line by line.

use model::EventEnvelope;
use serde_json::Value;

use crate::document_splitter::{DocumentPart, DocumentSplitter};
use crate::event_log::{EventLog, ReadCounts};
use crate::json_repair::repair_json;
use crate::transcript_format::{RecordLayout, TranscriptFormat};
use crate::{aider, claude_code, codex, copilot, gemini, journal, moatless, specstory, swe_agent};

/// Context of a transcript that its content may lack.
#[derive(Clone, Debug, Default)]
pub struct TranscriptOrigin {
    /// Project root on this machine.
    pub project: Option<String>,
    /// Session id if the transcript names none, usually the file name.
    pub name: String,
    /// Name of the subagent whose work the file holds.
    pub subagent: Option<String>,
}

/// A reader of one transcript. Lines come from a [`crate::LineSplitter`], which bounds their
/// length.
#[derive(Debug)]
pub struct TranscriptReader {
    format: TranscriptFormat,
    log: EventLog,
    state: FormatState,
    /// Splits formats that are one JSON document.
    document: DocumentSplitter,
}

/// State that a format needs between two records.
#[derive(Debug)]
enum FormatState {
    ClaudeCode(claude_code::ClaudeCodeState),
    Codex(codex::CodexState),
    SpecStory(specstory::SpecStoryState),
    Aider(aider::AiderState),
    SweAgent(swe_agent::SweAgentState),
    None,
}

impl TranscriptReader {
    pub fn new(format: TranscriptFormat, origin: TranscriptOrigin) -> Self {
        let state = match format {
            TranscriptFormat::ClaudeCode => {
                FormatState::ClaudeCode(claude_code::ClaudeCodeState::new(origin.subagent))
            }
            TranscriptFormat::Codex => FormatState::Codex(codex::CodexState::default()),
            TranscriptFormat::SpecStory => {
                FormatState::SpecStory(specstory::SpecStoryState::default())
            }
            TranscriptFormat::Aider => FormatState::Aider(aider::AiderState::default()),
            TranscriptFormat::SweAgent => {
                FormatState::SweAgent(swe_agent::SweAgentState::default())
            }
            _ => FormatState::None,
        };
        let list = match format {
            TranscriptFormat::SweAgent => "trajectory",
            TranscriptFormat::Moatless => "nodes",
            _ => "messages",
        };
        let log = EventLog::new(format.slug(), origin.project, origin.name);
        Self { format, log, state, document: DocumentSplitter::new(list) }
    }

    /// Reads the next line, or the next piece of a document. Completed events are added to `acc`.
    pub fn read_line(&mut self, acc: &mut Vec<EventEnvelope>, line: &[u8]) {
        if self.format.layout() == RecordLayout::Document {
            self.read_piece(line);
            acc.append(&mut self.log.acc);
            return;
        }
        self.log.counts.n_lines += 1;
        // Some editors put a byte order mark before the first line.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        match &mut self.state {
            FormatState::SpecStory(state) => {
                specstory::read_line(&mut self.log, state, &decode_text_line(line));
            }
            FormatState::Aider(state) => {
                aider::read_line(&mut self.log, state, &decode_text_line(line));
            }
            _ if self.format == TranscriptFormat::Journal => {
                journal::read_line(&mut self.log, line);
            }
            _ => self.read_record(line),
        }
        acc.append(&mut self.log.acc);
    }

    /// Completes the last events at the end of the file.
    pub fn finish(&mut self, acc: &mut Vec<EventEnvelope>) {
        self.document.finish();
        self.log.counts.n_damaged += std::mem::take(&mut self.document.n_damaged);
        match &mut self.state {
            FormatState::SpecStory(state) => specstory::finish(&mut self.log, state),
            FormatState::Aider(state) => aider::finish(&mut self.log, state),
            _ => {}
        }
        // An empty file must not start a session.
        if self.log.has_started() {
            self.log.end_step();
        }
        acc.append(&mut self.log.acc);
    }

    pub fn counts(&self) -> ReadCounts {
        self.log.counts
    }

    /// Reads a piece of a document: its head, or elements of its list.
    fn read_piece(&mut self, piece: &[u8]) {
        let Self { format, log, state, document } = self;
        document.feed(piece, |part| {
            log.counts.n_lines += 1;
            let (DocumentPart::Head(text) | DocumentPart::Element(text)) = part;
            let Some(value) = parse_lenient(text) else {
                log.counts.n_damaged += 1;
                return;
            };
            match (part, &mut *state) {
                (DocumentPart::Element(_), FormatState::SweAgent(state)) => {
                    swe_agent::read_step(log, state, &value);
                }
                // Its head describes the environment, not the session.
                (DocumentPart::Head(_), FormatState::SweAgent(_)) => {}
                (DocumentPart::Element(_), _) if *format == TranscriptFormat::Moatless => {
                    moatless::read_node(log, &value);
                }
                (DocumentPart::Head(_), _) if *format == TranscriptFormat::Moatless => {
                    moatless::read_head(log, &value);
                }
                _ => gemini::read_record(log, &value),
            }
        });
    }

    /// Reads a line that is a JSON record.
    fn read_record(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Some(value) = parse_lenient(line).filter(Value::is_object) else {
            self.log.counts.n_damaged += 1;
            return;
        };
        match &mut self.state {
            FormatState::ClaudeCode(state) => {
                claude_code::read_record(&mut self.log, state, &value);
            }
            FormatState::Codex(state) => codex::read_record(&mut self.log, state, &value),
            _ if self.format == TranscriptFormat::Copilot => {
                copilot::read_record(&mut self.log, &value);
            }
            _ => gemini::read_record(&mut self.log, &value),
        }
    }
}

/// A line as text, without the carriage return of Windows line ends.
fn decode_text_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.strip_suffix('\r').unwrap_or(&text).to_owned()
}

/// Parses JSON that other writers consider valid: invalid UTF-8 is replaced, lone surrogates and
/// oversized numbers are repaired. The rest of such a line is intact, so it is worth reading.
fn parse_lenient(line: &[u8]) -> Option<Value> {
    // Almost every line parses here; the repair costs nothing for those.
    if let Ok(value) = serde_json::from_slice(line) {
        return Some(value);
    }
    // Replacing invalid bytes suffices for most others; only then the repair looks at every
    // character.
    let text = String::from_utf8_lossy(line);
    serde_json::from_str(&text).or_else(|_| serde_json::from_str(&repair_json(&text))).ok()
}
