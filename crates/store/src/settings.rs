//! Settings of one project or of the user, beside their memories.

use crate::Error;
use crate::query::{Db, Query, both};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&ALL];

const ALL: Query = both("settings", "SELECT key, value FROM settings ORDER BY key");

pub(crate) fn all(db: &Db) -> Result<Vec<(String, String)>, Error> {
    db.select(&ALL, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}
