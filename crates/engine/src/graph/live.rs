//! One pass: look, read what changed, resolve whom that concerns, keep both. For index and watch alike.
//!
//! Up to 512 files are one transaction. In a longer pass facts are kept every 512 files, so an
//! interruption costs little: the next run goes on from there. Edges come last, together with the
//! word that the index is whole. Until then, questions are answered and say that something may be
//! missing.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use ::graph::{Change, Graph, Updated};
use source::{Seen, Stamp};
use store::{GraphBatch, GraphPassed, GraphStamp, GraphStore, GraphTurn};

use super::index::{Indexed, count, sum_up};
use super::keep::{self, Taken};
use super::plan::{Due, PassedOver, Plan, Read, Stamps, plan, read_all};
use crate::models::aside;
use crate::{Error, Progress};

/// How many files are read and kept together: what an interruption costs at most.
const AT_ONCE: usize = 512;

/// How often somebody who waits for their turn asks again.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub indexed: Indexed,
    /// Files that were read because they are new or changed, and those that are gone.
    pub read: Vec<String>,
    pub gone: Vec<String>,
}

/// The graph in memory beside the file it is kept in. Others may change that file between two passes.
pub(super) struct Live {
    store: GraphStore,
    pub(super) root: PathBuf,
    pub(super) threads: usize,
    held: Option<Held>,
}

/// What is in memory. It is there as long as it equals what is kept.
pub(super) struct Held {
    pub(super) graph: Graph,
    pub(super) stamps: Stamps,
    passed: PassedOver,
    generation: i64,
    is_whole: bool,
}

impl Live {
    pub(super) const fn new(store: GraphStore, root: PathBuf, threads: usize) -> Self {
        Self { store, root, threads, held: None }
    }

    /// Brings the graph up to date in what was seen. Waits for its turn.
    pub(super) async fn pass(&mut self, seen: &Seen, progress: &Progress) -> Result<Pass, Error> {
        let Some(_turn) = self.turn(progress).await? else {
            let indexed = Indexed { is_partial: true, ..Indexed::default() };
            return Ok(Pass { indexed, ..Pass::default() });
        };
        // Until the end it is not in step with what is kept; after an error it is loaded again.
        let mut held = self.held().await?;
        let everything = Seen::Everything;
        let seen = if held.is_whole { seen } else { &everything };
        let (plan, back) = {
            let (root, seen) = (self.root.clone(), seen.clone());
            aside(move || (plan(&root, &seen, &held.stamps, &held.passed), held)).await
        };
        held = back;
        progress.expect(plan.due.len());
        let Plan { mut due, gone, mut passed } = plan;
        let mut res = Pass { gone, ..Pass::default() };
        let mut batch = GraphBatch::default();
        let mut is_begun = false;
        while !due.is_empty() && !progress.is_stopped() {
            if is_begun {
                batch.state = vec![("whole", "0".to_owned())];
                held.generation =
                    self.store.apply(GraphBatch { after: held.generation, ..batch }).await?;
            }
            is_begun = true;
            let part: Vec<Due> = due.drain(..due.len().min(AT_ONCE)).collect();
            let (root, shared, threads) = (self.root.clone(), progress.clone(), self.threads);
            let (read, part) =
                aside(move || (read_all(&root, &part, threads, &shared), part)).await;
            let taken = taken(part, read, &mut passed, &mut res);
            batch = keep::take(&mut held.graph, &mut held.stamps, taken);
        }
        res.indexed.is_partial = !due.is_empty();
        self.settle(held, batch, passed, &mut res).await?;
        Ok(res)
    }

    /// Takes away what is gone, finds the edges of all whom the pass concerns, and keeps it all.
    async fn settle(
        &mut self,
        mut held: Held,
        mut batch: GraphBatch,
        passed: PassedOver,
        res: &mut Pass,
    ) -> Result<(), Error> {
        for path in &res.gone {
            batch.gone.extend(held.graph.take(Change::Gone { path: path.clone() }));
            held.stamps.remove(path);
        }
        let (is_whole, threads) = (!res.indexed.is_partial, self.threads);
        let (mut held, updated) = aside(move || {
            let updated = if is_whole { held.graph.settle(threads) } else { Updated::default() };
            (held, updated)
        })
        .await;
        // A number that was free again may belong to another file by now.
        batch.gone.retain(|it| held.graph.path(*it).is_none());
        batch.resolved = keep::resolved(&held.graph, &updated.resolved);
        batch.links = keep::to_files(&held.graph, &updated.resolved);
        if passed != held.passed {
            batch.passed = Some(passed.values().cloned().collect());
            held.passed = passed;
        }
        if held.is_whole != is_whole || !is_whole || held.generation == 0 {
            batch.state = vec![("whole", if is_whole { "1" } else { "0" }.to_owned())];
            held.is_whole = is_whole;
        }
        let indexed = &mut res.indexed;
        (indexed.n_read, indexed.n_gone) = (res.read.len(), res.gone.len());
        indexed.n_resolved = updated.resolved.len();
        indexed.passed = count(&held.passed);
        sum_up(&held.graph, indexed);
        self.keep(held, batch).await?;
        res.indexed.size = self.store.size();
        Ok(())
    }

    /// Keeps changes on disk, and what they lead to in memory.
    pub(super) async fn keep(&mut self, mut held: Held, batch: GraphBatch) -> Result<(), Error> {
        if !batch.is_empty() {
            held.generation =
                self.store.apply(GraphBatch { after: held.generation, ..batch }).await?;
        }
        // What was broken off is not in step with what is kept.
        self.held = held.is_whole.then_some(held);
        Ok(())
    }

    /// What is in memory, if nobody has changed the file since; else what is kept.
    pub(super) async fn held(&mut self) -> Result<Held, Error> {
        let mut generation = self.store.generation().await?;
        if let Some(held) = self.held.take().filter(|it| it.generation == generation) {
            return Ok(held);
        }
        let is_whole = self.store.state("whole").await?.as_deref() == Some("1");
        let keep::Kept { graph, lost } = keep::load(&self.store, !is_whole).await?;
        if !lost.is_empty() {
            // What cannot be read back is read again, although it did not change.
            let gone = lost.iter().map(|it| it.id).collect();
            let state = vec![("whole", "0".to_owned())];
            let batch = GraphBatch { after: generation, gone, state, ..GraphBatch::default() };
            generation = self.store.apply(batch).await?;
        }
        let by_path = |it: GraphStamp| (it.path.clone(), it);
        let stamps = self.store.stamps().await?.into_iter().map(by_path).collect();
        let by_path = |it: GraphPassed| (it.path.clone(), it);
        let passed = self.store.passed().await?.into_iter().map(by_path).collect();
        let is_whole = is_whole && lost.is_empty();
        Ok(Held { graph, stamps, passed, generation, is_whole })
    }

    /// Waits until nobody else changes the graph; `None` when it was stopped before.
    pub(super) async fn turn(&self, progress: &Progress) -> Result<Option<GraphTurn>, Error> {
        let (store, progress) = (self.store.clone(), progress.clone());
        aside(move || {
            while !progress.is_stopped() {
                if let Some(turn) = store.take_turn()? {
                    progress.wait(false);
                    return Ok(Some(turn));
                }
                progress.wait(true);
                thread::park_timeout(BETWEEN_TRIES);
            }
            Ok(None)
        })
        .await
    }
}

/// What a part of the files came to.
fn taken(part: Vec<Due>, read: Vec<Read>, passed: &mut PassedOver, res: &mut Pass) -> Taken {
    let mut taken = Taken::default();
    for (due, read) in part.into_iter().zip(read) {
        let Due { path, stamp: Stamp { size, modified }, known } = due;
        match read {
            Read::Fresh(fresh) => {
                res.indexed.n_new += usize::from(known.is_none());
                res.read.push(path.clone());
                res.indexed.n_bytes += fresh.n_bytes;
                let hash = fresh.hash.to_vec();
                taken.changed.push((GraphStamp { id: 0, path, size, modified, hash }, *fresh));
            }
            Read::Same => taken.touched.extend(known.map(|it| GraphStamp { size, modified, ..it })),
            Read::Passed(why) => {
                taken.gone.extend(known.map(|it| it.path));
                let reason = why.reading().to_owned();
                passed.insert(path.clone(), GraphPassed { path, size, modified, reason });
            }
        }
    }
    taken
}
