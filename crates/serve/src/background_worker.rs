//! Background jobs: learning, embedding, indexing and maintenance, on one thread of low priority, one
//! job at a time.
//!
//! The queue is in memory only, because the disk has the durable record of what is left to do: the
//! *journals* (one file per session, with its events; removed once the session is learned) and the
//! *inbox* (hook messages stored while no daemon ran). A job lost with the process is found again there
//! by the next daemon.
//!
//! To *learn* from a session is to derive memories from its events. To *embed* a memory is to compute
//! the vector by which searches find it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use engine::{CompactMode, LearnedSession, MaintenanceOptions, Project, TaskProgress};
use model::SessionId;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::mutex::lock_mutex;
use crate::open_projects::{OpenProject, PolicyFreshness};
use crate::os;
use crate::wire::{ErrorCode, JobWire, RequestFailure};

/// Queue limit; further jobs are dropped, and a later daemon finds their work on the disk.
const MAX_QUEUED_JOBS: usize = 1_024;
/// Memories embedded between two checks whether the daemon shuts down.
const EMBEDDINGS_PER_BATCH: usize = 64;
/// A session without events for this long (one hour) counts as ended.
const SESSION_SILENCE_MILLIS: i64 = 3_600_000;
/// Threads of an indexing pass. One, because the agent that works at the same time needs the others.
const INDEX_THREADS: usize = 1;
const MAINTENANCE_INTERVAL: Duration = Duration::from_hours(24);

/// A background task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundTask {
    /// Imports the messages that hooks stored while no daemon ran.
    ImportInbox,
    /// Learns from a session that ended.
    Learn(SessionId),
    /// Learns from the finished subtasks of a running session, which its host has reported.
    LearnFinishedSubtasks(SessionId),
    /// Learns from the other journals of a project: of sessions that ended without a daemon, or whose
    /// work was not yet confirmed (by a check or a commit) when they were learned first.
    LearnLeftovers,
    /// Embeds the memories that have no vector yet.
    Embed,
    /// Brings the code graph up to date.
    Index,
    /// Daily maintenance: backup, compaction of the database, and once a week synthesis (statements
    /// that only many sessions together support).
    Maintain,
}

impl BackgroundTask {
    /// The name in the `status` of the daemon. Part of the protocol, so it stays when a variant is
    /// renamed.
    const fn task_name(self) -> &'static str {
        match self {
            Self::ImportInbox => "take_in",
            Self::Learn(_) => "learn",
            Self::LearnFinishedSubtasks(_) => "learn_so_far",
            Self::LearnLeftovers => "learn_left",
            Self::Embed => "embed",
            Self::Index => "index",
            Self::Maintain => "maintain",
        }
    }
}

/// The number of memories that a job kept; 0 for a task that does not learn.
type JobResult = Result<usize, RequestFailure>;

struct BackgroundJob {
    task: BackgroundTask,
    /// `None` for [`BackgroundTask::ImportInbox`], which concerns all projects.
    open_project: Option<Arc<OpenProject>>,
    /// Present if a request waits for the result of the job.
    result_sender: Option<oneshot::Sender<JobResult>>,
}

impl BackgroundJob {
    /// True for the same task of the same open project.
    fn is_same_job(&self, task: BackgroundTask, open_project: Option<&Arc<OpenProject>>) -> bool {
        let own_project = self.open_project.as_ref();
        self.task == task && own_project.map(Arc::as_ptr) == open_project.map(Arc::as_ptr)
    }
}

/// The queue of the worker thread, and the record of what it did.
#[derive(Default)]
pub(crate) struct BackgroundWorker {
    queue: Mutex<JobQueue>,
    job_added: Condvar,
    /// Passed to long operations, so that they can be stopped.
    progress: TaskProgress,
}

#[derive(Default)]
struct JobQueue {
    jobs: VecDeque<BackgroundJob>,
    running: Option<RunningJob>,
    /// Number of finished jobs by task name.
    finished: BTreeMap<String, u64>,
    last_error: Option<String>,
    is_shut_down: bool,
}

struct RunningJob {
    task_name: &'static str,
    project_root: PathBuf,
    started_at: Instant,
}

/// The background jobs in the result of a `status` request.
pub(crate) struct WorkerStatus {
    pub(crate) running: Option<JobWire>,
    pub(crate) n_queued: usize,
    pub(crate) finished: BTreeMap<String, u64>,
    pub(crate) last_error: Option<String>,
}

impl BackgroundWorker {
    /// Enqueues a job, unless it is queued already.
    pub(crate) fn enqueue(&self, task: BackgroundTask, open_project: Option<&Arc<OpenProject>>) {
        let mut queue = lock_mutex(&self.queue);
        let is_queued = queue.jobs.iter().any(|it| it.is_same_job(task, open_project));
        if queue.is_shut_down || is_queued || queue.jobs.len() >= MAX_QUEUED_JOBS {
            return;
        }
        let open_project = open_project.cloned();
        queue.jobs.push_back(BackgroundJob { task, open_project, result_sender: None });
        self.job_added.notify_one();
    }

    /// Learns from a session before all other jobs; the receiver gets the result. The queue limit
    /// does not apply, because a request waits. After shutdown the receiver gets an error at once,
    /// because the sender is dropped.
    pub(crate) fn learn_now(
        &self,
        session: SessionId,
        open_project: &Arc<OpenProject>,
    ) -> oneshot::Receiver<JobResult> {
        let (sender, receiver) = oneshot::channel();
        let mut queue = lock_mutex(&self.queue);
        if !queue.is_shut_down {
            queue.jobs.push_front(BackgroundJob {
                task: BackgroundTask::Learn(session),
                open_project: Some(Arc::clone(open_project)),
                result_sender: Some(sender),
            });
            self.job_added.notify_one();
        }
        receiver
    }

    pub(crate) fn status(&self) -> WorkerStatus {
        let queue = lock_mutex(&self.queue);
        let running = queue.running.as_ref().map(|it| JobWire {
            name: it.task_name.to_owned(),
            project: it.project_root.display().to_string(),
            seconds: it.started_at.elapsed().as_secs(),
        });
        WorkerStatus {
            running,
            n_queued: queue.jobs.len(),
            finished: queue.finished.clone(),
            last_error: queue.last_error.clone(),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        let queue = lock_mutex(&self.queue);
        queue.running.is_none() && queue.jobs.is_empty()
    }

    /// Records an error for `status`; no caller waits for the result of a background job.
    pub(crate) fn record_error(&self, error: String) {
        lock_mutex(&self.queue).last_error = Some(error);
    }

    /// Rejects further jobs and stops the running one if it can be stopped.
    pub(crate) fn shut_down(&self) {
        let mut queue = lock_mutex(&self.queue);
        queue.is_shut_down = true;
        queue.jobs.clear();
        self.progress.stop();
        self.job_added.notify_all();
    }

    /// Waits for the next job; `None` after shutdown.
    fn wait_for_job(&self) -> Option<BackgroundJob> {
        let mut queue = lock_mutex(&self.queue);
        loop {
            if queue.is_shut_down {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                queue.running = Some(RunningJob {
                    task_name: job.task.task_name(),
                    project_root: job
                        .open_project
                        .as_ref()
                        .map(|it| it.root.clone())
                        .unwrap_or_default(),
                    started_at: Instant::now(),
                });
                return Some(job);
            }
            queue = self.job_added.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a finished job, or stores its error, for `status`.
    fn record_result(&self, task: BackgroundTask, result: &JobResult) {
        let mut queue = lock_mutex(&self.queue);
        queue.running = None;
        match result {
            Ok(_) => *queue.finished.entry(task.task_name().to_owned()).or_default() += 1,
            Err(why) => queue.last_error = Some(format!("{}: {}", task.task_name(), why.message)),
        }
    }
}

/// Starts the worker thread.
pub(crate) fn start_worker(daemon: &Arc<Daemon>) -> std::io::Result<()> {
    let daemon = Arc::clone(daemon);
    let run_jobs = move || {
        os::lower_priority();
        // A runtime of its own, because the threads of the main one have normal priority. Jobs run one
        // at a time, so few threads for blocking calls suffice, and idle ones end soon.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(2)
            .thread_keep_alive(Duration::from_secs(1))
            .on_thread_start(os::lower_priority)
            .build();
        let Ok(runtime) = runtime else { return };
        while let Some(job) = daemon.background.wait_for_job() {
            let outcome = runtime.block_on(async {
                // Spawned, so that a panic ends this job only.
                let work = run_task(Arc::clone(&daemon), job.task, job.open_project.clone());
                tokio::spawn(work).await
            });
            let result = outcome.unwrap_or_else(|_panic| {
                Err(RequestFailure::new(ErrorCode::Failed, "an internal error ended the job"))
            });
            daemon.background.record_result(job.task, &result);
            if let Some(sender) = job.result_sender {
                // Fails only if the requester disconnected.
                let _ = sender.send(result);
            }
        }
    };
    std::thread::Builder::new().name("waylore-background".to_owned()).spawn(run_jobs).map(|_| ())
}

/// Runs a task; returns the number of memories kept, for the tasks that learn.
async fn run_task(
    daemon: Arc<Daemon>,
    task: BackgroundTask,
    open_project: Option<Arc<OpenProject>>,
) -> JobResult {
    // Only `ImportInbox` is enqueued without a project.
    let Some(open_project) = open_project else { return import_inbox(&daemon).await };
    let mut project = open_project.handle(&daemon.config, PolicyFreshness::Current).await;
    if project.is_memory_disabled() {
        return Ok(0);
    }
    let progress = &daemon.background.progress;
    match task {
        // Does not occur with a project, see above.
        BackgroundTask::ImportInbox => import_inbox(&daemon).await,
        BackgroundTask::Learn(session) => {
            let learned = learn_journal(&daemon, &mut project, session).await?;
            daemon.background.enqueue(BackgroundTask::Embed, Some(&open_project));
            Ok(learned.iter().map(|it| it.memories.len()).sum())
        }
        BackgroundTask::LearnFinishedSubtasks(session) => {
            let learned = project.learner().learn_finished_subtasks(session).await?;
            daemon.background.enqueue(BackgroundTask::Embed, Some(&open_project));
            Ok(learned.map_or(0, |it| it.memories.len()))
        }
        BackgroundTask::LearnLeftovers => learn_leftovers(&daemon, &mut project).await,
        BackgroundTask::Embed => loop {
            let batch = project.embedding_indexer().embed_missing(EMBEDDINGS_PER_BATCH).await?;
            if batch.n_missing == 0 || progress.is_stopped() {
                project.embedding_indexer().save_index_snapshots().await?;
                return Ok(0);
            }
            tokio::task::yield_now().await;
        },
        // Only the user starts the first index of a project; the daemon keeps it up to date.
        BackgroundTask::Index => {
            if project.is_indexed() {
                let indexed = project.code_indexer().index_code(progress, INDEX_THREADS).await?;
                project.code_indexer().follow_up(&indexed, progress).await?;
            }
            Ok(0)
        }
        BackgroundTask::Maintain => {
            maintain_daily(&daemon, &mut project).await?;
            Ok(0)
        }
    }
}

/// Imports the inbox of all projects. A session that fails stays in the inbox and does not stop the
/// others; the last error is returned.
async fn import_inbox(daemon: &Arc<Daemon>) -> JobResult {
    let mut result = Ok(0);
    let config = &daemon.config;
    for session in engine::list_inbox(&config.data_dir, config.key.as_ref(), (config.now)()) {
        if let Err(why) = import_inbox_session(daemon, &session).await {
            result = Err(why);
        }
    }
    result
}

/// Moves the events of one session from the inbox into its journal.
async fn import_inbox_session(
    daemon: &Arc<Daemon>,
    session: &engine::InboxSession,
) -> Result<(), RequestFailure> {
    let open_project = daemon.get_or_open_project(&session.root).await?;
    let mut project = open_project.writable_handle(&daemon.config, PolicyFreshness::Recent).await?;
    project.session_journal().import_inbox_session(session).await?;
    daemon.background.enqueue(BackgroundTask::LearnLeftovers, Some(&open_project));
    Ok(())
}

/// Learns from the journal of an ended session, once its host has written its transcript to the end.
async fn learn_journal(
    daemon: &Daemon,
    project: &mut Project,
    session: SessionId,
) -> Result<Vec<LearnedSession>, engine::Error> {
    while project.session_history().is_transcript_being_written(session)
        && !daemon.background.progress.is_stopped()
    {
        tokio::time::sleep(engine::TRANSCRIPT_POLL_INTERVAL).await;
    }
    project.learner().learn_from_journal(session).await
}

/// Learns from the journals of ended sessions.
async fn learn_leftovers(daemon: &Arc<Daemon>, project: &mut Project) -> JobResult {
    let now = (daemon.config.now)();
    let mut n_kept = 0;
    for journal in project.session_history().list_journals() {
        if daemon.background.progress.is_stopped() {
            break;
        }
        let is_silent = now.millis_since(journal.last_written) > SESSION_SILENCE_MILLIS;
        // Between the end event and its own `Learn` job, an ended session may still be live.
        let is_live = daemon.live_sessions.is_live(journal.session);
        let has_ended = if is_silent {
            // A host that crashed writes no end event: silence counts as one.
            true
        } else {
            journal.has_ended && !is_live
        };
        if !has_ended {
            continue;
        }
        // A session that this version cannot learn would fail again; the next version tries it.
        if project.session_history().has_failed_before(journal.session) {
            continue;
        }
        match learn_journal(daemon, project, journal.session).await {
            Ok(learned) => n_kept += learned.iter().map(|it| it.memories.len()).sum::<usize>(),
            // Its journal stays, and `doctor` lists it. The other sessions go on.
            Err(engine::Error::SessionFailed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(n_kept)
}

/// Daily maintenance. The modification time of a stamp file records the last run, because daemons
/// seldom live for a day.
async fn maintain_daily(daemon: &Arc<Daemon>, project: &mut Project) -> Result<(), RequestFailure> {
    // One stamp file per project, beside the lock file of the daemon.
    let fingerprint = model::fingerprint_text(&project.place.root.to_string_lossy());
    let stamp = daemon.address.lock.with_file_name(format!("maintained-{fingerprint}"));
    let last_run = std::fs::metadata(&stamp).and_then(|it| it.modified()).ok();
    // A time in the future (the clock was set back) has no age: maintenance then runs.
    let age = last_run.and_then(|it| it.elapsed().ok());
    let is_due = age.is_none_or(|it| it >= MAINTENANCE_INTERVAL);
    // A project without a notebook (its database of memories) has nothing to maintain.
    if !is_due || project.notebooks().is_empty() {
        return Ok(());
    }
    // Does nothing if it has run this week already.
    project.learner().consolidate_week().await?;
    // Files that sessions touched together change the module map.
    if project.is_indexed() {
        project.code_indexer().index_map().await?;
    }
    let options = MaintenanceOptions {
        backup_every_days: daemon.config.backup_every_days,
        compact: CompactMode::IfWorthwhile,
        dry_run: false,
    };
    project.maintenance().maintain(options).await?;
    // Written last: maintenance that failed runs again at the next opportunity.
    engine::write_private_file(&stamp, b"").map_err(engine::Error::from)?;
    Ok(())
}
