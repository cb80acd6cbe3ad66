//! Reads the settings of one project or of the user, stored beside their memories. Writes are
//! changes of a batch, see `apply_batch`.

use crate::Error;
use crate::query::{Db, Query};

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&SELECT_SETTINGS];

/// Every setting with its value.
const SELECT_SETTINGS: Query =
    Query::shared("settings", "SELECT key, value FROM settings ORDER BY key");

pub(crate) fn select_settings(db: &Db) -> Result<Vec<(String, String)>, Error> {
    db.select(&SELECT_SETTINGS, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}
