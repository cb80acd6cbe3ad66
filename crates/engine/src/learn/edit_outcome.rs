//! Edit outcome: whether git shows that a session's edits were committed or reverted later.

use model::{
    DAY_MS, DEFERRED_DAYS, ProjectPath, SessionOutcome, SessionType, SignalKind, ValidationBasis,
};
use observe::{SessionOverview, Sighting};
use store::SessionRow;

use crate::ProjectReader;

/// Steps after which an approach counts as explored, so that its reversal is a dead end.
const MIN_EXPLORED_STEPS: u32 = 20;

/// The validation basis of a session: its own, its parent's, or commits after it. Reads git.
pub(super) fn find_validation(
    reader: &ProjectReader,
    session: &SessionOverview,
    parent: Option<&SessionRow>,
) -> Option<ValidationBasis> {
    if session.validation_basis.is_some() || session.outcome == SessionOutcome::Failure {
        return session.validation_basis;
    }
    let by_parent = parent.and_then(|it| it.validation_basis);
    by_parent.or_else(|| was_committed(reader, session).then_some(ValidationBasis::Deferred))
}

/// Returns whether most of the edited files were committed to HEAD soon after the session.
fn was_committed(reader: &ProjectReader, session: &SessionOverview) -> bool {
    let edited = edited_files(session);
    if edited.is_empty() || session.kind != SessionType::Build || session.ended.0 <= 0 {
        return false;
    }
    // Git counts seconds.
    let (since, until) = (session.started.0 / 1000, session.ended.0 / 1000);
    let until = until + i64::from(DEFERRED_DAYS) * DAY_MS / 1000;
    let Some(committed) = source::committed_files(&reader.place, since, until) else {
        return false;
    };
    let n_committed =
        edited.iter().filter(|it| committed.iter().any(|path| path == it.as_str())).count();
    // Most, not all: sessions also edit files that are never committed.
    n_committed * 2 > edited.len()
}

/// The dead end that a session turned out to be: nothing validates its work, later commits exist,
/// and the files it edited are back in their earlier state. Reads git.
pub(super) fn find_reverted_work(
    reader: &ProjectReader,
    session: &SessionOverview,
    sightings: &[Sighting],
) -> Option<Sighting> {
    let is_unproven =
        session.validation_basis.is_none() && session.outcome != SessionOutcome::Failure;
    // A session that reverted its own edits reported that as a signal already.
    let reverted_itself = sightings.iter().any(|it| it.signal() == SignalKind::Backtrack);
    let edited = edited_files(session);
    if !is_unproven || reverted_itself || edited.is_empty() || session.steps < MIN_EXPLORED_STEPS {
        return None;
    }
    let (since, until) = (session.started.0 / 1000, session.ended.0 / 1000);
    let files: Vec<&str> = edited.iter().map(|it| it.as_str()).collect();
    let reverted = source::find_reverted_edits(&reader.place, &files, since, until)?;
    Some(observe::reverted_session(session, reverted.revert_subject))
}

fn edited_files(session: &SessionOverview) -> Vec<&ProjectPath> {
    session.files.iter().filter(|it| it.edits > 0).map(|it| &it.path).collect()
}
