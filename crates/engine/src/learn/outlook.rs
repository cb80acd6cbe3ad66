//! Which errors a session here should expect, from all that failed in earlier ones.

use model::DAY;
use observe::Stumble;
use store::Store;

use crate::{Engine, Error};

/// What failed longer ago counts for nothing any more.
const DAYS: i64 = 180;

/// What happened in fewer sessions is no habit of the project, and tells an unrelated session nothing.
const SESSIONS: usize = 5;

impl Engine {
    /// One line for each command or tool that failed before, the likeliest first; at most 600 bytes,
    /// and empty when nothing did, or too little is known.
    pub async fn outlook(&self) -> Result<String, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else {
            return Ok(String::new());
        };
        if store.sessions().await?.len() < SESSIONS {
            return Ok(String::new());
        }
        let rows = store.stumbles(self.now.plus(-DAYS * DAY), self.now).await?;
        let stumble =
            |it: store::StumbleRow| Stumble { at: it.at, head: it.head, beginning: it.beginning };
        let stumbles: Vec<Stumble> = rows.into_iter().map(stumble).collect();
        Ok(observe::outlook(&stumbles, self.now))
    }
}
