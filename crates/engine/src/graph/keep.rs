//! Between the graph and the bytes that are kept of it.

use std::collections::{HashMap, HashSet};

use ::graph::{
    Atlas, Change, FileId, Graph, Links, Precise, complete, decode_edges, decode_keys,
    decode_outline,
};
use model::ProjectId;
use store::{GraphBatch, GraphBody, GraphFile, GraphStamp, GraphStore};

use super::plan::{Fresh, Stamps};
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
    pub(super) changed: Vec<(GraphStamp, Fresh)>,
    pub(super) touched: Vec<GraphStamp>,
    pub(super) gone: Vec<String>,
}

impl Engine {
    pub(crate) fn graph_store(&self, id: ProjectId) -> GraphStore {
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
                let precise = body.precise.as_deref().and_then(Precise::decode);
                Some((facts, precise, links))
            });
            match restored {
                Some((facts, precise, links)) => {
                    graph.restore(file.stamp.id, &file.stamp.path, facts, precise, links);
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

/// Takes what was read into the graph and the stamps; what is to be kept of it, still without edges.
pub(super) fn take(graph: &mut Graph, stamps: &mut Stamps, taken: Taken) -> GraphBatch {
    let mut res = GraphBatch::default();
    for it in taken.touched {
        stamps.insert(it.path.clone(), it.clone());
        res.touched.push(it);
    }
    for path in taken.gone {
        stamps.remove(&path);
        res.gone.extend(graph.take(Change::Gone { path }));
    }
    for (stamp, Fresh { facts, outline, body, .. }) in taken.changed {
        let path = stamp.path.clone();
        let Some(id) = graph.take(Change::Put { path: path.clone(), facts }) else { continue };
        // A number given back a moment ago must not be taken away again.
        res.gone.retain(|it| *it != id);
        let stamp = GraphStamp { id, ..stamp };
        stamps.insert(path, stamp.clone());
        let file = GraphFile { stamp, outline, edges: None };
        res.files.push((file, GraphBody { id, body, keys: None, precise: None }));
    }
    res
}

/// The new edges of some files, with what was looked for.
pub(super) fn resolved(graph: &Graph, ids: &[FileId]) -> Vec<(FileId, Vec<u8>, Vec<u8>)> {
    let bytes = |id: &FileId| graph.kept(*id).map(|it| (*id, it.edges.to_vec(), it.keys()));
    ids.iter().filter_map(bytes).collect()
}

/// Which files each of some files refers to.
pub(super) fn to_files(graph: &Graph, ids: &[FileId]) -> Vec<(FileId, Vec<(FileId, u32)>)> {
    let links = |id: &FileId| graph.links(*id).map(|it| (*id, it.to_files(*id)));
    ids.iter().filter_map(links).collect()
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
