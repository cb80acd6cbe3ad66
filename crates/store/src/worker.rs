//! The threads behind a store: one writer that commits in groups, a few readers.
//!
//! Local database calls block, so they never run on a caller's thread; the handle only queues them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::Error;
use crate::query::Db;

/// How many queued writes may share one commit.
const GROUP: usize = 64;
const READERS: usize = 2;

type ReadJob = Box<dyn FnOnce(Result<&Db, &Error>) + Send>;
/// Runs inside the open transaction; says whether its work may stay, and how to answer once the
/// commit has succeeded or failed.
type WriteJob = Box<dyn FnOnce(Result<&Db, &Error>) -> (bool, Settle) + Send>;
type Settle = Box<dyn FnOnce(Result<(), Error>) + Send>;
/// Runs alone, outside any transaction, with the write lock held.
type LoneJob = Box<dyn FnOnce(Result<&mut Db, &Error>) + Send>;

enum Work {
    Write(WriteJob),
    Lone(LoneJob),
}

/// What the writer thread needs from its owner around each group.
pub(crate) trait Around: Send + 'static {
    /// Opens the database; called when the first job arrives, and again after a failed opening.
    fn open(&mut self) -> Result<Db, Error>;
    /// Runs `body` with the cross-process lock held.
    fn locked<T>(
        &mut self,
        db: &mut Db,
        body: impl FnOnce(&mut Self, &mut Db) -> T,
    ) -> Result<T, Error>;
    /// Called after a successful commit, still under the lock, before anyone is told.
    fn committed(&mut self, db: &Db) -> Result<(), Error>;
    /// Called when everyone has been told: time for a checkpoint.
    fn idle(&mut self, db: &Db);
}

/// A queue with its threads; dropping it lets them finish and waits for them.
struct Pool<W> {
    queue: Option<Sender<W>>,
    threads: Vec<JoinHandle<()>>,
}

impl<W> Pool<W> {
    fn send(&self, work: W) -> bool {
        self.queue.as_ref().is_some_and(|it| it.send(work).is_ok())
    }
}

impl<W> Drop for Pool<W> {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A worker catches its jobs' panics; one that died all the same has nothing to report.
            let _ = thread.join();
        }
    }
}

pub(crate) struct Readers(Pool<ReadJob>);

impl Readers {
    pub(crate) fn start(open: impl Fn() -> Result<Db, Error> + Send + Sync + 'static) -> Self {
        let (queue, jobs) = mpsc::channel::<ReadJob>();
        let jobs = Arc::new(Mutex::new(jobs));
        let open = Arc::new(open);
        let threads = (0..READERS).map(|_| {
            let (jobs, open) = (Arc::clone(&jobs), Arc::clone(&open));
            spawn("waylore-read", move || read_loop(&jobs, &*open))
        });
        Self(Pool { threads: threads.collect(), queue: Some(queue) })
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, asked) = oneshot::channel();
        let job: ReadJob = Box::new(move |db| {
            // Nobody waits for the answer any more when sending fails, and that is fine.
            let _ = answer.send(db.map_err(Clone::clone).and_then(job));
        });
        self.0.send(job);
        asked.await.unwrap_or_else(|_| Err(stopped()))
    }
}

fn read_loop(jobs: &Mutex<Receiver<ReadJob>>, open: &dyn Fn() -> Result<Db, Error>) {
    let mut db: Option<Db> = None;
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        let opened = match db.take() {
            Some(db) => Ok(db),
            None => open(),
        };
        let ran = catch_unwind(AssertUnwindSafe(|| job(opened.as_ref())));
        // A connection that saw a panic is not trusted with the next job.
        db = opened.ok().filter(|_| ran.is_ok());
    }
}

pub(crate) struct Writer(Pool<Work>);

impl Writer {
    pub(crate) fn start(around: impl Around) -> Self {
        let (queue, jobs) = mpsc::channel::<Work>();
        let thread = spawn("waylore-write", move || write_loop(around, &jobs));
        Self(Pool { queue: Some(queue), threads: vec![thread] })
    }

    /// Runs `job` in a transaction it may share with others; the answer comes after the commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, asked) = oneshot::channel();
        let job: WriteJob = Box::new(move |db| {
            let res = db.map_err(Clone::clone).and_then(job);
            let keep = res.is_ok();
            let settle: Settle = Box::new(move |committed| {
                let _ = answer.send(res.and_then(|it| committed.map(|()| it)));
            });
            (keep, settle)
        });
        self.0.send(Work::Write(job));
        asked.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Runs `job` alone, outside a transaction, with the write lock held.
    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, asked) = oneshot::channel();
        let job: LoneJob = Box::new(move |db| {
            let _ = answer.send(db.map_err(Clone::clone).and_then(job));
        });
        self.0.send(Work::Lone(job));
        asked.await.unwrap_or_else(|_| Err(stopped()))
    }
}

fn write_loop(mut around: impl Around, jobs: &Receiver<Work>) {
    let mut db: Option<Db> = None;
    let mut next = jobs.recv().ok();
    while let Some(work) = next.take() {
        let mut opened = match db.take() {
            Some(db) => Ok(db),
            None => around.open(),
        };
        let sound = match work {
            Work::Lone(job) => run_alone(&mut around, &mut opened, job),
            Work::Write(first) => {
                let (sound, leftover) = run_group(&mut around, &mut opened, first, jobs);
                next = leftover;
                sound
            }
        };
        db = opened.ok().filter(|_| sound);
        if next.is_none() {
            next = match jobs.try_recv() {
                Ok(work) => Some(work),
                Err(_) => {
                    if let Some(db) = &db {
                        around.idle(db);
                    }
                    jobs.recv().ok()
                }
            };
        }
    }
}

/// Returns whether the connection can be trusted with the next job.
fn run_alone(around: &mut impl Around, opened: &mut Result<Db, Error>, job: LoneJob) -> bool {
    let db = match opened {
        Ok(db) => db,
        Err(error) => {
            job(Err(error));
            return false;
        }
    };
    let mut job = Some(job);
    let ran = around.locked(db, |around, db| {
        let job = job.take().expect("the body runs once");
        let ran = catch_unwind(AssertUnwindSafe(|| job(Ok(db)))).is_ok();
        ran && around.committed(db).is_ok()
    });
    match (ran, job) {
        (Ok(sound), _) => sound,
        (Err(error), Some(job)) => {
            job(Err(&error));
            false
        }
        (Err(_), None) => false,
    }
}

/// Runs `first` and whatever else is already queued in one transaction. Returns whether the
/// connection is sound, and a lone job that was met on the way.
fn run_group(
    around: &mut impl Around,
    opened: &mut Result<Db, Error>,
    first: WriteJob,
    jobs: &Receiver<Work>,
) -> (bool, Option<Work>) {
    let db = match opened {
        Ok(db) => db,
        Err(error) => {
            first(Err(error)).1(Err(error.clone()));
            return (false, None);
        }
    };
    let mut first = Some(first);
    let mut leftover = None;
    let mut settles: Vec<Settle> = Vec::new();
    let committed = around.locked(db, |around, db| {
        db.batch("BEGIN IMMEDIATE")?;
        let mut job = first.take();
        while let Some(write) = job.take() {
            settles.push(run_one(db, write)?);
            if settles.len() < GROUP {
                match jobs.try_recv() {
                    Ok(Work::Write(write)) => job = Some(write),
                    Ok(lone) => leftover = Some(lone),
                    Err(_) => {}
                }
            }
        }
        db.batch("COMMIT")?;
        around.committed(db)
    });
    let res = committed.and_then(|it| it);
    if res.is_err() && !db.conn.is_autocommit() {
        // A rollback that fails leaves a connection that is thrown away right after.
        let _ = db.batch("ROLLBACK");
    }
    if let (Some(first), Err(error)) = (first, &res) {
        settles.push(first(Err(error)).1);
    }
    for settle in settles {
        settle(res.clone());
    }
    (res.is_ok(), leftover)
}

/// Runs one write between savepoints, so that its failure takes back only its own work.
fn run_one(db: &Db, write: WriteJob) -> Result<Settle, Error> {
    db.batch("SAVEPOINT one")?;
    let ran = catch_unwind(AssertUnwindSafe(|| write(Ok(db))));
    let (keep, settle) = ran.unwrap_or_else(|_| (false, Box::new(|_| {})));
    if !keep {
        db.batch("ROLLBACK TO one")?;
    }
    db.batch("RELEASE one")?;
    Ok(settle)
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .expect("the system can start a thread")
}

/// The job panicked (its answer was dropped unsent) or the thread is gone.
fn stopped() -> Error {
    Error::Engine {
        what: "an internal error stopped this database call; nothing of it was saved".to_owned(),
    }
}
