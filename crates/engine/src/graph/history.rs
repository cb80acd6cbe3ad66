//! The project's history: read once, then only what is new; read anew when it was rewritten.

use ::graph::{History, Name, Past, Touched, decode_past, encode_past, encode_ties};
use source::{Commit, Renames};
use store::{GraphStore, NameRow, PastBatch, PastRow, TiesRow};

use crate::models::aside;
use crate::{Engine, Error, Progress, Reach};

/// The newest commits that are looked at. What is older counts next to nothing.
const COMMITS: usize = 50_000;
/// How many are looked at in passing, where nothing is kept.
const IN_PASSING: usize = 500;

/// What reading the history came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryRead {
    /// Commits that were new.
    pub n_new: usize,
    /// Commits that are kept: those from which something follows.
    pub n_commits: usize,
    pub n_files: usize,
    /// What was known before does not belong to this history.
    pub anew: bool,
    /// It was stopped; what is kept is what was known before.
    pub is_partial: bool,
}

/// What is to be read.
enum Part {
    Nothing,
    After(String),
    Everything,
}

impl Engine {
    /// Brings what is known of the project's history up to date. Without a history there is nothing to
    /// know.
    pub async fn index_history(&mut self, progress: &Progress) -> Result<HistoryRead, Error> {
        let notebook = self.notebook(Reach::Project).await?;
        let Some(id) = notebook.project else {
            return Err(Error::nothing("there is no project here"));
        };
        let store = self.graph_store(id);
        self.catch_up(&store, progress).await.map(|it| it.1)
    }

    /// The history as it is kept, with what is new; or the last commits, where nothing is kept.
    pub(crate) async fn past(&self) -> Result<History, Error> {
        let kept = self.project.id().map(|it| self.graph_store(it)).filter(GraphStore::exists);
        if let Some(store) = kept
            && store.state("history").await?.is_some()
        {
            return self.catch_up(&store, &Progress::default()).await.map(|it| it.0);
        }
        let place = self.place.clone();
        let res = aside(move || {
            let mut res = History::default();
            let mut each = |it: Commit| {
                take(&mut res, &it);
                true
            };
            source::log(&place, None, IN_PASSING, Renames::Similar, &mut each);
            res
        });
        Ok(res.await)
    }

    async fn catch_up(
        &self,
        store: &GraphStore,
        progress: &Progress,
    ) -> Result<(History, HistoryRead), Error> {
        let head = source::head(&self.place).commit;
        let Some(head) = head else { return Ok(<(History, HistoryRead)>::default()) };
        let seen = store.state("history").await?;
        let (place, target) = (self.place.clone(), head.clone());
        let after = seen.clone();
        let part = aside(move || part(&place, seen, &target)).await;
        let before = match part {
            Part::Everything => History::default(),
            Part::Nothing | Part::After(_) => restored(store).await?,
        };
        let n_before = before.commits.len();
        let (place, progress) = (self.place.clone(), progress.clone());
        let (history, since, n_new, is_whole) = match part {
            Part::Nothing => {
                return Ok((before, HistoryRead { n_commits: n_before, ..HistoryRead::default() }));
            }
            Part::After(since) => {
                let read = aside(move || read(&place, before, Some(&since), &progress)).await;
                (read.0, true, read.1, read.2)
            }
            Part::Everything => {
                let read = aside(move || read(&place, before, None, &progress)).await;
                (read.0, false, read.1, read.2)
            }
        };
        let res = HistoryRead {
            n_new,
            n_commits: history.commits.len(),
            n_files: history.n_files(),
            anew: after.is_some() && !since,
            is_partial: !is_whole,
        };
        if !is_whole {
            return Ok((history, res));
        }
        let (history, batch) = aside(move || {
            let batch = batch(&history, if since { n_before } else { 0 }, !since, head);
            (history, batch)
        })
        .await;
        store.keep_past(PastBatch { after, ..batch }).await?;
        Ok((history, res))
    }
}

fn part(place: &source::Place, seen: Option<String>, head: &str) -> Part {
    match seen {
        Some(seen) if seen == head => Part::Nothing,
        Some(seen) if source::commits_since(place, &seen).is_some() => Part::After(seen),
        _ => Part::Everything,
    }
}

/// The history with what is new in it, how many commits that was, and whether it was read to its end.
fn read(
    place: &source::Place,
    before: History,
    since: Option<&str>,
    progress: &Progress,
) -> (History, usize, bool) {
    for renames in [Renames::Similar, Renames::Exact] {
        let (mut res, mut n_new) = (before.clone(), 0);
        let mut each = |it: Commit| {
            take(&mut res, &it);
            n_new += 1;
            !progress.is_stopped()
        };
        let told = source::log(place, since, COMMITS, renames, &mut each);
        if told != Some(false) || progress.is_stopped() {
            // A history without commits that change anything is told, too.
            return (res, n_new, !progress.is_stopped());
        }
    }
    (before, 0, false)
}

fn take(history: &mut History, commit: &Commit) {
    let files: Vec<Touched<'_>> = commit
        .files
        .iter()
        .map(|it| Touched { path: &it.path, before: it.before.as_deref(), is_new: it.is_new })
        .collect();
    history.take(commit.at, &commit.subject, &files);
}

async fn restored(store: &GraphStore) -> Result<History, Error> {
    let (commits, names) = store.past().await?;
    Ok(aside(move || {
        let past = |it: &PastRow| decode_past(it.at, &it.words, &it.files);
        let name = |it: NameRow| Name { path: it.path, file: it.file, is_current: it.is_current };
        let commits: Vec<Past> = commits.iter().filter_map(past).collect();
        History::restore(names.into_iter().map(name).collect(), commits)
    })
    .await)
}

/// What is to be kept: commits from a place on, and everything that follows from all of them.
fn batch(history: &History, from: usize, anew: bool, head: String) -> PastBatch {
    let commit = |it: &Past| {
        let (words, files) = encode_past(it);
        PastRow { at: it.at, words, files }
    };
    let name = |it: Name| NameRow { path: it.path, file: it.file, is_current: it.is_current };
    let mut ties: Vec<TiesRow> = history
        .ties(|_| true)
        .into_iter()
        .filter_map(|(file, it)| {
            Some(TiesRow {
                path: history.path(file)?.to_owned(),
                n_commits: it.n_commits,
                last: it.last,
                churn: f64::from(it.churn),
                together: encode_ties(&it.together),
            })
        })
        .collect();
    ties.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    PastBatch {
        after: None,
        anew,
        commits: history.commits[from..].iter().map(commit).collect(),
        names: history.names().into_iter().map(name).collect(),
        ties,
        head,
    }
}
