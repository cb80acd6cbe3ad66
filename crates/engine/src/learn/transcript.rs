//! Transcripts: the hosts' records of sessions, found, recognised and read into scratchpads.

use std::path::{Path, PathBuf};

use agents::{
    LineSplitter, OpenCodeMessage, OpenCodePart, OpenCodeReader, OpenCodeSession, ReadCounts,
    RecordLayout, SessionSource, TranscriptFormat, TranscriptOrigin, TranscriptReader,
    detect_format,
};
use model::{Event, EventEnvelope, Timestamp};
use observe::Scratchpad;
use source::Transcript;
use store::HostMessageRow;

use super::journal::session_source;
use crate::{Error, ProjectReader};

/// Bytes at the beginning of a file that are read to recognise its format and start.
const HEADER_BYTES: usize = 128 << 10;

/// A transcript that was read.
#[derive(Clone, Debug)]
pub struct ParsedTranscript {
    pub pad: Scratchpad,
    pub format: &'static str,
    pub n_bytes: u64,
    pub n_lines: u64,
    /// Lines that were damaged or too long; the others are intact.
    pub n_damaged_lines: u64,
    /// Strings that were truncated.
    pub n_truncated: u64,
}

/// The facts that the beginning of a transcript states.
pub(super) struct TranscriptHeader {
    pub(super) format: TranscriptFormat,
    started: Timestamp,
    cwd: Option<String>,
}

/// The transcripts that hosts store for this project, below `home` or where an environment variable
/// points, oldest first. Sessions that were started elsewhere are left out.
pub(crate) fn host_transcripts(
    reader: &ProjectReader,
    home: &Path,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<Transcript> {
    let root = reader.place.root.to_string_lossy().into_owned();
    let is_own = |it: &TranscriptHeader| {
        it.cwd.as_deref().is_none_or(|cwd| Path::new(cwd).starts_with(&root))
    };
    let (found, _) = split_databases(source::find_transcripts(home, variable, &reader.place.root));
    sort_by_start(found, is_own)
}

/// The transcripts at the given paths, of any project, oldest first.
pub fn transcripts_at_paths(paths: &[PathBuf]) -> Result<Vec<Transcript>, Error> {
    let mut acc = Vec::new();
    for path in paths {
        acc.extend(source::transcripts_at(path)?);
    }
    acc.dedup();
    let (found, errors) = split_databases(acc);
    match errors.into_iter().next() {
        // A folder may hold databases of other programs; only one that the user named is an error.
        Some(error) if found.is_empty() => Err(error.into()),
        _ => Ok(sort_by_start(found, |_| true)),
    }
}

/// Reads a transcript into a scratchpad; `None` if the file is not a transcript.
pub(crate) fn read_transcript(
    reader: &ProjectReader,
    transcript: &Transcript,
) -> Result<Option<ParsedTranscript>, Error> {
    if let Some(session) = &transcript.session {
        return read_database(reader, &transcript.path, session);
    }
    let Some(header) = read_header(transcript) else { return Ok(None) };
    if header.format == TranscriptFormat::Journal {
        // The host's own record says more than the journal; it may have been deleted since.
        let host_record = match session_source(&transcript.path) {
            SessionSource::HostTranscript { path } => {
                let path = PathBuf::from(path);
                read_file(reader, &Transcript { path, subagent: None, session: None })?
            }
            SessionSource::HostDatabase { path, session } => {
                read_database(reader, Path::new(&path), &session)?
            }
            SessionSource::JournalOnly => None,
        };
        if let Some(parsed) = host_record {
            return add_journal_events(transcript, parsed).map(Some);
        }
    }
    read_file(reader, transcript)
}

/// Reads a transcript file into a scratchpad, piece by piece.
fn read_file(
    reader: &ProjectReader,
    transcript: &Transcript,
) -> Result<Option<ParsedTranscript>, Error> {
    let Some(header) = read_header(transcript) else { return Ok(None) };
    let name = transcript.path.file_stem().map(|it| it.to_string_lossy().into_owned());
    let origin = TranscriptOrigin {
        project: Some(reader.place.root.to_string_lossy().into_owned()),
        name: name.unwrap_or_default(),
        subagent: transcript.subagent.clone(),
    };
    let mut reader = TranscriptReader::new(header.format, origin);
    let mut splitter = LineSplitter::new(header.format.layout());
    let mut pad = Scratchpad::new();
    let (mut events, mut n_bytes) = (Vec::new(), 0_u64);
    source::read_pieces(&transcript.path, |piece| {
        n_bytes += piece.len() as u64;
        splitter.feed(piece, |line| reader.read_line(&mut events, line));
        // Folding per piece keeps the memory bounded: transcripts can be hundreds of megabytes.
        observe_events(&mut pad, &mut events);
        true
    })?;
    splitter.finish(|line| reader.read_line(&mut events, line));
    reader.finish(&mut events);
    observe_events(&mut pad, &mut events);
    let ReadCounts { n_lines: lines, n_damaged: damaged, .. } = reader.counts();
    Ok(Some(ParsedTranscript {
        pad,
        format: header.format.slug(),
        n_bytes,
        n_lines: lines,
        n_damaged_lines: damaged + splitter.n_dropped,
        n_truncated: splitter.n_truncated,
    }))
}

/// Reads one session of a host's database into a scratchpad.
fn read_database(
    reader: &ProjectReader,
    path: &Path,
    session: &str,
) -> Result<Option<ParsedTranscript>, Error> {
    let row = store::read_host_sessions(path)?.into_iter().find(|it| it.id == session);
    let Some(row) = row else { return Ok(None) };
    let root = reader.place.root.to_string_lossy();
    let host_session = OpenCodeSession {
        id: row.id,
        directory: row.directory,
        parent: row.parent,
        created: row.created,
    };
    let mut reader = OpenCodeReader::new(Some(&root), &host_session);
    let (mut pad, mut events, mut n_bytes) = (Scratchpad::new(), Vec::new(), 0);
    let part = |it: HostMessageRow| OpenCodePart { id: it.id, data: it.data };
    store::read_host_messages(path, session, |HostMessageRow { id, created, data }, parts| {
        n_bytes += data.len() as u64 + parts.iter().map(|it| it.data.len() as u64).sum::<u64>();
        let parts: Vec<OpenCodePart> = parts.into_iter().map(part).collect();
        reader.read_message(&mut events, &OpenCodeMessage { id, created, data }, &parts);
        observe_events(&mut pad, &mut events);
    })?;
    let ReadCounts { n_lines: lines, n_damaged: damaged, .. } = reader.finish(&mut events);
    observe_events(&mut pad, &mut events);
    Ok(Some(ParsedTranscript {
        pad,
        format: "opencode",
        n_bytes,
        n_lines: lines,
        n_damaged_lines: damaged,
        n_truncated: 0,
    }))
}

/// Adds to the host's record the events that only the journal has: notes and validations.
fn add_journal_events(
    journal: &Transcript,
    mut parsed: ParsedTranscript,
) -> Result<ParsedTranscript, Error> {
    let mut bytes = Vec::new();
    source::read_pieces(&journal.path, |piece| {
        bytes.extend_from_slice(piece);
        true
    })?;
    let text = String::from_utf8_lossy(&bytes);
    for event in text.lines().filter_map(|it| EventEnvelope::parse_line(it).ok()) {
        if matches!(event.event, Event::Record(_) | Event::Validation(_)) {
            parsed.pad.observe(&event);
        }
    }
    Ok(parsed)
}

/// Replaces each database among the transcripts by its sessions. Returns the databases that cannot
/// be read as errors.
fn split_databases(found: Vec<Transcript>) -> (Vec<Transcript>, Vec<store::Error>) {
    let (mut acc, mut errors) = (Vec::new(), Vec::new());
    for it in found {
        let is_database = it.path.extension().is_some_and(|it| it == source::DATABASE_EXTENSION);
        if !is_database || it.session.is_some() {
            acc.push(it);
            continue;
        }
        match store::read_host_sessions(&it.path) {
            Ok(sessions) => acc.extend(sessions.into_iter().map(|session| Transcript {
                path: it.path.clone(),
                subagent: session.parent.map(|_| session.id.clone()),
                session: Some(session.id),
            })),
            Err(error) => errors.push(error),
        }
    }
    (acc, errors)
}

fn observe_events(pad: &mut Scratchpad, events: &mut Vec<EventEnvelope>) {
    for event in events.drain(..) {
        pad.observe(&event);
    }
}

/// The wanted transcripts by the time they start. Files that are not transcripts are dropped.
fn sort_by_start(
    found: Vec<Transcript>,
    is_wanted: impl Fn(&TranscriptHeader) -> bool,
) -> Vec<Transcript> {
    let with_start = |it: Transcript| {
        let header = read_header(&it).filter(|it| is_wanted(it))?;
        Some((header.started, it))
    };
    let mut acc: Vec<(Timestamp, Transcript)> = found.into_iter().filter_map(with_start).collect();
    acc.sort();
    acc.into_iter().map(|it| it.1).collect()
}

/// Reads the header of a transcript; `None` if the file is not a transcript.
pub(super) fn read_header(transcript: &Transcript) -> Option<TranscriptHeader> {
    if let Some(session) = &transcript.session {
        let sessions = store::read_host_sessions(&transcript.path).ok()?;
        let row = sessions.into_iter().find(|it| it.id == *session)?;
        return Some(TranscriptHeader {
            // The format of a database is never used; reading it takes another path.
            format: TranscriptFormat::Journal,
            started: row.created,
            cwd: Some(row.directory),
        });
    }
    let mut head = Vec::new();
    let read = source::read_pieces(&transcript.path, |piece| {
        head.extend_from_slice(&piece[..piece.len().min(HEADER_BYTES)]);
        head.len() < HEADER_BYTES
    });
    read.ok()?;
    let format = detect_format(&head)?;
    let mut reader = TranscriptReader::new(format, TranscriptOrigin::default());
    let mut splitter = LineSplitter::new(format.layout());
    let mut events = Vec::new();
    splitter.feed(&head, |line| reader.read_line(&mut events, line));
    // An incomplete document still states its start; an incomplete line states nothing.
    if format.layout() == RecordLayout::Document {
        splitter.finish(|line| reader.read_line(&mut events, line));
    }
    // Some hosts write events without a time before the first real one.
    let started = events.iter().map(|it| it.at).find(|it| it.0 > 0).unwrap_or_default();
    let cwd = events.iter().find_map(|it| match &it.event {
        Event::SessionStart(start) => Some(start.project_root.clone()),
        _ => None,
    });
    Some(TranscriptHeader { format, started, cwd: cwd.filter(|it| !it.is_empty()) })
}
