//! Sessions that cannot be learned from. They are listed in a file beside the store with the reason,
//! so that learning goes on with the other sessions. `doctor` shows the list.
//!
//! Only errors that concern one session are handled here. A full disk or a missing key stops
//! learning as a whole, because every session would fail with it.

use model::SessionId;
use store::{FailedSession, StoreReader};

use crate::{Error, Project, ProjectReader};

/// The version that failed sessions are recorded with. After an upgrade they are tried again.
const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Lists the sessions of the project that could not be learned, the earliest failure first.
pub(crate) fn failed_sessions(reader: &ProjectReader) -> Vec<FailedSession> {
    let store = reader.project_store_reader().filter(StoreReader::exists);
    store.map(|it| it.failed_sessions()).unwrap_or_default()
}

/// Returns whether this version of the program has failed to learn a session before.
pub(crate) fn has_failed_before(reader: &ProjectReader, session: SessionId) -> bool {
    let is_listed =
        |it: &FailedSession| it.session == session && it.program_version == PROGRAM_VERSION;
    failed_sessions(reader).iter().any(is_listed)
}

/// Records the result of learning a session: removes a session that succeeded from the list, and
/// adds one that failed by its own content. Other errors are returned unchanged.
pub(super) fn record_result<T>(
    project: &Project,
    session: SessionId,
    result: Result<T, Error>,
) -> Result<T, Error> {
    let Some(store) = project.project_store_writer().filter(|it| it.exists()) else {
        return result;
    };
    match result {
        Ok(learned) => {
            store.failed_session_file().remove(session)?;
            Ok(learned)
        }
        Err(error) if concerns_one_session(&error) => {
            let reason = error.to_string();
            store.failed_session_file().record(FailedSession {
                session,
                program_version: PROGRAM_VERSION.to_owned(),
                reason: reason.clone(),
                failed_at: project.now,
            })?;
            Err(Error::SessionFailed { session, reason })
        }
        Err(error) => Err(error),
    }
}

/// Returns whether an error comes from the content of one session, so that others may succeed.
fn concerns_one_session(error: &Error) -> bool {
    match error {
        Error::NotFound { .. }
        | Error::Ambiguous { .. }
        | Error::Secret { .. }
        | Error::Refused { .. }
        | Error::Nothing { .. } => true,
        // Other errors of the store (a full disk, a wrong key) concern every session.
        Error::Store(error) => matches!(
            error,
            store::Error::VersionConflict { .. }
                | store::Error::MemoryNotFound { .. }
                | store::Error::MemoryErased { .. }
                | store::Error::InvalidInput { .. }
                | store::Error::Internal { .. }
        ),
        // The working tree, git or a model fails for every session. A failed session is recorded
        // already, by an inner call.
        Error::Source(_) | Error::Model(_) | Error::SessionFailed { .. } => false,
    }
}
