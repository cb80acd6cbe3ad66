//! Edit outcome: checks in git whether a session's edits were committed or reverted later.
//!
//! A session that ends without a passing check is not validated. If most of its files were
//! committed meanwhile or within the following days ([`DEFERRED_DAYS`]), the commits validate it. If
//! its files are back in their old state, the session was a dead end. `load` calls both checks:
//!
//! ```text
//! edits committed within the days after the session     →  validated, with the basis `Deferred`
//! files as before the session, other commits since      →  a dead end; the session has failed
//! anything else, such as edits that are not committed   →  undecided; checked again later
//! ```
//!
//! A *sighting* is one occurrence of a pattern in one session, here the pattern "dead end".

use model::{
    DAY_MS, DEFERRED_DAYS, ProjectPath, SessionOutcome, SessionType, SignalKind, ValidationBasis,
};
use observe::{SessionOverview, Sighting};
use store::SessionRow;

use crate::ProjectReader;

/// Fewest steps of a dead end. A shorter session did not explore its approach.
const MIN_EXPLORED_STEPS: u32 = 20;

/// Finds what validates a session: its own checks, its parent's, or commits after it. Reads git.
pub(super) fn find_validation(
    reader: &ProjectReader,
    session: &SessionOverview,
    parent: Option<&SessionRow>,
) -> Option<ValidationBasis> {
    if session.validation_basis.is_some() || session.outcome == SessionOutcome::Failure {
        // Nothing to look for, or a failure that no commit can turn into a success.
        return session.validation_basis;
    }
    let by_parent = parent.and_then(|it| it.validation_basis);
    by_parent.or_else(|| was_committed(reader, session).then_some(ValidationBasis::Deferred))
}

/// Returns a dead-end sighting if the session's work was reverted: nothing validates it, later
/// commits exist, and the files it edited are back in their earlier state. Reads git.
pub(super) fn find_reverted_work(
    reader: &ProjectReader,
    session: &SessionOverview,
    sightings: &[Sighting],
) -> Option<Sighting> {
    // Only a session whose result is still open: neither validated nor failed.
    let is_undecided =
        session.validation_basis.is_none() && session.outcome != SessionOutcome::Failure;
    // A session that reverted its own edits has a sighting of that already.
    let reverted_itself = sightings.iter().any(|it| it.signal() == SignalKind::Backtrack);
    let edited = edited_files(session);
    if !is_undecided || reverted_itself || edited.is_empty() || session.steps < MIN_EXPLORED_STEPS {
        return None;
    }
    let (since, until) = unix_seconds(session);
    let files: Vec<&str> = edited.iter().map(|it| it.as_str()).collect();
    let reverted = source::find_reverted_edits(&reader.place, &files, since, until)?;
    Some(observe::reverted_session(session, reverted.revert_subject))
}

/// Returns whether most of the edited files were committed to HEAD, during the session or soon
/// after.
fn was_committed(reader: &ProjectReader, session: &SessionOverview) -> bool {
    let edited = edited_files(session);
    // Only a build has to be validated. A transcript without times (0) cannot be compared with git.
    if edited.is_empty() || session.kind != SessionType::Build || session.ended.0 <= 0 {
        return false;
    }
    let (since, until) = unix_seconds(session);
    // Later commits do not count; seconds again.
    let until = until + i64::from(DEFERRED_DAYS) * DAY_MS / 1000;
    let Some(committed) = source::committed_files(&reader.place, since, until) else {
        return false;
    };
    let n_committed =
        edited.iter().filter(|it| committed.iter().any(|path| path == it.as_str())).count();
    // Most, not all: sessions also edit files that are never committed.
    n_committed * 2 > edited.len()
}

fn edited_files(session: &SessionOverview) -> Vec<&ProjectPath> {
    session.files.iter().filter(|it| it.edits > 0).map(|it| &it.path).collect()
}

/// Start and end of a session in seconds, the unit of git.
fn unix_seconds(session: &SessionOverview) -> (i64, i64) {
    (session.started.0 / 1000, session.ended.0 / 1000)
}
