//! Conversion between the code graph in memory and its rows in the graph database.
//!
//! The store gives a file in two parts: a `GraphFile` with its outline (symbols) and edges, and a
//! `GraphBody` with its body (references) and the lookup keys of its resolution. There are two
//! readers: `restore_graph` reads everything, for an indexing pass that changes the graph;
//! `read_query_graph` reads outlines and edges only, for questions. The byte formats are in the
//! crate `graph`, the SQL is in `store`.
//!
//! Words: the *stamp* of a file is its id, path, size, modification time and hash when it was indexed.
//! A file is *resolved* if its edges are computed. *Precise* references come from a compiler
//! (`refine.rs`) and replace what the resolver guessed.

use std::collections::{HashMap, HashSet};

use graph::{
    FileEdges, FileId, GraphChange, PreciseReferences, QueryGraph, SymbolGraph, decode_body,
    decode_edges, decode_keys, decode_outline, weigh_linked_files,
};
use store::{GraphBatch, GraphBody, GraphFile, GraphReader, GraphStamp};

use super::index_plan::{ParsedFile, StampsByPath};
use crate::Error;
use crate::blocking::run_blocking;

/// Completeness of the stored index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completeness {
    Complete,
    /// An indexing pass was interrupted.
    Partial,
}

/// Key of the row that records whether the index is complete, with the value `1` or `0`.
const COMPLETE_STATE: &str = "whole";

/// A graph read from the database.
pub(super) struct RestoredGraph {
    pub(super) graph: SymbolGraph,
    /// Files whose stored bytes cannot be decoded.
    pub(super) damaged: Vec<GraphStamp>,
}

/// Changes of files since they were indexed.
#[derive(Default)]
pub(super) struct FileUpdates {
    pub(super) changed: Vec<(GraphStamp, ParsedFile)>,
    /// New stamps of files whose content is unchanged.
    pub(super) touched: Vec<GraphStamp>,
    /// Paths of files that are gone.
    pub(super) removed: Vec<String>,
}

/// The completeness of the stored index.
pub(super) async fn read_completeness(store: &GraphReader) -> Result<Completeness, Error> {
    Ok(match store.get_state(COMPLETE_STATE).await?.as_deref() {
        Some("1") => Completeness::Complete,
        _ => Completeness::Partial,
    })
}

/// The state row that records the completeness of the index.
pub(super) fn completeness_state(completeness: Completeness) -> Vec<(&'static str, String)> {
    let value = match completeness {
        Completeness::Complete => "1",
        Completeness::Partial => "0",
    };
    vec![(COMPLETE_STATE, value.to_owned())]
}

/// Loads the whole graph for updating. Edges of an incomplete index are dropped: they may refer to
/// files that have changed since.
pub(super) async fn restore_graph(
    store: &GraphReader,
    completeness: Completeness,
) -> Result<RestoredGraph, Error> {
    let (files, bodies) = (store.files().await?, store.bodies().await?);
    Ok(run_blocking(move || {
        let mut bodies: HashMap<u32, GraphBody> =
            bodies.into_iter().map(|it| (it.id, it)).collect();
        let (mut graph, mut damaged) = (SymbolGraph::default(), Vec::new());
        for file in files {
            let body = bodies.remove(&file.stamp.id);
            let restored = body.as_ref().and_then(|body| {
                let facts = decode_body(decode_outline(&file.outline)?, &body.body)?;
                let edges = match completeness {
                    Completeness::Complete => decode_file_edges(&file, body),
                    Completeness::Partial => None,
                };
                let precise = body.precise.as_deref().and_then(PreciseReferences::decode);
                Some((facts, precise, edges))
            });
            match restored {
                Some((facts, precise, edges)) => {
                    let id = FileId(file.stamp.id);
                    graph.restore_file(id, &file.stamp.path, facts, precise, edges);
                }
                None => damaged.push(file.stamp),
            }
        }
        // Ids of removed files become free only when all files are known.
        graph.reclaim_file_ids();
        RestoredGraph { graph, damaged }
    })
    .await)
}

fn decode_file_edges(file: &GraphFile, body: &GraphBody) -> Option<FileEdges> {
    let keys = decode_keys(body.keys.as_ref()?)?;
    Some(FileEdges { lookup_keys: keys, ..decode_edges(file.edges.as_ref()?)? })
}

/// Applies changes to the graph and the stamps. Returns the rows to store, still without edges.
pub(super) fn apply_updates(
    graph: &mut SymbolGraph,
    stamps: &mut StampsByPath,
    updates: FileUpdates,
) -> GraphBatch {
    let mut batch = GraphBatch::default();
    for stamp in updates.touched {
        // The content is unchanged, so facts and edges stay and only the stamp is written.
        stamps.insert(stamp.path.clone(), stamp.clone());
        batch.restamped.push(stamp);
    }
    for path in updates.removed {
        stamps.remove(&path);
        batch.removed.extend(graph.stage(GraphChange::Removed { path }).map(|it| it.0));
    }
    for (stamp, ParsedFile { facts, outline, body, .. }) in updates.changed {
        let path = stamp.path.clone();
        let change = GraphChange::Put { path: path.clone(), facts };
        // Only a removal of an unknown file has no id.
        let Some(FileId(id)) = graph.stage(change) else { continue };
        // The graph may give the new file the id of one that was removed above.
        batch.removed.retain(|it| *it != id);
        let stamp = GraphStamp { id, ..stamp };
        stamps.insert(path, stamp.clone());
        let file = GraphFile { stamp, outline, edges: None };
        batch.files.push((file, GraphBody { id, body, keys: None, precise: None }));
    }
    batch
}

/// Encodes the edges of files and the keys that were looked up for them.
pub(super) fn encode_resolved_edges(
    graph: &SymbolGraph,
    ids: &[FileId],
) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    for id in ids {
        // A file that is not resolved has no edges.
        if let Some(encoded) = graph.encoded_edges(*id) {
            rows.push((id.0, encoded.edge_bytes.to_vec(), encoded.key_bytes()));
        }
    }
    rows
}

/// Sums up the edges of files by target file.
pub(super) fn weigh_file_links(graph: &SymbolGraph, ids: &[FileId]) -> Vec<(u32, Vec<(u32, u32)>)> {
    let mut rows = Vec::new();
    for id in ids {
        // A file that is not resolved has no edges.
        if let Some(edges) = graph.file_edges(*id) {
            let linked = weigh_linked_files(&edges, *id);
            let links = linked.into_iter().map(|(file, weight)| (file.0, weight)).collect();
            rows.push((id.0, links));
        }
    }
    rows
}

/// Loads the graph for queries. Returns it with the number of files whose references are
/// unresolved.
pub(super) async fn read_query_graph(store: &GraphReader) -> Result<(QueryGraph, usize), Error> {
    let files = store.files().await?;
    Ok(run_blocking(move || {
        let unresolved: HashSet<u32> =
            files.iter().filter(|it| it.edges.is_none()).map(|it| it.stamp.id).collect();
        let generated = files.iter().filter(|it| it.stamp.is_generated);
        let generated: Vec<String> = generated.map(|it| it.stamp.path.clone()).collect();
        let mut entries = Vec::with_capacity(files.len());
        for file in files {
            // A damaged row is left out of the answers; the next pass that changes something writes it
            // again.
            let Some(outline) = decode_outline(&file.outline) else { continue };
            let mut edges = file.edges.as_deref().and_then(decode_edges).unwrap_or_default();
            // Edges into an unresolved file refer to its old symbols, so they are left out until
            // the next pass.
            if !unresolved.is_empty() {
                edges.edges.retain(|it| !unresolved.contains(&it.to_file.0));
            }
            entries.push((FileId(file.stamp.id), file.stamp.path, outline, edges));
        }
        let mut graph = QueryGraph::new(entries);
        graph.mark_generated(&generated);
        (graph, unresolved.len())
    })
    .await)
}
