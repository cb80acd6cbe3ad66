//! Between the graph and the bytes that are kept of it.

use std::collections::{HashMap, HashSet};

use ::graph::{
    Atlas, Change, Facts, FileId, Graph, Links, complete, decode_edges, decode_keys,
    decode_outline, encode_body, encode_edges, encode_keys, encode_outline,
};
use model::ProjectId;
use store::{GraphBatch, GraphBody, GraphFile, GraphStamp, GraphStore};

use crate::models::aside;
use crate::{Engine, Error};

/// A graph as it was kept.
pub(super) struct Kept {
    pub(super) graph: Graph,
    /// Files whose bytes make no sense.
    pub(super) lost: Vec<GraphStamp>,
}

/// What was read of some files.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) changed: Vec<(GraphStamp, Facts)>,
    pub(super) touched: Vec<GraphStamp>,
    pub(super) gone: Vec<String>,
}

impl Engine {
    pub(super) fn graph_store(&self, id: ProjectId) -> GraphStore {
        GraphStore::new(self.data().graph(id), self.config.key.clone())
    }
}

/// Loads everything, to be updated. `anew` drops all edges: they may speak of what is no more.
pub(super) async fn load(store: &GraphStore, anew: bool) -> Result<Kept, Error> {
    let (files, bodies) = (store.files().await?, store.bodies().await?);
    Ok(aside(move || {
        let mut bodies: HashMap<u32, GraphBody> =
            bodies.into_iter().map(|it| (it.id, it)).collect();
        let (mut graph, mut lost) = (Graph::default(), Vec::new());
        for file in files {
            let body = bodies.remove(&file.stamp.id);
            let restored = body.as_ref().and_then(|body| {
                let facts = complete(decode_outline(&file.outline)?, &body.body)?;
                let links = if anew { None } else { links(&file, body) };
                Some((facts, links))
            });
            match restored {
                Some((facts, links)) => {
                    graph.restore(file.stamp.id, &file.stamp.path, facts, links);
                }
                None => lost.push(file.stamp),
            }
        }
        graph.reclaim();
        Kept { graph, lost }
    })
    .await)
}

fn links(file: &GraphFile, body: &GraphBody) -> Option<Links> {
    let keys = decode_keys(body.keys.as_ref()?)?;
    Some(Links { keys, ..decode_edges(file.edges.as_ref()?)? })
}

/// Takes what was read into the graph; what is to be kept of it, still without edges.
pub(super) fn take(graph: &mut Graph, taken: Taken) -> GraphBatch {
    let mut res = GraphBatch { touched: taken.touched, ..GraphBatch::default() };
    for path in taken.gone {
        res.gone.extend(graph.take(Change::Gone { path }));
    }
    for (stamp, facts) in taken.changed {
        let (outline, body) = (encode_outline(&facts), encode_body(&facts));
        let path = stamp.path.clone();
        let Some(id) = graph.take(Change::Put { path, facts }) else { continue };
        // A number given back a moment ago must not be taken away again.
        res.gone.retain(|it| *it != id);
        let file = GraphFile { stamp: GraphStamp { id, ..stamp }, outline, edges: None };
        res.files.push((file, GraphBody { id, body, keys: None }));
    }
    res
}

/// The new edges of some files.
pub(super) fn resolved(graph: &Graph, ids: &[FileId]) -> GraphBatch {
    let bytes = |id: &FileId| graph.links(*id).map(|it| (*id, encode_edges(it), encode_keys(it)));
    GraphBatch { resolved: ids.iter().filter_map(bytes).collect(), ..GraphBatch::default() }
}

/// An atlas, and how many files wait to be resolved.
pub(super) async fn atlas(store: &GraphStore) -> Result<(Atlas, usize), Error> {
    let files = store.files().await?;
    Ok(aside(move || {
        let waiting: HashSet<u32> =
            files.iter().filter(|it| it.edges.is_none()).map(|it| it.stamp.id).collect();
        let mut sheets = Vec::with_capacity(files.len());
        for file in files {
            let Some(outline) = decode_outline(&file.outline) else { continue };
            let mut links = file.edges.as_deref().and_then(decode_edges).unwrap_or_default();
            // What changed has no callers until they were looked at again: old and new are not mixed.
            if !waiting.is_empty() {
                links.edges.retain(|it| !waiting.contains(&it.to_file));
            }
            sheets.push((file.stamp.id, file.stamp.path, outline, links));
        }
        (Atlas::new(sheets), waiting.len())
    })
    .await)
}
