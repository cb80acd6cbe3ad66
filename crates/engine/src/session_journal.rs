//! The journal capability: writes the events of running sessions to disk. [`Project`] hands it out;
//! the functions are in `learn/journal.rs`, `learn/inbox.rs` and `agent.rs`.

use model::{EventEnvelope, SessionId};

use crate::agent::{self, AgentNote, AgentSession, RecordedAgentNote};
use crate::learn::{self, InboxSession, LearnedSession};
use crate::{Error, Project};

/// Appends to, syncs and closes the journals of sessions.
pub struct SessionJournal<'a> {
    project: &'a mut Project,
}

impl<'a> SessionJournal<'a> {
    pub(crate) fn new(project: &'a mut Project) -> Self {
        Self { project }
    }

    /// Appends events of one session to its journal, with secrets masked. Registers the project if
    /// it is new. Syncs the journal to disk if one of the events ends a step or records
    /// a note.
    pub async fn record_events(&mut self, events: &[EventEnvelope]) -> Result<(), Error> {
        learn::record_events(self.project, events).await
    }

    /// Appends events without waiting for the disk. Returns whether one of them ended a step or
    /// recorded a note; the
    /// caller should then call [`sync`](Self::sync). Fails if the project is not registered yet.
    pub fn append_events(&mut self, events: &[EventEnvelope]) -> Result<bool, Error> {
        learn::append_events(self.project, events)
    }

    /// Writes the journal of a session through to the disk.
    pub fn sync(&mut self, session: SessionId) -> Result<(), Error> {
        learn::sync_journal(self.project, session)
    }

    /// Removes the journal of a learned session, unless its findings still wait for validation.
    pub fn close(&mut self, learned: &LearnedSession) -> Result<(), Error> {
        learn::close_journal(self.project, learned)
    }

    /// Moves the events of a session from the inbox into its journal.
    pub async fn import_inbox_session(&mut self, waiting: &InboxSession) -> Result<(), Error> {
        learn::import_inbox_session(self.project, waiting).await
    }

    /// Journals a note that an agent recorded. Learning decides later whether it becomes a memory.
    /// `event_id` is unique within the calling process.
    pub async fn record_note(
        &mut self,
        session: &AgentSession,
        note: AgentNote,
        event_id: String,
    ) -> Result<RecordedAgentNote, Error> {
        agent::record_note(self.project, session, note, event_id).await
    }

    /// Returns the first external text that a journalled session has read. Notes that it records
    /// after that wait for the user's review.
    pub fn external_source(&self, session: SessionId) -> Option<String> {
        learn::external_source(self.project, session)
    }

    /// Journals the end of an agent's session.
    pub async fn end_agent_session(&mut self, session: &AgentSession) -> Result<(), Error> {
        agent::end_agent_session(self.project, session).await
    }
}
