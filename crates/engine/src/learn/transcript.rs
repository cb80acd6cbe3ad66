//! Transcripts: finds the records that hosts keep of sessions, recognises their format, and reads
//! them into scratchpads.
//!
//! A transcript is a file with one session, or one session in a host's database. The journal of a
//! session counts as a transcript too; if it names a transcript of the host, that one is read
//! instead, because it has more detail. The crate `agents` parses the formats into events, and a
//! *scratchpad* is the state of a session, folded from its events. `learn` consumes the scratchpads.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{
    LineSplitter, OpenCodeMessage, OpenCodePart, OpenCodeReader, OpenCodeSession, ReadCounts,
    RecordLayout, SessionSource, TranscriptFormat, TranscriptOrigin, TranscriptReader,
    detect_format,
};
use model::{ContentChannel, Event, EventEnvelope, Timestamp};
use observe::{Scratchpad, ServerTrust};
use source::{Transcript, TranscriptTrust};
use store::{EncryptionKey, HostMessageRow, JournalPart, MaskedEvent};

use super::journal::session_source;
use super::subagent_taint::trace_taint;
use crate::host_setup::has_foreign_namesake;
use crate::{Error, ProjectReader};

/// Pause between two looks at a transcript that is being written.
pub const TRANSCRIPT_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// A transcript without an end that its host has not changed for this long gets none any more.
const TRANSCRIPT_SILENCE: Duration = Duration::from_secs(20);
/// Bytes at the beginning of a file that are read to recognise its format and start.
const HEADER_BYTES: usize = 128 << 10;
/// Bytes at the end of a file that are read to find its last record.
const TAIL_BYTES: u64 = 128 << 10;

/// A transcript that was read into a scratchpad.
#[derive(Clone, Debug)]
pub struct ParsedTranscript {
    pub pad: Scratchpad,
    /// Slug of the format, for messages.
    pub format: &'static str,
    pub n_bytes: u64,
    pub n_lines: u64,
    /// Lines that were damaged or too long. They are skipped; the others are used.
    pub n_damaged_lines: u64,
    /// Long strings that were truncated.
    pub n_truncated: u64,
}

/// The format of a transcript file, and the origin of its session.
pub(super) struct TranscriptHeader {
    pub(super) format: TranscriptFormat,
    origin: SessionOrigin,
}

/// The time and the folder in which a session was started.
struct SessionOrigin {
    started: Timestamp,
    /// `None` if the transcript does not name it.
    folder: Option<String>,
}

/// Lists the transcripts that hosts store for this project, oldest first. Searches below `home` and
/// where environment variables of the hosts point. Leaves out sessions that were started in other
/// folders.
pub(crate) fn host_transcripts(
    reader: &ProjectReader,
    home: &Path,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<Transcript> {
    let root = reader.place.root.to_string_lossy().into_owned();
    // Sessions in which we asked an agent program something are no work on a project.
    let asking = super::asking::ask_folder(&reader.config.data);
    let is_own = |it: &SessionOrigin| {
        it.folder.as_deref().is_none_or(|folder| {
            Path::new(folder).starts_with(&root) && !Path::new(folder).starts_with(&asking)
        })
    };
    // Databases that cannot be read are skipped: the user named none of them.
    let (found, _) = split_databases(source::find_transcripts(home, variable, &reader.place.root));
    sort_by_start(found, reader.config.key.as_ref(), is_own)
}

/// Lists the transcripts at the given paths, of any project, oldest first. The key opens journals; `trust`
/// judges each file.
pub fn transcripts_at_paths(
    paths: &[PathBuf],
    key: Option<&EncryptionKey>,
    trust: &dyn Fn(&Path) -> TranscriptTrust,
) -> Result<Vec<Transcript>, Error> {
    let mut acc = Vec::new();
    for path in paths {
        let judge = |it: Transcript| Transcript { trust: trust(&it.path), ..it };
        acc.extend(source::transcripts_at(path)?.into_iter().map(judge));
    }
    acc.dedup();
    let (found, errors) = split_databases(acc);
    match errors.into_iter().next() {
        // A folder may hold databases of other programs, so this is an error only if nothing else
        // was found.
        Some(error) if found.is_empty() => Err(error.into()),
        Some(_) | None => Ok(sort_by_start(found, key, |_| true)),
    }
}

/// Called with every event that was folded into a scratchpad, after it was.
pub(super) type EventVisitor<'a> = &'a mut dyn FnMut(&Scratchpad, &MaskedEvent);

/// Reads a transcript into a scratchpad, tainted by the external text that its subagents and its parent
/// read; a foreign one is tainted as a whole. `None` if the file is not a transcript.
pub(crate) fn read_transcript(
    reader: &ProjectReader,
    transcript: &Transcript,
) -> Result<Option<ParsedTranscript>, Error> {
    visit_transcript(reader, transcript, &mut |_, _| {})
}

/// Like [`read_transcript`], and shows every event to a visitor, for what the scratchpad does not keep.
pub(super) fn visit_transcript(
    reader: &ProjectReader,
    transcript: &Transcript,
    visit: EventVisitor<'_>,
) -> Result<Option<ParsedTranscript>, Error> {
    let mut parsed = visit_traced(reader, transcript, visit)?;
    if let (Some(parsed), TranscriptTrust::Foreign) = (&mut parsed, transcript.trust) {
        // Every line of it may be invented, also the answers of tools and the words of the user.
        let name = transcript.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        parsed.pad.taint_whole(ContentChannel::Transcript, format!("a session record: {name}"));
    }
    Ok(parsed)
}

/// Reads a transcript, tainted by what its subagents and its parent read.
fn visit_traced(
    reader: &ProjectReader,
    transcript: &Transcript,
    visit: EventVisitor<'_>,
) -> Result<Option<ParsedTranscript>, Error> {
    let key = reader.config.key.as_ref();
    // The host's own record has more detail than the journal, but it may have been deleted since.
    if let Some(host_record) = host_record_of(transcript, key)
        && let Some(mut parsed) = visit_untraced(reader, &host_record, visit)?
    {
        trace_taint(reader, &host_record, &mut parsed.pad);
        return add_journal_events(transcript, key, parsed).map(Some);
    }
    let mut parsed = visit_untraced(reader, transcript, visit)?;
    if let Some(parsed) = &mut parsed {
        trace_taint(reader, transcript, &mut parsed.pad);
    }
    Ok(parsed)
}

/// Reads one record of a session, without those of its subagents and its parent.
pub(super) fn read_untraced(
    reader: &ProjectReader,
    transcript: &Transcript,
) -> Result<Option<ParsedTranscript>, Error> {
    visit_untraced(reader, transcript, &mut |_, _| {})
}

fn visit_untraced(
    reader: &ProjectReader,
    transcript: &Transcript,
    visit: EventVisitor<'_>,
) -> Result<Option<ParsedTranscript>, Error> {
    match &transcript.session {
        Some(session) => read_database(reader, &transcript.path, session, visit),
        None => read_file(reader, transcript, visit),
    }
}

/// The record of the host that a journal names.
fn host_record_of(transcript: &Transcript, key: Option<&EncryptionKey>) -> Option<Transcript> {
    let is_journal = transcript.session.is_none()
        && read_header(&transcript.path, key)
            .is_some_and(|it| it.format == TranscriptFormat::Journal);
    match is_journal.then(|| session_source(&transcript.path, key))? {
        SessionSource::HostTranscript { path } => Some(Transcript::of_file(PathBuf::from(path))),
        SessionSource::HostDatabase { path, host_session } => Some(Transcript {
            path: PathBuf::from(path),
            subagent: None,
            session: Some(host_session),
            trust: TranscriptTrust::Own,
        }),
        SessionSource::JournalOnly => None,
    }
}

/// Returns whether a host is still writing a transcript: its first record or the end that its format
/// demands is missing, and the file changed a short time ago. Learning would miss the last calls. A file
/// that cannot be read is not waited for.
pub fn is_being_written(path: &Path) -> bool {
    was_just_changed(path) && is_unfinished(path).unwrap_or(false)
}

/// Returns whether a file changed a short time ago; false if the change lies in the future (the clock was
/// set back).
pub(super) fn was_just_changed(path: &Path) -> bool {
    let modified = std::fs::metadata(path).and_then(|it| it.modified());
    modified.is_ok_and(|it| it.elapsed().is_ok_and(|age| age < TRANSCRIPT_SILENCE))
}

/// Returns whether the first record of a transcript, or the end that its format demands, is missing; `None`
/// if the file cannot be read.
fn is_unfinished(path: &Path) -> Option<bool> {
    let mut file = File::open(path).ok()?;
    let tail_start = file.metadata().ok()?.len().saturating_sub(TAIL_BYTES);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(tail_start)).and_then(|_| file.read_to_end(&mut tail)).ok()?;
    // Files of hosts are never sealed.
    let Some(header) = read_header(path, None) else {
        return Some(tail_start == 0 && !tail.contains(&b'\n'));
    };
    let tail = String::from_utf8_lossy(&tail);
    Some(header.format.is_unfinished_after(tail.lines().last().unwrap_or_default()))
}

/// Reads the header of a transcript file; `None` if the file is not a transcript.
pub(super) fn read_header(path: &Path, key: Option<&EncryptionKey>) -> Option<TranscriptHeader> {
    let mut head = Vec::new();
    let read = read_pieces(path, key, |piece| {
        head.extend_from_slice(&piece[..piece.len().min(HEADER_BYTES)]);
        head.len() < HEADER_BYTES // Go on reading?
    });
    read.ok()?;
    let format = detect_format(&head)?;
    // Parses the beginning like a whole transcript; the last line is usually incomplete.
    let mut reader = TranscriptReader::new(format, TranscriptOrigin::default());
    let mut splitter = LineSplitter::new(format.layout());
    let mut events = Vec::new();
    splitter.feed(&head, |line| reader.read_line(&mut events, line));
    // In some formats the whole file is one JSON document. Cut off here, it still states its start;
    // an incomplete line of the others states nothing.
    if format.layout() == RecordLayout::Document {
        splitter.finish(|line| reader.read_line(&mut events, line));
    }
    // Some hosts write events without a time before the first real one.
    let started = events.iter().map(|it| it.at).find(|it| it.0 > 0).unwrap_or_default();
    let folder = events.iter().find_map(|it| match &it.event {
        Event::SessionStart(start) => Some(start.project_root.clone()),
        _ => None,
    });
    let origin = SessionOrigin { started, folder: folder.filter(|it| !it.is_empty()) };
    Some(TranscriptHeader { format, origin })
}

/// Describes the origin of a transcript file to its parser. The file name is the session id if the
/// transcript names none.
pub(super) fn transcript_origin(
    path: &Path,
    project_root: String,
    subagent: Option<String>,
) -> TranscriptOrigin {
    let file_stem = path.file_stem().map(|it| it.to_string_lossy().into_owned());
    TranscriptOrigin {
        project: Some(project_root),
        fallback_session_id: file_stem.unwrap_or_default(),
        subagent,
    }
}

/// Replaces each database among the transcripts by one transcript per session. Also returns the
/// errors of the databases that cannot be read.
fn split_databases(found: Vec<Transcript>) -> (Vec<Transcript>, Vec<store::Error>) {
    let (mut acc, mut errors) = (Vec::new(), Vec::new());
    for transcript in found {
        let Transcript { path, session, trust, .. } = &transcript;
        let is_database = path.extension().is_some_and(|it| it == source::DATABASE_EXTENSION);
        // A file, or a session of a database already.
        if !is_database || session.is_some() {
            acc.push(transcript);
            continue;
        }
        match store::read_host_sessions(path) {
            Ok(sessions) => acc.extend(sessions.into_iter().map(|session| Transcript {
                path: path.clone(),
                // A session with a parent is a subagent; it is named by its own id.
                subagent: session.parent.map(|_| session.id.clone()),
                session: Some(session.id),
                trust: *trust,
            })),
            Err(error) => errors.push(error),
        }
    }
    (acc, errors)
}

/// Sorts the wanted transcripts by the start of their session. Drops files that are not
/// transcripts.
fn sort_by_start(
    found: Vec<Transcript>,
    key: Option<&EncryptionKey>,
    is_wanted: impl Fn(&SessionOrigin) -> bool,
) -> Vec<Transcript> {
    let mut dated: Vec<(Timestamp, Transcript)> = Vec::new();
    for transcript in found {
        if let Some(origin) = read_session_origin(&transcript, key)
            && is_wanted(&origin)
        {
            dated.push((origin.started, transcript));
        }
    }
    dated.sort();
    dated.into_iter().map(|(_, transcript)| transcript).collect()
}

/// Reads one session of a host's database into a scratchpad. `OpenCode` is the only host with one.
fn read_database(
    project: &ProjectReader,
    path: &Path,
    session: &str,
    visit: EventVisitor<'_>,
) -> Result<Option<ParsedTranscript>, Error> {
    let row = store::read_host_sessions(path)?.into_iter().find(|it| it.id == session);
    // The host has deleted the session since.
    let Some(row) = row else { return Ok(None) };
    let root = project.place.root.to_string_lossy();
    let host_session = OpenCodeSession {
        id: row.id,
        directory: row.directory,
        parent: row.parent,
        created: row.created,
    };
    let mut reader = OpenCodeReader::new(Some(&root), &host_session);

    // A message of the host consists of parts: texts, tool calls and their results. Each message is
    // folded into the scratchpad at once, so that only one is in memory.
    let mut pad = Scratchpad::with_server_trust(server_trust(project));
    let (mut events, mut n_bytes) = (Vec::new(), 0);
    let to_part = |it: HostMessageRow| OpenCodePart { id: it.id, data: it.data };
    store::read_host_messages(path, session, |HostMessageRow { id, created, data }, parts| {
        n_bytes += data.len() as u64 + parts.iter().map(|it| it.data.len() as u64).sum::<u64>();
        let parts: Vec<OpenCodePart> = parts.into_iter().map(to_part).collect();
        reader.read_message(&mut events, &OpenCodeMessage { id, created, data }, &parts);
        observe_events(&mut pad, &mut events, visit);
    })?;
    let ReadCounts { n_lines, n_damaged, .. } = reader.finish(&mut events);
    observe_events(&mut pad, &mut events, visit);
    Ok(Some(ParsedTranscript {
        pad,
        format: "opencode",
        n_bytes,
        n_lines,
        n_damaged_lines: n_damaged,
        n_truncated: 0,
    }))
}

/// The trust of this project in MCP servers.
fn server_trust(project: &ProjectReader) -> ServerTrust {
    ServerTrust {
        trusted_servers: project.config.trusted_servers.clone(),
        has_foreign_namesake: has_foreign_namesake(&project.place.root),
    }
}

/// Reads a transcript file into a scratchpad, piece by piece.
fn read_file(
    project: &ProjectReader,
    transcript: &Transcript,
    visit: EventVisitor<'_>,
) -> Result<Option<ParsedTranscript>, Error> {
    let key = project.config.key.as_ref();
    let Some(header) = read_header(&transcript.path, key) else { return Ok(None) };
    let origin = transcript_origin(
        &transcript.path,
        project.place.root.to_string_lossy().into_owned(),
        transcript.subagent.clone(),
    );
    let mut reader = TranscriptReader::new(header.format, origin);
    let mut splitter = LineSplitter::new(header.format.layout());
    let mut pad = Scratchpad::with_server_trust(server_trust(project));
    let (mut events, mut n_bytes) = (Vec::new(), 0_u64);

    // Each piece is folded at once, which bounds the memory: transcripts can be hundreds of
    // megabytes.
    read_pieces(&transcript.path, key, |piece| {
        n_bytes += piece.len() as u64;
        splitter.feed(piece, |line| reader.read_line(&mut events, line));
        observe_events(&mut pad, &mut events, visit);
        true // Go on reading.
    })?;
    // What the splitter and the reader still hold: a last line without an end, and open events.
    splitter.finish(|line| reader.read_line(&mut events, line));
    reader.finish(&mut events);
    observe_events(&mut pad, &mut events, visit);
    let ReadCounts { n_lines, n_damaged, .. } = reader.counts();
    Ok(Some(ParsedTranscript {
        pad,
        format: header.format.slug(),
        n_bytes,
        n_lines,
        n_damaged_lines: n_damaged + splitter.n_dropped,
        n_truncated: splitter.n_truncated,
    }))
}

/// Adds the events that only the journal has to the host's record: notes and validations.
fn add_journal_events(
    journal: &Transcript,
    key: Option<&EncryptionKey>,
    mut parsed: ParsedTranscript,
) -> Result<ParsedTranscript, Error> {
    let mut bytes = Vec::new();
    read_pieces(&journal.path, key, |piece| {
        bytes.extend_from_slice(piece);
        true // Go on reading.
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let mut events: Vec<EventEnvelope> =
        text.lines().filter_map(|it| EventEnvelope::parse_line(it).ok()).collect();
    events.retain(|it| matches!(it.event, Event::Record(_) | Event::Validation(_)));
    observe_events(&mut parsed.pad, &mut events, &mut |_, _| {});
    Ok(parsed)
}

/// Reads when and where a session was started; `None` if the file is not a transcript.
fn read_session_origin(
    transcript: &Transcript,
    key: Option<&EncryptionKey>,
) -> Option<SessionOrigin> {
    let Some(session) = &transcript.session else {
        return read_header(&transcript.path, key).map(|it| it.origin);
    };
    let sessions = store::read_host_sessions(&transcript.path).ok()?;
    let row = sessions.into_iter().find(|it| it.id == *session)?;
    Some(SessionOrigin { started: row.created, folder: Some(row.directory) })
}

/// Reads a file in pieces; `on_piece` returns whether to go on. With a key, our own journals are read
/// as a whole, because their lines may be sealed. Files of hosts never are.
fn read_pieces(
    path: &Path,
    key: Option<&EncryptionKey>,
    mut on_piece: impl FnMut(&[u8]) -> bool,
) -> Result<(), Error> {
    let is_journal = path.extension().is_some_and(|it| it == store::JOURNAL_EXTENSION);
    if key.is_none() || !is_journal {
        return Ok(source::read_pieces(path, on_piece)?);
    }
    let text = store::read_journal(path, key, JournalPart::Whole);
    let text = text.map_err(|it| source::Error::from_io(path, it))?;
    on_piece(text.as_bytes());
    Ok(())
}

/// Folds events into a scratchpad, with secrets masked, and leaves the buffer empty. Everything that
/// is learned comes from a scratchpad, so no memory and no row holds a secret of a transcript.
fn observe_events(pad: &mut Scratchpad, events: &mut Vec<EventEnvelope>, visit: EventVisitor<'_>) {
    for event in events.drain(..) {
        // Refused is only an event that its masks make longer than any event.
        if let Ok(masked) = MaskedEvent::new(event) {
            let n_before = pad.n_events();
            pad.observe(&masked);
            // Repeated events and those of other sessions are not folded.
            if pad.n_events() > n_before {
                visit(pad, &masked);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_without_a_whole_first_record_is_being_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        assert!(!is_being_written(&path), "a file that is not there is not waited for");
        for (text, is_written) in [
            ("", true),
            ("{\"type\":\"session.st", true),
            // No transcript of a known host.
            ("a line\nand another\n", false),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(is_being_written(&path), is_written, "{text:?}");
        }
    }
}
