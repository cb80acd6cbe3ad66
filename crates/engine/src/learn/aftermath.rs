//! What became of a session's edits later: committed, and so they hold; or taken back, and so the way
//! was a dead end.

use model::{DAY, DEFERRED_DAYS, Outcome, ProjectPath, SessionType, SignalKind, ValidationBasis};
use observe::{Session, Sighting};
use store::Store;

use crate::{Engine, Error};

/// Steps after which an approach counts as explored.
const EXPLORED: u32 = 20;

impl Engine {
    /// How it is known that a session's work holds: by itself, by the parent that checked it, or by the
    /// history of HEAD, where most of the edited files were committed soon after.
    pub(super) async fn validated(
        &self,
        store: &Store,
        session: &Session,
    ) -> Result<Option<ValidationBasis>, Error> {
        if session.validated.is_some() || session.outcome == Outcome::Failure {
            return Ok(session.validated);
        }
        if let Some(parent) = session.parent
            && let Some(parent) = store.session(parent).await?
            && parent.validated.is_some()
        {
            return Ok(parent.validated);
        }
        Ok(self.committed_later(session).then_some(ValidationBasis::Deferred))
    }

    fn committed_later(&self, session: &Session) -> bool {
        let edited = edited(session);
        if edited.is_empty() || session.kind != SessionType::Build || session.ended.0 <= 0 {
            return false;
        }
        let (since, until) = (session.started.0 / 1000, session.ended.0 / 1000);
        let until = until + i64::from(DEFERRED_DAYS) * DAY / 1000;
        let Some(committed) = source::committed(&self.place, since, until) else { return false };
        let found =
            edited.iter().filter(|it| committed.iter().any(|path| path == it.as_str())).count();
        found * 2 > edited.len()
    }

    /// The dead end that a session turned out to be: nothing spoke for its work, work went on, and the
    /// files it edited are again what they were. What a session undid itself says nothing.
    pub(super) fn taken_back(&self, session: &Session, sightings: &[Sighting]) -> Option<Sighting> {
        let undid = sightings.iter().any(|it| it.signal == SignalKind::Backtrack);
        let edited = edited(session);
        let unproven = session.validated.is_none() && session.outcome != Outcome::Failure;
        if !unproven || undid || edited.is_empty() || session.steps < EXPLORED {
            return None;
        }
        let (since, until) = (session.started.0 / 1000, session.ended.0 / 1000);
        let files: Vec<&str> = edited.iter().map(|it| it.as_str()).collect();
        let found = source::taken_back(&self.place, &files, since, until)?;
        Some(observe::taken_back(session, found.by))
    }
}

fn edited(session: &Session) -> Vec<&ProjectPath> {
    session.files.iter().filter(|it| it.edits > 0).map(|it| &it.path).collect()
}
