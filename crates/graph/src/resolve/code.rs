//! Edges as bytes, as facts are.

use super::{Edge, EdgeKind, How, Links};
use crate::facts::{Reader, Writer};
use crate::world::Key;

/// What is kept of a file's links: few files are looked at again, and all of them are in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub edges: Box<[u8]>,
    pub(crate) keys: Box<[Key]>,
}

impl Kept {
    pub(crate) fn new(links: &Links) -> Self {
        Self { edges: encode_edges(links), keys: links.keys.as_slice().into() }
    }

    pub(crate) fn links(&self) -> Option<Links> {
        Some(Links { keys: self.keys.to_vec(), ..decode_edges(&self.edges)? })
    }

    /// What was looked for, as bytes.
    pub fn keys(&self) -> Vec<u8> {
        self.keys.iter().flat_map(|it| it.to_le_bytes()).collect()
    }

    /// How many references are foreign, how many are not resolved, how many edges there are.
    pub fn counts(&self) -> (u32, u32, usize) {
        let mut from = Reader(&self.edges);
        let mut next = || from.small().unwrap_or_default();
        (next(), next(), next() as usize)
    }
}

fn encode_edges(links: &Links) -> Box<[u8]> {
    let mut to = Writer(Vec::with_capacity(links.edges.len() * 8 + 4));
    to.small(links.n_foreign);
    to.small(links.n_unresolved);
    to.size(links.edges.len());
    for it in &links.edges {
        to.maybe(it.from);
        to.small(it.to_file);
        to.maybe(it.to);
        to.0.push(it.kind as u8);
        to.0.push(it.how as u8);
        to.small(it.line);
    }
    to.0.into()
}

/// Reads edges; what was looked for to find them comes apart.
pub fn decode_edges(bytes: &[u8]) -> Option<Links> {
    let mut from = Reader(bytes);
    let mut res =
        Links { n_foreign: from.small()?, n_unresolved: from.small()?, ..Links::default() };
    let n_edges = from.size()?;
    res.edges.reserve_exact(n_edges);
    for _ in 0..n_edges {
        res.edges.push(Edge {
            from: from.maybe()?,
            to_file: from.small()?,
            to: from.maybe()?,
            kind: *EdgeKind::ALL.get(usize::from(from.byte()?))?,
            how: *How::ALL.get(usize::from(from.byte()?))?,
            line: from.small()?,
        });
    }
    from.0.is_empty().then_some(res)
}

pub fn decode_keys(bytes: &[u8]) -> Option<Vec<u64>> {
    let (keys, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| keys.iter().map(|it| u64::from_le_bytes(*it)).collect())
}
