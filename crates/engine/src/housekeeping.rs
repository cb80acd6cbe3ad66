//! Housekeeping: the daily maintenance of notebooks. Forgets memories that faded for lack of use and
//! candidates that were not confirmed, removes those that were forgotten too long ago to be restored, backs up and compacts. `waylore
//! maintain` and the daemon run it.

use model::{
    Actor, CANDIDATE_LIFETIME_MS, DAY_MS, DECAY_FLOOR_HALF_LIVES, Deprecation, Memory, MemoryId,
    MemoryStatus, QuietSpan, RESTORE_WINDOW_MS, lived_millis,
};
use store::{
    AuditAction, BackupFile, CompactMode, DamageFinding, StoreChange, StoreReader, WriteBatch,
};

use crate::backups::is_backup_due;
use crate::editing::user_batch;
use crate::export::list_all_memories;
use crate::{Error, Notebook, NotebookScope, Project, ProjectReader};

/// Options of a maintenance run.
#[derive(Clone, Copy, Debug)]
pub struct MaintenanceOptions {
    /// Age of the newest backup, in days, from which on a new one is made.
    pub backup_every_days: u32,
    pub compact: CompactMode,
    /// Report what would be done and change nothing.
    pub dry_run: bool,
}

/// Outcome of maintenance on one notebook.
#[derive(Clone, Debug)]
pub struct MaintenanceReport {
    pub scope: NotebookScope,
    /// Memories that were unused for too long. They were forgotten now and can be restored for 30
    /// days. In a dry run, and if there are findings, they are only reported.
    pub faded: Vec<Memory>,
    /// Candidates that were not confirmed in time; forgotten or only reported, as above.
    pub unconfirmed: Vec<Memory>,
    /// Memories that were forgotten more than 30 days ago. They were removed now, or only reported
    /// as above.
    pub removed: Vec<MemoryId>,
    pub findings: Vec<DamageFinding>,
    pub backup: Option<BackupFile>,
    pub reclaimed_bytes: u64,
}

/// Maintains the project's notebook and the user's.
pub(crate) async fn run_maintenance(
    project: &Project,
    options: MaintenanceOptions,
) -> Result<Vec<MaintenanceReport>, Error> {
    // Text files of a version that encrypted only databases.
    if let Some(key) = project.config.key.as_ref().filter(|_| !options.dry_run) {
        store::seal_text_files(&project.data_dir(), key)?;
    }
    let mut reports = Vec::new();
    for notebook in project.notebooks() {
        reports.push(maintain_notebook(project, &notebook, options).await?);
    }
    Ok(reports)
}

/// Returns the spans without any activity, up to now. They do not count as age, so that a project
/// that rests for a year does not lose its memories.
pub(crate) async fn quiet_spans(
    reader: &ProjectReader,
    store: &StoreReader,
) -> Result<Vec<QuietSpan>, Error> {
    Ok(store.memories().quiet_periods().await?.spans_until(reader.now))
}

async fn maintain_notebook(
    project: &Project,
    notebook: &Notebook,
    options: MaintenanceOptions,
) -> Result<MaintenanceReport, Error> {
    // Decide everything first, so that a dry run reports the same as a real one.
    let store = &project.notebook_writer(notebook);
    let findings = store.check_database().await?;
    let quiet = quiet_spans(project, store).await?;
    let memories = list_all_memories(store).await?;
    let is_faded = |it: &&Memory| has_faded(project, it, &quiet);
    let is_unconfirmed = |it: &&Memory| is_unconfirmed_candidate(project, it, &quiet);
    let is_expired = |it: &&Memory| has_expired(project, it, &quiet);
    let mut report = MaintenanceReport {
        scope: notebook.scope,
        faded: memories.iter().filter(is_faded).cloned().collect(),
        unconfirmed: memories.iter().filter(is_unconfirmed).cloned().collect(),
        removed: memories.iter().filter(is_expired).map(|it| it.id).collect(),
        findings,
        backup: None,
        reclaimed_bytes: 0,
    };

    // A damaged store is not changed: rows that look dispensable may be needed to repair it, and
    // its backup would displace a good one.
    if options.dry_run || !report.findings.is_empty() {
        return Ok(report);
    }
    forget_memories(project, notebook.scope, &report).await?;
    if !report.removed.is_empty() {
        store.remove_forgotten(report.removed.clone()).await?;
    }
    if is_backup_due(project, store, options.backup_every_days) {
        report.backup = Some(store.backup(project.now).await?);
    }
    report.reclaimed_bytes = store.compact(options.compact).await?;
    Ok(report)
}

/// Returns whether a memory was unused for [`DECAY_FLOOR_HALF_LIVES`] half-lives. Pinned memories
/// and those without a half-life never fade. Candidates have a lifetime of their own.
fn has_faded(reader: &ProjectReader, memory: &Memory, quiet: &[QuietSpan]) -> bool {
    use MemoryStatus::{Candidate, Deleted, Deprecated};
    let is_active = !matches!(memory.status(), Deleted | Deprecated | Candidate);
    // A memory can have a half-life of its own; otherwise its type has one, or none.
    let half_life =
        memory.half_life_days.or_else(|| memory.kind.half_life_days(&reader.config.types));
    let Some(days) = half_life.filter(|_| is_active && !memory.flags.pinned) else {
        return false;
    };
    lived_millis(memory.last_touched(), reader.now, quiet)
        > DECAY_FLOOR_HALF_LIVES * i64::from(days) * DAY_MS
}

/// Returns whether a candidate was neither confirmed nor seen again in its lifetime. A pinned one stays.
fn is_unconfirmed_candidate(reader: &ProjectReader, memory: &Memory, quiet: &[QuietSpan]) -> bool {
    memory.status() == MemoryStatus::Candidate
        && !memory.flags.pinned
        && lived_millis(memory.last_touched(), reader.now, quiet) > CANDIDATE_LIFETIME_MS
}

/// Returns whether a memory was forgotten so long ago that it can no longer be restored. Memories
/// that the user verified never expire.
fn has_expired(reader: &ProjectReader, memory: &Memory, quiet: &[QuietSpan]) -> bool {
    let forgotten = memory.states.deleted_at.filter(|_| !memory.flags.user_verified);
    forgotten.is_some_and(|it| lived_millis(it, reader.now, quiet) > RESTORE_WINDOW_MS)
}

/// Forgets faded memories and unconfirmed candidates in one batch.
async fn forget_memories(
    project: &Project,
    scope: NotebookScope,
    report: &MaintenanceReport,
) -> Result<(), Error> {
    let forget = |memory: &Memory| {
        let mut after = memory.clone();
        after.states.deleted_at = Some(project.now);
        after
    };
    let mut forgotten: Vec<Memory> = report.faded.iter().map(forget).collect();
    for mut candidate in report.unconfirmed.iter().map(forget) {
        // The reason tells learning that no person has rejected it.
        candidate.states.deprecate(&Deprecation::Unconfirmed, project.now);
        forgotten.push(candidate);
    }
    if forgotten.is_empty() {
        return Ok(());
    }
    let changes = forgotten.into_iter().map(|it| StoreChange::Replace(Box::new(it))).collect();
    // The author separates automatic changes from those of the user in the audit trail.
    let actor = Actor::Runner("maintain".to_owned());
    let batch = user_batch(AuditAction::Prune, project.now, changes);
    project.write(scope, WriteBatch { actor, ..batch }).await?;
    Ok(())
}
