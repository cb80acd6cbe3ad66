//! What follows from the code, the history and the map, kept in step with it: only where commits came,
//! or files came or went.

use std::collections::BTreeSet;

use super::index::Indexed;
use super::map::is_site;
use crate::{Engine, Error, Progress, Reach};

/// What following up came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowedUp {
    /// Commits that were new.
    pub n_commits: usize,
    /// How many modules there are, when they were found anew.
    pub n_modules: Option<usize>,
}

impl Engine {
    /// Brings the history and the map up to date after a pass over the code. Costs a look at HEAD where
    /// nothing is to be done.
    pub async fn follow_up(
        &mut self,
        indexed: &Indexed,
        progress: &Progress,
    ) -> Result<FollowedUp, Error> {
        if indexed.is_partial {
            return Ok(FollowedUp::default());
        }
        let notebook = self.notebook(Reach::Project).await?;
        let Some(id) = notebook.project else { return Ok(FollowedUp::default()) };
        let store = self.graph_store(id);
        let mut res = FollowedUp::default();
        let head = source::head(&self.place).commit;
        if head.is_some() && head != store.state("history").await? {
            let read = self.index_history(progress).await?;
            if read.is_partial {
                return Ok(res);
            }
            res.n_commits = read.n_new;
        }
        let moved = indexed.n_new + indexed.n_gone > 0;
        if progress.is_stopped() || (res.n_commits == 0 && !moved) {
            return Ok(res);
        }
        if res.n_commits == 0 {
            // A file that came and went again, or is no part of any module, changes nothing.
            let (stamps, map) = (store.stamps().await?, store.map().await?);
            let now: BTreeSet<&str> =
                stamps.iter().map(|it| it.path.as_str()).filter(|it| is_site(it)).collect();
            if map.members.iter().map(|it| it.0.as_str()).eq(now) {
                return Ok(res);
            }
        }
        res.n_modules = Some(self.index_map().await?);
        Ok(res)
    }
}
