//! Byte format of the edges of a file, as the store keeps them.
//!
//! ```text
//! n_external, n_unresolved, n_edges
//! per edge: from definition?, to file, to definition?, kind, resolution, line
//! number of names of unresolved members; per name: hash, number of calls
//! ```
//!
//! Numbers are variable-length integers; the two kinds are one byte each, the position of the
//! variant in its enum. A definition that is missing means the file itself.
//!
//! A *lookup key* is the hash of one lookup that the resolver made, such as "the file at the path
//! `a.ts`". If a later change affects a key, the file is resolved again. The keys are encoded
//! apart, because an update reads the keys of all files but the edges of only a few.

use model::codec::{ByteReader, ByteWriter};

use super::{EdgeKind, FileEdges, ResolutionKind, SymbolEdge, UnknownReceiverCalls};
use crate::facts::DefId;
use crate::file_index::LookupKey;
use crate::ids::FileId;

/// A file's edges in encoded form, with the lookup keys they depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedFileEdges {
    pub edge_bytes: Box<[u8]>,
    /// Sorted.
    pub(crate) keys: Box<[LookupKey]>,
}

/// The totals at the head of encoded edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeCounts {
    pub n_external: u32,
    pub n_unresolved: u32,
    pub n_edges: usize,
}

impl EncodedFileEdges {
    pub(crate) fn encode(edges: &FileEdges) -> Self {
        Self { edge_bytes: encode_edges(edges), keys: edges.lookup_keys.as_slice().into() }
    }

    pub(crate) fn decode(&self) -> Option<FileEdges> {
        Some(FileEdges { lookup_keys: self.keys.to_vec(), ..decode_edges(&self.edge_bytes)? })
    }

    /// The lookup keys, encoded.
    pub fn key_bytes(&self) -> Vec<u8> {
        self.keys.iter().flat_map(|it| it.0.to_le_bytes()).collect()
    }

    /// The totals, without decoding the edges.
    pub fn counts(&self) -> EdgeCounts {
        let mut reader = ByteReader::new(&self.edge_bytes);
        let mut next = || reader.read_u32().unwrap_or_default();
        EdgeCounts { n_external: next(), n_unresolved: next(), n_edges: next() as usize }
    }
}

fn encode_edges(edges: &FileEdges) -> Box<[u8]> {
    // A guess that avoids reallocation: an edge usually takes about 8 bytes, the totals 4.
    let mut writer = ByteWriter::new(Vec::with_capacity(edges.edges.len() * 8 + 4));
    writer.write_u32(edges.n_external);
    writer.write_u32(edges.n_unresolved);
    writer.write_len(edges.edges.len());
    for edge in &edges.edges {
        writer.write_optional_u32(edge.from.map(|it| it.0));
        writer.write_u32(edge.to_file.0);
        writer.write_optional_u32(edge.to.map(|it| it.0));
        writer.write_byte(edge.kind as u8);
        writer.write_byte(edge.resolution as u8);
        writer.write_u32(edge.line);
    }
    writer.write_len(edges.unknown_receivers.len());
    for UnknownReceiverCalls { name_hash, n_calls } in &edges.unknown_receivers {
        writer.write_u32(*name_hash);
        writer.write_u32(*n_calls);
    }
    writer.bytes.into()
}

/// Decodes edges; `None` if the bytes are damaged. `lookup_keys` is empty: the keys are stored
/// separately.
pub fn decode_edges(bytes: &[u8]) -> Option<FileEdges> {
    let mut reader = ByteReader::new(bytes);
    let (n_external, n_unresolved) = (reader.read_u32()?, reader.read_u32()?);
    let mut decoded = FileEdges { n_external, n_unresolved, ..FileEdges::default() };
    let n_edges = reader.read_len()?;
    decoded.edges.reserve_exact(n_edges);
    for _ in 0..n_edges {
        decoded.edges.push(SymbolEdge {
            from: reader.read_optional_u32()?.map(DefId),
            to_file: FileId(reader.read_u32()?),
            to: reader.read_optional_u32()?.map(DefId),
            kind: *EdgeKind::ALL.get(usize::from(reader.read_byte()?))?,
            resolution: *ResolutionKind::ALL.get(usize::from(reader.read_byte()?))?,
            line: reader.read_u32()?,
        });
    }
    for _ in 0..reader.read_len()? {
        let (name_hash, n_calls) = (reader.read_u32()?, reader.read_u32()?);
        decoded.unknown_receivers.push(UnknownReceiverCalls { name_hash, n_calls });
    }
    reader.is_empty().then_some(decoded)
}

/// Decodes [`EncodedFileEdges::key_bytes`]; `None` if the bytes are damaged.
pub fn decode_keys(bytes: &[u8]) -> Option<Vec<LookupKey>> {
    let (keys, rest) = bytes.as_chunks::<8>();
    // Bytes are left over: the encoded keys are damaged.
    if !rest.is_empty() {
        return None;
    }
    Some(keys.iter().map(|it| LookupKey(u64::from_le_bytes(*it))).collect())
}
