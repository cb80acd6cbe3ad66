//! The editing capability: every change of memories that a user or an agent requests. [`Project`]
//! hands it out; each method calls a function in the file of its topic.

use agents::HookMessage;
use model::{Actor, Memory, MemoryId, RelationKind};

use crate::injection::missing_references;
use crate::{
    AgentSession, CorrectionResult, Error, Finding, ImportOptions, ImportRecord, ImportReport,
    MemoryCorrection, MemoryEdit, NewMemory, ParsedRuleFile, Project, RejectionReason,
    RememberResult, RuleImport, RuleTrust, UndoReport, agent, correction, editing, finding, import,
    person_wish, remember, rules, undo,
};

/// Adds, edits, corrects, imports, forgets and restores memories. Each call is one batch that
/// `undo` can revert.
pub struct NotebookEditor<'a> {
    project: &'a mut Project,
}

impl<'a> NotebookEditor<'a> {
    pub(crate) fn new(project: &'a mut Project) -> Self {
        Self { project }
    }

    /// Stores a user's statement: as a new memory, merged into one that states the same, or in
    /// place of one that it contradicts.
    pub async fn remember(&mut self, statement: NewMemory) -> Result<RememberResult, Error> {
        remember::remember_statement(self.project, statement).await
    }

    /// Stores what the user tells us to remember in a prompt, at once. Returns the line that tells the agent
    /// so, or nothing if the prompt holds no such wish.
    pub async fn keep_told(&mut self, message: &HookMessage) -> Result<Option<String>, Error> {
        person_wish::keep_told(self.project, message).await
    }

    /// Changes the text or the attributes of a memory. Returns it before and after; the version
    /// before stays in its history.
    pub async fn edit(&mut self, id: &str, edit: MemoryEdit) -> Result<(Memory, Memory), Error> {
        editing::edit_memory(self.project, id, edit).await
    }

    /// Pins or unpins a memory. Returns it, and whether that changed anything.
    pub async fn pin(&mut self, id: &str, pinned: bool) -> Result<(Memory, bool), Error> {
        editing::set_pinned(self.project, id, pinned).await
    }

    /// Applies a user's judgement of a memory: right, wrong, reworded, narrowed or excluded.
    pub async fn correct(
        &mut self,
        id: &str,
        correction: MemoryCorrection,
    ) -> Result<CorrectionResult, Error> {
        correction::correct_memory(self.project, id, correction).await
    }

    /// Forgets memories: they leave every list at once and can be restored for 30 days. Memories of
    /// one notebook form one batch.
    pub async fn forget(&mut self, ids: &[String]) -> Result<Vec<Memory>, Error> {
        editing::forget_memories(self.project, ids).await
    }

    /// Restores a memory: from forgotten or deprecated, into a project it was excluded from, or to
    /// an earlier version.
    pub async fn restore(&mut self, id: &str, version: Option<u32>) -> Result<Memory, Error> {
        editing::restore_memory(self.project, id, version).await
    }

    /// Reverts the last change, or the last change of one memory.
    pub async fn undo(&mut self, id: Option<&str>) -> Result<UndoReport, Error> {
        undo::undo_last(self.project, id).await
    }

    /// Imports records of a file. They are external: unless the user vouches for them, they are
    /// tainted and wait for review.
    pub async fn import(
        &mut self,
        records: Vec<ImportRecord>,
        options: ImportOptions,
    ) -> Result<ImportReport, Error> {
        import::import_records(self.project, records, options).await
    }

    /// Reads the rules in this project's rule files, in the order of the files.
    pub fn list_rules(&self) -> Vec<ParsedRuleFile> {
        rules::list_rules(self.project)
    }

    /// Imports rules as memories, and updates or deprecates those imported before.
    pub async fn import_rules(
        &mut self,
        files: &[ParsedRuleFile],
        trust: RuleTrust,
    ) -> Result<RuleImport, Error> {
        rules::import_rules(self.project, files, trust).await
    }

    /// Marks a memory for review because an agent doubts it. It is not injected until a user has
    /// looked at it.
    pub async fn flag_for_review(
        &mut self,
        session: &AgentSession,
        id: &str,
        why: &str,
    ) -> Result<Memory, Error> {
        agent::flag_for_review(self.project, session, id, why).await
    }

    /// Dismisses a finding (the fix of an error that is no memory yet), so that no session is told it.
    /// `session` is the agent that rejects it; without one the user does.
    pub async fn dismiss_finding(
        &mut self,
        session: Option<&AgentSession>,
        id: &str,
        why: &str,
    ) -> Result<Finding, Error> {
        let actor = session.map_or(Actor::User, agent::agent_actor);
        finding::dismiss_finding(self.project, id, actor, why).await
    }

    /// Flags memories for review that an injection withheld because their files or symbols are
    /// missing. Returns how many were flagged.
    pub async fn flag_missing_references(
        &mut self,
        withheld: &[(MemoryId, RejectionReason)],
    ) -> Result<usize, Error> {
        missing_references::flag_missing_references(self.project, withheld).await
    }

    /// Relates a memory to another memory or to a file, for an agent. Repeating it has no effect.
    pub async fn relate(
        &mut self,
        session: &AgentSession,
        id: &str,
        kind: RelationKind,
        target: &str,
    ) -> Result<Memory, Error> {
        agent::relate_memory(self.project, session, id, kind, target).await
    }
}
