//! [`Retriever`], the capability that searches, lists and looks up memories.
//!
//! Callers get it from `Project::retriever`. Each method calls the function of its topic: a search is
//! in `retrieval/search.rs`, an answer in prose in `generated_answer.rs`, a staleness check in
//! `staleness.rs` beside it; lists and ids are in `lookup.rs`, versions in `undo.rs`, file warnings in
//! `injection/file_warnings.rs`, recipes and step limits in `injection/pipeline_context.rs`.

use std::collections::HashSet;

use model::{Memory, MemoryId, ProjectPath};
use store::MemoryFilter;

use crate::injection::{file_warnings, pipeline_context};
use crate::retrieval::{generated_answer, search, staleness};
use crate::{
    AnsweredQuery, Error, Finding, LocatedMemory, MatchedRecipe, MemoryHistory, Notebook,
    NotebookScope, ProjectReader, RatedMemory, SearchQuery, SearchResults, StopLimit, finding,
    lookup, undo,
};

/// Searches, lists and explains memories. Reads only.
///
/// Memories without a vector are found by their words alone. A caller that wants new memories to be
/// found by meaning calls [`EmbeddingIndexer::embed_new_memories`] first.
///
/// [`EmbeddingIndexer::embed_new_memories`]: crate::EmbeddingIndexer::embed_new_memories
#[derive(Clone, Copy)]
pub struct Retriever<'a> {
    pub(crate) reader: &'a ProjectReader,
}

impl<'a> Retriever<'a> {
    pub(crate) fn new(reader: &'a ProjectReader) -> Self {
        Self { reader }
    }

    /// Ranks the memories that answer a query, best first, each with its explanation.
    pub async fn search(&self, query: &SearchQuery) -> Result<SearchResults, Error> {
        search::search_memories(self.reader, query).await
    }

    /// Searches and, if a language model is configured, lets it write an answer from the hits.
    /// Nothing is sent to the model when nothing is relevant.
    pub async fn ask(&self, query: &SearchQuery) -> Result<AnsweredQuery, Error> {
        generated_answer::answer_query(self.reader, query).await
    }

    /// Finds the one memory that an id names: a full id, or a prefix of the short form.
    pub async fn find_by_id(&self, id: &str) -> Result<LocatedMemory, Error> {
        lookup::find_by_id(self.reader, id).await
    }

    /// Finds the finding that an id names: the fix of an error that is no memory yet.
    pub async fn find_finding(&self, id: &str) -> Result<Option<Finding>, Error> {
        finding::find_finding(self.reader, id).await
    }

    /// Lists the versions and the audit entries of a memory, oldest first.
    pub async fn history(&self, id: &str) -> Result<MemoryHistory, Error> {
        undo::memory_history(self.reader, id).await
    }

    /// Lists memories that pass a filter, newest first, the project's before the user's.
    pub async fn list(
        &self,
        filter: &MemoryFilter,
        scope: Option<NotebookScope>,
    ) -> Result<Vec<RatedMemory>, Error> {
        lookup::list_memories(self.reader, filter, scope).await
    }

    /// Adds the current confidence to memories of one notebook.
    pub async fn rate(
        &self,
        notebook: &Notebook,
        memories: Vec<Memory>,
    ) -> Result<Vec<RatedMemory>, Error> {
        lookup::rate_memories(self.reader, notebook, memories).await
    }

    /// Lists the memories that `memory` relates to and that no notebook holds.
    pub async fn missing_relation_targets(&self, memory: &Memory) -> Result<Vec<MemoryId>, Error> {
        lookup::missing_relation_targets(self.reader, memory).await
    }

    /// Checks a memory against git and the working tree: lowers its confidence if what it refers to
    /// has changed, and returns the reasons.
    pub async fn check_staleness(&self, rated: &mut RatedMemory) -> Vec<String> {
        staleness::lower_by_staleness(self.reader, rated).await
    }

    /// Lists the live warnings about some files that are confident enough, best first, without those
    /// in `shown`.
    pub async fn file_warnings(
        &self,
        files: &[ProjectPath],
        shown: &HashSet<MemoryId>,
    ) -> Result<Vec<RatedMemory>, Error> {
        Ok(file_warnings::find_file_warnings(self.reader, files, shown).await?.selected)
    }

    /// Finds the workflow recipe that fits a task best.
    pub async fn find_recipe(&self, task: &str) -> Result<Option<MatchedRecipe>, Error> {
        pipeline_context::find_recipe(self.reader, task).await
    }

    /// Computes after how many steps a task of a module should be stopped: the number of planned steps,
    /// multiplied by the ratio of actual to planned steps that was learned for the module (1 if there
    /// is none, 2 at most).
    pub async fn stop_limit(&self, n_planned: u32, module: &str) -> Result<StopLimit, Error> {
        pipeline_context::calibrate_step_limit(self.reader, n_planned, module).await
    }
}
