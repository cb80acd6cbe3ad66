//! Settings of one project or of the user, beside their memories.

use crate::Error;
use crate::query::{Db, Query};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&SELECT_SETTINGS];

const SELECT_SETTINGS: Query =
    Query::shared("settings", "SELECT key, value FROM settings ORDER BY key");

pub(crate) fn select_settings(db: &Db) -> Result<Vec<(String, String)>, Error> {
    db.select(&SELECT_SETTINGS, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}
