//! Expected errors: commands and tools that failed in recent sessions and may fail again.
//!
//! Loads the failed calls that lessons stored; `observe` ranks and formats them. The injector adds
//! the text to the context at the start of a session.

use model::DAY_MS;
use observe::FailedCall;
use store::{FailedCallRow, StoreReader};

use crate::{Error, ProjectReader};

/// Failures older than this no longer count, in days.
const MAX_FAILURE_AGE_DAYS: i64 = 180;
/// Fewest learned sessions. With fewer, the failures describe one task and not the project.
const MIN_SESSIONS: usize = 5;

/// Describes the errors to expect, one line per command or tool, the likeliest first; at most 600
/// bytes. Empty if nothing failed or too little is known.
pub(crate) async fn describe_expected_errors(reader: &ProjectReader) -> Result<String, Error> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return Ok(String::new());
    };
    if store.learning().list_sessions().await?.len() < MIN_SESSIONS {
        return Ok(String::new());
    }
    // Bounded by `now` as well, so that a replay of the past sees no future failures.
    let since = reader.now.plus_millis(-MAX_FAILURE_AGE_DAYS * DAY_MS);
    let rows = store.learning().failed_calls(since, reader.now).await?;
    let failed_call =
        |it: FailedCallRow| FailedCall { at: it.at, head: it.call, output_start: it.output_start };
    let failed_calls: Vec<FailedCall> = rows.into_iter().map(failed_call).collect();
    Ok(observe::format_expected_errors(&failed_calls, reader.now))
}
