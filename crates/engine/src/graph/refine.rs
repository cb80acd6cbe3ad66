//! Taking in a precise index that another tool made.

use std::path::Path;

use ::graph::{FileId, Fitted, fingerprint, fit, read_scip};
use source::Seen;
use store::GraphBatch;

use super::keep;
use super::live::Live;
use crate::models::aside;
use crate::{Engine, Error, Progress};

/// What became of a precise index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refined {
    /// Files whose edges it replaced, and how many references of theirs it knows.
    pub n_files: usize,
    pub n_sites: usize,
    /// Files that are not what they were when it was made; theirs stay as they are.
    pub stale: Vec<String>,
    /// Files that are not indexed.
    pub n_unknown: usize,
}

impl Engine {
    /// Brings the graph up to date, then lets the precise index in `bytes` replace edges. Its paths
    /// count from `below`, a folder of the project.
    pub async fn refine_code(
        &mut self,
        bytes: Vec<u8>,
        below: &str,
        progress: &Progress,
        threads: usize,
    ) -> Result<Refined, Error> {
        let mut live = self.live_code(threads).await?;
        // Before anything is changed.
        let (bytes, is_index) = aside(move || {
            let is_index = read_scip(&bytes).is_some_and(|it| !it.is_empty());
            (bytes, is_index)
        })
        .await;
        if !is_index {
            return Err(Error::refused(
                "this is no SCIP index, or a damaged one; nothing was changed",
                "`scip-typescript index` and the like make one, as `index.scip`",
            ));
        }
        if live.pass(&Seen::Everything, progress).await?.indexed.is_partial {
            return Err(Error::nothing("it was stopped; the precise index was not looked at"));
        }
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let res = live.refine(bytes, prefix, progress).await?;
        if res.n_files == 0 {
            let what = match res.stale.len() {
                0 => format!("none of its {} files is indexed here", res.n_unknown),
                n => format!("the {n} files it shares with this project have changed since"),
            };
            return Err(Error::refused(
                format!("the SCIP index fits nothing: {what}; nothing was changed"),
                "make it anew; --below names the folder its paths count from",
            ));
        }
        Ok(res)
    }
}

impl Live {
    async fn refine(
        &mut self,
        bytes: Vec<u8>,
        prefix: String,
        progress: &Progress,
    ) -> Result<Refined, Error> {
        let Some(_turn) = self.turn(progress).await? else { return Ok(Refined::default()) };
        let mut held = self.held().await?;
        let (root, threads) = (self.root.clone(), self.threads);
        let (held, fitted, resolved) = aside(move || {
            let text = |_: FileId, path: &str| {
                let read = source::contents(&root, path).ok()?;
                let hash = held.stamps.get(path).map(|it| it.hash.as_slice());
                (hash == Some(&fingerprint(&read)[..])).then_some(read)
            };
            let mut index = read_scip(&bytes).unwrap_or_default();
            for it in &mut index {
                it.path.insert_str(0, &prefix);
            }
            let fitted = fit(&held.graph, &index, &text);
            for (id, precise) in &fitted.files {
                held.graph.refine(*id, precise.clone());
            }
            let resolved = held.graph.settle(threads).resolved;
            (held, fitted, resolved)
        })
        .await;
        let Fitted { files, stale, n_unknown } = fitted;
        let n_sites = files.iter().map(|it| it.1.len()).sum();
        let res = Refined { n_files: files.len(), n_sites, stale, n_unknown };
        let batch = GraphBatch {
            precise: files.into_iter().map(|it| (it.0, it.1.encode())).collect(),
            resolved: keep::resolved(&held.graph, &resolved),
            links: keep::to_files(&held.graph, &resolved),
            ..GraphBatch::default()
        };
        self.keep(held, batch).await?;
        Ok(res)
    }
}

/// The bytes of a precise index, if they are not too many.
pub fn read_index(path: &Path) -> Result<Vec<u8>, Error> {
    Ok(source::bytes(path, LARGEST)?)
}

/// That of a repository of a million lines has a hundred megabytes.
const LARGEST: u64 = 1 << 30;
