//! Journals of sessions that are going on: written before anything else, folded when the session ends.

use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use model::{DAY, DEFERRED_DAYS, Envelope, Event, Excerpt, SessionId, SessionStart, Timestamp};
use source::Transcript;
use store::{DataDir, Store};

use super::compose::MANY_SUBTASKS;
use super::{Learned, Part};
use crate::{Engine, Error, Reach};

/// How much of a journal's end is looked at to see whether the session ended.
const END: u64 = 4 << 10;
/// How much of its beginning names the host's own log.
const BEGINNING: u64 = 64 << 10;

/// A session that is journalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journalled {
    pub session: SessionId,
    /// It said so itself; others ended without a word, or go on.
    pub has_ended: bool,
    /// When it was last heard of.
    pub touched: Timestamp,
}

impl Journalled {
    fn look(session: SessionId, path: &Path) -> Self {
        let mut res = Self { session, has_ended: false, touched: Timestamp(0) };
        let Ok(mut file) = std::fs::File::open(path) else { return res };
        let since = |it: std::time::SystemTime| it.duration_since(std::time::UNIX_EPOCH).ok();
        let modified = file.metadata().and_then(|it| it.modified()).ok().and_then(since);
        let millis = modified.and_then(|it| i64::try_from(it.as_millis()).ok());
        res.touched = Timestamp(millis.unwrap_or(0));
        let length = file.seek(SeekFrom::End(0)).unwrap_or(0);
        let mut end = Vec::new();
        let read = file
            .seek(SeekFrom::Start(length.saturating_sub(END)))
            .and_then(|_| file.read_to_end(&mut end));
        if read.is_ok() {
            let last = String::from_utf8_lossy(&end);
            let last = last.lines().rev().find_map(|it| Envelope::read(it).ok());
            res.has_ended = last.is_some_and(|it| matches!(it.event, Event::SessionEnd(_)));
        }
        res
    }
}

/// Where the host keeps its own log of a journalled session, when that is still there.
pub(super) fn transcript_of(journal: &Path) -> Option<Transcript> {
    let log = |it: SessionStart| {
        let path = it.transcript.map(PathBuf::from).filter(|it| it.is_file())?;
        let is_database = path.extension().is_some_and(|it| it == source::DATABASE);
        let session = it.host_session.filter(|_| is_database);
        Some(Transcript { path, subagent: None, session })
    };
    beginnings(journal).into_iter().find_map(log)
}

/// The folder in which a journalled session was started, whichever project it is of.
pub fn session_root(data: &Path, session: SessionId) -> Option<PathBuf> {
    let data = DataDir::new(data);
    data.projects().into_iter().find_map(|it| {
        let store = Store::project(data.project(it), None, Timestamp(0));
        let first = beginnings(&store.journal_path(session)).into_iter().next();
        first.map(|it| PathBuf::from(it.project_root))
    })
}

/// How a journal says that its session began; it may say so again when the session goes on.
fn beginnings(journal: &Path) -> Vec<SessionStart> {
    let mut text = Vec::new();
    let read =
        std::fs::File::open(journal).and_then(|it| it.take(BEGINNING).read_to_end(&mut text));
    let text = if read.is_ok() { String::from_utf8_lossy(&text) } else { "".into() };
    let start = |line: &str| match Envelope::read(line).ok()?.event {
        Event::SessionStart(it) => Some(it),
        _ => None,
    };
    text.lines().filter_map(start).collect()
}

/// The logs of those that a session started: in the same database, or, as Claude Code keeps them, in a
/// folder named like its own.
fn beside(transcript: &Transcript) -> Vec<Transcript> {
    let Some(session) = &transcript.session else {
        let folder = transcript.path.with_extension("").join("subagents");
        return source::transcripts_at(&folder).unwrap_or_default();
    };
    let all = store::host_sessions(&transcript.path).unwrap_or_default();
    all.into_iter()
        .filter(|it| it.parent.as_ref() == Some(session))
        .map(|it| Transcript {
            path: transcript.path.clone(),
            subagent: Some(it.id.clone()),
            session: Some(it.id),
        })
        .collect()
}

impl Engine {
    /// Keeps events of one session, secrets masked. Those that end a step are on the disk when this returns.
    pub async fn journal(&mut self, events: &[Envelope]) -> Result<(), Error> {
        self.refuse_closed()?;
        let Some(first) = events.first() else { return Ok(()) };
        self.notebook(Reach::Project).await?;
        if self.append(events)? { self.sync_journal(first.session) } else { Ok(()) }
    }

    /// As `journal`, in a project that is known already, and without waiting for the disk: says whether
    /// an event ended a step, so that `sync_journal` is due.
    pub fn append(&self, events: &[Envelope]) -> Result<bool, Error> {
        self.refuse_closed()?;
        let Some(first) = events.first() else { return Ok(false) };
        let Some(store) = self.project_store() else {
            return Err(Error::nothing("the project is not known yet"));
        };
        let mut durable = false;
        let mut lines = String::new();
        for event in events.iter().filter(|it| it.session == first.session) {
            durable |= matches!(event.event, Event::StepComplete(_) | Event::SessionEnd(_));
            lines.push_str(&masked_line(event));
        }
        store.journal(first.session, &lines, false)?;
        if events.iter().any(|it| matches!(it.event, Event::Record(_))) {
            store.mark_noted()?;
        }
        Ok(durable)
    }

    /// Waits until the journal of a session is on the disk.
    pub fn sync_journal(&self, session: SessionId) -> Result<(), Error> {
        let Some(store) = self.project_store() else { return Ok(()) };
        Ok(store.sync_journal(session)?)
    }

    /// The sessions that are journalled here, and how they stand.
    pub fn journalled(&self) -> Vec<Journalled> {
        let store = self.project_store().filter(Store::exists);
        let all = store.map(|it| it.journals()).unwrap_or_default();
        all.into_iter().map(|(session, path)| Journalled::look(session, &path)).collect()
    }

    /// The ids of the events in a session's journal.
    pub fn journalled_events(&self, session: SessionId) -> HashSet<String> {
        let mut acc = HashSet::new();
        if let Some(store) = self.project_store().filter(Store::exists) {
            let text = std::fs::read(store.journal_path(session)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            acc.extend(text.lines().filter_map(|it| Envelope::read(it).ok()).map(|it| it.id));
        }
        acc
    }

    /// Learns from a journalled session, and from those that it started; what need not wait is closed.
    pub async fn learn_journalled(&mut self, session: SessionId) -> Result<Vec<Learned>, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(Vec::new()) };
        let path = store.journal_path(session);
        let mut acc = Vec::new();
        let subagents = transcript_of(&path).map(|it| beside(&it)).unwrap_or_default();
        for transcript in
            std::iter::once(Transcript { path, subagent: None, session: None }).chain(subagents)
        {
            let Some(read) = self.read_transcript(&transcript)? else { continue };
            if let Some(learned) = self.learn(&read.pad).await? {
                self.close_journal(&learned)?;
                acc.push(learned);
            }
        }
        Ok(acc)
    }

    /// Learns what a session that goes on may teach already: of a build of many subtasks, the notes of
    /// those that succeeded. The journal stays.
    pub async fn learn_so_far(&mut self, session: SessionId) -> Result<Option<Learned>, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(None) };
        let path = store.journal_path(session);
        let transcript = Transcript { path, subagent: None, session: None };
        let Some(read) = self.read_transcript(&transcript)? else { return Ok(None) };
        if read.pad.subtasks.len() <= MANY_SUBTASKS {
            return Ok(None);
        }
        self.learn_part(&read.pad, Part::SoFar).await
    }

    /// The journals of this project, as transcripts to learn from.
    pub fn journals(&self) -> Vec<Transcript> {
        let store = self.project_store().filter(Store::exists);
        let all = store.map(|it| it.journals()).unwrap_or_default();
        all.into_iter().map(|it| Transcript { path: it.1, subagent: None, session: None }).collect()
    }

    /// Removes the journal of a session that was learned, unless what was seen in it still waits.
    pub fn close_journal(&self, learned: &Learned) -> Result<(), Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(()) };
        let old = self.now.since(learned.session.ended) > i64::from(DEFERRED_DAYS) * DAY;
        if learned.session.validated.is_some() || old {
            store.remove_journal(learned.session.id)?;
        }
        Ok(())
    }
}

/// The event as a line of a journal, secrets masked.
pub(super) fn masked_line(event: &Envelope) -> String {
    masked(event.clone()).line() + "\n"
}

/// The event with the secrets in its texts masked.
fn masked(mut envelope: Envelope) -> Envelope {
    let clean = |text: &mut String| {
        if !secrets::scan(text).is_empty() {
            *text = secrets::redact(text).text;
        }
    };
    match &mut envelope.event {
        Event::SessionStart(it) => it.task.iter_mut().for_each(clean),
        Event::UserMessage(it) => clean(&mut it.text),
        Event::Reasoning(it) => clean(&mut it.text),
        Event::Record(it) => clean(&mut it.content),
        Event::ToolCall(it) => {
            let args = &mut it.args;
            [&mut args.command, &mut args.query, &mut args.url]
                .into_iter()
                .flatten()
                .for_each(clean);
        }
        Event::ToolResult(it) => {
            let mut text = it.excerpt.as_str().to_owned();
            clean(&mut text);
            it.excerpt = Excerpt::new(text);
        }
        Event::StepComplete(_)
        | Event::Validation(_)
        | Event::Compaction(_)
        | Event::SessionEnd(_) => {}
    }
    envelope
}
