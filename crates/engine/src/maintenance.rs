//! The maintenance capability: doctor, statistics, backups, export, erasure. [`Project`] hands it
//! out; each method calls a function in the file of its topic.

use std::path::Path;

use crate::backups::{self, CheckedBackup};
use crate::injection::injection_log;
use crate::{
    BackupContents, BackupFile, DoctorMode, Error, HealthCheck, MaintenanceOptions,
    MaintenanceReport, Notebook, NotebookExport, NotebookScope, NotebookStats, Project,
    ProjectActivity, PurgeReport, TrialResults, doctor, export, housekeeping, purge, statistics,
};

/// Checks, repairs, backs up, exports, measures and erases stored data.
///
/// Operations that replace or remove whole database files need the project handle to themselves and
/// are methods of [`Project`].
#[derive(Clone, Copy)]
pub struct Maintenance<'a> {
    project: &'a Project,
}

impl<'a> Maintenance<'a> {
    pub(crate) fn new(project: &'a Project) -> Self {
        Self { project }
    }

    /// Checks all stored data, after repairing it if `mode` is `Repair`. Returns the checks, and a
    /// description of each repair.
    pub async fn doctor(&self, mode: DoctorMode) -> Result<(Vec<HealthCheck>, Vec<String>), Error> {
        doctor::run_doctor(self.project, mode).await
    }

    /// Describes the damage that the reads of this process found so far, for warnings beside the
    /// output of a command.
    pub fn damage_messages(&self, notebooks: &[Notebook]) -> Vec<String> {
        doctor::damage_messages(self.project, notebooks)
    }

    /// Runs daily maintenance on every notebook: forgets faded memories, removes those that can no
    /// longer be restored, backs up and compacts.
    pub async fn maintain(
        &self,
        options: MaintenanceOptions,
    ) -> Result<Vec<MaintenanceReport>, Error> {
        housekeeping::run_maintenance(self.project, options).await
    }

    /// Moves the notes that hooks gave to agents from the spool into the notebooks, where they are
    /// counted. Commands that show the log or a counter call it first. Where nothing can be written,
    /// they show what is stored.
    pub async fn store_injections(&self) -> Result<(), Error> {
        match injection_log::store_injections(self.project).await {
            Err(Error::Store(
                store::Error::ReadOnly { .. } | store::Error::PermissionDenied { .. },
            )) => Ok(()),
            stored => stored,
        }
    }

    /// Returns counts and sizes of every notebook.
    pub async fn stats(&self) -> Result<Vec<NotebookStats>, Error> {
        statistics::notebook_stats(self.project).await
    }

    /// Returns totals over all learned sessions of the project.
    pub async fn activity(&self) -> Result<ProjectActivity, Error> {
        statistics::project_activity(self.project).await
    }

    /// Returns the results of the A/B trial; `None` if there was none.
    pub async fn trial(&self) -> Result<Option<TrialResults>, Error> {
        statistics::trial_results(self.project).await
    }

    /// Backs up every notebook that exists.
    pub async fn backup(&self) -> Result<Vec<(NotebookScope, BackupFile)>, Error> {
        backups::backup_all(self.project).await
    }

    /// Backs up small databases whose newest backup is too old. Large ones wait for
    /// [`maintain`](Self::maintain).
    pub async fn backup_if_due(&self, every_days: u32) -> Result<(), Error> {
        backups::backup_if_due(self.project, every_days).await
    }

    /// Lists the backups of a notebook, newest first, each opened and checked.
    pub fn backups(&self, scope: NotebookScope) -> Vec<CheckedBackup> {
        backups::list_backups(self.project, scope)
    }

    /// Returns the database that the last restore set aside, opened and checked. It can be restored
    /// under the name [`REPLACED_BACKUP_NAME`](crate::REPLACED_BACKUP_NAME).
    pub fn replaced(&self, scope: NotebookScope) -> Option<CheckedBackup> {
        backups::replaced_database(self.project, scope)
    }

    /// Collects everything in a notebook, including forgotten and deprecated memories, with secrets
    /// masked.
    pub async fn export(&self, scope: NotebookScope) -> Result<NotebookExport, Error> {
        export::export_notebook(self.project, scope).await
    }

    /// Writes a checked copy of a whole database, including history and vectors, to `path`.
    pub async fn archive(
        &self,
        scope: NotebookScope,
        path: &Path,
    ) -> Result<BackupContents, Error> {
        export::archive_database(self.project, scope, path).await
    }

    /// Erases memories with all their versions and copies, and searches all files for remains.
    pub async fn purge_memories(&self, ids: &[String]) -> Result<PurgeReport, Error> {
        purge::purge_memories(self.project, ids).await
    }

    /// Erases a secret from every memory, version and backup of all projects and the user.
    pub async fn purge_secret(&self, secret: &str) -> Result<PurgeReport, Error> {
        purge::purge_secret(self.project, secret).await
    }

    /// Erases everything that the current rules recognise as a secret, wherever it is stored.
    pub async fn purge_secrets_found(&self) -> Result<PurgeReport, Error> {
        purge::purge_secrets_found(self.project).await
    }
}
