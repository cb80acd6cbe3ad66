//! Which files a task will touch, from what sessions and commits touched before.

use ::graph::History;
use observe::{FromCommits, Past, PastSession, Task};
use store::Store;

use crate::{Engine, Error};

impl Engine {
    /// Files ranked by how likely a task touches them; `first` is one that is at hand.
    pub async fn files_for(
        &self,
        task: &str,
        first: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, Error> {
        let known = match self.project_store().filter(Store::exists) {
            Some(store) => store.touched_by_all().await?,
            None => Vec::new(),
        };
        let sessions: Vec<PastSession> =
            known.into_iter().map(|(task, touched)| PastSession { task, touched }).collect();
        let commits = from_commits(&self.past().await?, task, first);
        let tree = source::tracked(&self.place).unwrap_or_default();
        let past = Past { sessions: &sessions, commits: &commits, tree: &tree };
        let mut res = observe::prefetch(&Task { text: task, first }, &past, limit * 2);
        // What is gone since cannot be opened.
        res.retain(|it| source::exists(&self.place.root, it));
        res.truncate(limit);
        Ok(res)
    }
}

/// What the history says about a task.
fn from_commits(history: &History, task: &str, first: Option<&str>) -> FromCommits {
    let file = first.and_then(|it| history.file(it));
    let ties = file.and_then(|file| history.ties(|it| it == file).remove(&file));
    let together = ties.map(|it| it.together).unwrap_or_default();
    FromCommits {
        together: together.into_iter().map(|it| (it.path, f64::from(it.strength))).collect(),
        alike: history.alike(task),
        busy: history.busy(),
    }
}
