//! Edges between symbols as ties between files.

use std::collections::BTreeMap;

use crate::atlas::weight;
use crate::resolve::Links;
use crate::world::FileId;

impl Links {
    /// The other files these edges lead to, each with what all edges to it weigh, in thousandths: the
    /// kind of an edge times how sure it is.
    pub fn to_files(&self, own: FileId) -> Vec<(FileId, u32)> {
        let mut acc: BTreeMap<FileId, u32> = BTreeMap::new();
        for it in self.edges.iter().filter(|it| it.to_file != own) {
            let sum = acc.entry(it.to_file).or_default();
            *sum = sum.saturating_add(weight(it.kind) * u32::from(it.how.confidence()) / 1000);
        }
        acc.into_iter().collect()
    }
}
