//! Journals: append the events of running sessions, and learn from them when a session ends.
//!
//! A journal is a file with one event per line, in the data folder of the project. The daemon
//! appends each event before anything else happens, so a crash loses nothing. Many hosts store a
//! transcript of their own with more detail; learning then reads that, and takes from the journal
//! only what the transcript lacks (see `transcript.rs`).
//!
//! Words: the *host* is the program that runs the agent. A *step* is one turn of the agent with its
//! tool calls. A session is *validated* if its checks
//! passed or its edits were committed within the days after it; until then its journal is kept.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use agents::SessionSource;
use model::{DAY_MS, DEFERRED_DAYS, Event, EventEnvelope, SessionId, SessionStart, Timestamp};
use source::{Transcript, TranscriptTrust};
use store::{
    DataDir, EncryptionKey, JournalDurability, JournalPart, MaskedEvent, Store, StoreReader,
    read_journal,
};

use super::candidates::MAX_SUBTASKS_LEARNED_AT_END;
use super::observed::{MAX_EXTERNAL_CHARS, SessionExtent};
use super::transcript::{is_being_written, was_just_changed};
use super::{LearnedSession, learn_extent, learn_session, read_transcript};
use crate::text_admission::mask_label;
use crate::{Error, NotebookScope, Project, ProjectReader};

/// Bytes at the end of a journal that are searched for the last event; an event line is far
/// shorter.
const END_BYTES: u64 = 4 << 10;
/// Bytes at the beginning of a journal that are searched for start events. The first line is one;
/// those of a resumed session may lie further back, but name the same folder and the same record.
const START_BYTES: u64 = 64 << 10;

/// A journalled session and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalState {
    pub session: SessionId,
    /// The last event is a session end. A session without one may be over as well: not every host
    /// reports the end.
    pub has_ended: bool,
    pub last_written: Timestamp,
}

impl JournalState {
    /// Reads the state from the end of the journal file. An unreadable journal counts as running.
    fn read(session: SessionId, path: &Path, key: Option<&EncryptionKey>) -> Self {
        let mut state = Self { session, has_ended: false, last_written: Timestamp(0) };
        if let Ok(modified) = std::fs::metadata(path).and_then(|it| it.modified()) {
            state.last_written = to_timestamp(modified);
        }
        if let Ok(end) = read_journal(path, key, JournalPart::End(END_BYTES)) {
            // The first of these lines may be incomplete; it does not parse and is skipped.
            let last = end.lines().rev().find_map(|it| EventEnvelope::parse_line(it).ok());
            state.has_ended = last.is_some_and(|it| matches!(it.event, Event::SessionEnd(_)));
        }
        state
    }
}

/// Converts a file time; zero for a time before 1970.
fn to_timestamp(time: SystemTime) -> Timestamp {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(0))
}

/// Finds the record to read a journalled session from: the host's own if it still exists, else the
/// journal.
pub(super) fn session_source(journal: &Path, key: Option<&EncryptionKey>) -> SessionSource {
    let host_record = start_events(journal, key).into_iter().find_map(host_record);
    host_record.unwrap_or(SessionSource::JournalOnly)
}

/// The session that started a journalled session, if it is a subagent.
pub(crate) fn journal_parent(journal: &Path, key: Option<&EncryptionKey>) -> Option<SessionId> {
    start_events(journal, key).into_iter().find_map(|it| it.parent)
}

/// Returns the folder in which a journalled session was started. Searches all projects.
pub fn journalled_session_root(
    data: &Path,
    key: Option<&EncryptionKey>,
    session: SessionId,
) -> Option<PathBuf> {
    let data = DataDir::new(data);
    for project in data.list_projects() {
        // Only the path of the journal is used. It needs no time.
        let store = Store::project(data.project_paths(project), None, Timestamp(0));
        let journal = store.journals().path_of(session);
        // A project that does not have the session has no such file, and so no start event.
        if let Some(start) = start_events(&journal, key).into_iter().next() {
            return Some(PathBuf::from(start.project_root));
        }
    }
    None
}

/// Appends events of one session to its journal, with secrets masked. Registers the project if it
/// is new. If an event ends a step or records a note, the journal is on disk when this returns.
pub(crate) async fn record_events(
    project: &mut Project,
    events: &[EventEnvelope],
) -> Result<(), Error> {
    project.require_memory_enabled()?;
    let Some(first) = events.first() else { return Ok(()) };
    // Journals are stored below the project's id.
    project.ensure_notebook(NotebookScope::Project).await?;
    if append_events(project, events)? { sync_journal(project, first.session) } else { Ok(()) }
}

/// Appends events of one session of a registered project, without waiting for the disk. Returns
/// whether an event ended a step or recorded a note; the caller should then call [`sync_journal`].
pub(crate) fn append_events(project: &Project, events: &[EventEnvelope]) -> Result<bool, Error> {
    project.require_memory_enabled()?;
    let Some(first) = events.first() else { return Ok(false) };
    let Some(store) = project.project_store_writer() else {
        return Err(Error::nothing_to_do("the project is not known yet"));
    };
    let (mut ends_step, mut records_note) = (false, false);
    let mut masked = Vec::new();
    // One journal per session: events of any other session are skipped.
    for event in events.iter().filter(|it| it.session == first.session) {
        ends_step |= matches!(event.event, Event::StepComplete(_) | Event::SessionEnd(_));
        records_note |= matches!(event.event, Event::Record(_));
        masked.push(mask_event(event.clone())?);
    }
    store.journal_writer().append(first.session, &masked, JournalDurability::Buffered)?;
    if records_note {
        // Subagents of one session are shown the notes that the others record. Their hooks look at
        // the time of this marker file first, and read the journals only if it has changed.
        store.journal_writer().mark_note_recorded()?;
    }
    // The agent was told that its note is recorded.
    Ok(ends_step || records_note)
}

/// Writes the journal of a session through to the disk (fsync).
pub(crate) fn sync_journal(project: &Project, session: SessionId) -> Result<(), Error> {
    let Some(store) = project.project_store_writer() else { return Ok(()) };
    Ok(store.journal_writer().sync(session)?)
}

/// Learns from a journalled session and its subagents. Removes the journals that need not wait for
/// later evidence.
pub(crate) async fn learn_from_journal(
    project: &mut Project,
    session: SessionId,
) -> Result<Vec<LearnedSession>, Error> {
    let Some(store) = project.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let path = store.journals().path_of(session);
    let subagents = subagent_transcripts(&session_source(&path, project.config.key.as_ref()));
    // `read_transcript` reads the host's record instead, if the journal names one.
    let own = Transcript::of_file(path);
    let (mut acc, mut failure) = (Vec::new(), None);
    // The session itself comes first: its validation counts for its subagents.
    for transcript in std::iter::once(own).chain(subagents) {
        // Not a transcript, such as another file in the folder of the subagents.
        let Some(parsed) = read_transcript(project, &transcript)? else { continue };
        match learn_session(project, &parsed.pad).await {
            Ok(Some(learned)) => {
                close_journal(project, &learned)?;
                acc.push(learned);
            }
            // A transcript without a session in it.
            Ok(None) => {}
            // It is listed as failed; the other transcripts of the session are learned first.
            Err(error @ Error::SessionFailed { .. }) => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    failure.map_or(Ok(acc), Err)
}

/// Returns whether the host is still writing the transcript of a journalled session.
pub(crate) fn is_transcript_being_written(reader: &ProjectReader, session: SessionId) -> bool {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return false;
    };
    let key = reader.config.key.as_ref();
    let journal = store.journals().path_of(session);
    match session_source(&journal, key) {
        SessionSource::HostTranscript { path } => is_being_written(Path::new(&path)),
        SessionSource::HostDatabase { .. } => false,
        // The hook of the session's end may run before the host has created the file that it named.
        SessionSource::JournalOnly => {
            let names_transcript =
                start_events(&journal, key).iter().any(|it| it.transcript.is_some());
            names_transcript && was_just_changed(&journal)
        }
    }
}

/// Learns the notes of the finished subtasks of a running session, if it has many; a session with
/// few is learned at its end only. Keeps the journal, because the whole session is learned at its
/// end in both cases.
pub(crate) async fn learn_finished_subtasks(
    project: &mut Project,
    session: SessionId,
) -> Result<Option<LearnedSession>, Error> {
    let Some(store) = project.project_store_reader().filter(StoreReader::exists) else {
        return Ok(None);
    };
    let path = store.journals().path_of(session);
    let transcript = Transcript::of_file(path);
    let Some(parsed) = read_transcript(project, &transcript)? else { return Ok(None) };
    if parsed.pad.succeeded_subtasks.len() <= MAX_SUBTASKS_LEARNED_AT_END {
        return Ok(None);
    }
    learn_extent(project, &parsed.pad, SessionExtent::FinishedSubtasks).await
}

/// Removes the journal of a learned session, unless its findings still wait for validation.
pub(crate) fn close_journal(project: &Project, learned: &LearnedSession) -> Result<(), Error> {
    let Some(store) = project.project_store_writer().filter(|it| it.exists()) else {
        return Ok(());
    };
    let age = project.now.millis_since(learned.session.ended);
    // Commits after that time do not count, so nothing can validate the session any more.
    let is_expired = age > i64::from(DEFERRED_DAYS) * DAY_MS;
    if learned.session.validation_basis.is_some() || is_expired {
        store.journal_writer().remove(learned.session.id)?;
    }
    Ok(())
}

/// Returns the first source of external text that a journalled session has read. What it records after
/// that waits for the user's review. `None` also if the host's transcript cannot be read: learning
/// judges the note later in any case, and the note itself must not be lost for that.
pub(crate) fn external_source(reader: &ProjectReader, session: SessionId) -> Option<String> {
    let store = reader.project_store_reader().filter(StoreReader::exists)?;
    let transcript = Transcript::of_file(store.journals().path_of(session));
    let parsed = read_transcript(reader, &transcript).ok().flatten()?;
    parsed.pad.external.map(|it| mask_label(&it.source, MAX_EXTERNAL_CHARS))
}

/// Lists the journalled sessions of this project with their states.
pub(crate) fn list_journals(reader: &ProjectReader) -> Vec<JournalState> {
    let files = journal_files(reader).into_iter();
    let key = reader.config.key.as_ref();
    files.map(|(session, path)| JournalState::read(session, &path, key)).collect()
}

/// Lists the journals of this project as transcripts to learn from.
pub(crate) fn journal_transcripts(reader: &ProjectReader) -> Vec<Transcript> {
    let files = journal_files(reader).into_iter();
    files.map(|(_, path)| Transcript::of_file(path)).collect()
}

/// Returns the ids of the events in a session's journal.
pub(crate) fn journalled_event_ids(reader: &ProjectReader, session: SessionId) -> HashSet<String> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return HashSet::new();
    };
    let path = store.journals().path_of(session);
    let text = read_journal(&path, reader.config.key.as_ref(), JournalPart::Whole);
    let text = text.unwrap_or_default();
    text.lines().filter_map(|it| EventEnvelope::parse_line(it).ok()).map(|it| it.id).collect()
}

/// Masks the secrets in every text of an event. Refuses an event that is too long with its masks.
pub(super) fn mask_event(event: EventEnvelope) -> Result<MaskedEvent, Error> {
    let refuse = |it: model::EventError| Error::Refused { what: it.to_string(), hint: None };
    MaskedEvent::new(event).map_err(refuse)
}

/// Returns the host's record that a start event names; `None` if it names none or the file is gone.
fn host_record(start: SessionStart) -> Option<SessionSource> {
    let path = start.transcript.filter(|it| Path::new(it).is_file())?;
    // A database holds many sessions and is read by session id. A transcript file holds one.
    let is_database =
        Path::new(&path).extension().is_some_and(|it| it == source::DATABASE_EXTENSION);
    Some(match start.host_session.filter(|_| is_database) {
        Some(session) => SessionSource::HostDatabase { path, host_session: session },
        None => SessionSource::HostTranscript { path },
    })
}

/// Reads the start events of a journal; a resumed session has several.
fn start_events(journal: &Path, key: Option<&EncryptionKey>) -> Vec<SessionStart> {
    let text = read_journal(journal, key, JournalPart::Start(START_BYTES)).unwrap_or_default();
    let start = |line: &str| match EventEnvelope::parse_line(line).ok()?.event {
        Event::SessionStart(it) => Some(it),
        _ => None,
    };
    text.lines().filter_map(start).collect()
}

/// Lists the transcripts of a session's subagents: other sessions of the same database, or the
/// files in `<transcript>/subagents`, where Claude Code stores them.
fn subagent_transcripts(source: &SessionSource) -> Vec<Transcript> {
    match source {
        SessionSource::HostTranscript { path } => {
            let folder = Path::new(path).with_extension("").join("subagents");
            source::transcripts_at(&folder).unwrap_or_default()
        }
        SessionSource::HostDatabase { path, host_session: session } => {
            let all = store::read_host_sessions(Path::new(path)).unwrap_or_default();
            let mut transcripts = Vec::new();
            for child in all.into_iter().filter(|it| it.parent.as_ref() == Some(session)) {
                transcripts.push(Transcript {
                    path: PathBuf::from(path),
                    subagent: Some(child.id.clone()),
                    session: Some(child.id),
                    trust: TranscriptTrust::Own,
                });
            }
            transcripts
        }
        // The subagents have journals of their own, which are learned by themselves.
        SessionSource::JournalOnly => Vec::new(),
    }
}

fn journal_files(reader: &ProjectReader) -> Vec<(SessionId, PathBuf)> {
    let store = reader.project_store_reader().filter(StoreReader::exists);
    store.map(|it| it.journals().list()).unwrap_or_default()
}
