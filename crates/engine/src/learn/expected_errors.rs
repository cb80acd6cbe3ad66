//! Expected errors: commands and tools that failed in recent sessions and may fail again.
//!
//! Loads the failed calls that lessons stored; `observe` ranks and formats them. The injector adds
//! the text to the context at the start of a session.

use model::{DAY_MS, MemoryKind, MemoryStatus, Payload};
use observe::{FailedCall, KnownFix};
use store::{FailedCallRow, MemoryFilter, StoreReader};

use crate::model_text::{TextOrigin, is_memory_withheld, is_withheld};
use crate::{Error, ProjectReader};

/// Failures older than this no longer count, in days.
const MAX_FAILURE_AGE_DAYS: i64 = 180;
/// Fixes that are compared with the failures.
const MAX_FIXES: u32 = 200;
/// Fewest learned sessions. With fewer, the failures describe one task and not the project.
const MIN_SESSIONS: usize = 5;

/// Describes the errors to expect, one line per error with its fix, the likeliest first; at most 600
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
        |it: FailedCallRow| FailedCall { at: it.at, head: it.call, message: it.output_start };
    // A message may quote anything, so one that reads like an instruction is not told.
    let is_harmless = |it: &FailedCall| {
        !is_withheld(&it.message, TextOrigin::Unconfirmed) && !it.message.contains("://")
    };
    let failed_calls: Vec<FailedCall> =
        rows.into_iter().map(failed_call).filter(is_harmless).collect();
    let fixes = load_fixes(&store).await?;
    Ok(observe::format_expected_errors(&failed_calls, &fixes, reader.now))
}

/// The fixes of the live memories about errors.
async fn load_fixes(store: &StoreReader) -> Result<Vec<KnownFix>, Error> {
    let filter = MemoryFilter {
        kind: Some(MemoryKind::ErrorPattern.slug().to_owned()),
        statuses: vec![MemoryStatus::Live],
        ..MemoryFilter::active(MAX_FIXES)
    };
    let mut acc = Vec::new();
    for memory in store.memories().list(filter).await? {
        if let Some(Payload::ErrorPattern(error)) = &memory.payload
            && let Some(resolution) = &error.resolution
            && !is_memory_withheld(&memory)
        {
            let resolution = resolution.clone();
            acc.push(KnownFix { memory_text: memory.content.clone(), resolution });
        }
    }
    Ok(acc)
}
