//! The writer's loop: jobs that wait share a transaction and are answered when it is durable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use super::stopped;
use crate::Error;
use crate::query::Db;

/// How many queued writes may share one commit.
const GROUP: usize = 64;

/// Runs inside the open transaction; says whether its work may stay, and how to answer once the
/// commit has succeeded or failed.
pub(super) type WriteJob =
    Box<dyn FnOnce(Result<&Db, &Error>) -> (Result<(), Error>, Settle) + Send>;
pub(super) type Settle = Box<dyn FnOnce(Result<(), Error>) + Send>;
/// Runs alone, outside any transaction, with the write lock held; says whether it went well.
pub(super) type LoneJob = Box<dyn FnOnce(Result<&Db, &Error>) -> bool + Send>;

pub(super) enum Work {
    Write(WriteJob),
    Lone(LoneJob),
}

/// What the writer thread needs from its owner around each group.
pub(crate) trait Around: Send + 'static {
    /// Opens the database; called when the first job arrives, and again after a failure.
    fn open(&mut self) -> Result<Db, Error>;
    /// Runs `body` with the cross-process lock held, on what is the database then.
    fn locked<T>(
        &mut self,
        db: &mut Db,
        body: impl FnOnce(&mut Self, &mut Db) -> T,
    ) -> Result<T, Error>;
    /// Called after a successful commit, still under the lock, before anyone is told.
    fn committed(&mut self, db: &Db);
    /// Called when everyone has been told: time for a checkpoint.
    fn idle(&mut self, db: &Db);
    /// Closes a connection, at the end or when it can no longer be trusted.
    fn close(&mut self, db: Db);
}

pub(super) fn write_loop(mut around: impl Around, jobs: &Receiver<Work>) {
    let mut db: Option<Db> = None;
    let mut next = jobs.recv().ok();
    while let Some(work) = next.take() {
        let turn = catch_unwind(AssertUnwindSafe(|| run_next(&mut around, db.take(), work, jobs)));
        // What panicked outside a job took its connection with it; the next job opens another.
        (db, next) = turn.unwrap_or_default();
        if next.is_none() {
            next = jobs.try_recv().ok();
        }
        if next.is_none() {
            if let Some(db) = &db {
                around.idle(db);
            }
            next = jobs.recv().ok();
        }
    }
    if let Some(db) = db {
        around.close(db);
    }
}

/// Runs one job or one group. Returns the connection if it is still good for the next, and a job
/// that was met on the way.
fn run_next(
    around: &mut impl Around,
    db: Option<Db>,
    work: Work,
    jobs: &Receiver<Work>,
) -> (Option<Db>, Option<Work>) {
    let mut db = match db.map_or_else(|| around.open(), Ok) {
        Ok(db) => db,
        Err(error) => {
            refuse(work, &error);
            return (None, None);
        }
    };
    let (sound, leftover) = match work {
        Work::Lone(job) => (run_alone(around, &mut db, job), None),
        Work::Write(first) => run_group(around, &mut db, first, jobs),
    };
    if sound {
        return (Some(db), leftover);
    }
    around.close(db);
    (None, leftover)
}

fn refuse(work: Work, error: &Error) {
    match work {
        Work::Write(job) => job(Err(error)).1(Err(error.clone())),
        Work::Lone(job) => {
            job(Err(error));
        }
    }
}

/// Returns whether the connection can be trusted with the next job.
fn run_alone(around: &mut impl Around, db: &mut Db, job: LoneJob) -> bool {
    let mut job = Some(job);
    let ran = around.locked(db, |around, db| {
        let job = job.take().expect("the body runs once");
        let well = catch_unwind(AssertUnwindSafe(|| job(Ok(db)))).unwrap_or(false);
        if well {
            around.committed(db);
        }
        well && db.conn.is_autocommit()
    });
    if let (Err(error), Some(job)) = (&ran, job) {
        job(Err(error));
    }
    ran.unwrap_or(false)
}

/// Runs `first` and whatever else is already queued in one transaction. Returns whether the
/// connection is sound, and a lone job that was met on the way.
fn run_group(
    around: &mut impl Around,
    db: &mut Db,
    first: WriteJob,
    jobs: &Receiver<Work>,
) -> (bool, Option<Work>) {
    let mut first = Some(first);
    let mut leftover = None;
    let mut settles: Vec<Settle> = Vec::new();
    let locked = around.locked(db, |around, db| {
        let res = fill_group(db, &mut first, jobs, &mut settles, &mut leftover);
        if res.is_ok() {
            around.committed(db);
        }
        db.roll_back();
        res
    });
    let res = locked.and_then(|it| it);
    if let (Some(first), Err(error)) = (first, &res) {
        settles.push(first(Err(error)).1);
    }
    for settle in settles {
        settle(res.clone());
    }
    (res.is_ok(), leftover)
}

/// One transaction, from beginning to commit, with as many of the queued writes as come at once.
fn fill_group(
    db: &Db,
    first: &mut Option<WriteJob>,
    jobs: &Receiver<Work>,
    settles: &mut Vec<Settle>,
    leftover: &mut Option<Work>,
) -> Result<(), Error> {
    db.batch("BEGIN IMMEDIATE")?;
    let mut job = first.take();
    let mut holds_work = false;
    while let Some(write) = job.take() {
        let (res, settle) = run_one(db, write, holds_work);
        settles.push(settle);
        holds_work |= res?;
        if settles.len() < GROUP {
            match jobs.try_recv() {
                Ok(Work::Write(write)) => job = Some(write),
                Ok(lone) => *leftover = Some(lone),
                Err(_) => {}
            }
        }
    }
    db.batch("COMMIT")
}

/// Runs one write so that its failure takes back only its own work; says whether anything of it
/// stays. An error here is one the whole group shares.
///
/// What comes first needs no savepoint, which would copy every page before it is changed: there is
/// nothing else in the transaction, so taking back all of it takes back just that.
fn run_one(db: &Db, write: WriteJob, holds_work: bool) -> (Result<bool, Error>, Settle) {
    if holds_work && let Err(error) = db.batch("SAVEPOINT one") {
        let (_, settle) = write(Err(&error));
        return (Err(error), settle);
    }
    let ran = catch_unwind(AssertUnwindSafe(|| write(Ok(db))));
    // The panic's answer was dropped unsent, which its caller hears as an error.
    let (done, settle) = ran.unwrap_or_else(|_| (Err(stopped()), Box::new(|_| {})));
    if db.conn.is_autocommit() {
        // The database took back the whole transaction, as it may when the disk is full.
        return (Err(done.err().unwrap_or_else(stopped)), settle);
    }
    let ended = match (holds_work, done.is_ok()) {
        (false, true) => Ok(()),
        (false, false) => db.batch("ROLLBACK").and_then(|()| db.batch("BEGIN IMMEDIATE")),
        (true, true) => db.batch("RELEASE one"),
        (true, false) => db.batch("ROLLBACK TO one").and_then(|()| db.batch("RELEASE one")),
    };
    (ended.map(|()| done.is_ok()), settle)
}
