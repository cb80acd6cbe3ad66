//! Which files a task will touch, from what sessions and commits touched before.

use observe::{Past, PastSession, Task};
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
        let commits = source::commits(&self.place).unwrap_or_default();
        let tree = source::tracked(&self.place).unwrap_or_default();
        let past = Past { sessions: &sessions, commits: &commits, tree: &tree };
        let mut res = observe::prefetch(&Task { text: task, first }, &past, limit * 2);
        // What is gone since cannot be opened.
        res.retain(|it| source::exists(&self.place.root, it));
        res.truncate(limit);
        Ok(res)
    }
}
