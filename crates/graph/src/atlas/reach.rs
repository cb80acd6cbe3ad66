//! Who is reached from where: impact, dependencies, neighbours, the way from one to another.

use std::collections::{HashMap, VecDeque};

use super::{Arc, Atlas, NodeId};
use crate::fast::FastHasher;
use crate::resolve::{EdgeKind, How};

/// Somebody who is reached, and from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub node: NodeId,
    pub depth: u32,
    /// The one before it on the way.
    pub via: NodeId,
    pub kind: EdgeKind,
    /// How the least sure edge on the way was found.
    pub how: How,
    pub line: u32,
    /// How sure and how near, in thousandths: what answers are ordered by.
    pub weight: u16,
}

/// A file next to others, with how strongly it is tied to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub path: String,
    /// Edges from the files asked about, and to them.
    pub n_out: u32,
    pub n_into: u32,
}

/// A step on the way from one symbol to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub node: NodeId,
    /// The edge that leads to it; nothing for the first.
    pub by: Option<(EdgeKind, How, u32)>,
}

/// How much an edge counts for the next step, in thousandths. What is named in passing matters less
/// than what is called.
pub(crate) const fn weight(kind: EdgeKind) -> u32 {
    match kind {
        EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::Overrides => 1000,
        EdgeKind::Extends | EdgeKind::Implements => 950,
        EdgeKind::Uses => 800,
        EdgeKind::TypedAs => 600,
        EdgeKind::ImportsSymbol => 500,
        EdgeKind::Imports => 400,
    }
}

/// What remains of a weight one step further away.
const FURTHER: u32 = 600;

impl Atlas {
    /// Who would notice a change of `start`: callers, users, heirs, tests, up to `depth` steps away.
    /// Nearest first, then by weight.
    pub fn impact(&self, start: &[NodeId], depth: u32) -> Vec<Reached> {
        let whole: Vec<NodeId> = start.iter().flat_map(|it| self.whole(*it)).collect();
        // A call to what a method overrides may end in the method.
        let mut seeds = whole.clone();
        for node in &whole {
            let stands_in = |it: &&Arc| it.kind == EdgeKind::Overrides || self.announces(it, *node);
            seeds.extend(self.out(*node).iter().filter(stands_in).map(|it| it.node));
            let defined = self.into(*node).iter().filter(|it| self.announces(it, *node));
            seeds.extend(defined.map(|it| it.node));
        }
        let by_file = start.iter().any(|it| self.symbol_is_file(*it));
        self.spread(
            &whole,
            &seeds,
            depth,
            |node| self.into(node),
            |arc| arc.kind != EdgeKind::Imports || by_file,
        )
    }

    /// What `start` needs: callees, types, bases, up to `depth` steps away.
    pub fn dependencies(&self, start: &[NodeId], depth: u32) -> Vec<Reached> {
        let whole: Vec<NodeId> = start.iter().flat_map(|it| self.whole(*it)).collect();
        let by_file = start.iter().any(|it| self.symbol_is_file(*it));
        self.spread(
            &whole,
            &whole,
            depth,
            |node| self.out(node),
            |arc| by_file || !matches!(arc.kind, EdgeKind::Imports | EdgeKind::ImportsSymbol),
        )
    }

    /// Whether an edge joins a prototype and its definition: a call of one is a call of the other.
    pub(super) fn announces(&self, arc: &Arc, node: NodeId) -> bool {
        arc.kind == EdgeKind::Implements && self.is_callable(arc.node) && self.is_callable(node)
    }

    fn is_callable(&self, node: NodeId) -> bool {
        let sheet = self.sheet(node);
        let def = node.checked_sub(sheet.first + 1);
        def.is_some_and(|it| sheet.outline.defs[it as usize].kind.is_callable())
    }

    fn symbol_is_file(&self, node: NodeId) -> bool {
        self.sheet(node).first == node
    }

    fn spread<'a>(
        &'a self,
        own: &[NodeId],
        seeds: &[NodeId],
        depth: u32,
        arcs: impl Fn(NodeId) -> &'a [Arc],
        counts: impl Fn(&Arc) -> bool,
    ) -> Vec<Reached> {
        let mut seen = vec![false; self.n_nodes];
        own.iter().for_each(|it| seen[*it as usize] = true);
        let mut res: Vec<Reached> = Vec::new();
        let mut edge: Vec<(NodeId, u32, How)> =
            seeds.iter().map(|it| (*it, 1000, How::Precise)).collect();
        for depth in 1..=depth {
            let mut found: HashMap<NodeId, Reached, FastHasher> = HashMap::default();
            for (node, before, least_sure) in &edge {
                for arc in arcs(*node).iter().filter(|it| counts(it) && !seen[it.node as usize]) {
                    let sure = u32::from(arc.how.confidence());
                    let further = if depth == 1 { 1000 } else { FURTHER };
                    let value = before * weight(arc.kind) / 1000 * sure / 1000 * further / 1000;
                    let how = arc.how.max(*least_sure);
                    let value = u16::try_from(value).unwrap_or(1000);
                    let reached = Reached {
                        node: arc.node,
                        depth,
                        via: *node,
                        kind: arc.kind,
                        how,
                        line: arc.line,
                        weight: value,
                    };
                    let known = found.entry(arc.node).or_insert(reached);
                    if value > known.weight {
                        *known = reached;
                    }
                }
            }
            let mut ring: Vec<Reached> = found.into_values().collect();
            ring.sort_unstable_by_key(|it| (u16::MAX - it.weight, it.node));
            // A file that only imports is an end: those who import it in turn are not concerned.
            let goes_on =
                |it: &&Reached| !self.symbol_is_file(it.node) || it.kind == EdgeKind::Imports;
            edge = ring
                .iter()
                .filter(goes_on)
                .map(|it| (it.node, u32::from(it.weight), it.how))
                .collect();
            ring.iter().for_each(|it| seen[it.node as usize] = true);
            res.extend(ring);
        }
        res
    }

    /// Files one step away from some files, most strongly tied first. Unknown paths have none.
    pub fn neighbours(&self, paths: &[&str]) -> Vec<Neighbour> {
        let mut counts: HashMap<usize, (u32, u32), FastHasher> = HashMap::default();
        let places: Vec<usize> = paths
            .iter()
            .filter_map(|path| self.sheets.binary_search_by(|it| (*it.path).cmp(path)).ok())
            .collect();
        let sheet_of = |node: NodeId| self.sheets.partition_point(|it| it.first <= node) - 1;
        for place in &places {
            let sheet = &self.sheets[*place];
            for node in sheet.first..=sheet.first + crate::sketch::index(sheet.outline.defs.len()) {
                self.out(node)
                    .iter()
                    .for_each(|it| counts.entry(sheet_of(it.node)).or_default().0 += 1);
                self.into(node)
                    .iter()
                    .for_each(|it| counts.entry(sheet_of(it.node)).or_default().1 += 1);
            }
        }
        let mut res: Vec<Neighbour> = counts
            .into_iter()
            .filter(|it| !places.contains(&it.0))
            .map(|(at, (n_out, n_into))| Neighbour {
                path: self.sheets[at].path.to_string(),
                n_out,
                n_into,
            })
            .collect();
        res.sort_unstable_by(|a, b| {
            (b.n_out + b.n_into, &a.path).cmp(&(a.n_out + a.n_into, &b.path))
        });
        res
    }

    /// The shortest way along edges from one of `from` to one of `to`.
    pub fn way(&self, from: &[NodeId], to: &[NodeId]) -> Option<Vec<Way>> {
        let ends: Vec<NodeId> = to.iter().flat_map(|it| self.whole(*it)).collect();
        let mut before: HashMap<NodeId, Option<(NodeId, Arc)>, FastHasher> = HashMap::default();
        let mut queue: VecDeque<NodeId> = VecDeque::new();
        for node in from.iter().flat_map(|it| self.whole(*it)) {
            before.insert(node, None);
            queue.push_back(node);
        }
        while let Some(node) = queue.pop_front() {
            if ends.contains(&node) {
                return Some(walked(&before, node));
            }
            for arc in self.out(node) {
                before.entry(arc.node).or_insert_with(|| {
                    queue.push_back(arc.node);
                    Some((node, *arc))
                });
            }
        }
        None
    }
}

fn walked(before: &HashMap<NodeId, Option<(NodeId, Arc)>, FastHasher>, end: NodeId) -> Vec<Way> {
    let mut res = Vec::new();
    let mut at = end;
    loop {
        let step = before.get(&at).copied().flatten();
        res.push(Way { node: at, by: step.map(|it| (it.1.kind, it.1.how, it.1.line)) });
        match step {
            Some((node, _)) => at = node,
            None => break,
        }
    }
    res.reverse();
    res
}
