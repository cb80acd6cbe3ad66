//! The handle: cheap to clone, async on the outside, threads and files inside.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::{Memory, MemoryId, ProjectId, QuietSpan, RelationKind, Timestamp};

use crate::apply::{self, Applied, Batch};
use crate::backup::{self, Backup, Contents};
use crate::check::{self, Finding};
use crate::connection::{open_reader, open_writer};
use crate::history::{self, Entry, Step};
use crate::key::Key;
use crate::layout::Home;
use crate::lock::Turnstile;
use crate::memories::{self, Filter, Read, Tally, TextHit};
use crate::projects::{self, PlaceRow};
use crate::query::Db;
use crate::schema::{MEMORY, Schema, USER};
use crate::vectors::{self, Vector};
use crate::worker::{Around, Readers, Writer};
use crate::{Error, erase, maintain, os, settings};

/// Once the log is larger than this, the writer merges it when it has nothing better to do.
const LOG_LIMIT: u64 = 4 << 20;

/// One database file with its threads.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    // Dropped first to last: the threads close their connections before the rest goes.
    readers: OnceLock<Readers>,
    writer: OnceLock<Writer>,
    site: Arc<Site>,
}

/// What the threads need to know about the file.
struct Site {
    home: Home,
    schema: &'static Schema,
    key: Option<Key>,
    now: Timestamp,
    findings: Mutex<Vec<Finding>>,
    #[cfg(feature = "replay")]
    tape: Option<crate::tape::Tape>,
}

/// How large the files are and how full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub database: u64,
    pub log: u64,
    pub backups: u64,
    pub free_pages: i64,
    pub pages: i64,
}

impl Store {
    /// A project's memories. Nothing is touched until the first call; the first write creates it.
    pub fn project(home: Home, key: Option<Key>, now: Timestamp) -> Self {
        Self::new(home, &MEMORY, key, now)
    }

    /// The user's own memories and the registry of projects.
    pub fn user(home: Home, key: Option<Key>, now: Timestamp) -> Self {
        Self::new(home, &USER, key, now)
    }

    /// A user's store that writes down every statement it runs.
    #[cfg(feature = "replay")]
    pub fn taped(home: Home, now: Timestamp, tape: crate::tape::Tape) -> Self {
        let findings = Mutex::default();
        Self::at(Site { home, schema: &USER, key: None, now, findings, tape: Some(tape) })
    }

    fn new(home: Home, schema: &'static Schema, key: Option<Key>, now: Timestamp) -> Self {
        Self::at(Site {
            home,
            schema,
            key,
            now,
            findings: Mutex::default(),
            #[cfg(feature = "replay")]
            tape: None,
        })
    }

    fn at(site: Site) -> Self {
        let (readers, writer) = (OnceLock::new(), OnceLock::new());
        Self { inner: Arc::new(Inner { readers, writer, site: Arc::new(site) }) }
    }

    pub fn path(&self) -> PathBuf {
        self.inner.site.home.database()
    }

    pub fn home(&self) -> &Home {
        &self.inner.site.home
    }

    /// Whether there is anything to read: the file, a mark of one that vanished, or a staged restore.
    pub fn exists(&self) -> bool {
        let home = &self.inner.site.home;
        [home.database(), home.beside("mark"), home.beside("restored")].iter().any(|it| it.exists())
    }

    /// Damage met so far; reported to whoever asked for the data it concerned.
    pub fn findings(&self) -> Vec<Finding> {
        self.inner.site.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn apply(&self, batch: Batch) -> Result<Applied, Error> {
        self.write(move |db| apply::apply(db, &batch)).await
    }

    pub async fn get(&self, id: MemoryId) -> Result<Option<Memory>, Error> {
        Ok(self.memories(move |db| memories::by_id(db, id)).await?.into_iter().next())
    }

    /// Memories whose short id begins with `prefix`.
    pub async fn by_short(&self, prefix: String) -> Result<Vec<Memory>, Error> {
        self.memories(move |db| memories::by_short(db, &prefix)).await
    }

    pub async fn list(&self, filter: Filter) -> Result<Vec<Memory>, Error> {
        self.memories(move |db| memories::list(db, &filter)).await
    }

    /// Memories matching a full-text expression; see `model::words` for how to build one.
    pub async fn search(&self, expression: String, filter: Filter) -> Result<Vec<TextHit>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            memories::search(db, &expression, &filter).and_then(|it| site.sift(db, it))
        })
        .await
    }

    pub async fn pointing_at(
        &self,
        target: MemoryId,
        kind: RelationKind,
    ) -> Result<Vec<Memory>, Error> {
        // An empty answer is the usual one here and no reason for doubt.
        self.read(move |db| Ok(memories::pointing_at(db, target, kind)?.found)).await
    }

    pub async fn tally(&self) -> Result<Vec<Tally>, Error> {
        self.read(memories::tally).await
    }

    pub async fn quiet_spans(&self) -> Result<Vec<QuietSpan>, Error> {
        self.read(memories::quiet_spans).await
    }

    pub async fn versions(&self, id: MemoryId) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| Ok(site.note(history::versions(db, id)?))).await
    }

    pub async fn entries_of(&self, id: MemoryId) -> Result<Vec<(Entry, u32)>, Error> {
        self.read(move |db| history::entries_of(db, id)).await
    }

    pub async fn recent(&self, limit: u32) -> Result<Vec<Entry>, Error> {
        self.read(move |db| history::recent(db, limit)).await
    }

    pub async fn entry(&self, batch: i64) -> Result<Option<Entry>, Error> {
        self.read(move |db| history::entry(db, batch)).await
    }

    pub async fn last_undoable(&self, id: Option<MemoryId>) -> Result<Option<Entry>, Error> {
        self.read(move |db| history::last_undoable(db, id)).await
    }

    pub async fn steps(&self, batch: i64) -> Result<Vec<Step>, Error> {
        self.read(move |db| history::steps(db, batch)).await
    }

    pub async fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        self.read(settings::all).await
    }

    pub async fn vector(&self, owner: MemoryId, model: String) -> Result<Option<Vector>, Error> {
        self.read(move |db| vectors::get(db, owner, &model)).await
    }

    pub async fn codes(&self, model: String, dims: u32) -> Result<Vec<(MemoryId, Vec<i8>)>, Error> {
        self.read(move |db| vectors::codes(db, &model, dims)).await
    }

    pub async fn place_at(&self, key_dir: String) -> Result<Option<PlaceRow>, Error> {
        self.read(move |db| projects::at(db, &key_dir)).await
    }

    pub async fn places(&self) -> Result<Vec<PlaceRow>, Error> {
        self.read(projects::all).await
    }

    pub async fn put_place(&self, place: PlaceRow) -> Result<(), Error> {
        self.write(move |db| projects::put(db, &place)).await
    }

    pub async fn drop_project(&self, project: ProjectId) -> Result<(), Error> {
        self.write(move |db| projects::drop_project(db, project)).await
    }

    /// Erases memories for good, everywhere under this home.
    pub async fn erase(&self, ids: Vec<MemoryId>, now: Timestamp) -> Result<(), Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| {
            erase::intend(&site.home, &ids)?;
            erase::carry_out(db, &site.home, site.key.as_ref(), now)
        })
        .await
    }

    /// Cleans every stored text with `clean` (which returns `None` to leave it); for secrets found late.
    pub async fn scrub(
        &self,
        clean: impl Fn(&str) -> Option<String> + Send + 'static,
    ) -> Result<Vec<MemoryId>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| erase::scrub(db, &site.home, site.key.as_ref(), &clean)).await
    }

    /// Removes memories that were forgotten long ago.
    pub async fn remove(&self, ids: Vec<MemoryId>) -> Result<(), Error> {
        self.write(move |db| erase::remove(db, &ids)).await
    }

    pub async fn backup(&self, now: Timestamp) -> Result<Backup, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| backup::make(db, &site.home, site.key.as_ref(), now)).await
    }

    pub fn backups(&self) -> Vec<Backup> {
        backup::list(&self.inner.site.home)
    }

    /// Opens a backup and checks every row of it.
    pub fn verify_backup(&self, backup: &Backup) -> Result<Contents, Error> {
        backup::verify(&backup.path, self.inner.site.key.as_ref())
    }

    /// Puts a backup in the place of the database. Works when the database cannot be opened at all,
    /// so it goes past the writer; the caller must not use this store afterwards.
    pub fn restore(self, backup: &Backup, now: Timestamp) -> Result<Contents, Error> {
        let site = Arc::clone(&self.inner.site);
        drop(self);
        let turnstile = Turnstile::open(&site.home)?;
        let _turn = turnstile.enter()?;
        let contents = backup::stage_restore(&site.home, &backup.path, site.key.as_ref(), now)?;
        backup::finish_interrupted_restore(&site.home)?;
        Ok(contents)
    }

    /// The complete examination. Uses the writer, whose connection may ask the search index.
    pub async fn examine(&self) -> Result<Vec<Finding>, Error> {
        let site = Arc::clone(&self.inner.site);
        let mut res = self
            .read(move |db| {
                let mut res = check::against_mark(db, &site.home)?;
                res.extend(check::examine(db)?);
                Ok(res)
            })
            .await?;
        res.extend(self.alone(|db| Ok(check::search_index(db))).await?);
        Ok(res)
    }

    /// Mends what can be mended: rebuilds indexes, brings back damaged rows from backups that hold
    /// exactly what was saved, and takes note of losses. Returns what was done, in sentences.
    pub async fn mend(&self, now: Timestamp) -> Result<Vec<String>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| maintain::mend(db, &site.home, site.key.as_ref(), now)).await
    }

    /// Gives back free space when it is worth it; says how many bytes that gained.
    pub async fn compact(&self, always: bool) -> Result<u64, Error> {
        self.alone(move |db| maintain::compact(db, always)).await
    }

    pub async fn size(&self) -> Result<Size, Error> {
        let home = self.inner.site.home.clone();
        self.read(move |db| maintain::size(db, &home)).await
    }

    async fn memories(
        &self,
        job: impl FnOnce(&Db) -> Result<Read<Memory>, Error> + Send + 'static,
    ) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| job(db).and_then(|it| site.sift(db, it))).await
    }

    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let site = &self.inner.site;
        if site.must_be_made_readable() {
            // Creating, migrating and finishing a restore are writes: they go through the writer.
            self.alone(|_| Ok(())).await?;
        }
        let readers = self.inner.readers.get_or_init(|| {
            let site = Arc::clone(site);
            Readers::start(move || site.open_reader())
        });
        readers.run(job).await
    }

    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer().write(job).await
    }

    async fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer().alone(job).await
    }

    fn writer(&self) -> &Writer {
        let site = &self.inner.site;
        self.inner
            .writer
            .get_or_init(|| Writer::start(Desk { site: Arc::clone(site), turnstile: None }))
    }
}

impl Site {
    fn open_reader(&self) -> Result<Db, Error> {
        if let Some(owner) = os::foreign_owner(&self.home.dir) {
            return Err(Error::ForeignOwner { path: self.home.dir.clone(), owner });
        }
        let (db, findings) = open_reader(&self.home, self.schema, self.key.as_ref())?;
        self.add(findings);
        Ok(self.watched(db))
    }

    #[cfg(feature = "replay")]
    fn watched(&self, db: Db) -> Db {
        Db { tape: self.tape.clone(), ..db }
    }

    #[cfg(not(feature = "replay"))]
    #[expect(clippy::unused_self, reason = "only the replay build has something to attach")]
    fn watched(&self, db: Db) -> Db {
        db
    }

    fn must_be_made_readable(&self) -> bool {
        !self.home.database().exists() || self.home.beside("restored").exists()
    }

    /// Remembers damage and passes on the rest. Nothing found at all is reason to look closer:
    /// a damaged index answers "nothing" as readily as an empty one.
    fn sift<T>(&self, db: &Db, read: Read<T>) -> Result<Vec<T>, Error> {
        if read.found.is_empty() && read.damaged.is_empty() {
            self.add(check::doubt(db)?);
        }
        Ok(self.note(read))
    }

    fn note<T>(&self, read: Read<T>) -> Vec<T> {
        self.add(read.damaged);
        read.found
    }

    fn add(&self, findings: Vec<Finding>) {
        let mut known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings {
            if !known.contains(&finding) {
                known.push(finding);
            }
        }
    }
}

/// The writer thread's side of the store.
struct Desk {
    site: Arc<Site>,
    turnstile: Option<Turnstile>,
}

impl Around for Desk {
    fn open(&mut self) -> Result<Db, Error> {
        let site = &self.site;
        site.home.prepare()?;
        let turnstile = Turnstile::open(&site.home)?;
        let db = open_writer(&site.home, site.schema, site.key.as_ref(), &turnstile, site.now)?;
        site.add(check::against_mark(&db, &site.home)?);
        self.turnstile = Some(turnstile);
        Ok(site.watched(db))
    }

    fn locked<T>(
        &mut self,
        db: &mut Db,
        body: impl FnOnce(&mut Self, &mut Db) -> T,
    ) -> Result<T, Error> {
        let turnstile = self.turnstile.take().expect("the database is open, so the turnstile is");
        let turn = turnstile.enter();
        let res = turn.map(|turn| {
            let res = body(self, db);
            drop(turn);
            res
        });
        self.turnstile = Some(turnstile);
        res
    }

    fn committed(&mut self, db: &Db) -> Result<(), Error> {
        // The commit is durable. A mark that cannot be written only weakens later detection.
        if check::advance_mark(db, &self.site.home).is_err() {
            self.site.add(vec![Finding::MarkUnreadable]);
        }
        Ok(())
    }

    fn idle(&mut self, db: &Db) {
        let large = std::fs::metadata(self.site.home.wal()).is_ok_and(|it| it.len() > LOG_LIMIT);
        if large {
            // Passive: never waits for anyone, and the next quiet moment tries again.
            let _ = db.pragma("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}
