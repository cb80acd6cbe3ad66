//! One indexing pass: find changed files, parse them, resolve the affected references, store both.
//! `index.rs` runs it once or for every change of a watch, `refine.rs` before it merges a precise index.
//!
//! Up to [`BATCH_FILES`] files form one transaction. A longer pass stores facts in several batches, so
//! an interruption costs little: the next pass continues from there. Edges come last, together with
//! the mark that the index is complete. Until then queries are answered with a note that the answer
//! may be incomplete.
//!
//! [`LiveIndex`] keeps the graph in memory between passes. The database has a generation number that
//! grows with every write, so a pass notices if another process has changed the graph, and loads it
//! again. A pass that finds nothing to do needs only the stamps, so it does not load the graph.
//!
//! Words: the *facts* of a file are its definitions, imports and references; *edges* connect a
//! reference to the definition that it was resolved to. The *stamp* of a file is its size,
//! modification time and hash when it was indexed.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use graph::{FileId, GraphChange, GraphUpdate, SymbolGraph};
use source::{ChangedFiles, FileStamp};
use store::{GraphBatch, GraphSkippedFile, GraphStamp, GraphStore, GraphWriteLock};

use super::graph_totals::GraphTotals;
use super::index::{IndexReport, count_skipped};
use super::index_plan::{
    IndexPlan, PendingFile, ReadOutcome, SkippedFiles, StampsByPath, parse_pending_files, plan_pass,
};
use super::persistence::{self, Completeness, FileUpdates, RestoredGraph, completeness_state};
use crate::blocking::run_blocking;
use crate::{Error, TaskProgress};

/// Files that are parsed and stored together. An interruption costs at most that many.
const BATCH_FILES: usize = 512;

/// Pause between two attempts to get the write lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Outcome of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexPass {
    pub indexed: IndexReport,
    /// Paths of new and changed files.
    pub indexed_files: Vec<String>,
    /// Paths of files that are gone.
    pub removed: Vec<String>,
}

/// The graph in memory beside its database. Another process may change the database between passes.
pub(super) struct LiveIndex {
    store: GraphStore,
    /// The project folder.
    pub(super) root: PathBuf,
    pub(super) threads: usize,
    loading: GraphLoading,
    /// `None` before the first pass, during a pass, and after a pass that did not finish. The graph
    /// is missing as long as no pass needed it.
    memory: Option<(IndexedFiles, Option<SymbolGraph>)>,
}

/// When the first pass loads the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphLoading {
    /// If a file has changed.
    OnChange,
    /// Always: the passes that follow must be fast.
    AtOnce,
}

/// The graph in memory with its bookkeeping. Kept between passes while it equals the database.
pub(super) struct IndexState {
    pub(super) graph: SymbolGraph,
    pub(super) files: IndexedFiles,
}

/// The bookkeeping of the stored index: all about its files but their symbols and edges.
pub(super) struct IndexedFiles {
    pub(super) stamps: StampsByPath,
    skipped: SkippedFiles,
    generation: i64,
    completeness: Completeness,
    totals: Option<GraphTotals>,
}

impl LiveIndex {
    pub(super) const fn new(
        store: GraphStore,
        root: PathBuf,
        threads: usize,
        loading: GraphLoading,
    ) -> Self {
        Self { store, root, threads, loading, memory: None }
    }

    /// Indexes the given changes. Waits for the write lock.
    pub(super) async fn run_pass(
        &mut self,
        changes: &ChangedFiles,
        progress: &TaskProgress,
    ) -> Result<IndexPass, Error> {
        let Some(_lock) = self.wait_for_lock(progress).await? else {
            // The user stopped the work while another process was writing.
            let indexed = IndexReport { is_partial: true, ..IndexReport::default() };
            return Ok(IndexPass { indexed, ..IndexPass::default() });
        };

        // `load_files` takes the state out of `self`. During the pass it differs from the database,
        // so after an error it must be loaded again.
        let (files, graph) = self.load_files().await?;
        let (mut plan, files) = self.plan(changes, files).await;
        if graph.is_none()
            && self.loading == GraphLoading::OnChange
            && let Some(totals) = files.totals_if_unchanged(&plan)
        {
            return Ok(self.finish_unchanged(files, totals));
        }
        let mut state = if let Some(graph) = graph {
            IndexState { graph, files }
        } else {
            let (IndexState { graph, mut files }, n_damaged) = self.load_graph(files).await?;
            if n_damaged > 0 {
                (plan, files) = self.plan(changes, files).await;
            }
            IndexState { graph, files }
        };
        let IndexPlan { mut pending, removed, mut skipped } = plan;
        progress.add_total(pending.len());
        let mut pass = IndexPass { removed, ..IndexPass::default() };

        // Parse batch by batch. Each round stores the batch of the round before, so that the last
        // batch is left for `finish_pass`, which stores it in one transaction with the edges.
        let mut batch = GraphBatch::default();
        let mut is_first_batch = true;
        while !pending.is_empty() && !progress.is_stopped() {
            if !is_first_batch {
                batch.state = completeness_state(Completeness::Partial);
                let batch = GraphBatch { base_generation: state.files.generation, ..batch };
                state.files.generation = self.store.apply(batch).await?;
            }
            is_first_batch = false;
            let files: Vec<PendingFile> = pending.drain(..pending.len().min(BATCH_FILES)).collect();
            let (root, shared, threads) = (self.root.clone(), progress.clone(), self.threads);
            let (outcomes, files) =
                run_blocking(move || (parse_pending_files(&root, &files, threads, &shared), files))
                    .await;
            let updates = to_updates(files, outcomes, &mut skipped, &mut pass);
            batch = persistence::apply_updates(&mut state.graph, &mut state.files.stamps, updates);
        }
        pass.indexed.is_partial = !pending.is_empty();
        self.finish_pass(state, batch, skipped, &mut pass).await?;
        Ok(pass)
    }

    /// Compares the files on disk with the index.
    async fn plan(&self, changes: &ChangedFiles, files: IndexedFiles) -> (IndexPlan, IndexedFiles) {
        let changes = match files.completeness {
            Completeness::Complete => changes.clone(),
            // The interrupted pass may have seen changes that this caller does not know of.
            Completeness::Partial => ChangedFiles::Everything,
        };
        let root = self.root.clone();
        let plan = move || (plan_pass(&root, &changes, &files.stamps, &files.skipped), files);
        run_blocking(plan).await
    }

    /// Ends a pass that found nothing to do.
    fn finish_unchanged(&mut self, files: IndexedFiles, totals: GraphTotals) -> IndexPass {
        let mut indexed = IndexReport {
            skipped: count_skipped(&files.skipped),
            size: self.store.size(),
            ..IndexReport::default()
        };
        totals.add_to(&mut indexed);
        self.memory = Some((files, None));
        IndexPass { indexed, ..IndexPass::default() }
    }

    /// Removes the files that are gone, resolves all references that the pass affects, and stores
    /// the result.
    async fn finish_pass(
        &mut self,
        mut state: IndexState,
        mut batch: GraphBatch,
        skipped: SkippedFiles,
        pass: &mut IndexPass,
    ) -> Result<(), Error> {
        for path in &pass.removed {
            let removed = state.graph.stage(GraphChange::Removed { path: path.clone() });
            batch.removed.extend(removed.map(|it| it.0));
            state.files.stamps.remove(path);
        }
        let completeness =
            if pass.indexed.is_partial { Completeness::Partial } else { Completeness::Complete };
        let threads = self.threads;
        let (mut state, updated) = run_blocking(move || {
            // A partial graph is not resolved: the next pass would have to do it again.
            let updated = match completeness {
                Completeness::Complete => state.graph.resolve_pending(threads),
                Completeness::Partial => GraphUpdate::default(),
            };
            (state, updated)
        })
        .await;

        // The graph may have given the id of a removed file to a new one, which must not be removed.
        batch.removed.retain(|it| state.graph.path(FileId(*it)).is_none());
        batch.resolved = persistence::encode_resolved_edges(&state.graph, &updated.resolved);
        batch.links = persistence::weigh_file_links(&state.graph, &updated.resolved);
        let files = &mut state.files;
        if skipped != files.skipped {
            batch.skipped = Some(skipped.values().cloned().collect());
            files.skipped = skipped;
        }

        // Written only if it changed, so that a pass without changes writes nothing. Generation 0
        // is a new database.
        let is_unchanged_complete =
            completeness == Completeness::Complete && files.completeness == completeness;
        if !is_unchanged_complete || files.generation == 0 {
            batch.state = completeness_state(completeness);
            files.completeness = completeness;
        }
        let report = &mut pass.indexed;
        (report.n_read, report.n_removed) = (pass.indexed_files.len(), pass.removed.len());
        report.n_resolved = updated.resolved.len();
        report.skipped = count_skipped(&files.skipped);
        self.save(state, batch).await?.add_to(&mut pass.indexed);
        pass.indexed.size = self.store.size();
        Ok(())
    }

    /// Stores changes, and keeps the state in memory if it is complete. Returns the new totals.
    pub(super) async fn save(
        &mut self,
        mut state: IndexState,
        mut batch: GraphBatch,
    ) -> Result<GraphTotals, Error> {
        let IndexState { graph, files } = &mut state;
        let is_complete = files.completeness == Completeness::Complete;
        let totals = GraphTotals::count(graph);
        if is_complete && files.totals != Some(totals) {
            batch.state.push(totals.to_state());
            files.totals = Some(totals);
        }
        if !batch.is_empty() {
            let batch = GraphBatch { base_generation: files.generation, ..batch };
            files.generation = self.store.apply(batch).await?;
        }
        // A partial state has edges in memory that loading would drop.
        self.memory = is_complete.then_some((state.files, Some(state.graph)));
        Ok(totals)
    }

    /// Takes the state from memory if the database is unchanged since, otherwise loads it.
    pub(super) async fn load_state(&mut self) -> Result<IndexState, Error> {
        match self.load_files().await? {
            (files, Some(graph)) => Ok(IndexState { graph, files }),
            (files, None) => Ok(self.load_graph(files).await?.0),
        }
    }

    /// Takes the state from memory if the database is unchanged since, otherwise loads all of it
    /// but the graph.
    async fn load_files(&mut self) -> Result<(IndexedFiles, Option<SymbolGraph>), Error> {
        let generation = self.store.generation().await?;
        if let Some(memory) = self.memory.take().filter(|(it, _)| it.generation == generation) {
            return Ok(memory);
        }
        let by_path = |it: GraphStamp| (it.path.clone(), it);
        let stamps = self.store.stamps().await?.into_iter().map(by_path).collect();
        let by_path = |it: GraphSkippedFile| (it.path.clone(), it);
        let skipped = self.store.skipped_files().await?.into_iter().map(by_path).collect();
        let completeness = persistence::read_completeness(&self.store).await?;
        let totals = GraphTotals::read(&self.store).await?;
        Ok((IndexedFiles { stamps, skipped, generation, completeness, totals }, None))
    }

    /// Loads the graph. Files that cannot be decoded are dropped from the index; returns their
    /// number.
    async fn load_graph(&self, mut files: IndexedFiles) -> Result<(IndexState, usize), Error> {
        let RestoredGraph { graph, damaged } =
            persistence::restore_graph(&self.store, files.completeness).await?;
        if !damaged.is_empty() {
            // Without rows these files count as new, so the pass parses them again.
            files.completeness = Completeness::Partial;
            let batch = GraphBatch {
                base_generation: files.generation,
                removed: damaged.iter().map(|it| it.id).collect(),
                state: completeness_state(files.completeness),
                ..GraphBatch::default()
            };
            files.generation = self.store.apply(batch).await?;
        }
        for stamp in &damaged {
            files.stamps.remove(&stamp.path);
        }
        Ok((IndexState { graph, files }, damaged.len()))
    }

    /// Waits until no other process writes the graph. `None` if the work was stopped meanwhile.
    pub(super) async fn wait_for_lock(
        &self,
        progress: &TaskProgress,
    ) -> Result<Option<GraphWriteLock>, Error> {
        let (store, progress) = (self.store.clone(), progress.clone());
        run_blocking(move || {
            while !progress.is_stopped() {
                if let Some(lock) = store.try_lock()? {
                    progress.set_waiting(false);
                    return Ok(Some(lock));
                }
                progress.set_waiting(true);
                thread::park_timeout(LOCK_RETRY_INTERVAL);
            }
            Ok(None)
        })
        .await
    }
}

impl IndexedFiles {
    /// The totals of the stored graph if it is complete and the pass has nothing to do.
    fn totals_if_unchanged(&self, plan: &IndexPlan) -> Option<GraphTotals> {
        let is_unchanged =
            plan.pending.is_empty() && plan.removed.is_empty() && plan.skipped == self.skipped;
        let is_complete = self.completeness == Completeness::Complete;
        self.totals.filter(|_| is_unchanged && is_complete)
    }
}

/// Sorts the outcomes of parsed files into updates, skipped files and the counts of the pass.
fn to_updates(
    files: Vec<PendingFile>,
    outcomes: Vec<ReadOutcome>,
    skipped: &mut SkippedFiles,
    pass: &mut IndexPass,
) -> FileUpdates {
    let mut updates = FileUpdates::default();
    for (file, outcome) in files.into_iter().zip(outcomes) {
        let PendingFile { path, stamp: FileStamp { size, modified }, known } = file;
        match outcome {
            ReadOutcome::Parsed(parsed) => {
                pass.indexed.n_new += usize::from(known.is_none());
                pass.indexed_files.push(path.clone());
                pass.indexed.n_bytes += parsed.n_bytes;
                let (hash, is_generated) = (parsed.hash.to_vec(), parsed.is_generated);
                // The id is a placeholder: the graph assigns one when the file is added.
                let stamp = GraphStamp { id: 0, path, size, modified, hash, is_generated };
                updates.changed.push((stamp, *parsed));
            }
            // A new time on the same content: only the stamp changes.
            ReadOutcome::Unchanged => {
                updates.touched.extend(known.map(|it| GraphStamp { size, modified, ..it }));
            }
            // A file that can no longer be read leaves the graph.
            ReadOutcome::Skipped(why) => {
                updates.removed.extend(known.map(|it| it.path));
                let reason = why.reading().to_owned();
                skipped.insert(path.clone(), GraphSkippedFile { path, size, modified, reason });
            }
        }
    }
    updates
}
