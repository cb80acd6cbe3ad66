//! The threads of a store: one writer that commits in groups, and a few readers.
//!
//! Local database calls block, so they never run on a caller's thread. Callers queue a closure and
//! await its reply. A job is wrapped in a `Box` that also knows how to send the reply, so that the
//! threads need not know result types.

mod group;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

pub(crate) use group::WriterHooks;
use group::{ExclusiveJob, ReplyAfterCommit, WriteJob, WriterTask, write_loop};

use crate::Error;
use crate::query::Db;

/// Reader threads per database: one slow query must not hold up the others.
const N_READER_THREADS: usize = 2;

/// A read with its reply. It gets the connection, or the error of opening it.
type ReadJob = Box<dyn FnOnce(Result<&Db, &Error>) + Send>;

/// A queue of jobs of type `J`, with its threads. Dropping it lets them finish and waits for them.
struct ThreadPool<J> {
    /// `None` only while the pool is dropped.
    queue: Option<Sender<J>>,
    threads: Vec<JoinHandle<()>>,
}

impl<J> ThreadPool<J> {
    /// Queues a job.
    fn send(&self, job: J) {
        if let Some(queue) = &self.queue {
            // If all threads are gone, this drops the job and with it its reply: the caller, who
            // waits for the reply, gets `stopped_error`.
            let _ = queue.send(job);
        }
    }
}

impl<J> Drop for ThreadPool<J> {
    fn drop(&mut self) {
        // Closing the queue ends the loops of the threads.
        self.queue = None;
        for thread in self.threads.drain(..) {
            // Threads catch the panics of their jobs; one that died all the same has nothing to
            // report.
            let _ = thread.join();
        }
    }
}

/// The reader threads of a database.
pub(crate) struct ReaderPool(ThreadPool<ReadJob>);

impl ReaderPool {
    pub(crate) fn start(open: impl Fn() -> Result<Db, Error> + Send + Sync + 'static) -> Self {
        let (queue, jobs) = mpsc::channel::<ReadJob>();
        let jobs = Arc::new(Mutex::new(jobs));
        let open = Arc::new(open);
        let threads = (0..N_READER_THREADS).map(|_| {
            let (jobs, open) = (Arc::clone(&jobs), Arc::clone(&open));
            spawn_thread("waylore-read", move || read_loop(&jobs, &*open))
        });
        Self(ThreadPool { threads: threads.collect(), queue: Some(queue) })
    }

    /// Queues `job`. It is queued when this returns; awaiting only waits for its result.
    pub(crate) fn run<T, J>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let (reply, response) = oneshot::channel();
        let job: ReadJob = Box::new(move |db| {
            // Sending fails if the caller no longer waits, which is fine.
            let _ = reply.send(db.map_err(Clone::clone).and_then(job));
        });
        self.0.send(job);
        async { response.await.unwrap_or_else(|_| Err(stopped_error())) }
    }
}

/// The loop of one reader thread: takes jobs until the queue is closed.
fn read_loop(jobs: &Mutex<Receiver<ReadJob>>, open: &dyn Fn() -> Result<Db, Error>) {
    let mut db: Option<Db> = None;
    loop {
        // Only one idle thread waits in `recv`; the others wait for the lock.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        // The queue is closed: the store was dropped.
        let Ok(job) = job else { return };
        // After a restore the path names another file, which has to be opened anew.
        let opened = match db.take().filter(Db::is_current) {
            Some(db) => Ok(db),
            None => catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Err(stopped_error())),
        };
        let ran = catch_unwind(AssertUnwindSafe(|| job(opened.as_ref())));
        // A connection that saw a panic is not used again.
        db = opened.ok().filter(|_| ran.is_ok());
    }
}

/// The writer thread of a database.
pub(crate) struct WriterThread(ThreadPool<WriterTask>);

impl WriterThread {
    pub(crate) fn start(hooks: impl WriterHooks) -> Self {
        let (queue, jobs) = mpsc::channel::<WriterTask>();
        let thread = spawn_thread("waylore-write", move || write_loop(hooks, &jobs));
        Self(ThreadPool { queue: Some(queue), threads: vec![thread] })
    }

    /// Runs `job` in a transaction that it may share with others. The result arrives after the
    /// commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, response) = oneshot::channel();
        let job: WriteJob = Box::new(move |db| {
            let result = db.map_err(Clone::clone).and_then(job);
            // The group needs to know about success now; the caller learns of it after the commit.
            let outcome = result.as_ref().map(|_| ()).map_err(Clone::clone);
            let reply_after_commit: ReplyAfterCommit = Box::new(move |committed| {
                let _ = reply.send(result.and_then(|it| committed.map(|()| it)));
            });
            (outcome, reply_after_commit)
        });
        self.0.send(WriterTask::Write(job));
        response.await.unwrap_or_else(|_| Err(stopped_error()))
    }

    /// Runs `job` alone, outside a transaction, with the write lock held.
    pub(crate) async fn run_exclusive<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, response) = oneshot::channel();
        let job: ExclusiveJob = Box::new(move |db| {
            let result = db.map_err(Clone::clone).and_then(job);
            let is_ok = result.is_ok();
            let _ = reply.send(result);
            is_ok
        });
        self.0.send(WriterTask::Exclusive(job));
        response.await.unwrap_or_else(|_| Err(stopped_error()))
    }
}

fn spawn_thread(name: &str, body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .expect("the system can start a thread")
}

/// Error of a job that panicked, so that its reply was never sent, or whose thread is gone.
fn stopped_error() -> Error {
    Error::Internal {
        what: "an internal error stopped this database call; nothing of it was saved".to_owned(),
    }
}
