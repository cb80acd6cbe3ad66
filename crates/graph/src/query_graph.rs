//! The graph in the form that queries read: every file and every definition is a node, numbered
//! from 0; the edges are in two flat arrays, one per direction.
//!
//! It is built in one pass from the outlines and edges of all files and never changes. After an
//! update of the symbol graph a new one is built, which takes milliseconds. `find_target.rs` finds
//! the nodes that a user means, `traversal.rs` answers the queries.
//!
//! An *outline* is the part of a file's facts that lists its definitions. The file comes first, its
//! definitions follow in their order, so a number can be computed from a file and a definition:
//!
//! ```text
//! a.ts: run, stop    nodes 0 (a.ts), 1 (run), 2 (stop)
//! b.ts: load         nodes 3 (b.ts), 4 (load)
//! run calls load     outgoing of node 1: 4; incoming of node 4: 1
//! ```

mod find_target;
mod traversal;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use model::hasher::FastBuildHasher;

use crate::facts::{DefFlags, DefId, DefKind, FileFacts};
use crate::facts_builder::to_index;
use crate::ids::{FileId, NodeId};
use crate::resolve::{EdgeKind, FileEdges, ResolutionKind, UnknownReceiverCalls, hash_member_name};

pub use find_target::{TargetLookup, find_target, suggest_names, suggest_targets};
pub(crate) use traversal::edge_weight;
pub use traversal::{
    NeighbourFile, PathStep, ReachedNode, find_dependencies, find_impact, find_neighbours,
    shortest_path,
};

/// An edge as stored at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfEdge {
    /// The node at the other end.
    pub node: NodeId,
    pub kind: EdgeKind,
    pub resolution: ResolutionKind,
    /// The line of the first reference, in the file that the edge leaves.
    pub line: u32,
}

/// Adjacency in compressed sparse row form: the edges of all nodes, grouped by node.
#[derive(Debug, Default)]
struct AdjacencyArray {
    /// The start of each node's edges, followed by the total number of edges.
    offsets: Vec<u32>,
    edges: Vec<HalfEdge>,
}

impl AdjacencyArray {
    /// Groups edges by the node they are stored at. A counting sort, which is stable: the edges of
    /// one node keep their order.
    fn new(n_nodes: usize, edges: &[(NodeId, HalfEdge)]) -> Self {
        // The number of edges of each node, one place further: with 2 edges of node 0 and 1 of node
        // 1 it is [0, 2, 1].
        let mut offsets = vec![0_u32; n_nodes + 1];
        for (node, _) in edges {
            offsets[node.index() + 1] += 1;
        }
        // The counts, added up, are the offsets: [0, 2, 3].
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        // Overwritten below.
        let placeholder = HalfEdge {
            node: NodeId(0),
            kind: EdgeKind::Calls,
            resolution: ResolutionKind::Scope,
            line: 0,
        };
        let mut sorted = vec![placeholder; edges.len()];
        // The next free position of each node, at first the start of its edges.
        let mut next_position = offsets.clone();
        for (node, edge) in edges {
            let position = &mut next_position[node.index()];
            sorted[*position as usize] = *edge;
            *position += 1;
        }
        Self { offsets, edges: sorted }
    }

    fn edges_of(&self, node: NodeId) -> &[HalfEdge] {
        let (start, end) = (self.offsets[node.index()], self.offsets[node.index() + 1]);
        &self.edges[start as usize..end as usize]
    }
}

/// One file with its nodes: first the node of the file, then those of its definitions in order.
#[derive(Debug)]
struct FileNodes {
    path: Box<str>,
    outline: FileFacts,
    file_node: NodeId,
    is_generated: bool,
}

impl FileNodes {
    /// The node of a definition.
    const fn node_of(&self, def: DefId) -> NodeId {
        NodeId(self.file_node.0 + 1 + def.0)
    }

    /// The definition of a node; `None` for that of the file.
    fn def_of(&self, node: NodeId) -> Option<DefId> {
        node.0.checked_sub(self.file_node.0 + 1).map(DefId)
    }

    /// The nodes of the file and all its definitions.
    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        let first = self.file_node.0;
        (first..=first + to_index(self.outline.defs.len())).map(NodeId)
    }
}

/// All symbols and edges of a project.
#[derive(Debug, Default)]
pub struct QueryGraph {
    /// In path order, which is also node order.
    files: Vec<FileNodes>,
    n_nodes: usize,
    outgoing: AdjacencyArray,
    incoming: AdjacencyArray,
    /// The number of references to targets known to be outside the project.
    pub n_external: u64,
    /// The number of calls without a target.
    pub n_unresolved: u64,
    /// Calls of a member of an unknown value, by the hash of the member's name: the positions in
    /// `files` with the number of calls, in file order.
    unknown_receivers: HashMap<u32, Vec<(u32, u32)>, FastBuildHasher>,
}

/// A description of a file or a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    pub node: NodeId,
    pub path: String,
    /// The qualified name: `Server.run`; empty for a file.
    pub name: String,
    /// `None` for a file.
    pub kind: Option<DefKind>,
    /// First and last line, counted from 1.
    pub lines: (u32, u32),
    pub is_test: bool,
    pub is_exported: bool,
    /// A program wrote the file.
    pub is_generated: bool,
    /// The hash that a memory is anchored to; see `Definition::structural_hash`.
    pub structural_hash: u64,
}

impl QueryGraph {
    /// Builds the graph from the id, path, outline and edges of each file. Edges to files that are
    /// not among `files` are left out.
    pub fn new(mut files: Vec<(FileId, String, FileFacts, FileEdges)>) -> Self {
        // By path: ids depend on the history of updates, and node numbers must not, because they
        // decide ties.
        files.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        // First pass: number the nodes.
        // Ids have gaps where files were removed; these stay `None`.
        let n_ids = files.iter().map(|(id, ..)| id.index() + 1).max().unwrap_or(0);
        let mut node_by_file_id: Vec<Option<NodeId>> = vec![None; n_ids];
        let mut graph = Self::default();
        let mut all_edges = Vec::with_capacity(files.len());
        for (id, path, outline, edges) in files {
            let file_node = NodeId::from_index(graph.n_nodes);
            node_by_file_id[id.index()] = Some(file_node);
            // One for the file, one per definition.
            graph.n_nodes += outline.defs.len() + 1;
            graph.files.push(FileNodes {
                path: path.into(),
                outline,
                file_node,
                is_generated: false,
            });
            all_edges.push(edges);
        }
        // Second pass: translate the ends of the edges to nodes.
        let mut edges = Vec::with_capacity(all_edges.iter().map(|it| it.edges.len()).sum());
        for (position, (file, file_edges)) in graph.files.iter().zip(&all_edges).enumerate() {
            for UnknownReceiverCalls { name_hash, n_calls } in &file_edges.unknown_receivers {
                let calls = graph.unknown_receivers.entry(*name_hash).or_default();
                calls.push((to_index(position), *n_calls));
            }
            graph.n_external += u64::from(file_edges.n_external);
            graph.n_unresolved += u64::from(file_edges.n_unresolved);
            for edge in &file_edges.edges {
                let to_file = node_by_file_id.get(edge.to_file.index()).copied().flatten();
                // The target file is not in this graph.
                let Some(to_file) = to_file else { continue };
                let from = edge.from.map_or(file.file_node, |it| file.node_of(it));
                // As `FileNodes::node_of` computes it.
                let node = edge.to.map_or(to_file, |it| NodeId(to_file.0 + 1 + it.0));
                // Outlines and edges are stored separately, so an edge may be older than the
                // outline of its target and lead past the last node.
                if node.index() < graph.n_nodes {
                    let (kind, resolution, line) = (edge.kind, edge.resolution, edge.line);
                    edges.push((from, HalfEdge { node, kind, resolution, line }));
                }
            }
        }
        graph.outgoing = AdjacencyArray::new(graph.n_nodes, &edges);
        // The same edges seen from their other end.
        for (from, edge) in &mut edges {
            std::mem::swap(from, &mut edge.node);
        }
        graph.incoming = AdjacencyArray::new(graph.n_nodes, &edges);
        graph
    }

    /// Marks files that a program wrote. They are no suggestions.
    pub fn mark_generated(&mut self, paths: &[String]) {
        for path in paths {
            if let Some(position) = self.position_of_path(path) {
                self.files[position].is_generated = true;
            }
        }
    }

    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub fn n_edges(&self) -> usize {
        self.outgoing.edges.len()
    }

    /// The number of files that the grammar of their language could not parse completely.
    pub fn n_partly_parsed(&self) -> usize {
        self.files.iter().filter(|it| it.outline.n_syntax_errors > 0).count()
    }

    /// Calls of a member with this name whose object is unknown, so that they may mean any member of
    /// that name: the paths of the files and the number of calls, most calls first.
    pub fn unknown_receivers_of(&self, name: &str) -> Vec<(&str, u32)> {
        let calls = self.unknown_receivers.get(&hash_member_name(name));
        let to_path = |it: &(u32, u32)| (&*self.files[it.0 as usize].path, it.1);
        let mut files: Vec<(&str, u32)> = calls.into_iter().flatten().map(to_path).collect();
        files.sort_by_key(|it| Reverse(it.1));
        files
    }

    /// The edges from a node to the nodes it refers to.
    pub fn outgoing(&self, node: NodeId) -> &[HalfEdge] {
        self.outgoing.edges_of(node)
    }

    /// The edges to a node from the nodes that refer to it.
    pub fn incoming(&self, node: NodeId) -> &[HalfEdge] {
        self.incoming.edges_of(node)
    }

    /// The position in `files` of the file that a node belongs to.
    fn file_position(&self, node: NodeId) -> usize {
        // The last file whose own node is not after this one.
        self.files.partition_point(|it| it.file_node <= node) - 1
    }

    fn file_of(&self, node: NodeId) -> &FileNodes {
        &self.files[self.file_position(node)]
    }

    /// The position in `files` of a path.
    fn position_of_path(&self, path: &str) -> Option<usize> {
        self.files.binary_search_by(|it| (*it.path).cmp(path)).ok()
    }

    pub fn path_of(&self, node: NodeId) -> &str {
        &self.file_of(node).path
    }

    pub fn symbol_info(&self, node: NodeId) -> SymbolInfo {
        let file = self.file_of(node);
        let (path, outline) = (file.path.to_string(), &file.outline);
        match file.def_of(node) {
            None => SymbolInfo {
                node,
                path,
                name: String::new(),
                kind: None,
                lines: (1, outline.n_lines),
                is_test: outline.is_test,
                is_exported: false,
                is_generated: file.is_generated,
                structural_hash: 0,
            },
            Some(id) => {
                let def = outline.def(id);
                SymbolInfo {
                    node,
                    path,
                    name: outline.qualified_name(id),
                    kind: Some(def.kind),
                    // The facts count lines from 0.
                    lines: (def.lines.0 + 1, def.lines.1 + 1),
                    is_test: outline.is_test || def.flags.has(DefFlags::TEST),
                    is_exported: def.flags.has(DefFlags::EXPORTED),
                    is_generated: file.is_generated,
                    structural_hash: def.structural_hash,
                }
            }
        }
    }

    /// The definitions with one of these structural hashes, in path order.
    pub fn symbols_by_hash(&self, hashes: &HashSet<u64>) -> Vec<SymbolInfo> {
        let mut symbols = Vec::new();
        for file in &self.files {
            for (id, def) in file.outline.defs_with_ids() {
                if hashes.contains(&def.structural_hash) {
                    symbols.push(self.symbol_info(file.node_of(id)));
                }
            }
        }
        symbols
    }

    /// The definitions of a file in text order; `None` if the graph does not have the file.
    pub fn symbols_in_file(&self, path: &str) -> Option<Vec<SymbolInfo>> {
        let file = &self.files[self.position_of_path(path)?];
        let defs = file.outline.defs_with_ids();
        let mut symbols: Vec<SymbolInfo> =
            defs.map(|it| self.symbol_info(file.node_of(it.0))).collect();
        // Of two that begin on one line, the enclosing one comes first.
        symbols.sort_by_key(|it| (it.lines.0, Reverse(it.lines.1)));
        Some(symbols)
    }

    /// A node with everything that belongs to it: the definitions of a file, the members of a type.
    fn with_members(&self, node: NodeId) -> Vec<NodeId> {
        let file = self.file_of(node);
        let Some(id) = file.def_of(node) else {
            return file.nodes().collect();
        };
        let mut nodes = vec![node];
        let mut is_inside = vec![false; file.outline.defs.len()];
        is_inside[id.index()] = true;
        let owner = file.outline.def(id);
        // One pass suffices: a parent precedes its children.
        for (member, def) in file.outline.defs_with_ids() {
            // A member of a type may be defined outside its body.
            let is_out_of_line = owner.kind.is_type() && def.owner_name == Some(owner.name);
            let is_nested = def.parent.is_some_and(|it| is_inside[it.index()]);
            if (is_nested || is_out_of_line) && member != id {
                is_inside[member.index()] = true;
                nodes.push(file.node_of(member));
            }
        }
        nodes
    }

    /// The imports between files as pairs of paths, importer first.
    pub fn file_imports(&self) -> Vec<(&str, &str)> {
        let mut imports = Vec::new();
        for file in &self.files {
            let edges = self.outgoing(file.file_node).iter();
            let imported = edges.filter(|it| it.kind == EdgeKind::Imports);
            imports.extend(imported.map(|it| (&*file.path, self.path_of(it.node))));
        }
        imports
    }
}
