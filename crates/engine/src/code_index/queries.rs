//! Questions about the indexed code: what a change affects, what a symbol uses, how two symbols are
//! connected.
//!
//! Every query loads the graph ([`load_query_graph`], cached while the database is unchanged), resolves
//! the target that the user typed, and lets the pure crate `graph` walk the edges. The answer carries
//! an [`IndexFreshness`], which tells how far the index behind it can be trusted: indexing may have
//! been interrupted, and files may have changed since. Called by `CodeGraph`.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graph::{
    CodeChunk, DefKind, EdgeKind, NeighbourFile, NodeId, QueryGraph, ReachedNode, ResolutionKind,
    SymbolInfo, TargetLookup, fingerprint,
};
use model::ProjectPath;
use source::FileStamp;
use store::{GraphStamp, MemoryFilter};

use super::persistence::{self, Completeness, read_completeness};
use crate::lookup::list_memories;
use crate::{Error, ProjectReader, RatedMemory};

/// Reasons why an answer may be incomplete or outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFreshness {
    /// Files whose references are not resolved yet.
    pub n_unresolved: usize,
    /// An indexing pass was interrupted.
    pub is_partial: bool,
    /// Files of the answer that changed since they were indexed, or are gone.
    pub changed_files: Vec<String>,
    /// Files of the index that the grammar of their language could not parse completely.
    pub n_partly_parsed: usize,
}

/// The state of the stored code index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexState {
    /// The code was never indexed.
    Missing,
    /// An indexing pass was interrupted.
    Partial,
    Complete,
}

/// Reads the state of the code index.
pub(crate) async fn read_index_state(reader: &ProjectReader) -> Result<IndexState, Error> {
    let Some(store) = reader.graph_reader() else {
        return Ok(IndexState::Missing);
    };
    Ok(match read_completeness(&store).await? {
        Completeness::Partial => IndexState::Partial,
        Completeness::Complete => IndexState::Complete,
    })
}

/// A symbol in an answer, with the edge by which it was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedSymbol {
    pub symbol: SymbolInfo,
    /// Number of edges from the target.
    pub depth: u32,
    /// Kind of the last edge.
    pub kind: EdgeKind,
    /// How references were resolved to their symbols: the least certain way on the path from the
    /// target.
    pub resolution: ResolutionKind,
    /// The symbol before it on the path from the target; the target itself at depth 1.
    pub via: String,
    /// Line of the reference, counted from 1.
    pub line: u32,
    /// Relevance per mille; it falls with the depth. Symbols of one depth are ordered by it.
    pub weight: u16,
}

/// Symbols that a change can affect.
#[derive(Debug)]
pub struct ImpactReport {
    pub targets: Vec<SymbolInfo>,
    pub reached: Vec<ReachedSymbol>,
    /// Calls that may reach a target but are not among `reached`.
    pub unknown_receivers: UnknownReceivers,
    /// Memories about the files of the targets.
    pub memories: Vec<RatedMemory>,
    pub freshness: IndexFreshness,
}

/// Calls of a method with the name of a target on a value of unknown type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownReceivers {
    /// The name of the method; empty if no target is a method.
    pub name: String,
    /// Files with the number of such calls, most calls first.
    pub files: Vec<(String, u32)>,
}

impl UnknownReceivers {
    pub fn n_calls(&self) -> u32 {
        self.files.iter().map(|it| it.1).sum()
    }
}

/// Symbols that a target uses.
#[derive(Debug)]
pub struct DependencyReport {
    pub targets: Vec<SymbolInfo>,
    pub reached: Vec<ReachedSymbol>,
    pub freshness: IndexFreshness,
}

/// An edge of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteEdge {
    pub kind: EdgeKind,
    pub resolution: ResolutionKind,
    /// Line of the reference, counted from 1.
    pub line: u32,
}

/// A path from one symbol to another: each step with the edge that leads to it. The first step is the
/// start and has no edge.
#[derive(Debug)]
pub struct SymbolRoute {
    pub steps: Vec<(SymbolInfo, Option<RouteEdge>)>,
    pub freshness: IndexFreshness,
}

/// A graph in memory, with the generation of the database that it was loaded from.
#[derive(Clone)]
pub(crate) struct LoadedGraph {
    generation: i64,
    graph: Arc<QueryGraph>,
    n_unresolved: usize,
}

/// Direction in which edges were followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgeDirection {
    /// From a symbol to those that refer to it.
    ToUsers,
    /// From a symbol to those that it refers to.
    ToUsed,
}

/// Memories in an answer per file, at most.
const MAX_MEMORIES_PER_FILE: u32 = 10;

/// Symbols of the same name in an error message, at most.
const MAX_LISTED_NAMESAKES: usize = 12;

/// Finds the symbols that a change of `target` can affect, with the memories about its files.
pub(crate) async fn query_impact(
    reader: &ProjectReader,
    target: &str,
    depth: u32,
) -> Result<ImpactReport, Error> {
    let (graph, mut freshness) = load_query_graph(reader).await?;
    let nodes = resolve_target(reader, &graph, &freshness, target)?;
    let reached = graph::find_impact(&graph, &nodes, depth);
    let reached = to_reached_symbols(&graph, &reached, EdgeDirection::ToUsers);
    let targets = symbol_infos(&graph, &nodes);
    let unknown_receivers = find_unknown_receivers(&graph, &targets);
    let files: BTreeSet<&str> = targets.iter().map(|it| it.path.as_str()).collect();
    let mut memories = Vec::new();
    for path in &files {
        // A path that is not valid in a memory has no memories.
        let Ok(file) = ProjectPath::parse(path) else { continue };
        let filter =
            MemoryFilter { file: Some(file), ..MemoryFilter::active(MAX_MEMORIES_PER_FILE) };
        memories.extend(list_memories(reader, &filter, None).await?);
    }
    // A changed user may no longer refer to the target, so its file is checked as well.
    let reached_files = reached.iter().map(|it| it.symbol.path.as_str());
    check_freshness(reader, &mut freshness, files.into_iter().chain(reached_files)).await?;
    Ok(ImpactReport { targets, reached, unknown_receivers, memories, freshness })
}

/// The unresolved calls that may mean a target, if the target is a method or a field.
fn find_unknown_receivers(graph: &QueryGraph, targets: &[SymbolInfo]) -> UnknownReceivers {
    let is_member = |it: &&SymbolInfo| matches!(it.kind, Some(DefKind::Method | DefKind::Field));
    let Some(member) = targets.iter().find(is_member) else { return UnknownReceivers::default() };
    let name = member.name.rsplit('.').next().unwrap_or(&member.name);
    let calls = graph.unknown_receivers_of(name);
    let files = calls.into_iter().map(|(path, n)| (path.to_owned(), n)).collect();
    UnknownReceivers { name: name.to_owned(), files }
}

/// Finds the symbols that a file or a symbol uses.
pub(crate) async fn query_dependencies(
    reader: &ProjectReader,
    target: &str,
    depth: u32,
) -> Result<DependencyReport, Error> {
    let (graph, mut freshness) = load_query_graph(reader).await?;
    let nodes = resolve_target(reader, &graph, &freshness, target)?;
    let reached = graph::find_dependencies(&graph, &nodes, depth);
    let reached = to_reached_symbols(&graph, &reached, EdgeDirection::ToUsed);
    let targets = symbol_infos(&graph, &nodes);
    check_freshness(reader, &mut freshness, targets.iter().map(|it| it.path.as_str())).await?;
    Ok(DependencyReport { targets, reached, freshness })
}

/// Lists the files one edge away from the given ones.
pub(crate) async fn list_neighbours(
    reader: &ProjectReader,
    paths: &[String],
) -> Result<(Vec<NeighbourFile>, IndexFreshness), Error> {
    let (graph, mut freshness) = load_query_graph(reader).await?;
    let mut files = Vec::new();
    for path in paths {
        let nodes = resolve_target(reader, &graph, &freshness, path)?;
        files.extend(nodes.iter().map(|it| graph.path_of(*it).to_owned()));
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    check_freshness(reader, &mut freshness, files.iter().copied()).await?;
    Ok((graph::find_neighbours(&graph, &files), freshness))
}

/// Lists the symbols that a file defines.
pub(crate) async fn list_symbols(
    reader: &ProjectReader,
    path: &str,
) -> Result<(Vec<SymbolInfo>, IndexFreshness), Error> {
    let (graph, mut freshness) = load_query_graph(reader).await?;
    let nodes = resolve_target(reader, &graph, &freshness, path)?;
    // All nodes of one target are in one file.
    let path = graph.path_of(nodes[0]).to_owned();
    check_freshness(reader, &mut freshness, std::iter::once(path.as_str())).await?;
    Ok((graph.symbols_in_file(&path).unwrap_or_default(), freshness))
}

/// Lists the symbols of a name in all files, sorted by file and line.
pub(crate) async fn list_symbols_named(
    reader: &ProjectReader,
    name: &str,
) -> Result<(Vec<SymbolInfo>, IndexFreshness), Error> {
    let (graph, mut freshness) = load_query_graph(reader).await?;
    let TargetLookup::Found(nodes) = graph::find_target(&graph, name) else {
        return Ok((Vec::new(), freshness));
    };
    let mut found: Vec<SymbolInfo> = nodes.iter().map(|it| graph.symbol_info(*it)).collect();
    // A target can also be a file, or a symbol of one file.
    let is_named = |it: &SymbolInfo| it.name == name || it.name.ends_with(&format!(".{name}"));
    found.retain(|it| it.kind.is_some() && is_named(it));
    found.sort_by(|a, b| (&a.path, a.lines).cmp(&(&b.path, b.lines)));
    check_freshness(reader, &mut freshness, found.iter().map(|it| it.path.as_str())).await?;
    Ok((found, freshness))
}

/// Finds the shortest path of edges from one symbol to another.
pub(crate) async fn query_route(
    reader: &ProjectReader,
    from: &str,
    to: &str,
) -> Result<SymbolRoute, Error> {
    let (graph, freshness) = load_query_graph(reader).await?;
    let start = resolve_target(reader, &graph, &freshness, from)?;
    let end = resolve_target(reader, &graph, &freshness, to)?;
    let Some(path) = graph::shortest_path(&graph, &start, &end) else {
        return Err(Error::nothing_to_do(format!("no path leads from `{from}` to `{to}`")));
    };
    let mut steps = Vec::new();
    for step in &path {
        let edge = step.edge.map(|it| RouteEdge {
            kind: it.kind,
            resolution: it.resolution,
            // The graph counts lines from zero.
            line: it.line + 1,
        });
        steps.push((graph.symbol_info(step.node), edge));
    }
    Ok(SymbolRoute { steps, freshness })
}

/// Splits a file into chunks. Reads the file as it is now, indexed or not.
pub(crate) fn split_file(
    reader: &ProjectReader,
    path: &ProjectPath,
) -> Result<Vec<CodeChunk>, Error> {
    let code = source::read_code(&reader.place.root, path.as_str());
    let code = code.map_err(|why| {
        Error::refuse(
            format!("`{path}` cannot be split: {}", why.reading()),
            "name a source file of this project",
        )
    })?;
    Ok(graph::split_into_chunks(path.as_str(), &code.bytes))
}

/// The code graph, with the freshness of the index before any file was checked. The graph is loaded
/// again only after the database has changed.
pub(crate) async fn load_query_graph(
    reader: &ProjectReader,
) -> Result<(Arc<QueryGraph>, IndexFreshness), Error> {
    let Some(store) = reader.graph_reader() else {
        return Err(Error::refuse(
            "the code of this project is not indexed yet",
            "`waylore index` reads it",
        ));
    };
    // Read before the graph: a change during loading then makes the next query load again.
    let generation = store.generation().await?;
    let is_partial = read_completeness(&store).await? == Completeness::Partial;
    let cached = lock(&reader.loaded_graph).clone().filter(|it| it.generation == generation);
    let LoadedGraph { graph, n_unresolved, .. } = if let Some(cached) = cached {
        cached
    } else {
        let (graph, n_unresolved) = persistence::read_query_graph(&store).await?;
        let loaded = LoadedGraph { generation, graph: Arc::new(graph), n_unresolved };
        *lock(&reader.loaded_graph) = Some(loaded.clone());
        loaded
    };
    let n_partly_parsed = graph.n_partly_parsed();
    let changed_files = Vec::new();
    Ok((graph, IndexFreshness { n_unresolved, is_partial, changed_files, n_partly_parsed }))
}

/// Frees the memory of the loaded graph. The next query loads it again.
pub(crate) fn release_graph(reader: &ProjectReader) {
    *lock(&reader.loaded_graph) = None;
}

/// Adds the files of an answer that changed since they were indexed.
async fn check_freshness(
    reader: &ProjectReader,
    freshness: &mut IndexFreshness,
    paths: impl Iterator<Item = &str>,
) -> Result<(), Error> {
    // A set: many reached symbols share a file.
    let paths: BTreeSet<&str> = paths.collect();
    let Some(store) = reader.graph_reader() else { return Ok(()) };
    let paths = paths.into_iter().map(str::to_owned).collect();
    for indexed in store.stamps_of(paths).await? {
        if !is_unchanged(&reader.place.root, &indexed) {
            freshness.changed_files.push(indexed.path);
        }
    }
    Ok(())
}

/// The slot is only read and assigned under the lock, so a poisoned lock does no harm.
fn lock(slot: &Mutex<Option<LoadedGraph>>) -> MutexGuard<'_, Option<LoadedGraph>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a file is as it was indexed. If the modification time is not known, its content
/// decides.
fn is_unchanged(root: &Path, indexed: &GraphStamp) -> bool {
    let Some(now) = source::file_stamp(root, &indexed.path) else { return false };
    let then = FileStamp { size: indexed.size, modified: indexed.modified };
    let has_same_content = || {
        let code = source::read_code(root, &indexed.path);
        code.is_ok_and(|it| fingerprint(&it.bytes)[..] == indexed.hash)
    };
    // Zero means that the file system gave no time.
    let has_times = then.modified != 0 && now.modified != 0;
    if has_times { then == now } else { then.size == now.size && has_same_content() }
}

/// Finds the nodes that a text names. A name of several symbols is refused with a list of them,
/// unless they are parts of one symbol.
fn resolve_target(
    reader: &ProjectReader,
    graph: &QueryGraph,
    freshness: &IndexFreshness,
    text: &str,
) -> Result<Vec<NodeId>, Error> {
    let text = &to_project_target(&reader.place.root, text)?;
    let nodes = match graph::find_target(graph, text) {
        TargetLookup::Found(nodes) => nodes,
        TargetLookup::NoSymbol { path } => {
            let what = format!("`{path}` defines no such symbol: `{text}`");
            let hint = format!("`waylore symbols {path}` lists what it defines");
            let in_file = |it: &String| it.starts_with(&format!("{path}:"));
            let close = graph::suggest_targets(graph, text);
            return Err(Error::refuse(
                what,
                did_you_mean(close.into_iter().filter(in_file), &hint),
            ));
        }
        TargetLookup::NotFound => {
            let what = format!("no file or symbol of the index is called `{text}`");
            // The target may be in a file that the interrupted pass did not reach.
            let hint = if freshness.is_partial {
                "the index is not complete; `waylore index` continues where it was interrupted"
            } else {
                "name it as `path`, `path:symbol`, `path:line` or `symbol`; `waylore index` reads new files"
            };
            let close = graph::suggest_targets(graph, text).into_iter();
            return Err(Error::refuse(what, did_you_mean(close, hint)));
        }
    };

    // A symbol can have several nodes, such as the declaration and the definition of a C function.
    let names: BTreeSet<String> =
        nodes.iter().map(|it| symbol_label(&graph.symbol_info(*it))).collect();
    if names.len() > 1 {
        let listed: Vec<&str> =
            names.iter().take(MAX_LISTED_NAMESAKES).map(String::as_str).collect();
        let more = match names.len() - listed.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let what = format!("`{text}` names {} symbols: {}{more}", names.len(), listed.join(", "));
        return Err(Error::refuse(what, "name one of them as `path:symbol`"));
    }
    Ok(nodes)
}

/// A hint that names similar targets, if there are any.
pub(super) fn did_you_mean(close: impl Iterator<Item = String>, hint: &str) -> String {
    let close: Vec<String> = close.map(|it| format!("`{it}`")).collect();
    if close.is_empty() {
        hint.to_owned()
    } else {
        format!("did you mean {}? {hint}", close.join(" or "))
    }
}

/// Makes the path of a written target relative to the root: `/home/me/app/src/a.rs:run` becomes
/// `src/a.rs:run`. A target without an absolute path and without `.` or `..` stays as it is, because
/// the end of a path, or a symbol, is enough.
fn to_project_target(root: &Path, text: &str) -> Result<String, Error> {
    let has_drive = text.as_bytes().get(1) == Some(&b':') && text.contains('\\');
    let is_path = text.starts_with(['/', '\\']) || text.starts_with("./") || has_drive;
    if !is_path && !text.starts_with("../") {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    // The symbol or line stands after the last colon behind the file name.
    let name_start = text.rfind(['/', '\\']).map_or(0, |it| it + 1);
    let path_end = text[name_start..].find(':').map_or(text.len(), |it| name_start + it);
    let (path, suffix) = text.split_at(path_end);
    let path = source::relative_path(root, Path::new(path), root)?;
    Ok(format!("{path}{suffix}"))
}

fn symbol_infos(graph: &QueryGraph, nodes: &[NodeId]) -> Vec<SymbolInfo> {
    nodes.iter().map(|it| graph.symbol_info(*it)).collect()
}

/// `path:name`, or the path alone for a file.
fn symbol_label(symbol: &SymbolInfo) -> String {
    if symbol.name.is_empty() {
        symbol.path.clone()
    } else {
        format!("{}:{}", symbol.path, symbol.name)
    }
}

/// Converts reached nodes for display. Among users, a file that was reached only by an import is
/// left out if a symbol inside it was reached as well: `b.rs` imports `f`, and `b.rs:run` calls it;
/// only `b.rs:run` is shown.
fn to_reached_symbols(
    graph: &QueryGraph,
    reached: &[ReachedNode],
    direction: EdgeDirection,
) -> Vec<ReachedSymbol> {
    let files_with_symbols: HashSet<&str> = reached
        .iter()
        .filter(|it| it.kind != EdgeKind::ImportsSymbol)
        .map(|it| graph.path_of(it.node))
        .collect();
    let is_redundant = |it: &ReachedNode| {
        direction == EdgeDirection::ToUsers
            && it.kind == EdgeKind::ImportsSymbol
            && files_with_symbols.contains(graph.path_of(it.node))
    };
    let to_symbol = |it: &ReachedNode| ReachedSymbol {
        symbol: graph.symbol_info(it.node),
        depth: it.depth,
        kind: it.kind,
        resolution: it.resolution,
        via: symbol_label(&graph.symbol_info(it.via)),
        // The graph counts lines from zero.
        line: it.line + 1,
        weight: it.weight,
    };
    reached.iter().filter(|it| !is_redundant(it)).map(to_symbol).collect()
}
