//! The open projects of the daemon, lent to commands and MCP calls for one piece of work each.
//!
//! A lent project has the time, the settings and the registration of this moment.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::Project;
use model::Timestamp;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::mutex::lock_mutex;
use crate::open_projects::OpenProject;

/// Lends the open projects of a daemon.
#[derive(Clone)]
pub struct ProjectPool(Arc<Daemon>);

/// A project for one piece of work. Shares databases and indexes with all other work on this project.
pub struct LentProject {
    pub project: Project,
    /// The settings that are stored for the project, as pairs of key and value. The policy follows from
    /// them; the borrower sets it.
    pub stored_settings: Vec<(String, String)>,
    /// The project was opened for this work.
    pub is_newly_opened: bool,
    open_project: Arc<OpenProject>,
    /// The daemon does not exit before this is dropped.
    _in_progress: InProgressGuard,
}

impl ProjectPool {
    pub(crate) fn new(daemon: Arc<Daemon>) -> Self {
        Self(daemon)
    }

    /// Lends the project of a folder. The error says why it cannot; nothing was changed then.
    pub async fn lend(&self, folder: &Path, now: Timestamp) -> Result<LentProject, String> {
        let daemon = &self.0;
        let in_progress = InProgressGuard::new(daemon);
        let (open_project, is_newly_opened) = daemon
            .open_projects
            .get_or_open_registered(&daemon.config, folder)
            .await
            .map_err(|it| it.message)?;
        let mut project = open_project.new_handle().await;
        project.set_now(now);
        let stored_settings = project.project_settings().await.map_err(|it| it.to_string())?;
        daemon.mark_models_used();
        Ok(LentProject {
            project,
            stored_settings,
            is_newly_opened,
            open_project,
            _in_progress: in_progress,
        })
    }

    /// True if the daemon is about to exit.
    pub fn is_stopping(&self) -> bool {
        self.0.stop.is_requested()
    }
}

impl LentProject {
    /// Checks that the folder still belongs to the project: a repository may have been created, moved or
    /// replaced since it was opened.
    pub fn require_same_place(&self, folder: &Path) -> Result<(), String> {
        let place = engine::locate_project(folder, self.project.config.home.as_deref())
            .map_err(|it| it.to_string())?;
        let known = &self.project.place;
        let is_same = place.root == known.root
            && place.key_dir == known.key_dir
            && place.git_dir == known.git_dir
            && place.kind == known.kind
            && place.dir_key == known.dir_key;
        if is_same { Ok(()) } else { Err("the folder belongs to another project now".to_owned()) }
    }

    /// Lets later work know that this one registered the project. `project` is the handle that was lent.
    pub async fn give_back(&self, project: &Project) {
        self.open_project.adopt_registration(project).await;
    }
}

/// Counts work as in progress until it is dropped. The daemon waits for it before it exits, and its idle
/// time begins with the last work.
pub(crate) struct InProgressGuard(Arc<Daemon>);

impl InProgressGuard {
    pub(crate) fn new(daemon: &Arc<Daemon>) -> Self {
        *lock_mutex(&daemon.counts.last_line_at) = Instant::now();
        daemon.counts.lines_in_progress.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(daemon))
    }
}

impl Drop for InProgressGuard {
    fn drop(&mut self) {
        *lock_mutex(&self.0.counts.last_line_at) = Instant::now();
        self.0.counts.lines_in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}
