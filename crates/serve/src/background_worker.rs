//! Background jobs: one thread, low priority, one job at a time.
//!
//! Journals and the inbox are the durable queue; this one holds only jobs that are known to be due. A
//! job lost with the process is found again by the next daemon.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use engine::{CompactMode, MaintenanceOptions, Project, TaskProgress};
use model::SessionId;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::open_projects::{Freshness, OpenProject, lock};
use crate::os;
use crate::wire::{JobWire, RequestFailure};

/// Queue limit; further jobs are dropped and found again later.
const MAX_QUEUED_JOBS: usize = 1_024;
/// Memories embedded before other jobs get their turn.
const EMBEDDINGS_PER_BATCH: usize = 64;
/// A session without events for this long counts as ended.
const SESSION_SILENCE_MILLIS: i64 = 3_600_000;
const MAINTENANCE_INTERVAL: Duration = Duration::from_hours(24);

/// A background task; `status` shows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundTask {
    /// Imports the messages that hooks stored while no daemon ran.
    TakeIn,
    /// Learns from a session that ended.
    Learn(SessionId),
    /// Learns from the finished subtasks of a running session.
    LearnSoFar(SessionId),
    /// Learns from journals of sessions that ended earlier or were not validated then.
    LearnLeft,
    Embed,
    Index,
    Maintain,
}

impl BackgroundTask {
    const fn task_name(self) -> &'static str {
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

/// Receives the result of a job: the number of memories kept.
type JobDone = oneshot::Sender<Result<usize, RequestFailure>>;

struct BackgroundJob {
    task: BackgroundTask,
    project: Option<Arc<OpenProject>>,
    done: Option<JobDone>,
}

impl BackgroundJob {
    fn is_same_job(&self, task: BackgroundTask, project: Option<&Arc<OpenProject>>) -> bool {
        let same = match (&self.project, project) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        self.task == task && same
    }
}

#[derive(Default)]
pub(crate) struct BackgroundWorker {
    queue: Mutex<JobQueue>,
    wake: Condvar,
    /// Passed to long operations, so that they can be stopped.
    progress: TaskProgress,
}

#[derive(Default)]
struct JobQueue {
    jobs: VecDeque<BackgroundJob>,
    running: Option<(&'static str, PathBuf, Instant)>,
    done: BTreeMap<String, u64>,
    last_trouble: Option<String>,
    is_over: bool,
}

impl BackgroundWorker {
    /// Enqueues a job, unless it is queued already.
    pub(crate) fn enqueue(&self, task: BackgroundTask, project: Option<&Arc<OpenProject>>) {
        self.push_job(task, project, None);
    }

    /// Learns from a session before all other jobs; the receiver gets the result.
    pub(crate) fn learn_now(
        &self,
        session: SessionId,
        project: &Arc<OpenProject>,
    ) -> oneshot::Receiver<Result<usize, RequestFailure>> {
        let (done, answer) = oneshot::channel();
        self.push_job(BackgroundTask::Learn(session), Some(project), Some(done));
        answer
    }

    fn push_job(
        &self,
        task: BackgroundTask,
        project: Option<&Arc<OpenProject>>,
        done: Option<JobDone>,
    ) {
        let mut queue = lock(&self.queue);
        let stands = done.is_none() && queue.jobs.iter().any(|it| it.is_same_job(task, project));
        if queue.is_over || stands || (done.is_none() && queue.jobs.len() >= MAX_QUEUED_JOBS) {
            return;
        }
        let is_urgent = done.is_some();
        let job = BackgroundJob { task, project: project.cloned(), done };
        if is_urgent {
            queue.jobs.push_front(job);
        } else {
            queue.jobs.push_back(job);
        }
        self.wake.notify_one();
    }

    /// The running job, the queue length, the finished jobs by name, and the last error.
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

    pub(crate) fn record_trouble(&self, trouble: String) {
        lock(&self.queue).last_trouble = Some(trouble);
    }

    /// Rejects further jobs and stops the running one if it can be stopped.
    pub(crate) fn shut_down(&self) {
        let mut queue = lock(&self.queue);
        queue.is_over = true;
        queue.jobs.clear();
        self.progress.stop();
        self.wake.notify_all();
    }

    /// Waits for the next job; `None` after shutdown.
    fn wait_for_job(&self) -> Option<BackgroundJob> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                let root = job.project.as_ref().map(|it| it.root.clone()).unwrap_or_default();
                queue.running = Some((job.task.task_name(), root, Instant::now()));
                return Some(job);
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn record_result(&self, task: BackgroundTask, res: &Result<usize, RequestFailure>) {
        let mut queue = lock(&self.queue);
        queue.running = None;
        match res {
            Ok(_) => *queue.done.entry(task.task_name().to_owned()).or_default() += 1,
            Err(why) => queue.last_trouble = Some(format!("{}: {}", task.task_name(), why.message)),
        }
    }
}

/// Starts the worker thread.
pub(crate) fn start_worker(daemon: &Arc<Daemon>) -> std::io::Result<()> {
    let daemon = Arc::clone(daemon);
    let body = move || {
        os::lower_priority();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(2)
            .thread_keep_alive(Duration::from_secs(1))
            .on_thread_start(os::lower_priority)
            .build();
        let Ok(runtime) = runtime else { return };
        while let Some(job) = daemon.background.wait_for_job() {
            let work = runtime.block_on(async {
                // Spawned, so that a panic ends this job only.
                let work = run_task(Arc::clone(&daemon), job.task, job.project.clone());
                tokio::spawn(work).await
            });
            let broken = |_| {
                RequestFailure::new(
                    crate::wire::ErrorCode::Failed,
                    "an internal error ended the job",
                )
            };
            let res = work.unwrap_or_else(|it| Err(broken(it)));
            daemon.background.record_result(job.task, &res);
            if let Some(done) = job.done {
                // Fails only if the requester disconnected.
                let _ = done.send(res);
            }
        }
    };
    std::thread::Builder::new().name("waylore-background".to_owned()).spawn(body).map(|_| ())
}

async fn run_task(
    daemon: Arc<Daemon>,
    task: BackgroundTask,
    project: Option<Arc<OpenProject>>,
) -> Result<usize, RequestFailure> {
    let Some(project) = project else { return import_inbox(&daemon).await };
    let mut engine = project.handle(&daemon.config, Freshness::Current).await;
    if engine.is_memory_disabled() {
        return Ok(0);
    }
    let progress = &daemon.background.progress;
    match task {
        BackgroundTask::TakeIn => import_inbox(&daemon).await,
        BackgroundTask::Learn(session) => {
            let learned = engine.learner().learn_from_journal(session).await?;
            daemon.background.enqueue(BackgroundTask::Embed, Some(&project));
            Ok(learned.iter().map(|it| it.memories.len()).sum())
        }
        BackgroundTask::LearnSoFar(session) => {
            let learned = engine.learner().learn_finished_subtasks(session).await?;
            daemon.background.enqueue(BackgroundTask::Embed, Some(&project));
            Ok(learned.map_or(0, |it| it.memories.len()))
        }
        BackgroundTask::LearnLeft => learn_leftovers(&daemon, &mut engine).await,
        BackgroundTask::Embed => {
            while engine.embedding_indexer().embed_missing(EMBEDDINGS_PER_BATCH).await?.n_missing
                > 0
                && !progress.is_stopped()
            {
                tokio::task::yield_now().await;
            }
            Ok(0)
        }
        BackgroundTask::Index if engine.is_indexed() => {
            let indexed = engine.code_indexer().index_code(progress, 1).await?;
            engine.code_indexer().follow_up(&indexed, progress).await?;
            Ok(0)
        }
        BackgroundTask::Index => Ok(0),
        BackgroundTask::Maintain => {
            maintain_daily(&daemon, &mut engine).await?;
            Ok(0)
        }
    }
}

/// Imports the inbox of all projects; a session that fails stays in the inbox.
async fn import_inbox(daemon: &Arc<Daemon>) -> Result<usize, RequestFailure> {
    let mut trouble = None;
    for waiting in engine::list_inbox(&daemon.config.data, (daemon.config.now)()) {
        if let Err(why) = import_inbox_session(daemon, &waiting).await {
            trouble = Some(why);
        }
    }
    trouble.map_or(Ok(0), Err)
}

async fn import_inbox_session(
    daemon: &Arc<Daemon>,
    waiting: &engine::InboxSession,
) -> Result<(), RequestFailure> {
    let project = daemon.open_project(&waiting.root).await?;
    let mut engine = project.writable_handle(&daemon.config, Freshness::Recent).await?;
    engine.session_journal().import_inbox_session(waiting).await?;
    daemon.background.enqueue(BackgroundTask::LearnLeft, Some(&project));
    Ok(())
}

/// Learns from the journals of ended sessions.
async fn learn_leftovers(
    daemon: &Arc<Daemon>,
    engine: &mut Project,
) -> Result<usize, RequestFailure> {
    let now = (daemon.config.now)();
    let mut n_kept = 0;
    for it in engine.session_history().list_journals() {
        let is_silent = now.millis_since(it.last_written) > SESSION_SILENCE_MILLIS;
        if daemon.background.progress.is_stopped() {
            break;
        }
        if is_silent || (it.has_ended && !daemon.live_sessions.is_live(it.session)) {
            let learned = engine.learner().learn_from_journal(it.session).await?;
            n_kept += learned.iter().map(|it| it.memories.len()).sum::<usize>();
        }
    }
    Ok(n_kept)
}

/// Daily maintenance. A stamp file records the last run, because no daemon lives that long.
async fn maintain_daily(daemon: &Arc<Daemon>, engine: &mut Project) -> Result<(), RequestFailure> {
    let print = model::fingerprint_text(&engine.place.root.to_string_lossy());
    let stamp = daemon.address.lock.with_file_name(format!("maintained-{print}"));
    let age = std::fs::metadata(&stamp).and_then(|it| it.modified()).ok().map(|it| it.elapsed());
    if matches!(age, Some(Ok(age)) if age < MAINTENANCE_INTERVAL) || engine.notebooks().is_empty() {
        return Ok(());
    }
    // Runs at most once a week, in whichever daemon comes first.
    engine.learner().synthesise_week().await?;
    // Files that sessions touched together change the module map.
    if engine.is_indexed() {
        engine.code_indexer().index_map().await?;
    }
    let options = MaintenanceOptions {
        backup_every_days: daemon.config.backup_every_days,
        compact: CompactMode::IfWorthwhile,
        dry_run: false,
    };
    engine.maintenance().maintain(options).await?;
    engine::write_private_file(&stamp, b"").map_err(engine::Error::from)?;
    Ok(())
}
