//! [`EmbeddingIndexer`], the capability that computes vectors for memories that have none yet.
//!
//! Callers get it from `Project::embedding_indexer`. A search itself computes no vectors of memories,
//! because it cannot write; callers run `embed_new_memories` before it. The work is in
//! `retrieval/embedding.rs`.

use crate::retrieval::{embedding, shared_index};
use crate::{EmbeddingCoverage, EmbeddingReport, Error, Project, TaskProgress};

/// Computes missing embeddings and clusters large vector indexes.
pub struct EmbeddingIndexer<'a> {
    pub(crate) project: &'a Project,
}

impl<'a> EmbeddingIndexer<'a> {
    pub(crate) fn new(project: &'a Project) -> Self {
        Self { project }
    }

    /// Embeds up to `limit` memories that have no vector. Gives up on a provider that is slow.
    pub async fn embed_missing(&self, limit: usize) -> Result<EmbeddingReport, Error> {
        embedding::embed_missing(self.project, limit).await
    }

    /// Embeds a few memories of each notebook, so that the search that follows finds what was just
    /// written by meaning. Does nothing if a provider embeds: that would delay the search. Returns a
    /// notice for the user if embedding failed; the search works without.
    pub async fn embed_new_memories(&self) -> Option<String> {
        let embedded = embedding::embed_new_memories(self.project).await;
        embedded.err().map(|error| format!("new memories have no vectors: {error}"))
    }

    /// Embeds every memory that has no vector, and drops the vectors of other models once all have
    /// one. Runs until done or stopped; searches can run meanwhile.
    pub async fn embed_all(&self, progress: &TaskProgress) -> Result<EmbeddingReport, Error> {
        embedding::embed_all(self.project, progress).await
    }

    /// Names the model in use and counts the memories it has embedded.
    pub async fn coverage(&self) -> Result<EmbeddingCoverage, Error> {
        embedding::embedding_coverage(self.project).await
    }

    /// Counts the memories without a vector by the model in use, and all memories.
    pub async fn count_unembedded(&self) -> Result<(usize, usize), Error> {
        embedding::count_unembedded(self.project).await
    }

    /// Writes the search indexes of this process to disk, those that changed enough to make it worth
    /// while: the next process then need not read every memory. Derived data, so a failure only costs
    /// that time again.
    pub async fn save_index_snapshots(&self) -> Result<(), Error> {
        shared_index::save_snapshots(self.project).await
    }

    /// Clusters the vectors of large notebooks so that searches scan fewer of them. Takes seconds, so
    /// it pays only where many searches follow; they can run meanwhile.
    pub async fn cluster_vectors(&self) -> Result<(), Error> {
        shared_index::cluster_vectors(self.project).await
    }
}
