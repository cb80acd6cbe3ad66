//! Merging of a precise index: a SCIP file, in which a compiler has recorded what each reference means.
//!
//! The own resolver guesses from names; where a precise index covers a file, its edges replace the
//! guessed ones. The positions in it fit only the text it was made from, so a file that has changed
//! since keeps its own edges. To *fit* the index is to find the files and definitions of the graph that
//! its paths and positions mean.

use std::path::Path;

use graph::{FileId, FittedIndex, fingerprint, fit_index, parse_scip};
use source::ChangedFiles;
use store::GraphBatch;

use super::index::open_live_index;
use super::live_index::{GraphLoading, LiveIndex};
use super::persistence;
use crate::blocking::run_blocking;
use crate::{Error, Project, TaskProgress, format_count};

/// Largest SCIP file. The index of a repository with a million lines has a hundred megabytes.
const MAX_SCIP_BYTES: u64 = 1 << 30;

/// Outcome of merging a precise index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefineReport {
    /// Files whose edges it replaced.
    pub n_files: usize,
    /// References that it resolves in these files.
    pub n_references: usize,
    /// Files that changed since the index was made. Their edges stay as they are.
    pub changed_files: Vec<String>,
    /// Files of the precise index that are not indexed here.
    pub n_unknown: usize,
}

/// Brings the graph up to date, then replaces edges by those of the precise index in `bytes`.
/// `below` is the folder of the project that its paths are relative to.
pub(crate) async fn refine_code(
    project: &mut Project,
    bytes: Vec<u8>,
    below: &str,
    progress: &TaskProgress,
    threads: usize,
) -> Result<RefineReport, Error> {
    let mut live = open_live_index(project, threads, GraphLoading::OnChange).await?;

    // Checked before the pass, which takes time and changes the index.
    let (bytes, is_index) = run_blocking(move || {
        let is_index = parse_scip(&bytes).is_some_and(|it| !it.is_empty());
        (bytes, is_index)
    })
    .await;
    if !is_index {
        return Err(Error::refuse(
            "this is no SCIP index, or a damaged one; nothing was changed",
            "`scip-typescript index` and the like make one, as `index.scip`",
        ));
    }
    if live.run_pass(&ChangedFiles::Everything, progress).await?.indexed.is_partial {
        return Err(Error::nothing_to_do("indexing was stopped before the precise index was read"));
    }

    // An index of a subproject has paths relative to its own root.
    let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
    let report = merge_precise_index(&mut live, bytes, prefix, progress).await?;
    if report.n_files == 0 {
        let what = match report.changed_files.len() {
            0 => {
                let files = format_count(report.n_unknown, "file", "files");
                format!("it has {files}, none of which is indexed here")
            }
            1 => "the file it shares with this project has changed since".to_owned(),
            n => format!("the {n} files it shares with this project have changed since"),
        };
        return Err(Error::refuse(
            format!("the SCIP index fits nothing: {what}; nothing was changed"),
            "create it again; --below names the folder that its paths are relative to",
        ));
    }
    Ok(report)
}

/// Replaces edges by those of a precise index, where the files are still what the index describes.
async fn merge_precise_index(
    live: &mut LiveIndex,
    bytes: Vec<u8>,
    prefix: String,
    progress: &TaskProgress,
) -> Result<RefineReport, Error> {
    let Some(_lock) = live.wait_for_lock(progress).await? else {
        return Ok(RefineReport::default());
    };
    let mut state = live.load_state().await?;
    let (root, threads) = (live.root.clone(), live.threads);
    let (state, fitted, resolved) = run_blocking(move || {
        // Positions of the index fit only the text that it was made from.
        let unchanged_text = |_: FileId, path: &str| {
            let read = source::read_code(&root, path).ok()?.bytes;
            let hash = state.files.stamps.get(path).map(|it| it.hash.as_slice());
            (hash == Some(&fingerprint(&read)[..])).then_some(read)
        };
        let mut index = parse_scip(&bytes).unwrap_or_default();
        for document in &mut index {
            document.path.insert_str(0, &prefix);
        }
        let fitted = fit_index(&state.graph, &index, &unchanged_text);
        for (id, precise) in &fitted.files {
            state.graph.set_precise(*id, precise.clone());
        }
        // References of these files that the precise index does not cover are resolved again.
        let resolved = state.graph.resolve_pending(threads).resolved;
        (state, fitted, resolved)
    })
    .await;
    let FittedIndex { files, stale, n_unknown } = fitted;
    let n_references = files.iter().map(|(_, references)| references.len()).sum();
    let report =
        RefineReport { n_files: files.len(), n_references, changed_files: stale, n_unknown };
    let batch = GraphBatch {
        precise: files.into_iter().map(|(id, references)| (id.0, references.encode())).collect(),
        resolved: persistence::encode_resolved_edges(&state.graph, &resolved),
        links: persistence::weigh_file_links(&state.graph, &resolved),
        ..GraphBatch::default()
    };
    live.save(state, batch).await?;
    Ok(report)
}

/// Reads a SCIP file, up to a size limit.
pub fn read_scip_file(path: &Path) -> Result<Vec<u8>, Error> {
    Ok(source::read_file(path, MAX_SCIP_BYTES)?)
}
