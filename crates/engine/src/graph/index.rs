//! Reading the project's code once, and following it.

use ::graph::Graph;
use source::{Passed, Seen, StopWatch, Watch};

use super::live::{Live, Pass};
use super::plan::{PassedOver, is_code};
use crate::models::aside;
use crate::{Engine, Error, Progress, Reach};

/// What indexing came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    pub n_files: usize,
    pub n_symbols: usize,
    pub n_edges: usize,
    /// Files that were parsed, and their bytes.
    pub n_read: usize,
    pub n_bytes: u64,
    /// Of those, the ones that were not there before.
    pub n_new: usize,
    pub n_gone: usize,
    /// Files whose edges were found anew.
    pub n_resolved: usize,
    /// Calls that lead nowhere we know, and those that leave the repository.
    pub n_unresolved: u64,
    pub n_foreign: u64,
    /// Files that were passed over, by reason.
    pub passed: Vec<(&'static str, usize)>,
    /// It was stopped before it was whole.
    pub is_partial: bool,
    /// Bytes on disk.
    pub size: u64,
}

impl Engine {
    /// Brings the project's graph up to date, on up to `threads` threads.
    pub async fn index_code(
        &mut self,
        progress: &Progress,
        threads: usize,
    ) -> Result<Indexed, Error> {
        let mut live = self.live_code(threads).await?;
        Ok(live.pass(&Seen::Everything, progress).await?.indexed)
    }

    /// Begins to follow the project's code; see [`CodeWatch::next`].
    pub async fn watch_code(&mut self, threads: usize) -> Result<CodeWatch, Error> {
        let live = self.live_code(threads).await?;
        let place = self.place.clone();
        let watch = aside(move || Watch::start(&place, is_code)).await;
        Ok(CodeWatch { live, stop: watch.stopper(), watch: Some(watch), is_first: true })
    }

    pub(super) async fn live_code(&mut self, threads: usize) -> Result<Live, Error> {
        let notebook = self.notebook(Reach::Project).await?;
        let Some(id) = notebook.project else {
            return Err(Error::nothing("there is no project here"));
        };
        Ok(Live::new(self.graph_store(id), self.place.root.clone(), threads))
    }
}

/// The project's code, followed as it changes.
pub struct CodeWatch {
    live: Live,
    /// None once it has ended.
    watch: Option<Watch>,
    stop: StopWatch,
    is_first: bool,
}

impl CodeWatch {
    /// Ends it, from wherever: what is at hand is finished.
    pub fn stopper(&self) -> StopWatch {
        self.stop.clone()
    }

    /// Why changes are looked for every few seconds, when the system does not tell of them.
    pub fn trouble(&self) -> Option<&str> {
        self.watch.as_ref().and_then(Watch::trouble)
    }

    /// Everything at first, then waits for changes and brings the graph up to date. `None` once it was
    /// stopped.
    pub async fn next(&mut self, progress: &Progress) -> Result<Option<Pass>, Error> {
        let seen = if std::mem::take(&mut self.is_first) {
            Some(Seen::Everything)
        } else {
            self.seen().await
        };
        match seen {
            Some(seen) => self.live.pass(&seen, progress).await.map(Some),
            None => Ok(None),
        }
    }

    /// Brings the graph up to date in what somebody else saw, at once.
    pub async fn look_at(&mut self, seen: &Seen, progress: &Progress) -> Result<Pass, Error> {
        self.live.pass(seen, progress).await
    }

    async fn seen(&mut self) -> Option<Seen> {
        let mut watch = self.watch.take()?;
        let (watch, seen) = aside(move || {
            let seen = watch.wait();
            (watch, seen)
        })
        .await;
        self.watch = seen.is_some().then_some(watch);
        seen
    }
}

pub(super) fn count(passed: &PassedOver) -> Vec<(&'static str, usize)> {
    let counts = Passed::ALL.iter().map(|why| {
        let reason = why.reading();
        (reason, passed.values().filter(|it| it.reason == reason).count())
    });
    counts.filter(|it| it.1 > 0).collect()
}

pub(super) fn sum_up(graph: &Graph, res: &mut Indexed) {
    for (id, _) in graph.files() {
        res.n_files += 1;
        res.n_symbols += graph.n_symbols(id);
        if let Some(kept) = graph.kept(id) {
            let (n_foreign, n_unresolved, n_edges) = kept.counts();
            res.n_edges += n_edges;
            res.n_unresolved += u64::from(n_unresolved);
            res.n_foreign += u64::from(n_foreign);
        }
    }
}
