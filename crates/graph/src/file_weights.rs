//! Weights between files: the symbol edges from one file to another, summed up. The module map
//! groups files by them.
//!
//! For example, two calls (weight 1000) through an import (confidence 990) and the import itself
//! (weight 400) link a file to another with 990 + 990 + 396 = 2376.

use std::collections::BTreeMap;

use crate::ids::FileId;
use crate::query_graph::edge_weight;
use crate::resolve::FileEdges;

/// The other files that a file's edges lead to, each with the total weight of those edges, per
/// mille. The weight of an edge is that of its kind times its confidence.
pub fn weigh_linked_files(edges: &FileEdges, own_file: FileId) -> Vec<(FileId, u32)> {
    let mut weights: BTreeMap<FileId, u32> = BTreeMap::new();
    for edge in edges.edges.iter().filter(|it| it.to_file != own_file) {
        let weight = edge_weight(edge.kind) * u32::from(edge.resolution.confidence()) / 1000;
        let sum = weights.entry(edge.to_file).or_default();
        *sum = sum.saturating_add(weight);
    }
    weights.into_iter().collect()
}
