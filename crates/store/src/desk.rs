//! The writer's desk: the one connection that writes, the turn it writes in, the mark it leaves.

use std::sync::Arc;

use crate::Error;
use crate::check::{self, Finding};
use crate::connection::open_writer;
use crate::lock::Turnstile;
use crate::query::Db;
use crate::site::Site;
use crate::worker::Around;

/// Once the log is larger than this, the writer merges it when it has nothing better to do.
const LOG_LIMIT: u64 = 4 << 20;
/// Once it is larger than this, it is merged even while others wait.
const LOG_PRESSING: u64 = 16 * LOG_LIMIT;

/// The writer thread's side of the store.
pub(crate) struct Desk {
    site: Arc<Site>,
    turnstile: Option<Arc<Turnstile>>,
}

impl Desk {
    pub(crate) fn new(site: Arc<Site>) -> Self {
        Self { site, turnstile: None }
    }

    /// Merges the log when it has grown beyond `limit`. Passive: never waits for anyone.
    fn merge_log(&self, db: &Db, limit: u64) {
        if std::fs::metadata(self.site.home.wal()).is_ok_and(|it| it.len() > limit) {
            // What cannot be merged now stays in the log, and the next moment tries again.
            let _ = db.pragma("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

impl Around for Desk {
    fn open(&mut self) -> Result<Db, Error> {
        self.site.home.prepare()?;
        let turnstile = Turnstile::open(&self.site.home)?;
        let db = {
            let _turn = turnstile.enter()?;
            open_writer(&self.site)?
        };
        self.turnstile = Some(Arc::new(turnstile));
        Ok(db)
    }

    fn locked<T>(
        &mut self,
        db: &mut Db,
        body: impl FnOnce(&mut Self, &mut Db) -> T,
    ) -> Result<T, Error> {
        loop {
            let turnstile = self.turnstile.clone().expect("the database is open, so it was passed");
            let turn = turnstile.enter()?;
            if db.is_current() {
                return Ok(body(self, db));
            }
            // Somebody restored a backup: what is open here is no longer the database.
            drop(turn);
            *db = self.open()?;
        }
    }

    fn committed(&mut self, db: &Db) {
        // The commit is durable. A mark that cannot be written only weakens later detection.
        if check::advance_mark(db, &self.site.home).is_err() {
            self.site.add(vec![Finding::MarkUnreadable]);
        }
        self.merge_log(db, LOG_PRESSING);
    }

    fn idle(&mut self, db: &Db) {
        self.merge_log(db, LOG_LIMIT);
    }

    fn close(&mut self, db: Db) {
        // The last to close merges the log and removes it, which must not meet a restore.
        let turnstile = self.turnstile.clone();
        let _turn = turnstile.as_ref().and_then(|it| it.enter().ok());
        drop(db);
    }
}
