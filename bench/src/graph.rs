//! The code graph of a real repository: symbols (functions, types, files) and the edges between them.
//! The baseline is tree-sitter parsing the same files.
//!
//! `waylore-bench graph FOLDER`. The folder is copied, because files are edited. Measured are
//! `waylore index`, `impact` and `watch` through the engine, with all they read and write. Rates
//! refer to processor time over all threads, because other programs on the machine take wall time.

mod indexed_copy;
mod parsing;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::graph::{
    FileId, NodeId, QueryGraph, decode_edges, decode_outline, find_impact, find_neighbours,
};
use source::ChangedFiles;
use store::{GraphFile, GraphStore};

use self::indexed_copy::{IndexedCopy, peak_resident_mb, processor_time};
use self::parsing::parse_in_child_process;
pub(crate) use self::parsing::run as run_parsing;
use crate::table::{BenchRow, row};
use crate::timing::{SampleTimes, time_rounds};

/// Number of symbols to which the goals of queries refer.
const QUERY_SYMBOLS: usize = 50_000;
/// Files edited, each in two ways.
const EDITED_FILES: usize = 300;

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let folder = std::env::args().skip_while(|it| it != "graph").nth(1);
    let Some(root) = folder.map(PathBuf::from) else {
        anyhow::bail!("no repository given: waylore-bench graph FOLDER");
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut copy = IndexedCopy::copy_from(&root, usize::MAX)?;
    // First, while nothing else has raised the peak of this process.
    copy.index(threads)?;
    let peak = peak_resident_mb();
    let mut rows = measure_cold_index(&mut copy, threads)?;
    // Beside the row of the cold index.
    rows.insert(1, memory_row(&copy, peak));
    rows.extend(measure_updates(&mut copy)?);
    // Two copies at once would need twice the disk.
    drop(copy);
    let mut copy = IndexedCopy::copy_from(&root, QUERY_SYMBOLS)?;
    copy.index(threads)?;
    rows.extend(measure_queries(&mut copy)?);
    Ok(rows)
}

fn memory_row(copy: &IndexedCopy, peak: Option<u64>) -> BenchRow {
    let measured = peak.map_or("not available on this system".to_owned(), |it| format!("{it} MB"));
    let what = format!("memory while {} files are indexed, the whole process", copy.files.len());
    row(what, measured, "< 500 MB resident at 20,000 files", "")
}

/// Measures parsing and indexing by turns, three times; the best of each counts.
fn measure_cold_index(copy: &mut IndexedCopy, threads: usize) -> anyhow::Result<Vec<BenchRow>> {
    let (mut parsing, mut indexing) = (Duration::MAX, Duration::MAX);
    // The first run also warms the file cache for both.
    let (_, n_bytes) = parse_in_child_process(&copy.root(), threads)?;
    for _ in 0..3 {
        let (took, _) = parse_in_child_process(&copy.root(), threads)?;
        parsing = parsing.min(took);
        // Every round begins with an empty database.
        copy.reset_index()?;
        indexing = indexing.min(processor_cost(|| copy.index(threads))?);
    }
    let rate = |took: Duration| n_bytes as f64 / 1e6 / took.as_secs_f64();
    let size = copy.database_bytes()?;
    Ok(vec![
        row(
            format!(
                "cold index of {} files, {:.1} MB, {threads} threads: walk, read, resolve, write",
                copy.files.len(),
                n_bytes as f64 / 1e6
            ),
            format!(
                "{:.1} MB/s of processor time, {:.0} % of parsing",
                rate(indexing),
                100.0 * parsing.as_secs_f64() / indexing.as_secs_f64()
            ),
            "≥ 70 % of parsing",
            format!("reading and parsing alone: {:.1} MB/s of processor time", rate(parsing)),
        ),
        row(
            "database",
            format!("{:.2} × source ({:.1} MB)", size as f64 / n_bytes as f64, size as f64 / 1e6),
            "≤ 3 × source",
            "",
        ),
    ])
}

/// Processor time of some work over all threads; wall time where `/proc` does not exist.
fn processor_cost<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let (start, before) = (Instant::now(), processor_time());
    work()?;
    Ok(match (before, processor_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        (None, _) | (_, None) => start.elapsed(),
    })
}

/// Edits one file at a time, first in its body, then in its public surface, and indexes it as
/// `watch` does.
fn measure_updates(copy: &mut IndexedCopy) -> anyhow::Result<Vec<BenchRow>> {
    let mut watch = copy.watch()?;
    let mut most_resolved = 0;
    let mut edit = |copy: &IndexedCopy, i: usize, text: &str| {
        // 7919 is prime: the rounds go over all files in scattered order.
        let (path, _) = &copy.files[i.wrapping_mul(7919) % copy.files.len()];
        copy.append(path, text);
        let seen = ChangedFiles::Files(BTreeSet::from([path.clone()]));
        let start = Instant::now();
        let pass = copy.index_changes(&mut watch, &seen);
        most_resolved = most_resolved.max(pass.indexed.n_resolved);
        start.elapsed()
    };
    let body = SampleTimes::from_samples((0..EDITED_FILES).map(|i| edit(copy, i, "\n")).collect());
    // Valid in some language and harmless in the others: each file gets a new definition.
    let new_symbols =
        |i: usize| format!("\nfresh = 1\nfunction fresh{i}() {{}}\nconst fresh{i} = {i}\n");
    let surface = SampleTimes::from_samples(
        (0..EDITED_FILES).map(|i| edit(copy, i, &new_symbols(i))).collect(),
    );
    let at = format!("at {} files", copy.files.len());
    Ok(vec![
        row(
            format!("one file edited, no other affected, {at}: stat, read, resolve, write"),
            body.format_p50_p99(),
            "< 50 ms of work",
            "",
        ),
        row(
            format!("one file edited, up to {most_resolved} files affected, {at}"),
            surface.format_p50_p99(),
            "< 50 ms of work",
            "",
        ),
    ])
}

fn measure_queries(copy: &mut IndexedCopy) -> anyhow::Result<Vec<BenchRow>> {
    let store = copy.store()?;
    let loading = time_rounds(20, |_| {
        _ = copy.block_on(load_graph(&store)).expect("the index was just written");
    });
    let graph = &copy.block_on(load_graph(&store))?;
    let n_ids = u32::try_from(graph.n_nodes()).unwrap_or(u32::MAX);
    // Multiplicative hashing (Knuth): scattered nodes, the same in every run.
    let node_of_round = |round: usize| {
        let hash = u32::try_from(round).unwrap_or_default().wrapping_mul(2_654_435_761);
        NodeId(hash % n_ids.max(1))
    };
    // The symbol with the most references is the worst case of a traversal.
    let hub = (0..n_ids).map(NodeId).max_by_key(|it| graph.incoming(*it).len()).unwrap_or_default();
    let spread = time_rounds(4000, |round| {
        _ = std::hint::black_box(find_impact(graph, &[node_of_round(round)], 3));
    });
    let busiest = time_rounds(200, |_| _ = std::hint::black_box(find_impact(graph, &[hub], 3)));
    let path = graph.path_of(hub).to_owned();
    let neighbours =
        time_rounds(2000, |_| _ = std::hint::black_box(find_neighbours(graph, &[path.as_str()])));
    let through_engine = time_rounds(400, |round| {
        let symbol = graph.symbol_info(node_of_round(round));
        let (first_line, _) = symbol.lines;
        _ = copy.count_impact(&format!("{}:{first_line}", symbol.path));
    });
    let (n_nodes, n_edges) = (graph.n_nodes(), graph.n_edges());
    Ok(vec![
        row(
            format!("load {n_nodes} symbols and {n_edges} edges from disk"),
            loading.format_p50_p99(),
            "< 100 ms at 50,000 symbols",
            "",
        ),
        row(
            format!("impact, depth 3, {n_nodes} symbols"),
            spread.format_p50_p99(),
            "p99 < 5 ms",
            "",
        ),
        row(
            format!("impact of the busiest symbol ({} edges)", graph.incoming(hub).len()),
            busiest.format_p50_p99(),
            "< 50 ms",
            "",
        ),
        row(
            "impact through the engine, with memories and freshness of all files",
            through_engine.format_p50_p99(),
            "p99 < 5 ms",
            "",
        ),
        row("neighbours of the busiest symbol's file", neighbours.format_p50_p99(), "< 0.2 ms", ""),
    ])
}

/// Loads the graph as a query does. Files that are not resolved yet have no edges and are left out.
async fn load_graph(store: &GraphStore) -> anyhow::Result<QueryGraph> {
    let file = |it: GraphFile| {
        let links = decode_edges(it.edges.as_deref()?)?;
        Some((FileId(it.stamp.id), it.stamp.path, decode_outline(&it.outline)?, links))
    };
    Ok(QueryGraph::new(store.files().await?.into_iter().filter_map(file).collect()))
}
