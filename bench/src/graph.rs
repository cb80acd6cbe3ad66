//! The code graph of a real repository, beside tree-sitter parsing the same files and nothing else.
//!
//! `waylore-bench graph FOLDER`. The folder is copied: files are edited here. What is measured is what
//! `waylore index`, `impact` and `watch` do, through the engine, with everything they read and write.
//! Rates are of processor time over all threads, since others on a machine take wall time away.

mod ground;
mod parsing;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::graph::{Atlas, decode_edges, decode_outline};
use source::Seen;
use store::{GraphFile, GraphStore};

use self::ground::{Ground, peak, processor};
use self::parsing::parsed_apart;
pub(crate) use self::parsing::run as run_parsing;
use crate::clock::{Times, times};
use crate::table::{Row, row};

/// The size that the goals for questions speak of.
const SYMBOLS: usize = 50_000;
/// How many files are edited, each in two ways.
const EDITS: usize = 300;

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let folder = std::env::args().skip_while(|it| it != "graph").nth(1);
    let Some(root) = folder.map(PathBuf::from) else {
        anyhow::bail!("name a repository: waylore-bench graph FOLDER");
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut ground = Ground::copied(&root, usize::MAX)?;
    // First, and by itself: nothing else has been in memory yet.
    ground.index(threads)?;
    let most = peak();
    let mut rows = cold(&mut ground, threads)?;
    rows.insert(1, memory(&ground, most));
    rows.extend(updates(&mut ground)?);
    drop(ground);
    let mut ground = Ground::copied(&root, SYMBOLS)?;
    ground.index(threads)?;
    rows.extend(questions(&mut ground)?);
    Ok(rows)
}

fn memory(ground: &Ground, most: Option<u64>) -> Row {
    let measured = most.map_or("the system does not say".to_owned(), |it| format!("{it} MB"));
    let what = format!("memory while {} files are indexed, the whole process", ground.files.len());
    row(what, measured, "< 500 MB resident at 20,000 files", "")
}

/// Both sides by turns, three times; the best of each counts.
fn cold(ground: &mut Ground, threads: usize) -> anyhow::Result<Vec<Row>> {
    let (mut raw, mut whole) = (Duration::MAX, Duration::MAX);
    let (_, n_bytes) = parsed_apart(&ground.root(), threads)?;
    for _ in 0..3 {
        raw = raw.min(parsed_apart(&ground.root(), threads)?.0);
        ground.forget()?;
        whole = whole.min(cost(|| ground.index(threads))?);
    }
    let rate = |took: Duration| n_bytes as f64 / 1e6 / took.as_secs_f64();
    let size = ground.size()?;
    Ok(vec![
        row(
            format!(
                "cold index of {} files, {:.1} MB, {threads} threads: walk, read, resolve, write",
                ground.files.len(),
                n_bytes as f64 / 1e6
            ),
            format!(
                "{:.1} MB/s of processor time, {:.0} % of parsing",
                rate(whole),
                100.0 * raw.as_secs_f64() / whole.as_secs_f64()
            ),
            "≥ 70 % of parsing",
            format!("reading and parsing alone: {:.1} MB/s of processor time", rate(raw)),
        ),
        row(
            "database",
            format!("{:.2} × source ({:.1} MB)", size as f64 / n_bytes as f64, size as f64 / 1e6),
            "≤ 3 × source",
            "",
        ),
    ])
}

/// What something costs in time of the processor, by all threads; in time, where the system does not say.
fn cost<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let (start, before) = (Instant::now(), processor());
    work()?;
    let used = processor().zip(before).map(|it| it.0.saturating_sub(it.1));
    Ok(used.unwrap_or_else(|| start.elapsed()))
}

/// One file edited, in its body and in what others see, as `watch` takes it in.
fn updates(ground: &mut Ground) -> anyhow::Result<Vec<Row>> {
    let mut watch = ground.watch()?;
    let mut most = 0;
    let mut edit = |ground: &Ground, i: usize, text: &str| {
        let path = &ground.files[i.wrapping_mul(7919) % ground.files.len()].0;
        ground.append(path, text);
        let seen = Seen::Files(BTreeSet::from([path.clone()]));
        let start = Instant::now();
        let pass = ground.look_at(&mut watch, &seen);
        most = most.max(pass.indexed.n_resolved);
        start.elapsed()
    };
    let body = Times::of((0..EDITS).map(|i| edit(ground, i, "\n")).collect());
    let fresh = |i: usize| format!("\nfresh = 1\nfunction fresh{i}() {{}}\nconst fresh{i} = {i}\n");
    let surface = Times::of((0..EDITS).map(|i| edit(ground, i, &fresh(i))).collect());
    let at = format!("at {} files", ground.files.len());
    Ok(vec![
        row(
            format!("one file edited, others not concerned, {at}: look, read, resolve, write"),
            body.both(),
            "< 50 ms of work",
            "",
        ),
        row(
            format!("one file edited, up to {most} files concerned, {at}"),
            surface.both(),
            "< 50 ms of work",
            "",
        ),
    ])
}

fn questions(ground: &mut Ground) -> anyhow::Result<Vec<Row>> {
    let store = ground.store()?;
    let loading = times(20, |_| _ = ground.wait(load(&store)).expect("it was written just now"));
    let atlas = &ground.wait(load(&store))?;
    let n = u32::try_from(atlas.n_nodes()).unwrap_or(u32::MAX);
    let at = |i: usize| u32::try_from(i).unwrap_or_default().wrapping_mul(2_654_435_761) % n.max(1);
    // The busiest symbol is asked for as well: a hub is where others take seconds.
    let hub = (0..n).max_by_key(|it| atlas.into(*it).len()).unwrap_or_default();
    let spread = times(4000, |i| _ = std::hint::black_box(atlas.impact(&[at(i)], 3)));
    let busiest = times(200, |_| _ = std::hint::black_box(atlas.impact(&[hub], 3)));
    let path = atlas.path(hub).to_owned();
    let near = times(2000, |_| _ = std::hint::black_box(atlas.neighbours(&[path.as_str()])));
    let name = |node: u32| {
        let it = atlas.symbol(node);
        format!("{}:{}", it.path, it.lines.0)
    };
    let asked = times(400, |i| _ = ground.impact(&name(at(i))));
    let (n_nodes, n_edges) = (atlas.n_nodes(), atlas.n_edges());
    Ok(vec![
        row(
            format!("load {n_nodes} symbols and {n_edges} edges from disk"),
            loading.both(),
            "< 100 ms at 50,000 symbols",
            "",
        ),
        row(format!("impact, depth 3, {n_nodes} symbols"), spread.both(), "p99 < 5 ms", ""),
        row(
            format!("impact of the busiest symbol ({} edges)", atlas.into(hub).len()),
            busiest.both(),
            "< 50 ms",
            "",
        ),
        row(
            "impact through the engine, memories and freshness of all files with it",
            asked.both(),
            "p99 < 5 ms",
            "",
        ),
        row("neighbours of the busiest symbol's file", near.both(), "< 0.2 ms", ""),
    ])
}

async fn load(store: &GraphStore) -> anyhow::Result<Atlas> {
    let sheet = |it: GraphFile| {
        let links = decode_edges(it.edges.as_deref()?)?;
        Some((it.stamp.id, it.stamp.path, decode_outline(&it.outline)?, links))
    };
    Ok(Atlas::new(store.files().await?.into_iter().filter_map(sheet).collect()))
}
