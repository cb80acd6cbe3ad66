//! Transcripts: found, recognised, and folded piece by piece.

use std::path::{Path, PathBuf};

use agents::{Counts, Cutter, Dialect, Form, Origin, Reader, recognise};
use model::{Envelope, Event, Timestamp};
use observe::Scratchpad;
use source::Transcript;
use store::HostRow;

use super::journal;
use crate::{Engine, Error};

/// Bytes that are looked at to recognise a format and find the first moment.
const HEAD: usize = 128 << 10;

/// A transcript that was read.
#[derive(Clone, Debug)]
pub struct TranscriptRead {
    pub pad: Scratchpad,
    pub dialect: &'static str,
    pub bytes: u64,
    pub lines: u64,
    /// Lines that were damaged or too long; the rest is intact.
    pub damaged: u64,
    /// Strings that were cut for their length.
    pub cut: u64,
}

/// What the beginning of a file says.
pub(super) struct Start {
    pub(super) dialect: Dialect,
    at: Timestamp,
    cwd: Option<String>,
}

impl Engine {
    /// The transcripts of this project that hosts keep below `home`, or where the environment says,
    /// oldest first. Those that were started somewhere else are left out.
    pub fn transcripts(
        &self,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Vec<Transcript> {
        let root = self.place.root.to_string_lossy().into_owned();
        let own =
            |it: &Start| it.cwd.as_deref().is_none_or(|cwd| Path::new(cwd).starts_with(&root));
        let (found, _) = opened(source::transcripts(home, variable, &self.place.root));
        sorted(found, own)
    }

    /// Reads a transcript and folds it; `None` for a file that is none.
    pub fn read_transcript(
        &self,
        transcript: &Transcript,
    ) -> Result<Option<TranscriptRead>, Error> {
        if transcript.session.is_some() {
            return self.read_log(transcript);
        }
        let Some(start) = start(transcript) else { return Ok(None) };
        if start.dialect == Dialect::Journal
            && let Some(fuller) = journal::transcript_of(&transcript.path)
            && let Some(read) = self.read_log(&fuller)?
        {
            return read_beside(transcript, read).map(Some);
        }
        self.read_one(transcript)
    }

    /// Reads what a host wrote: one session of a database, or a file.
    fn read_log(&self, transcript: &Transcript) -> Result<Option<TranscriptRead>, Error> {
        match &transcript.session {
            Some(session) => self.read_session(&transcript.path, session),
            None => self.read_one(transcript),
        }
    }

    fn read_one(&self, transcript: &Transcript) -> Result<Option<TranscriptRead>, Error> {
        let Some(start) = start(transcript) else { return Ok(None) };
        let origin = Origin {
            project: Some(self.place.root.to_string_lossy().into_owned()),
            name: transcript
                .path
                .file_stem()
                .map(|it| it.to_string_lossy().into_owned())
                .unwrap_or_default(),
            subagent: transcript.subagent.clone(),
        };
        let mut reader = Reader::new(start.dialect, origin);
        let mut cutter = Cutter::new(start.dialect.form());
        let mut pad = Scratchpad::new();
        let (mut events, mut bytes) = (Vec::new(), 0_u64);
        source::pieces(&transcript.path, |piece| {
            bytes += piece.len() as u64;
            cutter.feed(piece, |line| reader.line(&mut events, line));
            fold(&mut pad, &mut events);
            true
        })?;
        cutter.finish(|line| reader.line(&mut events, line));
        reader.finish(&mut events);
        fold(&mut pad, &mut events);
        let Counts { lines, damaged, .. } = reader.counts();
        Ok(Some(TranscriptRead {
            pad,
            dialect: start.dialect.slug(),
            bytes,
            lines,
            damaged: damaged + cutter.n_dropped,
            cut: cutter.n_cut,
        }))
    }
}

/// A session by the host's own log, and what only the journal knows: notes, and what was checked.
fn read_beside(journal: &Transcript, mut read: TranscriptRead) -> Result<TranscriptRead, Error> {
    let mut text = Vec::new();
    source::pieces(&journal.path, |piece| {
        text.extend_from_slice(piece);
        true
    })?;
    let events = String::from_utf8_lossy(&text);
    for event in events.lines().filter_map(|it| Envelope::read(it).ok()) {
        if matches!(event.event, Event::Record(_) | Event::Validation(_)) {
            read.pad.observe(&event);
        }
    }
    Ok(read)
}

impl Engine {
    /// Reads one session of a host's database and folds it.
    fn read_session(&self, path: &Path, session: &str) -> Result<Option<TranscriptRead>, Error> {
        let known = store::host_sessions(path)?.into_iter().find(|it| it.id == session);
        let Some(known) = known else { return Ok(None) };
        let root = self.place.root.to_string_lossy();
        let row = agents::SessionRow {
            id: known.id,
            directory: known.directory,
            parent: known.parent,
            created: known.created,
        };
        let mut reader = agents::RowReader::new(Some(&root), &row);
        let (mut pad, mut events, mut bytes) = (Scratchpad::new(), Vec::new(), 0);
        let part = |it: HostRow| agents::PartRow { id: it.id, data: it.data };
        store::host_log(path, session, |HostRow { id, created, data }, parts| {
            bytes += data.len() as u64 + parts.iter().map(|it| it.data.len() as u64).sum::<u64>();
            let parts: Vec<agents::PartRow> = parts.into_iter().map(part).collect();
            reader.message(&mut events, &agents::MessageRow { id, created, data }, &parts);
            fold(&mut pad, &mut events);
        })?;
        let Counts { lines, damaged, .. } = reader.finish(&mut events);
        fold(&mut pad, &mut events);
        Ok(Some(TranscriptRead { pad, dialect: "opencode", bytes, lines, damaged, cut: 0 }))
    }
}

/// Databases among what was found come apart into their sessions; one that cannot be read comes back as
/// an error.
fn opened(found: Vec<Transcript>) -> (Vec<Transcript>, Vec<store::Error>) {
    let (mut acc, mut errors) = (Vec::new(), Vec::new());
    for it in found {
        let is_database = it.path.extension().is_some_and(|it| it == source::DATABASE);
        if !is_database || it.session.is_some() {
            acc.push(it);
            continue;
        }
        match store::host_sessions(&it.path) {
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

/// Transcripts at paths that were given, oldest first, whichever project they are of.
pub fn transcripts_in(paths: &[PathBuf]) -> Result<Vec<Transcript>, Error> {
    let mut acc = Vec::new();
    for path in paths {
        acc.extend(source::transcripts_at(path)?);
    }
    acc.dedup();
    let (found, errors) = opened(acc);
    match errors.into_iter().next() {
        // A folder may hold other databases; one that was named is meant.
        Some(error) if found.is_empty() => Err(error.into()),
        _ => Ok(sorted(found, |_| true)),
    }
}

fn fold(pad: &mut Scratchpad, events: &mut Vec<Envelope>) {
    for event in events.drain(..) {
        pad.observe(&event);
    }
}

fn sorted(found: Vec<Transcript>, wanted: impl Fn(&Start) -> bool) -> Vec<Transcript> {
    let started = |it: Transcript| start(&it).filter(|it| wanted(it)).map(|start| (start.at, it));
    let mut acc: Vec<(Timestamp, Transcript)> = found.into_iter().filter_map(started).collect();
    acc.sort();
    acc.into_iter().map(|it| it.1).collect()
}

/// What the beginning of a file says; `None` when it is no transcript.
pub(super) fn start(transcript: &Transcript) -> Option<Start> {
    if let Some(session) = &transcript.session {
        let all = store::host_sessions(&transcript.path).ok()?;
        let it = all.into_iter().find(|it| it.id == *session)?;
        return Some(Start { dialect: Dialect::Journal, at: it.created, cwd: Some(it.directory) });
    }
    let mut head = Vec::new();
    let read = source::pieces(&transcript.path, |piece| {
        head.extend_from_slice(&piece[..piece.len().min(HEAD)]);
        head.len() < HEAD
    });
    read.ok()?;
    let dialect = recognise(&head)?;
    let mut reader = Reader::new(dialect, Origin::default());
    let mut cutter = Cutter::new(dialect.form());
    let mut events = Vec::new();
    cutter.feed(&head, |line| reader.line(&mut events, line));
    // Of a document even a part of a piece says when it began; of a line only the whole.
    if dialect.form() == Form::Document {
        cutter.finish(|line| reader.line(&mut events, line));
    }
    let at = events.iter().map(|it| it.at).find(|it| it.0 > 0).unwrap_or_default();
    let cwd = events.iter().find_map(|it| match &it.event {
        Event::SessionStart(start) => Some(start.project_root.clone()),
        _ => None,
    });
    Some(Start { dialect, at, cwd: cwd.filter(|it| !it.is_empty()) })
}
