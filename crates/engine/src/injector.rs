//! [`Injector`], the capability that gives notes to agents.
//!
//! Callers get it from `Project::injector`. Each method calls the function of its topic in
//! `injection/`: hook events are in `hook_injection.rs`, context blocks in `session_context.rs` and
//! `pipeline_context.rs`, notes between steps in `step_context.rs`, the record of what a session was
//! shown in `shown_notes.rs`. Writes nothing but that record and
//! the spool of the injection log.

use agents::HookMessage;
use model::{InjectionMoment, Memory, MemoryId, ProjectPath, TrustLevel};

use crate::agent;
use crate::injection::{
    hook_injection, injection_log, note_format, pipeline_context, session_context, shown_notes,
    step_context,
};
use crate::{
    AgentSession, ContextBlock, ContextRequest, Error, Injection, InjectionReport, MatchedRecipe,
    ProjectReader, StepContext, StepRequest,
};

/// Selects notes for an agent at hook events, between steps and on request.
#[derive(Clone, Copy)]
pub struct Injector<'a> {
    pub(crate) reader: &'a ProjectReader,
}

impl<'a> Injector<'a> {
    pub(crate) fn new(reader: &'a ProjectReader) -> Self {
        Self { reader }
    }

    // Hook events.

    /// True if the notes for a hook event are searched by text. The caller then embeds new memories
    /// first, with [`EmbeddingIndexer::embed_new_memories`].
    ///
    /// [`EmbeddingIndexer::embed_new_memories`]: crate::EmbeddingIndexer::embed_new_memories
    pub fn has_search_text(&self, message: &HookMessage) -> bool {
        hook_injection::has_search_text(&message.event)
    }

    /// Selects the notes for a hook event and records them as shown to the session.
    pub async fn inject(&self, message: &HookMessage) -> Result<Injection, Error> {
        hook_injection::inject(self.reader, message).await
    }

    /// Selects the notes for a hook event at a trust level and records nothing.
    pub async fn preview(
        &self,
        message: &HookMessage,
        level: TrustLevel,
    ) -> Result<Injection, Error> {
        hook_injection::select_injection(self.reader, message, level).await
    }

    // Context blocks.

    /// Builds the context for the start of a session or task. A task to which nothing relates gives an
    /// empty context; without a task it holds the most valuable memories.
    pub async fn start_context(&self, request: &ContextRequest) -> Result<ContextBlock, Error> {
        session_context::build_start_context(self.reader, request).await
    }

    /// Builds the context about the request's files, warnings first.
    pub async fn file_context(&self, request: &ContextRequest) -> Result<ContextBlock, Error> {
        session_context::build_file_context(self.reader, request).await
    }

    /// Builds the context for a stage of a pipeline.
    pub async fn pipeline_context(&self, request: &ContextRequest) -> Result<ContextBlock, Error> {
        pipeline_context::build_pipeline_context(self.reader, request).await
    }

    /// Builds the context for the start of a session without what the session was shown before, and
    /// records it as shown.
    pub async fn inject_start_context(
        &self,
        session: &str,
        request: ContextRequest,
    ) -> Result<ContextBlock, Error> {
        session_context::inject_start_context(self.reader, session, request).await
    }

    /// Builds the context about files without what the session was shown before, and records it as
    /// shown.
    pub async fn inject_file_context(
        &self,
        session: &str,
        request: ContextRequest,
    ) -> Result<ContextBlock, Error> {
        session_context::inject_file_context(self.reader, session, request).await
    }

    // Notes between two steps.

    /// Selects the notes for the end of a step and records nothing.
    pub async fn step_context(&self, request: &StepRequest) -> Result<StepContext, Error> {
        step_context::build_step_context(self.reader, request).await
    }

    /// Records the notes of a step as shown to its session.
    pub fn record_step(&self, request: &StepRequest, context: &StepContext) -> Result<(), Error> {
        step_context::record_step(self.reader, request, context)
    }

    // The record of what a session was shown.

    /// Records a context as shown to a session that asked for it.
    pub fn record_requested_context(
        &self,
        session: &str,
        context: &ContextBlock,
    ) -> Result<(), Error> {
        let moment = InjectionMoment::Request;
        shown_notes::record_context(self.reader, session, "", moment, context)
    }

    /// Records memories, each with the tokens of its note, as shown to the host's conversation, or to
    /// the agent's own session if it belongs to none.
    pub fn record_requested_memories(
        &self,
        session: &AgentSession,
        memories: &[(MemoryId, u32)],
    ) -> Result<(), Error> {
        agent::record_requested_memories(self.reader, session, memories)
    }

    /// The files that the host's conversation touched last, the last first.
    pub fn recent_files_of_agent(&self, session: &AgentSession) -> Vec<ProjectPath> {
        agent::recent_files_of_agent(self.reader, session)
    }

    /// Lists the notes that were given to the agents of this project, newest first, of one session or
    /// one memory if these are given, with the totals of each tier. `Maintenance::store_injections`
    /// first brings the log up to date.
    pub async fn list_injections(
        &self,
        session: Option<&str>,
        memory: Option<&str>,
        limit: u32,
    ) -> Result<InjectionReport, Error> {
        injection_log::list_injections(self.reader, session, memory, limit).await
    }

    /// Marks everything the session was shown as lost with its conversation, so that it may be shown
    /// once more.
    pub fn mark_conversation_lost(&self, session: &str) -> Result<(), Error> {
        shown_notes::mark_conversation_lost(self.reader, session)
    }

    /// Locks the shown log of a session against other processes until the returned guard is dropped.
    /// Blocks, so that it is for a process that does nothing else.
    pub fn lock_session(&self, session: &str) -> Result<impl Sized + use<>, Error> {
        shown_notes::lock_session(self.reader, session)
    }

    // Formatting and paths, for callers that build notes themselves.

    /// Formats a recipe with its steps as a note for an agent.
    pub fn format_recipe(&self, recipe: &MatchedRecipe) -> String {
        pipeline_context::format_recipe(self.reader, recipe)
    }

    /// Formats a memory as a note for an agent; the note names a status other than live.
    pub fn format_note(&self, memory: &Memory) -> String {
        note_format::format_with_status(self.reader, memory)
    }

    /// Converts paths as a host gives them into paths of the project; paths outside are dropped.
    pub fn resolve_paths(&self, paths: &[String], cwd: &str) -> Vec<ProjectPath> {
        hook_injection::resolve_host_paths(self.reader, paths, cwd)
    }
}
