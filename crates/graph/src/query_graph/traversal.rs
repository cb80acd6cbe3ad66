//! Traversals of the graph: impact, dependencies, neighbours, shortest path.
//!
//! Impact follows edges backwards, from a symbol to its users; dependencies and paths follow them
//! forwards. Impact and dependencies share one breadth-first search, which weighs every path.
//!
//! ```text
//! page calls login, login calls verify
//! impact of verify, depth 2:     login (depth 1), page (depth 2, via login)
//! dependencies of page, depth 1: login
//! path from page to verify:      page, login, verify
//! ```
//!
//! A *node* is a file or a definition. A [`HalfEdge`] is an edge as stored at one end; its `node`
//! is the other end. Its `resolution` is the evidence by which a reference was matched with its
//! target; each kind of evidence has a confidence, the probability that the target is right.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use model::hasher::FastBuildHasher;

use super::{HalfEdge, NodeId, QueryGraph};
use crate::resolve::{EdgeKind, ResolutionKind};

/// A node that a traversal reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedNode {
    pub node: NodeId,
    /// The number of steps from the start.
    pub depth: u32,
    /// The node before it on the path.
    pub via: NodeId,
    /// The kind of the last edge.
    pub kind: EdgeKind,
    /// The least certain resolution on the path.
    pub resolution: ResolutionKind,
    /// The line of the first reference of the last edge.
    pub line: u32,
    /// Relevance per mille: the product of edge weights, confidences and decays along the path.
    /// Results of one depth are ordered by it.
    pub weight: u16,
}

/// A file with edges to or from a set of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourFile {
    pub path: String,
    /// Edges from the files of the query.
    pub n_outgoing: u32,
    /// Edges to the files of the query.
    pub n_incoming: u32,
}

/// A step of the path from one symbol to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub node: NodeId,
    /// The edge that leads to the node; `None` for the first.
    pub edge: Option<HalfEdge>,
}

/// The weight of an edge by its kind, per mille. A change spreads through a call more surely than
/// through a mention.
pub(crate) const fn edge_weight(kind: EdgeKind) -> u32 {
    match kind {
        EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::Overrides => 1000,
        EdgeKind::Extends | EdgeKind::Implements => 950,
        EdgeKind::Uses => 800,
        EdgeKind::TypedAs => 600,
        EdgeKind::ImportsSymbol => 500,
        EdgeKind::Imports => 400,
    }
}

/// The whole of a weight, a confidence or a decay, which are all per mille.
const PER_MILLE: u32 = 1000;

/// The share of the weight that remains for every step after the first, per mille.
const STEP_DECAY_PER_MILLE: u32 = 600;

/// The nodes that a change of `start` affects: callers, users, subtypes, tests, up to `depth` steps
/// away. Nearest first, then by weight.
pub fn find_impact(graph: &QueryGraph, start: &[NodeId], depth: u32) -> Vec<ReachedNode> {
    let own: Vec<NodeId> = start.iter().flat_map(|it| graph.with_members(*it)).collect();
    // The search also starts at the nodes that stand for the same function.
    let mut seeds = own.clone();
    for node in &own {
        // A call of an overridden method may dispatch to this one, and a call of a declaration
        // calls the definition: the callers of both are affected.
        let leads_to_same_callers = |it: &&HalfEdge| {
            it.kind == EdgeKind::Overrides || is_declaration_edge(graph, it, *node)
        };
        let outgoing = graph.outgoing(*node).iter().filter(leads_to_same_callers);
        seeds.extend(outgoing.map(|it| it.node));
        let incoming = graph.incoming(*node).iter();
        let definitions = incoming.filter(|it| is_declaration_edge(graph, it, *node));
        seeds.extend(definitions.map(|it| it.node));
    }
    // The import of a whole file counts only if a file is the target, not a single symbol in it.
    let has_file = start.iter().any(|it| is_file_node(graph, *it));
    breadth_first(
        graph,
        &SearchStart { own: &own, seeds: &seeds },
        depth,
        |node| graph.incoming(node),
        |edge| edge.kind != EdgeKind::Imports || has_file,
    )
}

/// The nodes that `start` depends on: callees, types, bases, up to `depth` steps away.
pub fn find_dependencies(graph: &QueryGraph, start: &[NodeId], depth: u32) -> Vec<ReachedNode> {
    let own: Vec<NodeId> = start.iter().flat_map(|it| graph.with_members(*it)).collect();
    let has_file = start.iter().any(|it| is_file_node(graph, *it));
    breadth_first(
        graph,
        &SearchStart { own: &own, seeds: &own },
        depth,
        |node| graph.outgoing(node),
        |edge| has_file || !matches!(edge.kind, EdgeKind::Imports | EdgeKind::ImportsSymbol),
    )
}

/// Returns whether an edge of `node`, outgoing or incoming, leads from a definition to its
/// declaration. A call of one is a call of the other.
pub(super) fn is_declaration_edge(graph: &QueryGraph, edge: &HalfEdge, node: NodeId) -> bool {
    edge.kind == EdgeKind::Implements && is_callable(graph, edge.node) && is_callable(graph, node)
}

fn is_callable(graph: &QueryGraph, node: NodeId) -> bool {
    let file = graph.file_of(node);
    file.def_of(node).is_some_and(|it| file.outline.def(it).kind.is_callable())
}

fn is_file_node(graph: &QueryGraph, node: NodeId) -> bool {
    graph.file_of(node).file_node == node
}

/// The start of a breadth-first search.
struct SearchStart<'a> {
    /// Nodes that belong to the start and are never reported.
    own: &'a [NodeId],
    /// Nodes whose edges are followed first.
    seeds: &'a [NodeId],
}

/// A node of the previous level, with the weight and the least certain resolution of its path.
struct FrontierNode {
    node: NodeId,
    weight: u32,
    resolution: ResolutionKind,
}

/// Breadth-first search that reports every node once, over the shortest path with the highest
/// weight. `edges_of` sets the direction, `is_followed` selects edges.
fn breadth_first<'a>(
    graph: &'a QueryGraph,
    start: &SearchStart<'_>,
    max_depth: u32,
    edges_of: impl Fn(NodeId) -> &'a [HalfEdge],
    is_followed: impl Fn(&HalfEdge) -> bool,
) -> Vec<ReachedNode> {
    let mut is_seen = vec![false; graph.n_nodes];
    start.own.iter().for_each(|it| is_seen[it.index()] = true);
    let mut reached: Vec<ReachedNode> = Vec::new();
    let to_seed = |node: &NodeId| FrontierNode {
        node: *node,
        weight: PER_MILLE,
        resolution: ResolutionKind::Precise,
    };
    let mut frontier: Vec<FrontierNode> = start.seeds.iter().map(to_seed).collect();
    for depth in 1..=max_depth {
        let mut level: HashMap<NodeId, ReachedNode, FastBuildHasher> = HashMap::default();
        for from in &frontier {
            for edge in edges_of(from.node) {
                if !is_followed(edge) || is_seen[edge.node.index()] {
                    continue;
                }
                let weight = weight_after_step(from.weight, edge, depth);
                let candidate = ReachedNode {
                    node: edge.node,
                    depth,
                    via: from.node,
                    kind: edge.kind,
                    // Kinds are declared from the most to the least certain.
                    resolution: edge.resolution.max(from.resolution),
                    line: edge.line,
                    weight: u16::try_from(weight).expect("a weight is at most one thousand"),
                };
                let best = level.entry(edge.node).or_insert(candidate);
                if candidate.weight > best.weight {
                    *best = candidate;
                }
            }
        }
        let mut level: Vec<ReachedNode> = level.into_values().collect();
        level.sort_unstable_by_key(|it| (Reverse(it.weight), it.node));
        // A file that only imports a symbol ends the path: its own importers are not affected.
        let continues =
            |it: &&ReachedNode| !is_file_node(graph, it.node) || it.kind == EdgeKind::Imports;
        let to_frontier = |it: &ReachedNode| FrontierNode {
            node: it.node,
            weight: u32::from(it.weight),
            resolution: it.resolution,
        };
        frontier = level.iter().filter(continues).map(to_frontier).collect();
        // Not earlier: within a level all paths to a node compete.
        level.iter().for_each(|it| is_seen[it.node.index()] = true);
        reached.extend(level);
    }
    reached
}

/// The weight of a path after one more edge, per mille; `depth` is the number of its steps. For
/// example, a call (1000) that an import resolved (990) as the second step (600) leaves 594 of 1000.
fn weight_after_step(path_weight: u32, edge: &HalfEdge, depth: u32) -> u32 {
    let confidence = u32::from(edge.resolution.confidence());
    // The first step is free: direct users compare by the kind of edge alone.
    let decay = if depth == 1 { PER_MILLE } else { STEP_DECAY_PER_MILLE };
    let mut weight = path_weight;
    for share in [edge_weight(edge.kind), confidence, decay] {
        weight = weight * share / PER_MILLE;
    }
    weight
}

/// The files one step away from some files, those with the most edges first. Unknown paths are
/// ignored.
pub fn find_neighbours(graph: &QueryGraph, paths: &[&str]) -> Vec<NeighbourFile> {
    let own_files: Vec<usize> = paths.iter().filter_map(|it| graph.position_of_path(it)).collect();
    // Outgoing and incoming edges by the file at the other end.
    let mut counts: HashMap<usize, (u32, u32), FastBuildHasher> = HashMap::default();
    for node in own_files.iter().flat_map(|it| graph.files[*it].nodes()) {
        for edge in graph.outgoing(node) {
            counts.entry(graph.file_position(edge.node)).or_default().0 += 1;
        }
        for edge in graph.incoming(node) {
            counts.entry(graph.file_position(edge.node)).or_default().1 += 1;
        }
    }
    // Edges inside a file, or between two files of the query, lead to no neighbour.
    counts.retain(|file, _| !own_files.contains(file));
    let mut neighbours = Vec::with_capacity(counts.len());
    for (file, (n_outgoing, n_incoming)) in counts {
        let path = graph.files[file].path.to_string();
        neighbours.push(NeighbourFile { path, n_outgoing, n_incoming });
    }
    // Equal numbers are ordered by path.
    let n_edges = |it: &NeighbourFile| it.n_outgoing + it.n_incoming;
    neighbours.sort_unstable_by(|a, b| (n_edges(b), &a.path).cmp(&(n_edges(a), &b.path)));
    neighbours
}

/// For every node that a search visited, the node before it and the edge between them; `None` for
/// a start.
type Predecessors = HashMap<NodeId, Option<(NodeId, HalfEdge)>, FastBuildHasher>;

/// The shortest path along outgoing edges from one of `from` to one of `to`, members included.
pub fn shortest_path(graph: &QueryGraph, from: &[NodeId], to: &[NodeId]) -> Option<Vec<PathStep>> {
    let ends: Vec<NodeId> = to.iter().flat_map(|it| graph.with_members(*it)).collect();
    let mut predecessors = Predecessors::default();
    let mut queue: VecDeque<NodeId> = VecDeque::new();
    for node in from.iter().flat_map(|it| graph.with_members(*it)) {
        predecessors.insert(node, None);
        queue.push_back(node);
    }
    while let Some(node) = queue.pop_front() {
        if ends.contains(&node) {
            return Some(backtrack(&predecessors, node));
        }
        for edge in graph.outgoing(node) {
            // The first visit is over a shortest path; later ones are ignored.
            predecessors.entry(edge.node).or_insert_with(|| {
                queue.push_back(edge.node);
                Some((node, *edge))
            });
        }
    }
    None
}

/// The path to `end`, first step first.
fn backtrack(predecessors: &Predecessors, end: NodeId) -> Vec<PathStep> {
    let mut steps = Vec::new();
    let mut node = end;
    loop {
        let step = predecessors.get(&node).copied().flatten();
        steps.push(PathStep { node, edge: step.map(|it| it.1) });
        match step {
            Some((before, _)) => node = before,
            None => break,
        }
    }
    steps.reverse();
    steps
}
