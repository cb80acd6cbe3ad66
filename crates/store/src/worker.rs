//! The threads behind a store: one writer that commits in groups, a few readers.
//!
//! Local database calls block, so they never run on a caller's thread; the handle only queues them.

mod group;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

pub(crate) use group::Around;
use group::{LoneJob, Settle, Work, WriteJob, write_loop};

use crate::Error;
use crate::query::Db;

const READERS: usize = 2;

type ReadJob = Box<dyn FnOnce(Result<&Db, &Error>) + Send>;
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

    /// The job is on its way when this returns; awaiting is only for its answer.
    pub(crate) fn run<T, J>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let (answer, asked) = oneshot::channel();
        let job: ReadJob = Box::new(move |db| {
            // Nobody waits for the answer any more when sending fails, and that is fine.
            let _ = answer.send(db.map_err(Clone::clone).and_then(job));
        });
        self.0.send(job);
        async { asked.await.unwrap_or_else(|_| Err(stopped())) }
    }
}

fn read_loop(jobs: &Mutex<Receiver<ReadJob>>, open: &dyn Fn() -> Result<Db, Error>) {
    let mut db: Option<Db> = None;
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        let opened = match db.take().filter(Db::is_current) {
            Some(db) => Ok(db),
            None => catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Err(stopped())),
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
            let done = res.as_ref().map(|_| ()).map_err(Clone::clone);
            let settle: Settle = Box::new(move |committed| {
                let _ = answer.send(res.and_then(|it| committed.map(|()| it)));
            });
            (done, settle)
        });
        self.0.send(Work::Write(job));
        asked.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Runs `job` alone, outside a transaction, with the write lock held.
    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, asked) = oneshot::channel();
        let job: LoneJob = Box::new(move |db| {
            let res = db.map_err(Clone::clone).and_then(job);
            let well = res.is_ok();
            let _ = answer.send(res);
            well
        });
        self.0.send(Work::Lone(job));
        asked.await.unwrap_or_else(|_| Err(stopped()))
    }
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
