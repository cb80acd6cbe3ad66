//! The handle: cheap to clone, async on the outside, threads and files inside.

mod upkeep;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use model::{Hlc, Memory, MemoryId, ProjectId, ProjectPath, RelationKind, Timestamp};

use crate::batch::{Applied, Batch};
use crate::check::{self, Finding};
use crate::desk::Desk;
use crate::filter::Filter;
use crate::history::{self, Entry, Step};
use crate::key::Key;
use crate::layout::Home;
use crate::matches::{self, Lookup, Quiet, Subjects, Warnings};
use crate::memories::{self, Read, Tally, TextHit};
use crate::outline::{self, News, Position};
use crate::projects::{self, PlaceRow};
use crate::query::Db;
use crate::schema::{MEMORY, Schema, USER};
use crate::site::Site;
use crate::vectors::{self, Embedding, Part, Vectors};
use crate::worker::{Readers, Writer};
use crate::{Error, apply, settings, stamp, witness};

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
    /// A project's memories. Nothing is touched until the first call, which creates what is missing;
    /// see `exists`.
    pub fn project(home: Home, key: Option<Key>, now: Timestamp) -> Self {
        Self::new(home, &MEMORY, key, now)
    }

    /// The user's own memories and the registry of projects.
    pub fn user(home: Home, key: Option<Key>, now: Timestamp) -> Self {
        Self::new(home, &USER, key, now)
    }

    fn new(home: Home, schema: &'static Schema, key: Option<Key>, now: Timestamp) -> Self {
        Self::at(Site::new(home, schema, key, now))
    }

    pub(crate) fn at(site: Site) -> Self {
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
        [home.database(), home.mark(), home.staged()].iter().any(|it| it.exists())
    }

    /// Whether the file is encrypted; `None` while there is none. A key opens a plain file, too.
    pub async fn is_encrypted(&self) -> Result<Option<bool>, Error> {
        if !self.exists() {
            return Ok(None);
        }
        self.read(|db| Ok(Some(db.is_encrypted))).await
    }

    /// Damage met so far; reported to whoever asked for the data it concerned.
    pub fn findings(&self) -> Vec<Finding> {
        self.inner.site.findings()
    }

    pub async fn apply(&self, batch: Batch) -> Result<Applied, Error> {
        self.write(move |db| apply::apply(db, &batch)).await
    }

    pub async fn get(&self, id: MemoryId) -> Result<Option<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        let found = self.read(move |db| {
            let read = memories::by_id(db, id)?;
            let scan = |db: &Db| check::scan(db, |it| it.id == id);
            site.seek(db, read, |db| witness::knows(db, id), scan)
        });
        Ok(found.await?.into_iter().next())
    }

    /// Several memories in one call, in the order asked; those that are not there are left out.
    pub async fn get_all(&self, ids: Vec<MemoryId>) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            let mut res = Vec::with_capacity(ids.len());
            for id in ids {
                let read = memories::by_id(db, id)?;
                let scan = |db: &Db| check::scan(db, |it| it.id == id);
                res.extend(site.seek(db, read, |db| witness::knows(db, id), scan)?);
            }
            Ok(res)
        })
        .await
    }

    /// Memories whose short id begins with `prefix`.
    pub async fn by_short(&self, prefix: String) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            let read = memories::by_short(db, &prefix)?;
            let scan = |db: &Db| check::scan(db, |it| it.id.short().starts_with(&prefix));
            site.seek(db, read, |db| witness::knows_short(db, &prefix), scan)
        })
        .await
    }

    pub async fn list(&self, filter: Filter) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            let read = memories::list(db, &filter)?;
            site.sift(db, read, |db| witness::contradicts(db, &filter))
        })
        .await
    }

    /// Memories matching a full-text expression; see `model::words` for how to build one.
    pub async fn search(&self, expression: String, filter: Filter) -> Result<Vec<TextHit>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            let read = memories::search(db, &expression, &filter)?;
            site.sift(db, read, |db| witness::contradicts(db, &filter))
        })
        .await
    }

    pub async fn pointing_at(
        &self,
        target: MemoryId,
        kind: RelationKind,
    ) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        // An empty answer is the usual one here and no reason for doubt.
        self.read(move |db| Ok(site.note(memories::pointing_at(db, target, kind)?))).await
    }

    pub async fn tally(&self) -> Result<Vec<Tally>, Error> {
        self.read(memories::tally).await
    }

    pub async fn quiet(&self) -> Result<Quiet, Error> {
        self.read(matches::quiet).await
    }

    pub async fn versions(&self, id: MemoryId) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| Ok(site.note(history::versions(db, id)?))).await
    }

    /// The earlier versions of all memories, in the order they were replaced.
    pub async fn every_version(&self) -> Result<Vec<Memory>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| Ok(site.note(history::every_version(db)?))).await
    }

    pub async fn entries_of(&self, id: MemoryId) -> Result<Vec<(Entry, u32)>, Error> {
        self.read(move |db| history::entries_of(db, id)).await
    }

    pub async fn recent(&self, limit: u32) -> Result<Vec<Entry>, Error> {
        self.read(move |db| history::recent(db, limit)).await
    }

    pub async fn last_undoable(&self, id: Option<MemoryId>) -> Result<Option<Entry>, Error> {
        self.read(move |db| history::last_undoable(db, id)).await
    }

    pub async fn steps(&self, batch: i64) -> Result<Vec<Step>, Error> {
        self.read(move |db| history::steps(db, batch)).await
    }

    /// The last reading of the hybrid clock: what `Batch::after` of another store is told.
    pub async fn clock(&self) -> Result<Hlc, Error> {
        self.read(stamp::clock).await
    }

    pub async fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        self.read(settings::all).await
    }

    /// The vectors a model made of a memory, one for each part of its text.
    pub async fn vectors(&self, owner: MemoryId, model: String) -> Result<Vec<Part>, Error> {
        self.read(move |db| vectors::get(db, owner, &model)).await
    }

    /// The same for several memories; what is damaged is left out and named.
    pub async fn vectors_of(&self, owners: Vec<MemoryId>, model: String) -> Result<Vectors, Error> {
        self.read(move |db| vectors::get_all(db, &owners, &model)).await
    }

    /// Keeps vectors; says for each memory whether that was still the text they were made of.
    /// They are derived, so the audit trail does not speak of them.
    pub async fn put_vectors(&self, embeddings: Vec<Embedding>) -> Result<Vec<bool>, Error> {
        self.write(move |db| embeddings.iter().map(|it| vectors::put(db, it)).collect()).await
    }

    /// Drops the vectors of every model but this one; says how many there were.
    pub async fn drop_other_models(&self, model: String) -> Result<usize, Error> {
        self.write(move |db| vectors::drop_others(db, &model)).await
    }

    /// What has changed since a position, in outline, with the codes of one model; `None` when
    /// nothing has.
    pub async fn news(
        &self,
        model: String,
        since: Option<Position>,
    ) -> Result<Option<News>, Error> {
        self.read(move |db| outline::news(db, &model, since.as_ref())).await
    }

    /// Asks about words, as often as `job` likes. An empty answer is looked into, as always. The job is
    /// on its way when this returns, so that the caller can do something else before awaiting it.
    pub fn look<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Lookup<'_>) -> Result<Vec<T>, Error> + Send + 'static,
    ) -> impl Future<Output = Result<Vec<T>, Error>> + Send {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            let found = job(&Lookup { db })?;
            site.sift(db, Read { found, damaged: Vec::new() }, |_| Ok(false))
        })
    }

    /// Memories by their number in this file, in the order asked; what is damaged is left out and
    /// reported.
    pub async fn numbered(&self, numbers: Vec<i64>) -> Result<Vec<(i64, Memory)>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| Ok(site.note(matches::numbered(db, &numbers)?))).await
    }

    /// The same, with what it takes to say what they are worth now: a question waits for one visit.
    pub async fn candidates(
        &self,
        numbers: Vec<i64>,
    ) -> Result<(Vec<(i64, Memory)>, Quiet), Error> {
        let site = Arc::clone(&self.inner.site);
        self.read(move |db| {
            let found = site.note(matches::numbered(db, &numbers)?);
            Ok((found, matches::quiet(db)?))
        })
        .await
    }

    /// The numbers of the memories that pass what a filter says about files, modules and tags;
    /// `None` when it says nothing about them.
    pub async fn about(&self, filter: Filter) -> Result<Option<Vec<i64>>, Error> {
        self.read(move |db| matches::about(db, &filter)).await
    }

    /// The numbers of the memories about each of some files, in their order.
    pub async fn about_files(&self, files: Vec<String>) -> Result<Vec<Vec<i64>>, Error> {
        self.read(move |db| matches::about_files(db, &files)).await
    }

    /// The files that each of some memories is about, in their order.
    pub async fn files_of(&self, numbers: Vec<i64>) -> Result<Vec<Vec<String>>, Error> {
        self.read(move |db| matches::files_of(db, &numbers)).await
    }

    /// What all memories that stand are about.
    pub async fn subjects(&self) -> Result<Subjects, Error> {
        self.read(matches::subjects).await
    }

    /// Live gotchas, error patterns and dead ends of these files, at most `limit` of each.
    pub async fn warnings(&self, files: Vec<ProjectPath>, limit: u32) -> Result<Warnings, Error> {
        let site = Arc::clone(&self.inner.site);
        // An empty answer is the usual one here and no reason for doubt.
        self.read(move |db| {
            let (found, damaged) = matches::warnings(db, &files, limit)?;
            site.note(Read { found: Vec::<()>::new(), damaged });
            Ok(found)
        })
        .await
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

    /// Registers a project that seems new; the answer is another one when somebody was faster.
    pub async fn claim_place(&self, place: PlaceRow) -> Result<ProjectId, Error> {
        self.write(move |db| projects::claim(db, &place)).await
    }

    pub async fn drop_project(&self, project: ProjectId) -> Result<(), Error> {
        self.write(move |db| projects::drop_project(db, project)).await
    }

    pub(crate) fn read<T, J>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let readers = self.inner.readers.get_or_init(|| {
            let site = Arc::clone(&self.inner.site);
            Readers::start(move || site.open_reader())
        });
        readers.run(move |db| db.view(job))
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer().write(job).await
    }

    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer().alone(job).await
    }

    fn writer(&self) -> &Writer {
        let site = &self.inner.site;
        self.inner.writer.get_or_init(|| Writer::start(Desk::new(Arc::clone(site))))
    }
}
