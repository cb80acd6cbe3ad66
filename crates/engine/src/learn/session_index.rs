//! All learned sessions by id, with the rule which of them count as evidence. Pure.
//!
//! The *gate* of a session type is a row in a table of `promote`: the condition that a session of
//! this type must meet before it may teach something. For example, the gate of a build opens only if
//! something validated the session (passed checks, later commits …), and the gate of a session that
//! changes nothing is always open. A few gates open for a validation that the host has *reported*,
//! such as an accepted specification, or for a stored one.

use std::collections::HashMap;

use model::{SessionId, SessionOutcome};
use store::SessionRow;

/// All learned sessions by id.
#[derive(Default)]
pub(super) struct SessionIndex {
    rows: HashMap<SessionId, SessionRow>,
}

impl SessionIndex {
    pub(super) fn new(rows: Vec<SessionRow>) -> Self {
        Self { rows: rows.into_iter().map(|it| (it.id, it)).collect() }
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
