//! All learned sessions by id, with the rule which of them count as evidence. Pure.
//!
//! The *gate* of a session type is a row in a table of `promote`: which validation (passed checks,
//! later commits …) a session of this type needs before it may teach something.

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
                // The empty list: reports of the host are not stored, so a gate that accepts them
                // can only go by the stored validation.
                && promote::gate_for(it.kind).is_open(it.validation_basis, &[])
        })
    }

    pub(super) fn is_counted(&self, id: SessionId) -> bool {
        self.get_counted(id).is_some()
    }
}
