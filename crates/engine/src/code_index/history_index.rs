//! The indexed git history: which commits changed which files, and from that which files change
//! together.
//!
//! The first call reads all commits, later ones only the commits since the indexed head. After a
//! rewrite (rebase, amended commits) the indexed head is no ancestor any more, and everything is read
//! again. The crate `history` computes *churn* (how much a file changed recently) and *couplings*
//! (which files the same commits change); the rows go to the graph database.
//! [`index_history`] runs after an indexing pass, [`commit_history`] before a prediction.

use history::{
    CommitHistory, CommitRecord, HistoryFileId, KnownPath, TouchedFile, decode_commit,
    encode_commit, encode_partners, file_couplings,
};
use source::{LoggedCommit, RenameDetection};
use store::{CommitRow, FileHistoryRow, FileNameRow, GraphReader, GraphStore, HistoryBatch};

use crate::blocking::run_blocking;
use crate::{Error, NotebookScope, Project, ProjectReader, TaskProgress};

/// Newest commits that are read. Older ones weigh next to nothing in the couplings.
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
    /// Reading was stopped, or git was too slow; the index is unchanged.
    pub is_partial: bool,
}

/// Key of the row that holds the commit up to which the history is indexed.
pub(super) const HISTORY_HEAD_STATE: &str = "history";

/// The commits that are not indexed yet.
enum UnreadCommits {
    /// The index is up to date.
    Nothing,
    /// The commits after this one.
    After(String),
    /// All commits: nothing is indexed, or the history was rewritten.
    Everything,
}

/// Brings the indexed history up to date. Does nothing without a git repository.
pub(crate) async fn index_history(
    project: &mut Project,
    progress: &TaskProgress,
) -> Result<HistoryReport, Error> {
    let notebook = project.ensure_notebook(NotebookScope::Project).await?;
    let Some(id) = notebook.project else {
        return Err(Error::nothing_to_do("there is no project here"));
    };
    let store = project.open_graph_writer(id);
    let head = source::read_head(&project.place).commit;
    if head.is_some() && head == store.get_state(HISTORY_HEAD_STATE).await? {
        let (n_commits, n_files) = store.count_history().await?;
        return Ok(HistoryReport { n_commits, n_files, ..HistoryReport::default() });
    }
    let (_, report) = update_history(project, &store, progress).await?;
    Ok(report)
}

/// Reads new commits, stores them, and returns the whole history.
async fn update_history(
    reader: &ProjectReader,
    store: &GraphStore,
    progress: &TaskProgress,
) -> Result<(CommitHistory, HistoryReport), Error> {
    let head = source::read_head(&reader.place).commit;

    // Without a repository, or before its first commit, there is no history.
    let Some(head) = head else { return Ok((CommitHistory::default(), HistoryReport::default())) };
    let indexed_head = store.get_state(HISTORY_HEAD_STATE).await?;
    let unread = {
        let (place, indexed, head) = (reader.place.clone(), indexed_head.clone(), head.clone());
        run_blocking(move || find_unread(&place, indexed, &head)).await
    };
    let (stored, since) = match unread {
        UnreadCommits::Nothing => {
            let stored = restore_history(store).await?;
            let (n_commits, n_files) = (stored.commits.len(), stored.n_files());
            return Ok((stored, HistoryReport { n_commits, n_files, ..HistoryReport::default() }));
        }
        UnreadCommits::After(since) => (restore_history(store).await?, Some(since)),
        UnreadCommits::Everything => (CommitHistory::default(), None),
    };

    // Commits beyond the first `n_stored` of the history are new to the store.
    let (n_stored, replaces_all) = (stored.commits.len(), since.is_none());
    let (place, progress) = (reader.place.clone(), progress.clone());
    let ReadHistory { history, n_new, is_complete } =
        run_blocking(move || add_new_commits(&place, stored, since.as_deref(), &progress)).await;
    let report = HistoryReport {
        n_new,
        n_commits: history.commits.len(),
        n_files: history.n_files(),
        was_rewritten: indexed_head.is_some() && replaces_all,
        is_partial: !is_complete,
    };

    // A partial history is not stored: the next call could not tell where to continue.
    if !is_complete {
        return Ok((history, report));
    }

    // The store ignores the batch if another process moved the indexed head meanwhile.
    let extent = BatchExtent { previous_head: indexed_head, head, n_stored, replaces_all };
    let (history, batch) = run_blocking(move || {
        let batch = to_batch(&history, extent);
        (history, batch)
    })
    .await;
    store.put_history(batch).await?;
    Ok((history, report))
}

/// The indexed history with its new commits, or the newest commits if the history is not indexed.
pub(crate) async fn commit_history(reader: &ProjectReader) -> Result<CommitHistory, Error> {
    if let Some(store) = reader.existing_graph_writer()
        && store.get_state(HISTORY_HEAD_STATE).await?.is_some()
    {
        let (history, _) = update_history(reader, &store, &TaskProgress::default()).await?;
        return Ok(history);
    }
    let place = reader.place.clone();
    let history = run_blocking(move || {
        let mut history = CommitHistory::default();
        let mut add = |commit: LoggedCommit| {
            add_commit(&mut history, &commit);
            true // Go on reading.
        };
        let (since, renames) = (None, RenameDetection::Similar);
        source::read_commits(&place, since, MAX_UNINDEXED_COMMITS, renames, &mut add);
        history
    });
    Ok(history.await)
}

/// Compares the indexed head with HEAD.
fn find_unread(place: &source::ProjectPlace, indexed: Option<String>, head: &str) -> UnreadCommits {
    match indexed {
        Some(indexed) if indexed == head => UnreadCommits::Nothing,
        // Only an ancestor of HEAD has a count; after a rewrite there is none.
        Some(indexed) if source::count_commits_since(place, &indexed).is_some() => {
            UnreadCommits::After(indexed)
        }
        Some(_) | None => UnreadCommits::Everything,
    }
}

/// A history to which new commits were added.
struct ReadHistory {
    history: CommitHistory,
    n_new: usize,
    /// True if all commits up to HEAD were read.
    is_complete: bool,
}

/// Adds the commits after `since` to a history.
fn add_new_commits(
    place: &source::ProjectPlace,
    stored: CommitHistory,
    since: Option<&str>,
    progress: &TaskProgress,
) -> ReadHistory {
    // Similarity detection can be so slow that git is given up. Exact renames are always fast.
    for renames in [RenameDetection::Similar, RenameDetection::Exact] {
        let (mut history, mut n_new) = (stored.clone(), 0);
        let mut add = |commit: LoggedCommit| {
            add_commit(&mut history, &commit);
            n_new += 1;
            !progress.is_stopped()
        };
        // `None`: there are no commits to read.
        let read = source::read_commits(place, since, MAX_COMMITS, renames, &mut add);
        let is_complete = read.unwrap_or(true);
        if progress.is_stopped() {
            return ReadHistory { history, n_new, is_complete: false };
        }
        if is_complete {
            return ReadHistory { history, n_new, is_complete: true };
        }
        // Git was too slow: the next round detects renames in the faster way.
    }
    ReadHistory { history: stored, n_new: 0, is_complete: false }
}

/// Adds one commit of git's log.
fn add_commit(history: &mut CommitHistory, commit: &LoggedCommit) {
    let files: Vec<TouchedFile<'_>> = commit
        .files
        .iter()
        .map(|it| TouchedFile { path: &it.path, old_path: it.before.as_deref(), is_new: it.is_new })
        .collect();
    history.add_commit(commit.at, &commit.subject, &files);
}

/// Reads the indexed history. A commit that cannot be decoded is left out.
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

/// The part of a history that a batch adds to the store.
struct BatchExtent {
    /// The commit up to which the history was indexed before the batch.
    previous_head: Option<String>,
    /// The commit up to which it is indexed afterwards.
    head: String,
    /// Number of its first commits that are stored already.
    n_stored: usize,
    /// The stored history is replaced, not continued.
    replaces_all: bool,
}

/// The rows to store: the commits after the first `n_stored`, and the couplings of all commits.
fn to_batch(history: &CommitHistory, extent: BatchExtent) -> HistoryBatch {
    let commit = |it: &CommitRecord| {
        let (words, files) = encode_commit(it);
        CommitRow { at: it.committed_at, words, files }
    };
    let name =
        |it: KnownPath| FileNameRow { path: it.path, file: it.file.0, is_current: it.is_current };

    // A coupling of two files counts their commits, so new commits change rows of old files too.
    let mut file_histories = Vec::new();
    for (file, coupling) in file_couplings(history, |_| true) {
        // A deleted file has no path and no row.
        let Some(path) = history.current_path(file) else { continue };
        file_histories.push(FileHistoryRow {
            path: path.to_owned(),
            n_commits: coupling.n_commits,
            last_commit_at: coupling.last_commit_at,
            churn: f64::from(coupling.churn),
            co_changed: encode_partners(&coupling.partners),
        });
    }
    file_histories.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    HistoryBatch {
        previous_head: extent.previous_head,
        replaces_all: extent.replaces_all,
        commits: history.commits[extent.n_stored..].iter().map(commit).collect(),
        names: history.known_paths().into_iter().map(name).collect(),
        file_histories,
        head: extent.head,
    }
}
