//! Indexing of the git history: read once, then only new commits; read again after a rewrite.

use ::history::{
    CommitHistory, CommitRecord, HistoryFileId, KnownPath, TouchedFile, decode_commit,
    encode_commit, encode_partners, file_couplings,
};
use source::{LoggedCommit, RenameDetection};
use store::{CommitRow, FileHistoryRow, FileNameRow, GraphReader, GraphStore, HistoryBatch};

use crate::models::run_blocking;
use crate::{Error, NotebookScope, Project, ProjectReader, TaskProgress};

/// Newest commits that are read. Older ones have next to no weight.
const MAX_COMMITS: usize = 50_000;
/// Newest commits that are read for one query if the history is not indexed.
const MAX_UNINDEXED_COMMITS: usize = 500;

/// Outcome of indexing the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryReport {
    /// New commits.
    pub n_new: usize,
    /// Stored commits: those that carry information.
    pub n_commits: usize,
    pub n_files: usize,
    /// The indexed commits are no part of this history, so it was read again.
    pub was_rewritten: bool,
    /// Reading was stopped; the index is unchanged.
    pub is_partial: bool,
}

/// Commits that are to be read.
enum HistoryRange {
    None,
    After(String),
    All,
}

/// Brings the indexed history up to date. Does nothing without a git repository.
pub(crate) async fn index_history(
    project: &mut Project,
    progress: &TaskProgress,
) -> Result<HistoryReport, Error> {
    let notebook = project.notebook(NotebookScope::Project).await?;
    let Some(id) = notebook.project else {
        return Err(Error::nothing_to_do("there is no project here"));
    };
    let store = project.graph_writer(id);
    catch_up(project, &store, progress).await.map(|it| it.1)
}

/// Reads new commits, stores them, and returns the whole history.
async fn catch_up(
    reader: &ProjectReader,
    store: &GraphStore,
    progress: &TaskProgress,
) -> Result<(CommitHistory, HistoryReport), Error> {
    let head = source::read_head(&reader.place).commit;
    let Some(head) = head else { return Ok(<(CommitHistory, HistoryReport)>::default()) };
    let indexed_head = store.get_state("history").await?;
    let range = {
        let (place, indexed, head) = (reader.place.clone(), indexed_head.clone(), head.clone());
        run_blocking(move || unread_range(&place, indexed, &head)).await
    };
    let stored = match range {
        HistoryRange::All => CommitHistory::default(),
        HistoryRange::None | HistoryRange::After(_) => restore_history(store).await?,
    };
    let n_stored = stored.commits.len();
    let (since, is_all) = match range {
        HistoryRange::None => {
            return Ok((stored, HistoryReport { n_commits: n_stored, ..HistoryReport::default() }));
        }
        HistoryRange::After(since) => (Some(since), false),
        HistoryRange::All => (None, true),
    };
    let (place, progress) = (reader.place.clone(), progress.clone());
    let (history, n_new, is_complete) =
        run_blocking(move || read_commits(&place, stored, since.as_deref(), &progress)).await;
    let report = HistoryReport {
        n_new,
        n_commits: history.commits.len(),
        n_files: history.n_files(),
        was_rewritten: indexed_head.is_some() && is_all,
        is_partial: !is_complete,
    };
    // A partial history is not stored: the next call could not tell where to continue.
    if !is_complete {
        return Ok((history, report));
    }
    let (history, batch) = run_blocking(move || {
        let n_known = if is_all { 0 } else { n_stored };
        let batch = to_batch(&history, n_known, is_all, head);
        (history, batch)
    })
    .await;
    // The store refuses the batch if another process moved the head meanwhile.
    store.put_history(HistoryBatch { previous_head: indexed_head, ..batch }).await?;
    Ok((history, report))
}

/// The indexed history with its new commits, or the newest commits if the history is not indexed.
pub(crate) async fn commit_history(reader: &ProjectReader) -> Result<CommitHistory, Error> {
    if let Some(store) = reader.graph_cache()
        && store.get_state("history").await?.is_some()
    {
        return catch_up(reader, &store, &TaskProgress::default()).await.map(|it| it.0);
    }
    let place = reader.place.clone();
    let history = run_blocking(move || {
        let mut history = CommitHistory::default();
        let mut each = |commit: LoggedCommit| {
            add_commit(&mut history, &commit);
            true
        };
        source::read_commits(
            &place,
            None,
            MAX_UNINDEXED_COMMITS,
            RenameDetection::Similar,
            &mut each,
        );
        history
    });
    Ok(history.await)
}

fn unread_range(place: &source::ProjectPlace, indexed: Option<String>, head: &str) -> HistoryRange {
    match indexed {
        Some(indexed) if indexed == head => HistoryRange::None,
        // Only an ancestor of HEAD has commits since. After a rebase there are none.
        Some(indexed) if source::count_commits_since(place, &indexed).is_some() => {
            HistoryRange::After(indexed)
        }
        _ => HistoryRange::All,
    }
}

/// Adds the commits after `since` to a history. Returns it, the number of new commits, and whether
/// they were read to the end.
fn read_commits(
    place: &source::ProjectPlace,
    stored: CommitHistory,
    since: Option<&str>,
    progress: &TaskProgress,
) -> (CommitHistory, usize, bool) {
    // Similarity detection can be so slow that git is given up. Exact renames are always fast.
    for renames in [RenameDetection::Similar, RenameDetection::Exact] {
        let (mut history, mut n_new) = (stored.clone(), 0);
        let mut each = |commit: LoggedCommit| {
            add_commit(&mut history, &commit);
            n_new += 1;
            !progress.is_stopped()
        };
        let is_complete = source::read_commits(place, since, MAX_COMMITS, renames, &mut each);
        // `None` means that there are no commits, which is complete as well.
        if is_complete != Some(false) || progress.is_stopped() {
            return (history, n_new, !progress.is_stopped());
        }
    }
    (stored, 0, false)
}

fn add_commit(history: &mut CommitHistory, commit: &LoggedCommit) {
    let files: Vec<TouchedFile<'_>> = commit
        .files
        .iter()
        .map(|it| TouchedFile { path: &it.path, old_path: it.before.as_deref(), is_new: it.is_new })
        .collect();
    history.add_commit(commit.at, &commit.subject, &files);
}

async fn restore_history(store: &GraphReader) -> Result<CommitHistory, Error> {
    let (commits, names) = store.history().await?;
    Ok(run_blocking(move || {
        let commit = |it: &CommitRow| decode_commit(it.at, &it.words, &it.files);
        let name = |it: FileNameRow| KnownPath {
            path: it.path,
            file: HistoryFileId(it.file),
            is_current: it.is_current,
        };
        let commits: Vec<CommitRecord> = commits.iter().filter_map(commit).collect();
        CommitHistory::restore(names.into_iter().map(name).collect(), commits)
    })
    .await)
}

/// The rows to store: the commits from number `n_known` on, and the couplings of all commits.
fn to_batch(
    history: &CommitHistory,
    n_known: usize,
    replaces_all: bool,
    head: String,
) -> HistoryBatch {
    let commit = |it: &CommitRecord| {
        let (words, files) = encode_commit(it);
        CommitRow { at: it.committed_at, words, files }
    };
    let name =
        |it: KnownPath| FileNameRow { path: it.path, file: it.file.0, is_current: it.is_current };
    let mut ties: Vec<FileHistoryRow> = file_couplings(history, |_| true)
        .into_iter()
        .filter_map(|(file, it)| {
            Some(FileHistoryRow {
                path: history.current_path(file)?.to_owned(),
                n_commits: it.n_commits,
                last_commit_at: it.last_commit_at,
                churn: f64::from(it.churn),
                co_changed: encode_partners(&it.partners),
            })
        })
        .collect();
    ties.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    HistoryBatch {
        previous_head: None,
        replaces_all,
        commits: history.commits[n_known..].iter().map(commit).collect(),
        names: history.known_paths().into_iter().map(name).collect(),
        ties,
        head,
    }
}
