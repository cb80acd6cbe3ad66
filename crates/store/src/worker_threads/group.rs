//! The writer's loop: queued jobs share a transaction and are answered once it is durable (group
//! commit).
//!
//! A commit waits for the disk, so it costs the same for one write as for many. The loop takes all
//! writes that are queued at the moment, runs each in a savepoint of one transaction, commits, and
//! then sends all replies. A failed write rolls back only itself. Exclusive jobs, such as a backup,
//! run alone and outside a transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use super::stopped_error;
use crate::Error;
use crate::query::Db;

/// Queued writes that may share one commit.
const MAX_WRITES_PER_COMMIT: usize = 64;

/// Runs inside the open transaction. Returns whether its changes may stay, and how to reply once
/// the commit has succeeded or failed.
pub(super) type WriteJob =
    Box<dyn FnOnce(Result<&Db, &Error>) -> (Result<(), Error>, ReplyAfterCommit) + Send>;
/// Sends the reply of a write, given the result of the commit.
pub(super) type ReplyAfterCommit = Box<dyn FnOnce(Result<(), Error>) + Send>;
/// Runs outside any transaction with the write lock held. Returns whether it succeeded.
pub(super) type ExclusiveJob = Box<dyn FnOnce(Result<&Db, &Error>) -> bool + Send>;

/// One entry of the writer's queue.
pub(super) enum WriterTask {
    Write(WriteJob),
    Exclusive(ExclusiveJob),
}

/// Operations that the loop needs from the owner of the connection, `WriterConnection`.
pub(crate) trait WriterHooks: Send + 'static {
    /// Opens the database. Called when the first job arrives, and again after a failure.
    fn open(&mut self) -> Result<Db, Error>;
    /// Runs `body` with the cross-process lock held, on the database that has the name then.
    fn with_lock<T>(
        &mut self,
        db: &mut Db,
        body: impl FnOnce(&mut Self, &mut Db) -> T,
    ) -> Result<T, Error>;
    /// Called after a successful commit, with the lock still held, before the callers get their
    /// replies.
    fn after_commit(&mut self, db: &Db);
    /// Called when all replies are sent and no job waits: time for a checkpoint.
    fn on_idle(&mut self, db: &Db);
    /// Closes a connection, at the end or when it can no longer be trusted.
    fn close(&mut self, db: Db);
}

/// Runs jobs until the queue is closed, and then closes the connection.
pub(super) fn write_loop(mut hooks: impl WriterHooks, jobs: &Receiver<WriterTask>) {
    let mut db: Option<Db> = None;
    let mut next = jobs.recv().ok();
    while let Some(task) = next.take() {
        let ran = catch_unwind(AssertUnwindSafe(|| run_task(&mut hooks, db.take(), task, jobs)));
        // A panic outside a job has dropped its connection; the next job opens another.
        (db, next) = ran.unwrap_or_default();
        // A checkpoint takes its time, so it waits until the queue is empty.
        if next.is_none() {
            next = jobs.try_recv().ok();
        }
        if next.is_none() {
            if let Some(db) = &db {
                hooks.on_idle(db);
            }
            // Waits for the next job; an error means that the queue is closed.
            next = jobs.recv().ok();
        }
    }
    if let Some(db) = db {
        hooks.close(db);
    }
}

/// Runs one job or one group. Returns the connection if it can be used again, and an exclusive job
/// that was taken from the queue on the way.
fn run_task(
    hooks: &mut impl WriterHooks,
    db: Option<Db>,
    task: WriterTask,
    jobs: &Receiver<WriterTask>,
) -> (Option<Db>, Option<WriterTask>) {
    let mut db = match db.map_or_else(|| hooks.open(), Ok) {
        Ok(db) => db,
        Err(error) => {
            refuse_task(task, &error);
            return (None, None);
        }
    };
    let (is_usable, leftover) = match task {
        WriterTask::Exclusive(job) => (run_exclusive(hooks, &mut db, job), None),
        WriterTask::Write(first) => run_group(hooks, &mut db, first, jobs),
    };
    if is_usable {
        return (Some(db), leftover);
    }
    hooks.close(db);
    (None, leftover)
}

/// Answers a job with an error without running it.
fn refuse_task(task: WriterTask, error: &Error) {
    match task {
        WriterTask::Write(job) => {
            let (_, reply) = job(Err(error));
            reply(Err(error.clone()));
        }
        WriterTask::Exclusive(job) => {
            job(Err(error));
        }
    }
}

/// Runs an exclusive job. Returns whether the connection can be used again.
fn run_exclusive(hooks: &mut impl WriterHooks, db: &mut Db, job: ExclusiveJob) -> bool {
    // In an `Option`, because the body does not run if the lock cannot be taken.
    let mut job = Some(job);
    let ran = hooks.with_lock(db, |hooks, db| {
        let job = job.take().expect("the body runs once");
        let is_ok = catch_unwind(AssertUnwindSafe(|| job(Ok(db)))).unwrap_or(false);
        if is_ok {
            hooks.after_commit(db);
        }
        // A job that left a transaction open has used up its connection.
        is_ok && db.conn.is_autocommit()
    });
    if let (Err(error), Some(job)) = (&ran, job) {
        job(Err(error));
    }
    ran.unwrap_or(false)
}

/// Runs `first` and the writes already queued in one transaction. Returns whether the connection
/// can be used again, and an exclusive job that was taken from the queue on the way.
fn run_group(
    hooks: &mut impl WriterHooks,
    db: &mut Db,
    first: WriteJob,
    jobs: &Receiver<WriterTask>,
) -> (bool, Option<WriterTask>) {
    let mut first = Some(first);
    let mut leftover = None;
    let mut replies: Vec<ReplyAfterCommit> = Vec::new();
    let locked = hooks.with_lock(db, |hooks, db| {
        let committed = fill_group(db, &mut first, jobs, &mut replies, &mut leftover);
        if committed.is_ok() {
            hooks.after_commit(db);
        }
        // After a failed commit the transaction may still be open.
        db.roll_back();
        committed
    });
    let committed = locked.and_then(|it| it);
    // Without the lock or a transaction the first job has not run yet. It is called only for its
    // reply.
    if let (Some(first), Err(error)) = (first, &committed) {
        let (_, reply) = first(Err(error));
        replies.push(reply);
    }
    for reply in replies {
        reply(committed.clone());
    }
    (committed.is_ok(), leftover)
}

/// Runs one transaction from begin to commit, with as many queued writes as fit.
fn fill_group(
    db: &Db,
    first: &mut Option<WriteJob>,
    jobs: &Receiver<WriterTask>,
    replies: &mut Vec<ReplyAfterCommit>,
    leftover: &mut Option<WriterTask>,
) -> Result<(), Error> {
    db.execute_batch("BEGIN IMMEDIATE")?;
    let mut job = first.take();
    let mut has_changes = false;
    while let Some(write) = job.take() {
        let (is_kept, reply) = run_write(db, write, has_changes);
        replies.push(reply);
        has_changes |= is_kept?;
        // Bounded, so that the first caller of a busy group is not kept waiting for long.
        if replies.len() < MAX_WRITES_PER_COMMIT {
            match jobs.try_recv() {
                Ok(WriterTask::Write(write)) => job = Some(write),
                // It cannot share a transaction, so it ends the group.
                Ok(exclusive @ WriterTask::Exclusive(_)) => *leftover = Some(exclusive),
                // The queue is empty or closed.
                Err(_) => {}
            }
        }
    }
    db.execute_batch("COMMIT")
}

/// Runs one write so that its failure rolls back only its own changes. Returns whether any of its
/// changes stay. An error concerns the whole group.
///
/// The first write needs no savepoint, which would copy every page before changing it: nothing else
/// is in the transaction, so rolling all of it back rolls back just that write.
fn run_write(
    db: &Db,
    write: WriteJob,
    needs_savepoint: bool,
) -> (Result<bool, Error>, ReplyAfterCommit) {
    if needs_savepoint && let Err(error) = db.execute_batch("SAVEPOINT one") {
        let (_, reply) = write(Err(&error));
        return (Err(error), reply);
    }
    let ran = catch_unwind(AssertUnwindSafe(|| write(Ok(db))));
    // A panicked job has dropped its reply, which its caller receives as an error.
    let (outcome, reply) = ran.unwrap_or_else(|_| (Err(stopped_error()), Box::new(|_| {})));
    if db.conn.is_autocommit() {
        // SQLite rolled back the whole transaction, as it may when the disk is full.
        return (Err(outcome.err().unwrap_or_else(stopped_error)), reply);
    }
    let is_kept = outcome.is_ok();
    let ended = if needs_savepoint {
        let rolled_back = if is_kept { Ok(()) } else { db.execute_batch("ROLLBACK TO one") };
        rolled_back.and_then(|()| db.execute_batch("RELEASE one"))
    } else if is_kept {
        Ok(())
    } else {
        db.execute_batch("ROLLBACK").and_then(|()| db.execute_batch("BEGIN IMMEDIATE"))
    };
    (ended.map(|()| is_kept), reply)
}
