//! What a session cannot know by itself: what its parent came to, what its siblings edited, and what
//! became of its edits later.

use std::collections::BTreeMap;

use model::{DAY, DEFERRED_DAYS, Outcome, ProjectPath, SessionId, SessionType, ValidationBasis};
use observe::{Session, Sighting};
use store::Store;

use crate::{Engine, Error};

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
        let edited: Vec<&ProjectPath> =
            session.files.iter().filter(|it| it.edits > 0).map(|it| &it.path).collect();
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
}

/// Files that a sibling edited as well.
pub(super) async fn conflicts(store: &Store, session: &Session) -> Result<Vec<Sighting>, Error> {
    let Some(parent) = session.parent else { return Ok(Vec::new()) };
    let mut siblings: BTreeMap<SessionId, Vec<ProjectPath>> = BTreeMap::new();
    for (sibling, path) in store.edited_by_children(parent).await? {
        if sibling != session.id {
            siblings.entry(sibling).or_default().push(path);
        }
    }
    let siblings: Vec<Vec<ProjectPath>> = siblings.into_values().collect();
    Ok(observe::parallel_conflicts(session, &siblings))
}
