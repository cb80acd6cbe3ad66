//! The graph as it is asked: symbols numbered from 0, edges both ways in two flat arrays.
//!
//! Made from outlines and edges alone, in one pass; it answers and never changes. Whoever has a newer
//! graph makes a newer atlas, which takes milliseconds.

mod find;
mod reach;

use std::collections::HashSet;

pub use find::Target;
pub(crate) use reach::weight;
pub use reach::{Neighbour, Reached, Way};

use crate::facts::{DefKind, Facts, Flags};
use crate::resolve::{EdgeKind, How, Links};
use crate::sketch::index;
use crate::world::FileId;

/// A file or a definition.
pub type NodeId = u32;

/// One end of an edge, seen from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    pub node: NodeId,
    pub kind: EdgeKind,
    pub how: How,
    /// Where it is said, in the file it leaves.
    pub line: u32,
}

/// Edges of all nodes, one after the other.
#[derive(Debug, Default)]
struct Arcs {
    starts: Vec<u32>,
    arcs: Vec<Arc>,
}

impl Arcs {
    /// Sorts edges by their first end, keeping their order otherwise.
    fn new(n_nodes: usize, edges: &[(NodeId, Arc)]) -> Self {
        let mut starts = vec![0_u32; n_nodes + 1];
        edges.iter().for_each(|it| starts[it.0 as usize + 1] += 1);
        for i in 0..n_nodes {
            starts[i + 1] += starts[i];
        }
        let empty = Arc { node: 0, kind: EdgeKind::Calls, how: How::Scope, line: 0 };
        let (mut arcs, mut next) = (vec![empty; edges.len()], starts.clone());
        for (from, arc) in edges {
            let place = &mut next[*from as usize];
            arcs[*place as usize] = *arc;
            *place += 1;
        }
        Self { starts, arcs }
    }

    fn of(&self, node: NodeId) -> &[Arc] {
        let at = node as usize;
        &self.arcs[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

#[derive(Debug)]
struct Sheet {
    path: Box<str>,
    outline: Facts,
    /// The number of the file; its definitions follow.
    first: NodeId,
}

/// All symbols and edges of a project.
#[derive(Debug, Default)]
pub struct Atlas {
    /// In the order of their paths.
    sheets: Vec<Sheet>,
    n_nodes: usize,
    out: Arcs,
    into: Arcs,
    pub n_foreign: u64,
    pub n_unresolved: u64,
}

/// What an answer says about a file or a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub node: NodeId,
    pub path: String,
    /// With what is around it: `Server.run`; empty for the file itself.
    pub name: String,
    /// Nothing for the file itself.
    pub kind: Option<DefKind>,
    /// Counted from 1.
    pub lines: (u32, u32),
    pub is_test: bool,
    pub is_exported: bool,
    /// What it means, without white space and comments: what a memory is bound to.
    pub meaning: u64,
}

impl Atlas {
    /// Puts files together; an edge to a file that is not among them is left out.
    pub fn new(files: Vec<(FileId, String, Facts, Links)>) -> Self {
        let mut files = files;
        files.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        let n_ids = files.iter().map(|it| it.0 as usize + 1).max().unwrap_or(0);
        let mut firsts = vec![u32::MAX; n_ids];
        let mut res = Self::default();
        let mut all_links = Vec::with_capacity(files.len());
        for (id, path, outline, links) in files {
            let first = index(res.n_nodes);
            firsts[id as usize] = first;
            res.n_nodes += outline.defs.len() + 1;
            res.sheets.push(Sheet { path: path.into(), outline, first });
            all_links.push(links);
        }
        let mut edges = Vec::with_capacity(all_links.iter().map(|it| it.edges.len()).sum());
        for (sheet, links) in res.sheets.iter().zip(&all_links) {
            res.n_foreign += u64::from(links.n_foreign);
            res.n_unresolved += u64::from(links.n_unresolved);
            for it in &links.edges {
                let Some(first) = firsts.get(it.to_file as usize).filter(|it| **it != u32::MAX)
                else {
                    continue;
                };
                let from = it.from.map_or(sheet.first, |it| sheet.first + 1 + it);
                let to = it.to.map_or(*first, |it| first + 1 + it);
                if (to as usize) < res.n_nodes {
                    edges.push((from, Arc { node: to, kind: it.kind, how: it.how, line: it.line }));
                }
            }
        }
        res.out = Arcs::new(res.n_nodes, &edges);
        for (from, arc) in &mut edges {
            std::mem::swap(from, &mut arc.node);
        }
        res.into = Arcs::new(res.n_nodes, &edges);
        res
    }

    pub fn n_files(&self) -> usize {
        self.sheets.len()
    }

    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub fn n_edges(&self) -> usize {
        self.out.arcs.len()
    }

    /// What a node refers to.
    pub fn out(&self, node: NodeId) -> &[Arc] {
        self.out.of(node)
    }

    /// Who refers to a node.
    pub fn into(&self, node: NodeId) -> &[Arc] {
        self.into.of(node)
    }

    fn sheet(&self, node: NodeId) -> &Sheet {
        &self.sheets[self.sheets.partition_point(|it| it.first <= node) - 1]
    }

    pub fn path(&self, node: NodeId) -> &str {
        &self.sheet(node).path
    }

    pub fn symbol(&self, node: NodeId) -> Symbol {
        let sheet = self.sheet(node);
        let (path, facts) = (sheet.path.to_string(), &sheet.outline);
        match node.checked_sub(sheet.first + 1) {
            None => {
                let is_test = facts.is_test;
                let lines = (1, facts.n_lines);
                Symbol {
                    node,
                    path,
                    name: String::new(),
                    kind: None,
                    lines,
                    is_test,
                    is_exported: false,
                    meaning: 0,
                }
            }
            Some(def) => {
                let it = &facts.defs[def as usize];
                Symbol {
                    node,
                    path,
                    name: facts.qualified(def),
                    kind: Some(it.kind),
                    lines: (it.lines.0 + 1, it.lines.1 + 1),
                    is_test: facts.is_test || it.flags.has(Flags::TEST),
                    is_exported: it.flags.has(Flags::EXPORTED),
                    meaning: it.meaning,
                }
            }
        }
    }

    /// The definitions that mean one of these, in the order of the files.
    pub fn meaning(&self, meanings: &HashSet<u64>) -> Vec<Symbol> {
        let mut res = Vec::new();
        for sheet in &self.sheets {
            for (node, def) in (sheet.first + 1..).zip(&sheet.outline.defs) {
                if meanings.contains(&def.meaning) {
                    res.push(self.symbol(node));
                }
            }
        }
        res
    }

    /// The definitions of a file in the order of the text, without what stands inside functions.
    pub fn symbols(&self, path: &str) -> Option<Vec<Symbol>> {
        let at = self.sheets.binary_search_by(|it| (*it.path).cmp(path)).ok()?;
        let sheet = &self.sheets[at];
        let mut res: Vec<Symbol> = (0..sheet.outline.defs.len())
            .map(|it| self.symbol(sheet.first + 1 + index(it)))
            .collect();
        res.sort_by_key(|it| (it.lines.0, u32::MAX - it.lines.1));
        Some(res)
    }

    /// A node with everything inside it: a file's definitions, a type's members.
    fn whole(&self, node: NodeId) -> Vec<NodeId> {
        let sheet = self.sheet(node);
        let defs = &sheet.outline.defs;
        let Some(def) = node.checked_sub(sheet.first + 1) else {
            return (node..=node + index(defs.len())).collect();
        };
        let mut res = vec![node];
        let mut inside = vec![false; defs.len()];
        inside[def as usize] = true;
        let owner = &defs[def as usize];
        for (i, it) in defs.iter().enumerate() {
            // Members of a type may stand outside it.
            let is_owned = owner.kind.is_type() && it.owned_by == Some(owner.name);
            let is_inside = it.parent.is_some_and(|it| inside[it as usize]) || is_owned;
            if is_inside && i != def as usize {
                inside[i] = true;
                res.push(sheet.first + 1 + index(i));
            }
        }
        res
    }

    /// Files that import one another, as pairs of paths: what modules are made of.
    pub fn imports(&self) -> Vec<(&str, &str)> {
        let mut res = Vec::new();
        for sheet in &self.sheets {
            let imported = self.out(sheet.first).iter().filter(|it| it.kind == EdgeKind::Imports);
            res.extend(imported.map(|it| (&*sheet.path, self.path(it.node))));
        }
        res
    }
}
