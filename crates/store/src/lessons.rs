//! Sessions and what was seen in them: the index across sessions.
//!
//! A lesson is what one session left behind, written with the memories made of it in one
//! transaction. A session that is learned again replaces its own rows. Evidence is JSON to us.

mod statements;

use model::{
    DropReason, MemoryId, Outcome, ProjectPath, SessionId, SessionType, SignalKind, Timestamp,
    ValidationBasis,
};
use rusqlite::{Row, ToSql};

use crate::query::Db;
use crate::{Error, Store};

#[cfg(feature = "replay")]
pub(crate) use statements::STATEMENTS;
use statements::{
    ALL_FILES, COUPLED, DROP_FILES, DROP_SIGHTINGS, DROP_STUMBLES, EDITED_BY_CHILDREN, EDITING,
    EDITORS, EDITORS_IN, FILES, FORGET, HAS_EXPERIENCE, HAS_LESSONS, IN_SESSION, JUDGED, LINK,
    MILESTONES, NEWEST, OF_MEMORY, OF_PATTERN, PASS_MILESTONE, PUT_FILE, PUT_SESSION, PUT_SIGHTING,
    PUT_STUMBLE, RELINK, SESSION, SESSIONS, STUMBLES, TOUCHED, TOUCHED_WITH, TOUCHING,
};
pub(crate) use statements::{EXPERIENCE_TEXTS, TEXTS};

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    pub parent: Option<SessionId>,
    pub agent: String,
    pub kind: SessionType,
    pub outcome: Outcome,
    pub validated: Option<ValidationBasis>,
    pub task: String,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub steps: u32,
    pub tokens: u64,
    pub retries: u32,
    pub external: Option<String>,
    /// Of its events: a session that has grown has another.
    pub print: String,
    /// The steps that the host said it would take.
    pub planned: Option<u32>,
}

/// What a session did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedRow {
    pub path: ProjectPath,
    pub reads: u32,
    pub edits: u32,
    pub first_step: u32,
}

/// A pattern that was seen in a session, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SightingRow {
    pub session: SessionId,
    pub signal: SignalKind,
    pub key: String,
    pub times: u32,
    pub tainted: bool,
    pub evidence: String,
    /// The memory it speaks for.
    pub memory: Option<MemoryId>,
    pub dropped: Option<(DropReason, String)>,
}

/// A call that failed: what it was, and how its answer began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StumbleRow {
    pub at: Timestamp,
    pub head: String,
    pub beginning: String,
}

/// Something that happens once: a module reaches a number of sessions, a week is looked back on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    pub what: String,
    pub mark: i64,
}

/// Everything one session leaves behind beside memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    pub session: SessionRow,
    pub files: Vec<TouchedRow>,
    pub sightings: Vec<SightingRow>,
    pub stumbles: Vec<StumbleRow>,
}

/// Whether the file has these tables: older copies and the user's own file have not.
pub(crate) fn has_lessons(db: &Db) -> Result<bool, Error> {
    Ok(db.number(&HAS_LESSONS, &[])? > 0)
}

/// Whether the file knows what failed before.
pub(crate) fn has_experience(db: &Db) -> Result<bool, Error> {
    Ok(db.number(&HAS_EXPERIENCE, &[])? > 0)
}

/// Notes that a milestone was passed; a second time changes nothing.
pub(crate) fn pass(db: &Db, milestone: &Milestone, now: Timestamp) -> Result<(), Error> {
    db.run(&PASS_MILESTONE, &[&milestone.what, &milestone.mark, &now.0]).map(|_| ())
}

/// Lets the evidence of one memory speak for another.
pub(crate) fn relink(db: &Db, from: MemoryId, to: MemoryId) -> Result<(), Error> {
    let (from, to) = (from.0.as_bytes().as_slice(), to.0.as_bytes().as_slice());
    db.run(&RELINK, &[&from, &to]).map(|_| ())
}

/// Forgets the evidence of an erased memory.
pub(crate) fn forget(db: &Db, memory: &[u8]) -> Result<(), Error> {
    db.run(&FORGET, &[&memory]).map(|_| ())
}

/// Writes a lesson in place of an earlier one of the same session.
pub(crate) fn put(db: &Db, lesson: &Lesson) -> Result<(), Error> {
    let it = &lesson.session;
    let id = it.id.0.as_bytes().as_slice();
    let parent = it.parent.map(|it| it.0.as_bytes().to_vec());
    let tokens = i64::try_from(it.tokens).unwrap_or(i64::MAX);
    let params: [&dyn ToSql; 15] = [
        &id,
        &parent,
        &it.agent,
        &it.kind.slug(),
        &it.outcome.slug(),
        &it.validated.map(ValidationBasis::slug),
        &it.task,
        &it.started.0,
        &it.ended.0,
        &it.steps,
        &tokens,
        &it.retries,
        &it.external,
        &it.print,
        &it.planned,
    ];
    db.run(&PUT_SESSION, &params)?;
    db.run(&DROP_FILES, &[&id])?;
    for file in &lesson.files {
        let params: [&dyn ToSql; 5] =
            [&id, &file.path.as_str(), &file.reads, &file.edits, &file.first_step];
        db.run(&PUT_FILE, &params)?;
    }
    db.run(&DROP_SIGHTINGS, &[&id])?;
    for sighting in &lesson.sightings {
        put_sighting(db, sighting)?;
    }
    db.run(&DROP_STUMBLES, &[&id])?;
    for it in &lesson.stumbles {
        db.run(&PUT_STUMBLE, &[&id, &it.at.0, &it.head, &it.beginning])?;
    }
    Ok(())
}

fn put_sighting(db: &Db, it: &SightingRow) -> Result<(), Error> {
    let memory = it.memory.map(|it| it.0.as_bytes().to_vec());
    let (why, detail) = match &it.dropped {
        Some((why, detail)) => (Some(why.slug()), Some(detail.as_str())),
        None => (None, None),
    };
    let params: [&dyn ToSql; 9] = [
        &it.session.0.as_bytes().as_slice(),
        &it.signal.slug(),
        &it.key,
        &it.times,
        &it.tainted,
        &it.evidence,
        &memory,
        &why,
        &detail,
    ];
    db.run(&PUT_SIGHTING, &params)?;
    if let Some(memory) = memory {
        db.run(&LINK, &[&it.signal.slug(), &it.key, &memory])?;
    }
    Ok(())
}

/// What sessions touched beside a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedWith {
    pub n_sessions: u32,
    /// Other files, and how many of those sessions touched them about then.
    pub others: Vec<(String, u32)>,
}

impl Store {
    /// What is kept of a session.
    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, Error> {
        self.read(move |db| db.one(&SESSION, &[&id.0.as_bytes().as_slice()], read_session)).await
    }

    /// All sessions, in the order they ended.
    pub async fn sessions(&self) -> Result<Vec<SessionRow>, Error> {
        self.read(|db| db.select(&SESSIONS, &[], read_session)).await
    }

    /// What was seen of each of these patterns, in every session.
    pub async fn sightings_of(
        &self,
        patterns: Vec<(SignalKind, String)>,
    ) -> Result<Vec<SightingRow>, Error> {
        self.read(move |db| {
            let mut acc = Vec::new();
            for (signal, key) in &patterns {
                acc.extend(db.select(&OF_PATTERN, &[&signal.slug(), key], read_sighting)?);
            }
            Ok(acc)
        })
        .await
    }

    pub async fn sightings_in(&self, session: SessionId) -> Result<Vec<SightingRow>, Error> {
        self.read(move |db| {
            db.select(&IN_SESSION, &[&session.0.as_bytes().as_slice()], read_sighting)
        })
        .await
    }

    /// The evidence of a memory.
    pub async fn sightings_for(&self, memory: MemoryId) -> Result<Vec<SightingRow>, Error> {
        self.read(move |db| {
            db.select(&OF_MEMORY, &[&memory.0.as_bytes().as_slice()], read_sighting)
        })
        .await
    }

    /// How many sessions edited each of these files, and how many edited any.
    pub async fn editors(&self, paths: Vec<ProjectPath>) -> Result<(Vec<u32>, u32), Error> {
        self.read(move |db| {
            let count = |it: &ProjectPath| {
                db.number(&EDITORS, &[&it.as_str()]).map(|it| u32::try_from(it).unwrap_or(0))
            };
            let each = paths.iter().map(count).collect::<Result<Vec<u32>, Error>>()?;
            let all = u32::try_from(db.number(&EDITING, &[])?).unwrap_or(0);
            Ok((each, all))
        })
        .await
    }

    /// How many sessions edited something right in each of these folders.
    pub async fn editors_in(&self, folders: Vec<String>) -> Result<Vec<u32>, Error> {
        self.read(move |db| {
            let count = |it: &String| db.number(&EDITORS_IN, &[it]);
            let counts = folders.iter().map(count).collect::<Result<Vec<i64>, Error>>()?;
            Ok(counts.into_iter().map(|it| u32::try_from(it).unwrap_or(0)).collect())
        })
        .await
    }

    /// The pairs of files that a memory was made of, by their key.
    pub async fn coupled(&self) -> Result<Vec<(String, MemoryId)>, Error> {
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?));
        let rows = self.read(move |db| db.select(&COUPLED, &[], read)).await?;
        Ok(rows.into_iter().filter_map(|it| Some((it.0, MemoryId::from_bytes(&it.1)?))).collect())
    }

    /// The task of every session and the files it touched, in the order of both.
    pub async fn touched_by_all(&self) -> Result<Vec<(String, Vec<String>)>, Error> {
        let rows = self.read(move |db| {
            db.select(&ALL_FILES, &[], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })
        });
        let (mut acc, mut last): (Vec<(String, Vec<String>)>, Option<i64>) = (Vec::new(), None);
        for (n, task, path) in rows.await? {
            if last != Some(n) {
                acc.push((task, Vec::new()));
                last = Some(n);
            }
            acc.last_mut().expect("a session was just begun").1.push(path);
        }
        Ok(acc)
    }

    /// The calls that failed in a stretch of time, oldest first.
    pub async fn stumbles(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<StumbleRow>, Error> {
        let read = |row: &Row<'_>| {
            let at = Timestamp(row.get(0)?);
            Ok(StumbleRow { at, head: row.get(1)?, beginning: row.get(2)? })
        };
        self.read(move |db| db.select(&STUMBLES, &[&from.0, &until.0], read)).await
    }

    /// Every milestone that was passed, in order.
    pub async fn milestones(&self) -> Result<Vec<Milestone>, Error> {
        let read = |row: &Row<'_>| Ok(Milestone { what: row.get(0)?, mark: row.get(1)? });
        self.read(move |db| db.select(&MILESTONES, &[], read)).await
    }

    /// What each session with this parent edited.
    pub async fn edited_by_children(
        &self,
        parent: SessionId,
    ) -> Result<Vec<(SessionId, ProjectPath)>, Error> {
        let rows = self.read(move |db| {
            db.select(&EDITED_BY_CHILDREN, &[&parent.0.as_bytes().as_slice()], |row| {
                Ok((session_id(&row.get::<_, Vec<u8>>(0)?), row.get::<_, String>(1)?))
            })
        });
        let read = |it: (SessionId, String)| Some((it.0, ProjectPath::parse(&it.1).ok()?));
        Ok(rows.await?.into_iter().filter_map(read).collect())
    }

    /// How many memories were learned by observing, and how many of them people took away.
    pub async fn judged(&self) -> Result<(u32, u32), Error> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.read(move |db| Ok(db.one(&JUDGED, &[], read)?.unwrap_or((0, 0)))).await
    }

    /// Every file that any session touched, by session.
    pub async fn touched(&self) -> Result<Vec<(SessionId, TouchedRow)>, Error> {
        let read = |row: &Row<'_>| {
            let file = (row.get::<_, String>(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((session_id(&row.get::<_, Vec<u8>>(0)?), file))
        };
        let rows = self.read(move |db| db.select(&TOUCHED, &[], read)).await?;
        Ok(rows.into_iter().filter_map(|it| Some((it.0, touched_row(it.1)?))).collect())
    }

    /// Of each file: how many of the newest sessions touched it, and which others several of them
    /// touched within five steps of it, with how many did.
    pub async fn touched_with(&self, files: Vec<String>) -> Result<Vec<TouchedWith>, Error> {
        self.read(move |db| {
            let of = |file: &String| {
                let n_sessions = u32::try_from(db.number(&TOUCHING, &[file])?).unwrap_or(u32::MAX);
                let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                let others = db.select(&TOUCHED_WITH, &[file], read)?;
                let n_sessions = n_sessions.min(NEWEST);
                Ok(TouchedWith { n_sessions, others })
            };
            files.iter().map(of).collect()
        })
        .await
    }

    pub async fn session_files(&self, session: SessionId) -> Result<Vec<TouchedRow>, Error> {
        self.read(move |db| {
            let rows = db.select(&FILES, &[&session.0.as_bytes().as_slice()], |row| {
                Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            Ok(rows.into_iter().filter_map(touched_row).collect())
        })
        .await
    }
}

fn touched_row((path, reads, edits, first_step): (String, u32, u32, u32)) -> Option<TouchedRow> {
    Some(TouchedRow { path: ProjectPath::parse(&path).ok()?, reads, edits, first_step })
}

fn read_session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let parent: Option<Vec<u8>> = row.get(1)?;
    let validated: Option<String> = row.get(5)?;
    Ok(SessionRow {
        id: session_id(&row.get::<_, Vec<u8>>(0)?),
        parent: parent.map(|it| session_id(&it)),
        agent: row.get(2)?,
        kind: SessionType::from_slug(&row.get::<_, String>(3)?).unwrap_or(SessionType::Terminal),
        outcome: Outcome::from_slug(&row.get::<_, String>(4)?).unwrap_or(Outcome::Partial),
        validated: validated.and_then(|it| ValidationBasis::from_slug(&it)),
        task: row.get(6)?,
        started: Timestamp(row.get(7)?),
        ended: Timestamp(row.get(8)?),
        steps: row.get(9)?,
        tokens: u64::try_from(row.get::<_, i64>(10)?).unwrap_or(0),
        retries: row.get(11)?,
        external: row.get(12)?,
        print: row.get(13)?,
        planned: row.get(14)?,
    })
}

fn read_sighting(row: &Row<'_>) -> rusqlite::Result<SightingRow> {
    let memory: Option<Vec<u8>> = row.get(6)?;
    let (why, detail): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
    Ok(SightingRow {
        session: session_id(&row.get::<_, Vec<u8>>(0)?),
        // A signal of a later version is read as a note; its key and evidence are kept as they are.
        signal: SignalKind::from_slug(&row.get::<_, String>(1)?).unwrap_or(SignalKind::Recorded),
        key: row.get(2)?,
        times: row.get(3)?,
        tainted: row.get(4)?,
        evidence: row.get(5)?,
        memory: memory.and_then(|it| MemoryId::from_bytes(&it)),
        dropped: why
            .and_then(|it| DropReason::from_slug(&it))
            .map(|it| (it, detail.unwrap_or_default())),
    })
}

/// An id that is damaged is the id of no session.
fn session_id(bytes: &[u8]) -> SessionId {
    SessionId::from_bytes(bytes).unwrap_or(SessionId::new(Timestamp(0), [0; 10]))
}
