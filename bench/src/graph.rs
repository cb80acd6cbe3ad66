//! The code graph of a real repository, beside tree-sitter parsing the same files and nothing else.
//!
//! `waylore-bench graph FOLDER`. Both sides use all cores and read the files themselves.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ::graph::{Atlas, Change, Graph, Lang, encode_body, encode_outline, extract, language};
use store::{DataDir, GraphBatch, GraphBody, GraphFile, GraphStamp, GraphStore};

use tree_sitter::Parser;

use crate::clock::{show, times};
use crate::table::{Row, row};

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let folder = std::env::args().skip_while(|it| it != "graph").nth(1);
    let Some(root) = folder.map(PathBuf::from) else {
        anyhow::bail!("name a repository: waylore-bench graph FOLDER");
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let files: Vec<(String, Lang)> = source::files(&root, &|it| language(it).is_some())
        .files
        .into_iter()
        .filter_map(|it| language(&it.0).map(|lang| (it.0, lang)))
        .filter(|it| source::contents(&root, &it.0).is_ok())
        .collect();
    // Once for the disk; then each side three times, the best counts.
    parse_all(&root, &files, threads);
    let (raw, n_bytes) = cheapest(|| parse_all(&root, &files, threads));
    // The first by itself, for its memory; the others for its speed.
    let before = resident();
    let graph = index(&root, &files, threads);
    let after = resident();
    drop(graph);
    let (cold, graph) = cheapest(|| index(&root, &files, threads));
    let dir = tempfile::tempdir()?;
    let store = GraphStore::new(DataDir::new(dir.path()).graph(project()), None);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let writing = write(&runtime, &store, &root, &graph)?;
    let share = |of: Duration| raw.as_secs_f64() / of.as_secs_f64() * 100.0;
    let rate = |took: Duration| n_bytes as f64 / 1e6 / took.as_secs_f64();
    let (load, atlas) = load(&runtime, &store)?;
    let mut rows = vec![
        row(
            format!(
                "cold index of {} files, {:.1} MB, {threads} threads",
                files.len(),
                n_bytes as f64 / 1e6
            ),
            format!(
                "{:.1} MB/s of processor time, {:.0} % ({:.0} % with writing)",
                rate(cold),
                share(cold),
                share(cold + writing)
            ),
            "≥ 70 % of parsing",
            format!("parsing alone: {:.1} MB/s of processor time", rate(raw)),
        ),
        row(
            "memory of facts and edges of all files",
            format!(
                "{} MB more than before, {} MB at most with parsing",
                after.0.saturating_sub(before.0) / 1024,
                after.1 / 1024
            ),
            "< 500 MB at 20,000 files",
            "",
        ),
        row(
            "database",
            format!(
                "{:.2} × source ({:.1} MB)",
                store.size() as f64 / n_bytes as f64,
                store.size() as f64 / 1e6
            ),
            "≤ 3 × source",
            "",
        ),
        row(
            format!("load {} symbols and {} edges from disk", atlas.n_nodes(), atlas.n_edges()),
            show(load),
            "< 100 ms at 50,000 symbols",
            "",
        ),
    ];
    rows.extend(questions(&atlas));
    rows.extend(updates(&root, &files, graph));
    Ok(rows)
}

fn project() -> model::ProjectId {
    model::ProjectId::new(model::Timestamp(1), [1; 10])
}

/// The better of three runs.
fn best<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut timed = || {
        let start = Instant::now();
        let res = work();
        (start.elapsed(), res)
    };
    let mut res = timed();
    for _ in 0..2 {
        let next = timed();
        if next.0 < res.0 {
            res = next;
        }
    }
    res
}

/// The better of three runs by the processor's time, which others on the machine do not take away.
fn cheapest<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut timed = || {
        let (start, before) = (Instant::now(), processor());
        let res = work();
        let used = processor().zip(before).map(|it| it.0.saturating_sub(it.1));
        (used.unwrap_or_else(|| start.elapsed()), res)
    };
    let mut res = timed();
    for _ in 0..2 {
        let next = timed();
        if next.0 < res.0 {
            res = next;
        }
    }
    res
}

/// What all threads of this process have used so far; nothing where the system does not say.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit(')').next()?.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// Runs `work` for every file on all threads; results in order of the files.
fn each<T: Send>(
    files: &[(String, Lang)],
    threads: usize,
    work: impl Fn(&str, Lang) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let body = || {
        let mut res = Vec::new();
        while let Some((at, it)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, files.get(at)?)))
        {
            res.push((at, work(&it.0, it.1)));
        }
        res
    };
    let mut res: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(body)).collect();
        workers.into_iter().flat_map(|it| it.join().unwrap_or_default()).collect()
    });
    res.sort_unstable_by_key(|it| it.0);
    res.into_iter().map(|it| it.1).collect()
}

/// Reads and parses; says how many bytes.
fn parse_all(root: &Path, files: &[(String, Lang)], threads: usize) -> u64 {
    let n_bytes = AtomicU64::new(0);
    each(files, threads, |path, lang| {
        let Ok(bytes) = source::contents(root, path) else { return };
        n_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        thread_local!(static PARSER: RefCell<Parser> = RefCell::new(Parser::new()));
        PARSER.with_borrow_mut(|parser| {
            if lang.grammar().is_some_and(|it| parser.set_language(&it).is_ok()) {
                std::hint::black_box(parser.parse(&bytes, None));
            }
        });
    });
    n_bytes.into_inner()
}

/// How many files are read before what they came to is handed on, as indexing does.
const AT_ONCE: usize = 512;

/// Everything indexing does but walking and writing: read, extract, resolve, encode.
fn index(root: &Path, files: &[(String, Lang)], threads: usize) -> Graph {
    let mut graph = Graph::default();
    for part in files.chunks(AT_ONCE) {
        let read = each(part, threads, |path, lang| {
            let bytes = source::contents(root, path).unwrap_or_default();
            std::hint::black_box(::graph::fingerprint(&bytes));
            let facts = extract(lang, path, &bytes);
            std::hint::black_box((encode_outline(&facts), encode_body(&facts)));
            facts
        });
        for ((path, _), facts) in part.iter().zip(read) {
            graph.take(Change::Put { path: path.clone(), facts });
        }
    }
    graph.settle(threads);
    graph
}

/// What is kept of a graph, and how long writing it takes.
fn write(
    runtime: &tokio::runtime::Runtime,
    store: &GraphStore,
    root: &Path,
    graph: &Graph,
) -> anyhow::Result<Duration> {
    let ids: Vec<(u32, String)> = graph.files().map(|it| (it.0, it.1.to_owned())).collect();
    let (mut took, mut after) = (Duration::ZERO, 0);
    for part in ids.chunks(AT_ONCE) {
        let kept = part.iter().filter_map(|(id, path)| kept(root, graph, *id, path)).collect();
        let start = Instant::now();
        let batch = GraphBatch { after, files: kept, ..GraphBatch::default() };
        after = runtime.block_on(store.apply(batch))?;
        took += start.elapsed();
    }
    Ok(took)
}

fn kept(root: &Path, graph: &Graph, id: u32, path: &str) -> Option<(GraphFile, GraphBody)> {
    let (facts, links) = (graph.facts(id)?, graph.kept(id)?);
    let size = std::fs::metadata(root.join(path)).ok()?.len();
    let stamp = GraphStamp { id, path: path.to_owned(), size, modified: 0, hash: vec![0; 16] };
    let (outline, edges) = (encode_outline(&facts), Some(links.edges.to_vec()));
    let body = GraphBody { id, body: encode_body(&facts), keys: Some(links.keys()), precise: None };
    Some((GraphFile { stamp, outline, edges }, body))
}

fn load(
    runtime: &tokio::runtime::Runtime,
    store: &GraphStore,
) -> anyhow::Result<(Duration, Atlas)> {
    let (took, atlas) = best(|| -> anyhow::Result<Atlas> {
        let files = runtime.block_on(store.files())?;
        let sheet = |it: GraphFile| {
            let outline = ::graph::decode_outline(&it.outline)?;
            let links = ::graph::decode_edges(it.edges.as_deref()?)?;
            Some((it.stamp.id, it.stamp.path, outline, links))
        };
        Ok(Atlas::new(files.into_iter().filter_map(sheet).collect()))
    });
    Ok((took, atlas?))
}

fn questions(atlas: &Atlas) -> Vec<Row> {
    let n = u32::try_from(atlas.n_nodes()).unwrap_or(u32::MAX);
    // The busiest symbol is asked for as well: a hub is where others take seconds.
    let hub = (0..n).max_by_key(|it| atlas.into(*it).len()).unwrap_or_default();
    let spread = times(4000, |i| {
        let node = u32::try_from(i).unwrap_or_default().wrapping_mul(2_654_435_761) % n.max(1);
        std::hint::black_box(atlas.impact(&[node], 3));
    });
    let busiest = times(200, |_| {
        std::hint::black_box(atlas.impact(&[hub], 3));
    });
    let path = atlas.path(hub).to_owned();
    let near = times(2000, |_| {
        std::hint::black_box(atlas.neighbours(&[path.as_str()]));
    });
    vec![
        row(
            format!("impact, depth 3, {} symbols", atlas.n_nodes()),
            spread.both(),
            "p99 < 5 ms",
            "",
        ),
        row(
            format!("impact of the busiest symbol ({} edges)", atlas.into(hub).len()),
            busiest.both(),
            "< 50 ms",
            "",
        ),
        row("neighbours of its file", near.both(), "< 0.2 ms", ""),
    ]
}

/// One file edited, in its body and in what others see.
fn updates(root: &Path, files: &[(String, Lang)], mut graph: Graph) -> Vec<Row> {
    let mut most = 0;
    let mut change = |i: usize, text: &str| {
        let (path, lang) = &files[i.wrapping_mul(7919) % files.len()];
        let mut bytes = source::contents(root, path).unwrap_or_default();
        bytes.extend(text.as_bytes());
        let facts = extract(*lang, path, &bytes);
        let updated = graph.update(vec![Change::Put { path: path.clone(), facts }], 1);
        most = most.max(updated.resolved.len());
    };
    let body = times(300, |i| change(i, "\n"));
    let surface = times(300, |i| {
        change(
            i,
            &[
                "\nconst fresh = ",
                &i.to_string(),
                "\nfresh = 1\nfunction fresh",
                &i.to_string(),
                "() {}\n",
            ]
            .concat(),
        );
    });
    vec![
        row("one file edited, others not concerned", body.both(), "< 50 ms", ""),
        row(
            format!("one file edited, up to {most} files concerned"),
            surface.both(),
            "< 50 ms",
            "",
        ),
    ]
}

/// Memory in use now and at most, in kilobytes; 0 where the system does not say.
fn resident() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|it| it.starts_with(name));
        line.and_then(|it| it.split_whitespace().nth(1)).and_then(|it| it.parse().ok()).unwrap_or(0)
    };
    (field("VmRSS:"), field("VmHWM:"))
}
