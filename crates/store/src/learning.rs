//! Sessions and the patterns seen in them: the index across sessions.
//!
//! A *session* is one conversation of a coding agent. Learning searches each for *patterns*: things
//! that may be worth remembering if they happen again. A pattern is identified by its *signal* (the
//! kind of event, such as a command that failed and was corrected) and its *key* (which command). A
//! *sighting* is one pattern in one session, with its *evidence*, opaque JSON here. A sighting
//! becomes evidence for a memory or is *dropped* with a reason; it is *tainted* if it was
//! derived from external content, such as a web page. A *failed call* is a tool call that returned an error, and a
//! *milestone* an event that is recorded once.
//!
//! For example, three sessions in which `npm test` failed until `npm ci` was run give three
//! sightings with the same signal and key; the third may bring a memory, for which all three are
//! then evidence.
//!
//! A *lesson* is everything one session adds beside memories. It is written in the same transaction
//! as the memories made of it, and replaces an earlier lesson of the same session.
//! `LearningQueries` answers questions across sessions; the SQL is in `statements.rs`.

mod statements;

use model::{
    DropReason, MemoryId, ProjectPath, SessionId, SessionOutcome, SessionType, SignalKind,
    Timestamp, ValidationBasis,
};
use rusqlite::{Row, ToSql};

use crate::Error;
use crate::query::{Db, Query};
use crate::store_reader::StoreReader;
use crate::text_erasure::TextColumn;

#[cfg(feature = "replay")]
pub(crate) use statements::STATEMENTS;
use statements::{
    COUNT_EDITORS_IN_FOLDER, COUNT_JUDGED, COUNT_TOUCHING_SESSIONS, DELETE_EVIDENCE,
    DELETE_FAILED_CALLS, DELETE_FILES, DELETE_SIGHTINGS, HAS_FAILED_CALLS, HAS_LEARNING_TABLES,
    INSERT_FAILED_CALL, INSERT_FILE, INSERT_SIGHTING, LINK_SIGHTINGS, MAX_CO_ACCESS_SESSIONS,
    MOVE_SIGHTINGS, PASS_MILESTONE, PUT_SESSION, SELECT_CO_ACCESSED_FILES,
    SELECT_EDITED_BY_CHILDREN, SELECT_FAILED_CALLS, SELECT_FILES_BY_TASK,
    SELECT_MEMORIES_WITH_SIGNAL, SELECT_MILESTONES, SELECT_SESSION, SELECT_SESSION_FILES,
    SELECT_SESSIONS, SELECT_SIGHTINGS_BY_KEY_BEGINNING, SELECT_SIGHTINGS_FOR_MEMORY,
    SELECT_SIGHTINGS_IN_SESSION, SELECT_SIGHTINGS_OF_PATTERN, SELECT_TOUCHED_FILES,
};
use statements::{
    FAILED_CALL_COLUMNS, FAILED_CALL_COLUMNS_5, HAS_FAILED_CALLS_5, LEARNING_COLUMNS,
};

/// A session, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    /// Session that started this one as a subagent.
    pub parent: Option<SessionId>,
    pub agent: String,
    pub kind: SessionType,
    pub outcome: SessionOutcome,
    /// Evidence that the work of the session holds, such as tests that were observed to pass.
    pub validation_basis: Option<ValidationBasis>,
    /// The user's request, in words.
    pub task: String,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub steps: u32,
    pub tokens: u64,
    pub retries: u32,
    /// The first text from outside the project that the session read, if any.
    pub external: Option<String>,
    /// Changes when the session continues. Stored as `fingerprint`.
    pub progress_key: String,
    /// Steps the host planned at the start.
    pub planned_steps: Option<u32>,
}

/// Accesses of one session to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedFileRow {
    pub path: ProjectPath,
    pub reads: u32,
    pub edits: u32,
    /// Step of the session that first accessed the file.
    pub first_step: u32,
}

/// A pattern seen in a session, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SightingRow {
    pub session: SessionId,
    pub signal: SignalKind,
    /// Pattern key: identifies the pattern across sessions.
    pub key: String,
    /// Number of times that the session showed the pattern.
    pub times: u32,
    /// Derived from external content; a memory made of it is quarantined until the user confirms.
    pub tainted: bool,
    /// JSON.
    pub evidence: String,
    /// Memory that this sighting is evidence for.
    pub memory: Option<MemoryId>,
    /// Reason and detail, if the sighting was not kept as a memory.
    pub dropped: Option<(DropReason, String)>,
}

/// A failed tool call: the command, and the beginning of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCallRow {
    pub at: Timestamp,
    pub call: String,
    pub output_start: String,
}

/// An event that is recorded once, such as a module reaching a number of sessions, or a weekly
/// review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    pub name: String,
    pub count: i64,
}

/// Everything one session adds beside memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLesson {
    pub session: SessionRow,
    pub files: Vec<TouchedFileRow>,
    pub sightings: Vec<SightingRow>,
    pub failed_calls: Vec<FailedCallRow>,
}

/// Files that sessions touched together with a given file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoAccessedFiles {
    /// Sessions that touched the given file, of which at most the newest 32 are considered.
    pub n_sessions: u32,
    /// Other files, with the number of those sessions that touched them within a few steps.
    pub others: Vec<(String, u32)>,
}

/// Queries about sessions and the patterns seen in them.
#[derive(Clone, Copy)]
pub struct LearningQueries<'a> {
    reader: &'a StoreReader,
}

impl<'a> LearningQueries<'a> {
    pub(crate) fn new(reader: &'a StoreReader) -> Self {
        Self { reader }
    }

    /// Reads one session.
    pub async fn get_session(self, id: SessionId) -> Result<Option<SessionRow>, Error> {
        self.reader
            .read(move |db| {
                db.select_one(&SELECT_SESSION, &[&id.0.as_bytes().as_slice()], read_session)
            })
            .await
    }

    /// Lists all sessions, in the order they ended.
    pub async fn list_sessions(self) -> Result<Vec<SessionRow>, Error> {
        self.reader.read(|db| db.select(&SELECT_SESSIONS, &[], read_session)).await
    }

    /// Sightings of these patterns in all sessions.
    pub async fn sightings_of_patterns(
        self,
        patterns: Vec<(SignalKind, String)>,
    ) -> Result<Vec<SightingRow>, Error> {
        self.reader
            .read(move |db| {
                let mut acc = Vec::new();
                for (signal, key) in &patterns {
                    acc.extend(db.select(
                        &SELECT_SIGHTINGS_OF_PATTERN,
                        &[&signal.slug(), key],
                        read_sighting,
                    )?);
                }
                Ok(acc)
            })
            .await
    }

    /// Sightings of a signal whose pattern key begins with a text, in all sessions.
    pub async fn sightings_by_key_beginning(
        self,
        signal: SignalKind,
        beginning: String,
    ) -> Result<Vec<SightingRow>, Error> {
        self.reader
            .read(move |db| {
                db.select(
                    &SELECT_SIGHTINGS_BY_KEY_BEGINNING,
                    &[&signal.slug(), &beginning],
                    read_sighting,
                )
            })
            .await
    }

    /// Sightings in one session.
    pub async fn sightings_in_session(self, session: SessionId) -> Result<Vec<SightingRow>, Error> {
        self.reader
            .read(move |db| {
                db.select(
                    &SELECT_SIGHTINGS_IN_SESSION,
                    &[&session.0.as_bytes().as_slice()],
                    read_sighting,
                )
            })
            .await
    }

    /// Sightings that are evidence for a memory.
    pub async fn sightings_for_memory(self, memory: MemoryId) -> Result<Vec<SightingRow>, Error> {
        self.reader
            .read(move |db| {
                db.select(
                    &SELECT_SIGHTINGS_FOR_MEMORY,
                    &[&memory.0.as_bytes().as_slice()],
                    read_sighting,
                )
            })
            .await
    }

    /// Counts the sessions that edited a file directly in each of these folders.
    pub async fn count_editing_sessions_in(self, folders: Vec<String>) -> Result<Vec<u32>, Error> {
        self.reader
            .read(move |db| {
                let mut counts = Vec::with_capacity(folders.len());
                for folder in &folders {
                    counts.push(select_count(db, &COUNT_EDITORS_IN_FOLDER, &[folder])?);
                }
                Ok(counts)
            })
            .await
    }

    /// Task of every session with the files it touched: sessions in the order they ended, files in
    /// the order of the first access.
    pub async fn files_by_task(self) -> Result<Vec<(String, Vec<String>)>, Error> {
        let rows = self.reader.read(move |db| {
            db.select(&SELECT_FILES_BY_TASK, &[], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })
        });
        let mut tasks: Vec<(String, Vec<String>)> = Vec::new();
        let mut last_session = None;
        for (session, task, path) in rows.await? {
            // Rows of one session follow each other.
            if last_session != Some(session) {
                tasks.push((task, Vec::new()));
                last_session = Some(session);
            }
            let (_, files) = tasks.last_mut().expect("the task was just added");
            files.push(path);
        }
        Ok(tasks)
    }

    /// Failed calls in a time span, oldest first.
    pub async fn failed_calls(
        self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FailedCallRow>, Error> {
        let read = |row: &Row<'_>| {
            let at = Timestamp(row.get(0)?);
            Ok(FailedCallRow { at, call: row.get(1)?, output_start: row.get(2)? })
        };
        self.reader
            .read(move |db| db.select(&SELECT_FAILED_CALLS, &[&from.0, &until.0], read))
            .await
    }

    /// Lists the recorded milestones, in order.
    pub async fn list_milestones(self) -> Result<Vec<Milestone>, Error> {
        let read = |row: &Row<'_>| Ok(Milestone { name: row.get(0)?, count: row.get(1)? });
        self.reader.read(move |db| db.select(&SELECT_MILESTONES, &[], read)).await
    }

    /// Files edited by the subagents of a session, with the subagent's session.
    pub async fn files_edited_by_children(
        self,
        parent: SessionId,
    ) -> Result<Vec<(SessionId, ProjectPath)>, Error> {
        let rows = self.reader.read(move |db| {
            db.select(&SELECT_EDITED_BY_CHILDREN, &[&parent.0.as_bytes().as_slice()], |row| {
                Ok((parse_session_id(&row.get::<_, Vec<u8>>(0)?), row.get::<_, String>(1)?))
            })
        });
        let mut edited = Vec::new();
        for (child, path) in rows.await? {
            // Erasing a text can leave something that is no path any more.
            if let Ok(path) = ProjectPath::parse(&path) {
                edited.push((child, path));
            }
        }
        Ok(edited)
    }

    /// Counts the memories learned by observation, and those of them that people rejected.
    pub async fn count_judged(self) -> Result<(u32, u32), Error> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.reader
            .read(move |db| Ok(db.select_one(&COUNT_JUDGED, &[], read)?.unwrap_or((0, 0))))
            .await
    }

    /// Lists the memories that sightings of any of some signals support.
    pub async fn memories_with_signals(
        self,
        signals: Vec<SignalKind>,
    ) -> Result<Vec<MemoryId>, Error> {
        self.reader
            .read(move |db| {
                let mut ids: Vec<Vec<u8>> = Vec::new();
                for signal in signals {
                    let query = &SELECT_MEMORIES_WITH_SIGNAL;
                    ids.extend(db.select(query, &[&signal.slug()], |row| row.get(0))?);
                }
                ids.sort_unstable();
                ids.dedup();
                Ok(ids.iter().filter_map(|it| MemoryId::from_bytes(it)).collect())
            })
            .await
    }

    /// Lists every file that any session touched, by session.
    pub async fn touched_files(self) -> Result<Vec<(SessionId, TouchedFileRow)>, Error> {
        let read = |row: &Row<'_>| {
            let file = (row.get::<_, String>(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((parse_session_id(&row.get::<_, Vec<u8>>(0)?), file))
        };
        let rows = self.reader.read(move |db| db.select(&SELECT_TOUCHED_FILES, &[], read)).await?;
        let mut touched = Vec::with_capacity(rows.len());
        for (session, columns) in rows {
            touched.extend(touched_row(columns).map(|file| (session, file)));
        }
        Ok(touched)
    }

    /// For each file: how many of the newest sessions touched it, and which other files several of
    /// them touched within five steps of it.
    pub async fn co_accessed_files(
        self,
        files: Vec<String>,
    ) -> Result<Vec<CoAccessedFiles>, Error> {
        self.reader
            .read(move |db| {
                let mut co_accessed = Vec::with_capacity(files.len());
                for file in &files {
                    let n_touching = select_count(db, &COUNT_TOUCHING_SESSIONS, &[file])?;
                    // The other files are counted in the newest sessions only, so the whole is
                    // limited in the same way.
                    let n_sessions = n_touching.min(MAX_CO_ACCESS_SESSIONS);
                    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                    let others = db.select(&SELECT_CO_ACCESSED_FILES, &[file], read)?;
                    co_accessed.push(CoAccessedFiles { n_sessions, others });
                }
                Ok(co_accessed)
            })
            .await
    }

    /// Files that a session touched, in the order of the first access.
    pub async fn files_of_session(self, session: SessionId) -> Result<Vec<TouchedFileRow>, Error> {
        self.reader
            .read(move |db| {
                let rows =
                    db.select(&SELECT_SESSION_FILES, &[&session.0.as_bytes().as_slice()], |row| {
                        Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                    })?;
                Ok(rows.into_iter().filter_map(touched_row).collect())
            })
            .await
    }
}

/// Selects a count. Counts are never negative and far below four billion.
fn select_count(db: &Db, query: &Query, params: &[&dyn ToSql]) -> Result<u32, Error> {
    Ok(u32::try_from(db.select_number(query, params)?).unwrap_or(0))
}

/// Returns whether the file has the learning tables. Older copies and the user's database do not.
pub(crate) fn has_learning_tables(db: &Db) -> Result<bool, Error> {
    Ok(db.select_number(&HAS_LEARNING_TABLES, &[])? > 0)
}

/// Columns with free text, each as the statement that reads it and the one that writes it. Copies
/// of older schemas have fewer tables, or other names for them.
pub(crate) fn text_columns(db: &Db) -> Result<Vec<TextColumn>, Error> {
    let has_table = |query: &Query| db.select_number(query, &[]).map(|it| it > 0);
    let mut columns = Vec::new();
    if has_learning_tables(db)? {
        columns.extend(LEARNING_COLUMNS);
    }
    // Schema version 5 has this table under another name, and still older ones do not have it.
    if has_table(&HAS_FAILED_CALLS)? {
        columns.extend(FAILED_CALL_COLUMNS);
    } else if has_table(&HAS_FAILED_CALLS_5)? {
        columns.extend(FAILED_CALL_COLUMNS_5);
    }
    Ok(columns)
}

/// Records a milestone. Recording it again changes nothing.
pub(crate) fn pass_milestone(db: &Db, milestone: &Milestone, now: Timestamp) -> Result<(), Error> {
    db.execute(&PASS_MILESTONE, &[&milestone.name, &milestone.count, &now.0]).map(|_| ())
}

/// Moves the evidence of one memory to another.
pub(crate) fn move_evidence(db: &Db, from: MemoryId, to: MemoryId) -> Result<(), Error> {
    let (from, to) = (from.0.as_bytes().as_slice(), to.0.as_bytes().as_slice());
    db.execute(&MOVE_SIGHTINGS, &[&from, &to]).map(|_| ())
}

/// Deletes the evidence of an erased memory, and the failed calls of its sessions: the message of an error is
/// stored with both.
pub(crate) fn delete_evidence(db: &Db, memory: &[u8]) -> Result<(), Error> {
    if db.select_number(&HAS_FAILED_CALLS, &[])? > 0 {
        for sighting in db.select(&SELECT_SIGHTINGS_FOR_MEMORY, &[&memory], read_sighting)? {
            db.execute(&DELETE_FAILED_CALLS, &[&sighting.session.0.as_bytes().as_slice()])?;
        }
    }
    db.execute(&DELETE_EVIDENCE, &[&memory]).map(|_| ())
}

/// Writes a lesson, replacing an earlier one of the same session.
pub(crate) fn put_lesson(db: &Db, lesson: &SessionLesson) -> Result<(), Error> {
    let session = &lesson.session;
    let id = session.id.0.as_bytes().as_slice();
    let parent = session.parent.map(|it| it.0.as_bytes().to_vec());
    let tokens = i64::try_from(session.tokens).unwrap_or(i64::MAX);
    let params: [&dyn ToSql; 15] = [
        &id,
        &parent,
        &session.agent,
        &session.kind.slug(),
        &session.outcome.slug(),
        &session.validation_basis.map(ValidationBasis::slug),
        &session.task,
        &session.started.0,
        &session.ended.0,
        &session.steps,
        &tokens,
        &session.retries,
        &session.external,
        &session.progress_key,
        &session.planned_steps,
    ];
    db.execute(&PUT_SESSION, &params)?;
    // A session that is learned again replaces its own rows.
    db.execute(&DELETE_FILES, &[&id])?;
    for file in &lesson.files {
        let params: [&dyn ToSql; 5] =
            [&id, &file.path.as_str(), &file.reads, &file.edits, &file.first_step];
        db.execute(&INSERT_FILE, &params)?;
    }
    db.execute(&DELETE_SIGHTINGS, &[&id])?;
    for sighting in &lesson.sightings {
        put_sighting(db, sighting)?;
    }
    db.execute(&DELETE_FAILED_CALLS, &[&id])?;
    for failed in &lesson.failed_calls {
        db.execute(&INSERT_FAILED_CALL, &[&id, &failed.at.0, &failed.call, &failed.output_start])?;
    }
    Ok(())
}

/// Adds sightings to those of their session.
pub(crate) fn add_sightings(db: &Db, sightings: &[SightingRow]) -> Result<(), Error> {
    sightings.iter().try_for_each(|it| put_sighting(db, it))
}

fn put_sighting(db: &Db, sighting: &SightingRow) -> Result<(), Error> {
    let memory = sighting.memory.map(|it| it.0.as_bytes().to_vec());
    let (drop_reason, drop_detail) = match &sighting.dropped {
        Some((reason, detail)) => (Some(reason.slug()), Some(detail.as_str())),
        None => (None, None),
    };
    let params: [&dyn ToSql; 9] = [
        &sighting.session.0.as_bytes().as_slice(),
        &sighting.signal.slug(),
        &sighting.key,
        &sighting.times,
        &sighting.tainted,
        &sighting.evidence,
        &memory,
        &drop_reason,
        &drop_detail,
    ];
    db.execute(&INSERT_SIGHTING, &params)?;
    if let Some(memory) = memory {
        // Earlier sightings of the pattern had no memory yet.
        db.execute(&LINK_SIGHTINGS, &[&sighting.signal.slug(), &sighting.key, &memory])?;
    }
    Ok(())
}

/// Builds the row of a touched file from its columns; `None` if the path is none any more, because
/// a text in it was erased.
fn touched_row(
    (path, reads, edits, first_step): (String, u32, u32, u32),
) -> Option<TouchedFileRow> {
    Some(TouchedFileRow { path: ProjectPath::parse(&path).ok()?, reads, edits, first_step })
}

fn read_session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let parent: Option<Vec<u8>> = row.get("parent")?;
    let validation_basis: Option<String> = row.get("validation_basis")?;
    Ok(SessionRow {
        id: parse_session_id(&row.get::<_, Vec<u8>>("id")?),
        parent: parent.map(|it| parse_session_id(&it)),
        agent: row.get("agent")?,
        // Values of a newer version read as the most general ones.
        kind: SessionType::from_slug(&row.get::<_, String>("type")?)
            .unwrap_or(SessionType::Terminal),
        outcome: SessionOutcome::from_slug(&row.get::<_, String>("outcome")?)
            .unwrap_or(SessionOutcome::Partial),
        validation_basis: validation_basis.and_then(|it| ValidationBasis::from_slug(&it)),
        task: row.get("task")?,
        started: Timestamp(row.get("started")?),
        ended: Timestamp(row.get("ended")?),
        steps: row.get("steps")?,
        tokens: u64::try_from(row.get::<_, i64>("tokens")?).unwrap_or(0),
        retries: row.get("retries")?,
        external: row.get("external")?,
        progress_key: row.get("fingerprint")?,
        planned_steps: row.get("planned_steps")?,
    })
}

fn read_sighting(row: &Row<'_>) -> rusqlite::Result<SightingRow> {
    let memory: Option<Vec<u8>> = row.get("memory")?;
    let drop_reason: Option<String> = row.get("dropped")?;
    let drop_detail: Option<String> = row.get("detail")?;
    Ok(SightingRow {
        session: parse_session_id(&row.get::<_, Vec<u8>>("session")?),
        // A signal of a newer version is read as a recorded note; key and evidence stay as they
        // are.
        signal: SignalKind::from_slug(&row.get::<_, String>("signal")?)
            .unwrap_or(SignalKind::Recorded),
        key: row.get("key")?,
        times: row.get("times")?,
        tainted: row.get("tainted")?,
        evidence: row.get("evidence")?,
        memory: memory.and_then(|it| MemoryId::from_bytes(&it)),
        dropped: drop_reason
            .and_then(|it| DropReason::from_slug(&it))
            .map(|it| (it, drop_detail.unwrap_or_default())),
    })
}

/// Reads the id of a session. A damaged one becomes an id that no session has: time 0, all zeros.
fn parse_session_id(bytes: &[u8]) -> SessionId {
    SessionId::from_bytes(bytes).unwrap_or(SessionId::new(Timestamp(0), [0; 10]))
}
