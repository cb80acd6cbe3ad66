//! Work that nobody waits for: one thread, low priority, one job at a time.
//!
//! Journals and the inbox are the queue that lasts; what stands here is only what is known to be due. A
//! job that is lost with the process is found again by the next one.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use engine::{Engine, Progress};
use model::SessionId;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::os;
use crate::project::{Look, Project, lock};
use crate::wire::{Failure, JobWire};

/// Jobs that may wait; beyond, they are left to be found again.
const MOST: usize = 1_024;
/// Memories that get their vectors before others have their turn.
const EMBEDDED_AT_ONCE: usize = 64;
/// A session that said nothing for so long has ended, whether or not it said so.
const SILENT: i64 = 3_600_000;
const DAILY: Duration = Duration::from_hours(24);

/// What is to be done, in the words of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// What hooks left while nobody was here.
    TakeIn,
    /// A session that ended.
    Learn(SessionId),
    /// A session that goes on, after one of its subtasks.
    LearnSoFar(SessionId),
    /// Journals of sessions that ended before, and those whose work was not validated then.
    LearnLeft,
    Embed,
    Index,
    Maintain,
}

impl Task {
    const fn name(self) -> &'static str {
        match self {
            Self::TakeIn => "take_in",
            Self::Learn(_) => "learn",
            Self::LearnSoFar(_) => "learn_so_far",
            Self::LearnLeft => "learn_left",
            Self::Embed => "embed",
            Self::Index => "index",
            Self::Maintain => "maintain",
        }
    }
}

/// Hears how a job went: how many memories came of it.
type Done = oneshot::Sender<Result<usize, Failure>>;

struct Job {
    task: Task,
    project: Option<Arc<Project>>,
    done: Option<Done>,
}

impl Job {
    fn is(&self, task: Task, project: Option<&Arc<Project>>) -> bool {
        let same = match (&self.project, project) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        self.task == task && same
    }
}

#[derive(Default)]
pub(crate) struct Background {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Told to whatever takes long.
    progress: Progress,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    running: Option<(&'static str, PathBuf, Instant)>,
    done: BTreeMap<String, u64>,
    last_trouble: Option<String>,
    is_over: bool,
}

impl Background {
    /// Puts a job in line, unless it stands there already.
    pub(crate) fn add(&self, task: Task, project: Option<&Arc<Project>>) {
        self.push(task, project, None);
    }

    /// Learns from a session before anything else; the answer comes when it is done.
    pub(crate) fn learn_now(
        &self,
        session: SessionId,
        project: &Arc<Project>,
    ) -> oneshot::Receiver<Result<usize, Failure>> {
        let (done, answer) = oneshot::channel();
        self.push(Task::Learn(session), Some(project), Some(done));
        answer
    }

    fn push(&self, task: Task, project: Option<&Arc<Project>>, done: Option<Done>) {
        let mut queue = lock(&self.queue);
        let stands = done.is_none() && queue.jobs.iter().any(|it| it.is(task, project));
        if queue.is_over || stands || (done.is_none() && queue.jobs.len() >= MOST) {
            return;
        }
        let is_urgent = done.is_some();
        let job = Job { task, project: project.cloned(), done };
        if is_urgent {
            queue.jobs.push_front(job);
        } else {
            queue.jobs.push_back(job);
        }
        self.wake.notify_one();
    }

    /// What is done now, how much waits, what was done, and what went wrong last.
    pub(crate) fn status(&self) -> (Option<JobWire>, usize, BTreeMap<String, u64>, Option<String>) {
        let queue = lock(&self.queue);
        let job = queue.running.as_ref().map(|(name, project, since)| JobWire {
            name: (*name).to_owned(),
            project: project.display().to_string(),
            seconds: since.elapsed().as_secs(),
        });
        (job, queue.jobs.len(), queue.done.clone(), queue.last_trouble.clone())
    }

    pub(crate) fn is_idle(&self) -> bool {
        let queue = lock(&self.queue);
        queue.running.is_none() && queue.jobs.is_empty()
    }

    pub(crate) fn note(&self, trouble: String) {
        lock(&self.queue).last_trouble = Some(trouble);
    }

    /// Takes no more jobs and breaks off the one at hand where it can be.
    pub(crate) fn end(&self) {
        let mut queue = lock(&self.queue);
        queue.is_over = true;
        queue.jobs.clear();
        self.progress.stop();
        self.wake.notify_all();
    }

    /// Waits for the next job; `None` when it is over.
    fn next(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                let root = job.project.as_ref().map(|it| it.root.clone()).unwrap_or_default();
                queue.running = Some((job.task.name(), root, Instant::now()));
                return Some(job);
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finished(&self, task: Task, res: &Result<usize, Failure>) {
        let mut queue = lock(&self.queue);
        queue.running = None;
        match res {
            Ok(_) => *queue.done.entry(task.name().to_owned()).or_default() += 1,
            Err(why) => queue.last_trouble = Some(format!("{}: {}", task.name(), why.message)),
        }
    }
}

/// Starts the thread.
pub(crate) fn start(daemon: &Arc<Daemon>) -> std::io::Result<()> {
    let daemon = Arc::clone(daemon);
    let body = move || {
        os::step_back();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(2)
            .thread_keep_alive(Duration::from_secs(1))
            .on_thread_start(os::step_back)
            .build();
        let Ok(runtime) = runtime else { return };
        while let Some(job) = daemon.background.next() {
            let work = runtime.block_on(async {
                // A job that panics ends alone.
                let work = work(Arc::clone(&daemon), job.task, job.project.clone());
                tokio::spawn(work).await
            });
            let broken = |_| Failure::new(crate::wire::Code::Failed, "an internal error ended it");
            let res = work.unwrap_or_else(|it| Err(broken(it)));
            daemon.background.finished(job.task, &res);
            if let Some(done) = job.done {
                // Who asked may have gone.
                let _ = done.send(res);
            }
        }
    };
    std::thread::Builder::new().name("waylore-background".to_owned()).spawn(body).map(|_| ())
}

async fn work(
    daemon: Arc<Daemon>,
    task: Task,
    project: Option<Arc<Project>>,
) -> Result<usize, Failure> {
    let Some(project) = project else { return take_in(&daemon).await };
    let mut engine = project.handle(&daemon.config, Look::Now).await;
    if engine.closed {
        return Ok(0);
    }
    let progress = &daemon.background.progress;
    match task {
        Task::TakeIn => take_in(&daemon).await,
        Task::Learn(session) => {
            let learned = engine.learn_journalled(session).await?;
            daemon.background.add(Task::Embed, Some(&project));
            Ok(learned.iter().map(|it| it.kept.len()).sum())
        }
        Task::LearnSoFar(session) => {
            let learned = engine.learn_so_far(session).await?;
            daemon.background.add(Task::Embed, Some(&project));
            Ok(learned.map_or(0, |it| it.kept.len()))
        }
        Task::LearnLeft => learn_left(&daemon, &mut engine).await,
        Task::Embed => {
            while engine.embed_few(EMBEDDED_AT_ONCE).await?.left > 0 && !progress.is_stopped() {
                tokio::task::yield_now().await;
            }
            Ok(0)
        }
        Task::Index if engine.is_indexed() => {
            let indexed = engine.index_code(progress, 1).await?;
            engine.follow_up(&indexed, progress).await?;
            Ok(0)
        }
        Task::Index => Ok(0),
        Task::Maintain => {
            maintain(&daemon, &mut engine).await?;
            Ok(0)
        }
    }
}

/// Everything that waits, whichever project it is of; what cannot be taken in now still waits.
async fn take_in(daemon: &Arc<Daemon>) -> Result<usize, Failure> {
    let mut trouble = None;
    for waiting in engine::waiting(&daemon.config.data, (daemon.config.now)()) {
        if let Err(why) = take_one(daemon, &waiting).await {
            trouble = Some(why);
        }
    }
    trouble.map_or(Ok(0), Err)
}

async fn take_one(daemon: &Arc<Daemon>, waiting: &engine::Waiting) -> Result<(), Failure> {
    let project = daemon.project(&waiting.root).await?;
    let mut engine = project.for_writing(&daemon.config).await?;
    engine.take_in(waiting).await?;
    daemon.background.add(Task::LearnLeft, Some(&project));
    Ok(())
}

/// Learns from the journals of sessions that are over.
async fn learn_left(daemon: &Arc<Daemon>, engine: &mut Engine) -> Result<usize, Failure> {
    let now = (daemon.config.now)();
    let mut n_kept = 0;
    for it in engine.journalled() {
        let is_silent = now.since(it.touched) > SILENT;
        if daemon.background.progress.is_stopped() {
            break;
        }
        if is_silent || (it.has_ended && !daemon.sittings.is_live(it.session)) {
            let learned = engine.learn_journalled(it.session).await?;
            n_kept += learned.iter().map(|it| it.kept.len()).sum::<usize>();
        }
    }
    Ok(n_kept)
}

/// Daily upkeep; when it was last done is told by a file, for no daemon need live that long.
async fn maintain(daemon: &Arc<Daemon>, engine: &mut Engine) -> Result<(), Failure> {
    let print = model::fingerprint(&engine.place.root.to_string_lossy());
    let stamp = daemon.address.lock.with_file_name(format!("maintained-{print}"));
    let age = std::fs::metadata(&stamp).and_then(|it| it.modified()).ok().map(|it| it.elapsed());
    if matches!(age, Some(Ok(age)) if age < DAILY) || engine.notebooks().is_empty() {
        return Ok(());
    }
    // Looked at once a week, by whoever comes first.
    engine.synthesise_week().await?;
    // What sessions worked on together moves the map.
    if engine.is_indexed() {
        engine.index_map().await?;
    }
    engine.maintain(daemon.config.backup_every_days, false, false).await?;
    engine::write_private(&stamp, b"").map_err(engine::Error::from)?;
    Ok(())
}
