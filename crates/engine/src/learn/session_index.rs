//! All learned sessions by id, with the rule which of them count as evidence. Pure.
//!
//! The *gate* of a session type is a row in a table of `promote`: the condition that a session of
//! this type must meet before it may teach something. For example, the gate of a build opens only if
//! something validated the session (passed checks, later commits …), and the gate of a session that
//! changes nothing is always open. A few gates open for a validation that the host has *reported*,
//! such as an accepted specification, or for a stored one.
//!
//! Sessions that repeat one another are one *group*: a parent and its subagents, and a session with its
//! forks. A host that resumes or forks a session copies its transcript into a new one, so that every
//! statement and every failure of the copy occurs twice. What a group shows is evidence once.

use std::collections::HashMap;

use model::{SessionId, SessionOutcome, Timestamp};
use observe::SessionOverview;
use store::SessionRow;

/// All learned sessions by id.
#[derive(Default)]
pub(super) struct SessionIndex {
    rows: HashMap<SessionId, SessionRow>,
    /// The session with the lowest id among those that begin with the same message at the same millisecond.
    originals: HashMap<(Timestamp, String), SessionId>,
}

impl SessionIndex {
    pub(super) fn new(rows: Vec<SessionRow>) -> Self {
        let mut originals: HashMap<(Timestamp, String), SessionId> = HashMap::new();
        for row in rows.iter().filter(|it| !it.task.is_empty()) {
            let original = originals.entry((row.started, row.task.clone())).or_insert(row.id);
            *original = row.id.min(*original);
        }
        Self { rows: rows.into_iter().map(|it| (it.id, it)).collect(), originals }
    }

    /// The group of a stored session, named by one of its members.
    pub(super) fn group_of_row(&self, id: SessionId) -> SessionId {
        let parent = self.get(id).and_then(|it| it.parent);
        parent.unwrap_or_else(|| self.original_of_row(id))
    }

    /// The session that a stored one is a fork of, or the session itself.
    pub(super) fn original_of_row(&self, id: SessionId) -> SessionId {
        // Without its row, as after an import, nothing is known of it.
        let row = self.get(id);
        row.and_then(|it| self.original(it.started, &it.task)).unwrap_or(id)
    }

    /// The group of the session that is being learned, whether or not its row is stored.
    pub(super) fn group_of(&self, session: &SessionOverview) -> SessionId {
        session.parent.unwrap_or_else(|| self.original_of(session))
    }

    /// The stored session that the one being learned is a fork of, or the session itself.
    pub(super) fn original_of(&self, session: &SessionOverview) -> SessionId {
        self.original(session.started, &session.task).unwrap_or(session.id)
    }

    fn original(&self, started: Timestamp, task: &str) -> Option<SessionId> {
        self.originals.get(&(started, task.to_owned())).copied()
    }

    pub(super) fn get(&self, id: SessionId) -> Option<&SessionRow> {
        self.rows.get(&id)
    }

    /// Returns the session if it counts as evidence: it did not fail, and the gate of its type is
    /// open (a build must be validated, a session that changes nothing need not be).
    pub(super) fn get_counted(&self, id: SessionId) -> Option<&SessionRow> {
        self.get(id).filter(|it| {
            it.outcome != SessionOutcome::Failure
                // The empty list stands for the reports of the host, which are not stored. A gate
                // that accepts them is then open only if `validation_basis` is set.
                && promote::gate_for(it.kind).is_open(it.validation_basis, &[])
        })
    }

    pub(super) fn is_counted(&self, id: SessionId) -> bool {
        self.get_counted(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fresh_memory::tests::session;
    use super::*;

    fn row(of: &SessionOverview, id: u8) -> SessionRow {
        SessionRow {
            id: SessionId::new(of.ended, [id; 10]),
            parent: of.parent,
            agent: of.agent.clone(),
            kind: of.kind,
            outcome: of.outcome,
            validation_basis: of.validation_basis,
            task: of.task.clone(),
            started: of.started,
            ended: of.ended,
            steps: 1,
            tokens: 0,
            retries: 0,
            external: None,
            progress_key: String::new(),
            planned_steps: None,
        }
    }

    #[test]
    fn a_fork_is_in_the_group_of_the_session_that_it_repeats() {
        let fork = SessionOverview { task: "mend the gradient".to_owned(), ..session(10_000) };
        let later = SessionOverview { started: Timestamp(77_000), ..fork.clone() };
        let other_task = SessionOverview { task: "write the docs".to_owned(), ..fork.clone() };
        let rows = vec![row(&fork, 1), row(&fork, 2), row(&later, 3), row(&other_task, 4)];
        let ids: Vec<SessionId> = rows.iter().map(|it| it.id).collect();
        let index = SessionIndex::new(rows);

        let groups: Vec<SessionId> = ids.iter().map(|it| index.group_of_row(*it)).collect();
        assert_eq!(groups, [ids[0], ids[0], ids[2], ids[3]]);
        assert_eq!(index.group_of(&fork), ids[0]);
    }

    #[test]
    fn sessions_without_a_task_are_not_compared() {
        let silent = SessionOverview { task: String::new(), ..session(10_000) };
        let rows = vec![row(&silent, 1), row(&silent, 2)];
        let ids: Vec<SessionId> = rows.iter().map(|it| it.id).collect();
        let index = SessionIndex::new(rows);
        assert_ne!(index.group_of_row(ids[0]), index.group_of_row(ids[1]));
    }
}
