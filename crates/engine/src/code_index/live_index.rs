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
//! again.
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

use super::index::{IndexReport, add_graph_totals, count_skipped};
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
    /// `None` before the first pass, during a pass, and after a pass that did not finish.
    state: Option<IndexState>,
}

/// The graph in memory with its bookkeeping. Kept between passes while it equals the database.
pub(super) struct IndexState {
    pub(super) graph: SymbolGraph,
    pub(super) stamps: StampsByPath,
    skipped: SkippedFiles,
    generation: i64,
    completeness: Completeness,
}

impl LiveIndex {
    pub(super) const fn new(store: GraphStore, root: PathBuf, threads: usize) -> Self {
        Self { store, root, threads, state: None }
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

        // `load_state` takes the state out of `self`. During the pass it differs from the database,
        // so after an error it must be loaded again.
        let state = self.load_state().await?;
        let changes = match state.completeness {
            Completeness::Complete => changes.clone(),
            // The interrupted pass may have seen changes that this caller does not know of.
            Completeness::Partial => ChangedFiles::Everything,
        };

        // Plan: compare the files on disk with the index.
        let root = self.root.clone();
        let (plan, mut state) = run_blocking(move || {
            (plan_pass(&root, &changes, &state.stamps, &state.skipped), state)
        })
        .await;
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
                let batch = GraphBatch { base_generation: state.generation, ..batch };
                state.generation = self.store.apply(batch).await?;
            }
            is_first_batch = false;
            let files: Vec<PendingFile> = pending.drain(..pending.len().min(BATCH_FILES)).collect();
            let (root, shared, threads) = (self.root.clone(), progress.clone(), self.threads);
            let (outcomes, files) =
                run_blocking(move || (parse_pending_files(&root, &files, threads, &shared), files))
                    .await;
            let updates = to_updates(files, outcomes, &mut skipped, &mut pass);
            batch = persistence::apply_updates(&mut state.graph, &mut state.stamps, updates);
        }
        pass.indexed.is_partial = !pending.is_empty();
        self.finish_pass(state, batch, skipped, &mut pass).await?;
        Ok(pass)
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
            state.stamps.remove(path);
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
        if skipped != state.skipped {
            batch.skipped = Some(skipped.values().cloned().collect());
            state.skipped = skipped;
        }

        // Written only if it changed, so that a pass without changes writes nothing. Generation 0
        // is a new database.
        let is_unchanged_complete =
            completeness == Completeness::Complete && state.completeness == completeness;
        if !is_unchanged_complete || state.generation == 0 {
            batch.state = completeness_state(completeness);
            state.completeness = completeness;
        }
        let report = &mut pass.indexed;
        (report.n_read, report.n_removed) = (pass.indexed_files.len(), pass.removed.len());
        report.n_resolved = updated.resolved.len();
        report.skipped = count_skipped(&state.skipped);
        add_graph_totals(&state.graph, report);
        self.save(state, batch).await?;
        pass.indexed.size = self.store.size();
        Ok(())
    }

    /// Stores changes, and keeps the state in memory if it is complete.
    pub(super) async fn save(
        &mut self,
        mut state: IndexState,
        batch: GraphBatch,
    ) -> Result<(), Error> {
        if !batch.is_empty() {
            let batch = GraphBatch { base_generation: state.generation, ..batch };
            state.generation = self.store.apply(batch).await?;
        }
        // A partial state has edges in memory that loading would drop.
        self.state = Some(state).filter(|it| it.completeness == Completeness::Complete);
        Ok(())
    }

    /// Takes the state from memory if the database is unchanged since, otherwise loads it.
    pub(super) async fn load_state(&mut self) -> Result<IndexState, Error> {
        let mut generation = self.store.generation().await?;
        if let Some(state) = self.state.take().filter(|it| it.generation == generation) {
            return Ok(state);
        }
        let mut completeness = persistence::read_completeness(&self.store).await?;
        let RestoredGraph { graph, damaged } =
            persistence::restore_graph(&self.store, completeness).await?;
        if !damaged.is_empty() {
            // Without rows these files count as new, so the pass parses them again.
            completeness = Completeness::Partial;
            let batch = GraphBatch {
                base_generation: generation,
                removed: damaged.iter().map(|it| it.id).collect(),
                state: completeness_state(completeness),
                ..GraphBatch::default()
            };
            generation = self.store.apply(batch).await?;
        }
        let by_path = |it: GraphStamp| (it.path.clone(), it);
        let stamps = self.store.stamps().await?.into_iter().map(by_path).collect();
        let by_path = |it: GraphSkippedFile| (it.path.clone(), it);
        let skipped = self.store.skipped_files().await?.into_iter().map(by_path).collect();
        Ok(IndexState { graph, stamps, skipped, generation, completeness })
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
                let hash = parsed.hash.to_vec();
                // The id is a placeholder: the graph assigns one when the file is added.
                updates.changed.push((GraphStamp { id: 0, path, size, modified, hash }, *parsed));
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
