//! Progress: walk, read what changed, resolve whom that concerns, keep both.
//!
//! Facts are kept every few hundred files, so an interruption costs little: the next run goes on from
//! there. Edges come last, together with the word that the index is whole. Until then, questions are
//! answered and say that something may be missing.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::graph::{Change, Facts, Graph, extract, fingerprint, language};
use source::{Passed, Stamp, Walked};
use store::{GraphBatch, GraphPassed, GraphStamp};

use super::keep::{self, Kept};
use crate::models::aside;
use crate::{Engine, Error, Progress, Reach};

/// How many files are read and kept together: what an interruption costs at most.
const AT_ONCE: usize = 512;

/// What indexing came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    pub n_files: usize,
    pub n_symbols: usize,
    pub n_edges: usize,
    /// Files that were parsed, and their bytes.
    pub n_read: usize,
    pub n_bytes: u64,
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

/// A file to be read, as the walk saw it.
struct Due {
    path: String,
    stamp: Stamp,
    known: Option<GraphStamp>,
}

/// What became of it.
enum Read {
    Facts(Box<Facts>, [u8; 16], u64),
    /// Touched, but the same.
    Same,
    Passed(Passed),
}

impl Engine {
    /// Brings the project's graph up to date, on up to `threads` threads.
    pub async fn index_code(
        &mut self,
        progress: &Progress,
        threads: usize,
    ) -> Result<Indexed, Error> {
        let notebook = self.notebook(Reach::Project).await?;
        let Some(id) = notebook.project else {
            return Err(Error::nothing("there is no project here"));
        };
        let store = self.graph_store(id);
        let (stamps, passed) = (store.stamps().await?, store.passed().await?);
        let root = self.place.root.clone();
        let plan = {
            let root = root.clone();
            aside(move || plan(&root, stamps, &passed)).await
        };
        progress.expect(plan.due.len());
        let is_whole = store.state("whole").await?.as_deref() == Some("1");
        let Kept { mut graph, lost } = keep::load(&store, !is_whole).await?;
        let mut due = plan.due;
        if !lost.is_empty() {
            // What cannot be read back is read again, although it did not change.
            let gone = lost.iter().map(|it| it.id).collect();
            store.apply(GraphBatch { gone, ..GraphBatch::default() }).await?;
            let known: HashSet<String> = due.iter().map(|it| it.path.clone()).collect();
            let again = lost.into_iter().filter(|it| !known.contains(&it.path));
            due.extend(again.map(|it| Due { stamp: of(&it), path: it.path, known: None }));
            // Its hash is of no use without the rest.
            for it in &mut due {
                it.known = it.known.take().filter(|it| graph.id(&it.path).is_some());
            }
        }
        let mut res = Indexed { n_gone: plan.gone.len(), ..Indexed::default() };
        if !due.is_empty() || !plan.gone.is_empty() {
            store
                .apply(GraphBatch {
                    state: vec![("whole", "0".to_owned())],
                    ..GraphBatch::default()
                })
                .await?;
        }
        let mut passed = plan.passed;
        while !due.is_empty() && !progress.is_stopped() {
            let part: Vec<Due> = due.drain(..due.len().min(AT_ONCE)).collect();
            let (root, shared) = (root.clone(), progress.clone());
            let (read, part) =
                aside(move || (read_all(&root, &part, threads, &shared), part)).await;
            let batch = keep::take(&mut graph, part_changes(part, read, &mut passed, &mut res));
            store.apply(batch).await?;
        }
        res.is_partial = !due.is_empty();
        let mut gone = Vec::new();
        for path in plan.gone {
            gone.extend(graph.take(Change::Gone { path }));
        }
        let (graph, updated) = if res.is_partial {
            (graph, ::graph::Updated::default())
        } else {
            aside(move || {
                let updated = graph.settle(threads);
                (graph, updated)
            })
            .await
        };
        res.n_resolved = updated.resolved.len();
        let mut last = keep::resolved(&graph, &updated.resolved);
        // A number that was free again may belong to another file by now.
        last.gone = gone.into_iter().filter(|it| graph.path(*it).is_none()).collect();
        res.passed = count(&passed);
        last.passed = Some(passed);
        last.state = vec![("whole", if res.is_partial { "0" } else { "1" }.to_owned())];
        store.apply(last).await?;
        sum_up(&graph, &mut res);
        res.size = store.size();
        Ok(res)
    }
}

fn of(it: &GraphStamp) -> Stamp {
    Stamp { size: it.size, modified: it.modified }
}

struct Plan {
    due: Vec<Due>,
    gone: Vec<String>,
    passed: Vec<GraphPassed>,
}

/// Compares what is there with what was read before.
fn plan(root: &Path, stamps: Vec<GraphStamp>, passed: &[GraphPassed]) -> Plan {
    let Walked { files, passed: newly } = source::files(root, &|it| language(it).is_some());
    let mut known: HashMap<String, GraphStamp> =
        stamps.into_iter().map(|it| (it.path.clone(), it)).collect();
    let before: HashMap<&str, &GraphPassed> =
        passed.iter().map(|it| (it.path.as_str(), it)).collect();
    let mut res = Plan { due: Vec::new(), gone: Vec::new(), passed: Vec::new() };
    for (path, stamp) in files {
        let known = known.remove(&path);
        if known.as_ref().is_some_and(|it| of(it) == stamp) {
            continue;
        }
        match before
            .get(path.as_str())
            .filter(|it| it.size == stamp.size && it.modified == stamp.modified)
        {
            Some(it) if known.is_none() => res.passed.push((*it).clone()),
            _ => res.due.push(Due { path, stamp, known }),
        }
    }
    for (path, reason) in newly {
        res.passed.push(GraphPassed {
            path,
            size: 0,
            modified: 0,
            reason: reason.reading().to_owned(),
        });
    }
    res.gone = known.into_keys().collect();
    res.gone.sort_unstable();
    res
}

fn read_all(root: &Path, part: &[Due], threads: usize, progress: &Progress) -> Vec<Read> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut res = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(due) = part.get(at) else { return res };
            res.push((at, read(root, due)));
            progress.advance(1);
        }
    };
    let mut res: Vec<(usize, Read)> = if threads <= 1 || part.len() == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let done = workers
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|it| std::panic::resume_unwind(it)));
            done.flatten().collect()
        })
    };
    res.sort_unstable_by_key(|it| it.0);
    res.into_iter().map(|it| it.1).collect()
}

fn read(root: &Path, due: &Due) -> Read {
    let Some(lang) = language(&due.path) else { return Read::Passed(Passed::Special) };
    let bytes = match source::contents(root, &due.path) {
        Ok(bytes) => bytes,
        Err(why) => return Read::Passed(why),
    };
    let hash = fingerprint(&bytes);
    if due.known.as_ref().is_some_and(|it| it.hash == hash) {
        return Read::Same;
    }
    Read::Facts(Box::new(extract(lang, &due.path, &bytes)), hash, bytes.len() as u64)
}

/// What a part of the files came to, as changes of the graph and of what is kept.
fn part_changes(
    part: Vec<Due>,
    read: Vec<Read>,
    passed: &mut Vec<GraphPassed>,
    res: &mut Indexed,
) -> keep::Taken {
    let mut taken = keep::Taken::default();
    for (due, read) in part.into_iter().zip(read) {
        let Due { path, stamp: Stamp { size, modified }, known } = due;
        match read {
            Read::Facts(facts, hash, n_bytes) => {
                res.n_read += 1;
                res.n_bytes += n_bytes;
                let stamp = GraphStamp { id: 0, path, size, modified, hash: hash.to_vec() };
                taken.changed.push((stamp, *facts));
            }
            Read::Same => taken.touched.extend(known.map(|it| GraphStamp { size, modified, ..it })),
            Read::Passed(why) => {
                taken.gone.extend(known.map(|it| it.path));
                passed.push(GraphPassed { path, size, modified, reason: why.reading().to_owned() });
            }
        }
    }
    taken
}

fn count(passed: &[GraphPassed]) -> Vec<(&'static str, usize)> {
    let counts = Passed::ALL.iter().map(|why| {
        let reason = why.reading();
        (reason, passed.iter().filter(|it| it.reason == reason).count())
    });
    counts.filter(|it| it.1 > 0).collect()
}

fn sum_up(graph: &Graph, res: &mut Indexed) {
    for (id, _) in graph.files() {
        res.n_files += 1;
        res.n_symbols += graph.facts(id).map_or(0, |it| it.defs.len());
        if let Some(links) = graph.links(id) {
            res.n_edges += links.edges.len();
            res.n_unresolved += u64::from(links.n_unresolved);
            res.n_foreign += u64::from(links.n_foreign);
        }
    }
}
