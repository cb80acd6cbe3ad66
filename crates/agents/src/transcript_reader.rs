//! Reads a transcript of any format and turns its records into events.
//!
//! The caller cuts the file with a [`crate::LineSplitter`] and passes each line (or piece of a
//! document) to [`TranscriptReader::read_line`]. This file finds the records in them and gives each
//! to the reader of its format, which is in a file of its own and adds events to the [`EventLog`].
//! Records that cannot be read are counted and skipped.

use model::EventEnvelope;
use serde_json::Value;

use crate::document_splitter::{DocumentPart, DocumentSplitter};
use crate::event_log::{EventLog, ReadCounts};
use crate::json_repair::repair_json;
use crate::transcript_format::TranscriptFormat;
use crate::{
    aider_transcript, claude_code_transcript, codex_transcript, copilot_transcript,
    gemini_transcript, journal, moatless_transcript, specstory_transcript, swe_agent_transcript,
};

/// Context of a transcript that its content may lack.
#[derive(Clone, Debug, Default)]
pub struct TranscriptOrigin {
    /// Project root on this machine.
    pub project: Option<String>,
    /// Session id if the transcript names none, usually the file name.
    pub fallback_session_id: String,
    /// Name of the subagent whose work the file holds.
    pub subagent: Option<String>,
}

/// A reader of one transcript.
#[derive(Debug)]
pub struct TranscriptReader {
    log: EventLog,
    records: RecordSource,
}

impl TranscriptReader {
    pub fn new(format: TranscriptFormat, origin: TranscriptOrigin) -> Self {
        let log = EventLog::new(format.slug(), origin.project, origin.fallback_session_id);
        Self { log, records: RecordSource::new(format, origin.subagent) }
    }

    /// Reads the next line, or the next piece of a document. Completed events are added to `acc`.
    pub fn read_line(&mut self, acc: &mut Vec<EventEnvelope>, line: &[u8]) {
        match &mut self.records {
            RecordSource::Lines(format) => {
                self.log.counts.n_lines += 1;
                // Some editors put a byte order mark before the first line.
                let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                format.read_line(&mut self.log, line);
            }
            RecordSource::Document { format, splitter } => {
                splitter.feed(line, |part| format.read_part(&mut self.log, part));
            }
        }
        acc.append(&mut self.log.acc);
    }

    /// Completes the last events at the end of the file.
    pub fn finish(&mut self, acc: &mut Vec<EventEnvelope>) {
        match &mut self.records {
            RecordSource::Lines(format) => format.finish(&mut self.log),
            RecordSource::Document { splitter, .. } => {
                splitter.finish();
                self.log.counts.n_damaged += std::mem::take(&mut splitter.n_damaged);
            }
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
}

/// The place of the records in a file, with the format that reads them.
#[derive(Debug)]
enum RecordSource {
    /// Every line is a record, or a line of text.
    Lines(LineFormat),
    /// The file is one JSON document; the records are the elements of one of its lists.
    Document { format: DocumentFormat, splitter: DocumentSplitter },
}

/// A format of lines, with the state that its reader needs between two lines.
#[derive(Debug)]
enum LineFormat {
    ClaudeCode(claude_code_transcript::ClaudeCodeState),
    Codex(codex_transcript::CodexState),
    Copilot,
    Gemini,
    SpecStory(specstory_transcript::SpecStoryState),
    Aider(aider_transcript::AiderState),
    Journal,
}

/// A format of one document, with the state that its reader needs between two records.
#[derive(Debug)]
enum DocumentFormat {
    GeminiChat,
    SweAgent(swe_agent_transcript::SweAgentState),
    Moatless,
}

impl RecordSource {
    fn new(format: TranscriptFormat, subagent: Option<String>) -> Self {
        // The key names the list of the document whose elements are the records.
        let document =
            |format, list_key| Self::Document { format, splitter: DocumentSplitter::new(list_key) };
        match format {
            TranscriptFormat::ClaudeCode => Self::Lines(LineFormat::ClaudeCode(
                claude_code_transcript::ClaudeCodeState::new(subagent),
            )),
            TranscriptFormat::Codex => {
                Self::Lines(LineFormat::Codex(codex_transcript::CodexState::default()))
            }
            TranscriptFormat::Copilot => Self::Lines(LineFormat::Copilot),
            TranscriptFormat::Gemini => Self::Lines(LineFormat::Gemini),
            TranscriptFormat::SpecStory => {
                Self::Lines(LineFormat::SpecStory(specstory_transcript::SpecStoryState::default()))
            }
            TranscriptFormat::Aider => {
                Self::Lines(LineFormat::Aider(aider_transcript::AiderState::default()))
            }
            TranscriptFormat::Journal => Self::Lines(LineFormat::Journal),
            TranscriptFormat::GeminiChat => document(DocumentFormat::GeminiChat, "messages"),
            TranscriptFormat::SweAgent => {
                let state = swe_agent_transcript::SweAgentState::default();
                document(DocumentFormat::SweAgent(state), "trajectory")
            }
            TranscriptFormat::Moatless => document(DocumentFormat::Moatless, "nodes"),
        }
    }
}

impl LineFormat {
    fn read_line(&mut self, log: &mut EventLog, line: &[u8]) {
        match self {
            Self::ClaudeCode(state) => read_json(log, line, |log, record| {
                claude_code_transcript::read_record(log, state, record);
            }),
            Self::Codex(state) => read_json(log, line, |log, record| {
                codex_transcript::read_record(log, state, record);
            }),
            Self::Copilot => read_json(log, line, copilot_transcript::read_record),
            Self::Gemini => read_json(log, line, gemini_transcript::read_record),
            Self::SpecStory(state) => {
                specstory_transcript::read_line(log, state, &decode_text_line(line));
            }
            Self::Aider(state) => {
                aider_transcript::read_line(log, state, &decode_text_line(line));
            }
            Self::Journal => journal::read_line(log, line),
        }
    }

    /// Completes the last turn. In text formats only the next heading ends a turn, and the last one
    /// has none; a JSON record is complete by itself.
    fn finish(&mut self, log: &mut EventLog) {
        match self {
            Self::SpecStory(state) => specstory_transcript::finish(log, state),
            Self::Aider(state) => aider_transcript::finish(log, state),
            // The last messages of the user may still wait for the agent.
            Self::ClaudeCode(state) => claude_code_transcript::finish(log, state),
            Self::Codex(state) => codex_transcript::finish(log, state),
            Self::Copilot | Self::Gemini | Self::Journal => {}
        }
    }
}

impl DocumentFormat {
    fn read_part(&mut self, log: &mut EventLog, part: DocumentPart<'_>) {
        log.counts.n_lines += 1;
        let (DocumentPart::Head(text) | DocumentPart::Element(text)) = part;
        let Some(value) = parse_lenient(text) else {
            log.counts.n_damaged += 1;
            return;
        };
        match (self, part) {
            // Head and messages differ by their fields, as in the line format of the same host.
            (Self::GeminiChat, DocumentPart::Head(_) | DocumentPart::Element(_)) => {
                gemini_transcript::read_record(log, &value);
            }
            // The head describes the environment, not the session.
            (Self::SweAgent(_), DocumentPart::Head(_)) => {}
            (Self::SweAgent(state), DocumentPart::Element(_)) => {
                swe_agent_transcript::read_step(log, state, &value);
            }
            (Self::Moatless, DocumentPart::Head(_)) => moatless_transcript::read_head(log, &value),
            (Self::Moatless, DocumentPart::Element(_)) => {
                moatless_transcript::read_node(log, &value);
            }
        }
    }
}

/// Reads a line that must be a JSON object; skips a blank line and counts any other as damaged.
fn read_json(log: &mut EventLog, line: &[u8], read_record: impl FnOnce(&mut EventLog, &Value)) {
    if line.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    match parse_lenient(line).filter(Value::is_object) {
        Some(record) => read_record(log, &record),
        None => log.counts.n_damaged += 1,
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
    // Almost every line parses here, so the attempts below cost nothing for valid lines.
    if let Ok(value) = serde_json::from_slice(line) {
        return Some(value);
    }
    // Replacing invalid bytes suffices for most of the others.
    let text = String::from_utf8_lossy(line);
    if let Ok(value) = serde_json::from_str(&text) {
        return Some(value);
    }
    // The repair looks at every character, so it comes last.
    serde_json::from_str(&repair_json(&text)).ok()
}
