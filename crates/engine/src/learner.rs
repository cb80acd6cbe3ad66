//! The learning capability: turns finished sessions into memories.
//!
//! [`Project`] hands out a [`Learner`]; the daemon and `waylore learn` call it. The work is done by
//! the functions in `learn/`.

use model::{MemoryId, SessionId};
use observe::Scratchpad;

use crate::learn::{self, AskLimits, LearnedSession, QuestionOutcome};
use crate::{Error, Project};

/// Turns finished sessions into memories.
pub struct Learner<'a> {
    project: &'a mut Project,
}

impl<'a> Learner<'a> {
    pub(crate) fn new(project: &'a mut Project) -> Self {
        Self { project }
    }

    /// Learns from a finished session; `None` if the scratchpad holds no event.
    pub async fn learn_session(
        &mut self,
        pad: &Scratchpad,
    ) -> Result<Option<LearnedSession>, Error> {
        learn::learn_session(self.project, pad).await
    }

    /// Asks the configured model what the session of a transcript taught, unless it was asked before, the
    /// session holds too little, or the limits of the day are reached.
    pub async fn ask_about(
        &mut self,
        transcript: &source::Transcript,
        limits: AskLimits,
    ) -> Result<QuestionOutcome, Error> {
        learn::asking::ask_about(self.project, transcript, limits).await
    }

    /// Learns from a journalled session and its subagents. Closes the journals that need not wait
    /// for later evidence.
    pub async fn learn_from_journal(
        &mut self,
        session: SessionId,
    ) -> Result<Vec<LearnedSession>, Error> {
        learn::learn_from_journal(self.project, session).await
    }

    /// Learns the notes of finished subtasks while the session is still running. Its journal stays.
    pub async fn learn_finished_subtasks(
        &mut self,
        session: SessionId,
    ) -> Result<Option<LearnedSession>, Error> {
        learn::learn_finished_subtasks(self.project, session).await
    }

    /// Merges duplicate memories, at most once per week, and returns those that were retired.
    pub async fn consolidate_week(&mut self) -> Result<Vec<MemoryId>, Error> {
        learn::consolidate_week(self.project).await
    }
}
