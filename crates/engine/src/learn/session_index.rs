//! The learned sessions by id, and which of them count as evidence. Pure.

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

    /// The session, if its findings count: it did not fail, and it is validated or of a type that
    /// changes nothing and so needs no validation.
    pub(super) fn get_counted(&self, id: SessionId) -> Option<&SessionRow> {
        self.get(id).filter(|it| {
            it.outcome != SessionOutcome::Failure
                && promote::gate_for(it.kind).is_open(it.validation_basis, &[])
        })
    }

    pub(super) fn is_counted(&self, id: SessionId) -> bool {
        self.get_counted(id).is_some()
    }
}
