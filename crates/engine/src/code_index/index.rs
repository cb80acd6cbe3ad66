//! The entry points of indexing: [`index_code`] for one pass over everything, [`watch_code`] for a
//! [`CodeWatch`] that keeps indexing while files change. Both run passes of `live_index.rs`.

use source::{ChangedFiles, FileSkipReason, FileWatcher, WatchStopper};

use super::index_plan::{SkippedFiles, is_source_file};
use super::live_index::{GraphLoading, IndexPass, LiveIndex};
use crate::blocking::run_blocking;
use crate::{Error, NotebookScope, Project, TaskProgress};

/// Outcome of indexing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    pub n_files: usize,
    pub n_symbols: usize,
    pub n_edges: usize,
    /// Parsed files.
    pub n_read: usize,
    /// Bytes of the parsed files.
    pub n_bytes: u64,
    /// Parsed files that were not indexed before.
    pub n_new: usize,
    pub n_removed: usize,
    /// Files whose references were resolved again.
    pub n_resolved: usize,
    /// Calls whose target is unknown.
    pub n_unresolved: u64,
    /// Calls into libraries outside the repository.
    pub n_foreign: u64,
    /// Files of the index that the grammar of their language could not parse completely.
    pub n_partly_parsed: usize,
    /// Number of skipped files by reason.
    pub skipped: Vec<(&'static str, usize)>,
    /// Indexing was stopped before its end.
    pub is_partial: bool,
    /// Size of the graph database in bytes.
    pub size: u64,
}

/// Brings the code graph up to date, on up to `threads` threads.
pub(crate) async fn index_code(
    project: &mut Project,
    progress: &TaskProgress,
    threads: usize,
) -> Result<IndexReport, Error> {
    let mut live = open_live_index(project, threads, GraphLoading::OnChange).await?;
    Ok(live.run_pass(&ChangedFiles::Everything, progress).await?.indexed)
}

/// Starts to watch the project's files; see [`CodeWatch::next_pass`].
pub(crate) async fn watch_code(project: &mut Project, threads: usize) -> Result<CodeWatch, Error> {
    let live = open_live_index(project, threads, GraphLoading::AtOnce).await?;
    let place = project.place.clone();
    // Registering watches walks the whole tree.
    let watch = run_blocking(move || FileWatcher::start(&place, is_source_file)).await;
    Ok(CodeWatch { live, stop: watch.stopper(), watch: Some(watch), is_first: true })
}

/// Opens the graph database for indexing. Registers a project that is seen for the first time.
pub(super) async fn open_live_index(
    project: &mut Project,
    threads: usize,
    loading: GraphLoading,
) -> Result<LiveIndex, Error> {
    let notebook = project.ensure_notebook(NotebookScope::Project).await?;
    let Some(id) = notebook.project else {
        return Err(Error::nothing_to_do("there is no project here"));
    };
    let root = project.place.root.clone();
    Ok(LiveIndex::new(project.open_graph_writer(id), root, threads, loading))
}

/// Keeps the code graph up to date while files change.
pub struct CodeWatch {
    live: LiveIndex,
    /// `None` while a call waits for changes, and after the watch has ended.
    watch: Option<FileWatcher>,
    stop: WatchStopper,
    /// The next pass is the first one.
    is_first: bool,
}

impl CodeWatch {
    /// A handle that ends the watch from another task. The current pass is finished first.
    pub fn stop_handle(&self) -> WatchStopper {
        self.stop.clone()
    }

    /// The reason why files are polled, if the system does not report changes.
    pub fn polling_reason(&self) -> Option<&str> {
        self.watch.as_ref().and_then(FileWatcher::polling_reason)
    }

    /// Indexes everything on the first call. Later calls wait for changes and index them. `None`
    /// after the watch was stopped.
    pub async fn next_pass(&mut self, progress: &TaskProgress) -> Result<Option<IndexPass>, Error> {
        let changes = if std::mem::take(&mut self.is_first) {
            Some(ChangedFiles::Everything)
        } else {
            self.wait_for_changes().await
        };
        match changes {
            Some(changes) => self.live.run_pass(&changes, progress).await.map(Some),
            None => Ok(None),
        }
    }

    /// Indexes changes that the caller knows of, without waiting.
    pub async fn index_changes(
        &mut self,
        changes: &ChangedFiles,
        progress: &TaskProgress,
    ) -> Result<IndexPass, Error> {
        self.live.run_pass(changes, progress).await
    }

    async fn wait_for_changes(&mut self) -> Option<ChangedFiles> {
        let mut watch = self.watch.take()?;
        let (watch, changes) = run_blocking(move || {
            let changes = watch.wait_for_changes();
            (watch, changes)
        })
        .await;
        // A stopped watch reports nothing any more.
        self.watch = changes.is_some().then_some(watch);
        changes
    }
}

/// Counts skipped files by reason, in the order of the reasons.
pub(super) fn count_skipped(skipped: &SkippedFiles) -> Vec<(&'static str, usize)> {
    let mut counts = Vec::new();
    for why in FileSkipReason::ALL {
        // Stored as text, because the database outlives the enum.
        let reason = why.reading();
        let n_files = skipped.values().filter(|it| it.reason == reason).count();
        if n_files > 0 {
            counts.push((reason, n_files));
        }
    }
    counts
}
