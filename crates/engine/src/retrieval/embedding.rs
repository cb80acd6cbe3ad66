//! The functions behind [`EmbeddingIndexer`](crate::EmbeddingIndexer): vectors for memories that have
//! none by the current model.
//!
//! A few memories are embedded before a search or after a write, all of them in the background after
//! a change of model. The in-memory index of a notebook knows which memories lack a vector;
//! `embedding_text` chooses the texts: one or more per memory, each with its *grain* (a part of the
//! text, source code, or a single sentence). Memories are embedded in batches, and each finished batch
//! is saved, so an interrupted run continues where it stopped. A *provider* is an external model,
//! which is slower than the built-in one.

use std::time::Duration;

use infer::EmbeddingModel;
use model::{Grain, Memory};
use store::{MemoryEmbedding, Store, VectorPart};

use super::embedding_text::embedding_texts;
use super::shared_index::{SharedIndex, load_index, read_index};
use super::vector_code::encode_vector;
use crate::blocking::run_blocking;
use crate::{Error, Notebook, Project, ProjectReader, TaskProgress};

/// Memories that are embedded and saved together: the most that an interruption loses.
const MEMORIES_PER_BATCH: usize = 32;
/// Time a provider gets per batch while the user waits for another result.
const FOREGROUND_TIMEOUT: Duration = Duration::from_secs(10);
/// Memories per notebook that are embedded before a search.
const MEMORIES_BEFORE_SEARCH: usize = 32;

/// The outcome of an embedding run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingReport {
    pub n_embedded: usize,
    /// Memories that still have no vector by the current model.
    pub n_missing: usize,
    /// Vectors of other models that were deleted.
    pub n_dropped: usize,
}

/// The current model and the number of memories it has not embedded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingCoverage {
    pub model: String,
    pub n_missing: usize,
    pub n_memories: usize,
}

/// Embeds up to `limit` memories of all notebooks together.
pub(crate) async fn embed_missing(
    project: &Project,
    limit: usize,
) -> Result<EmbeddingReport, Error> {
    let mut total = EmbeddingReport::default();
    for notebook in project.notebooks() {
        // The second notebook gets what the first has left of the limit.
        let limit = limit.saturating_sub(total.n_embedded);
        let report = embed_notebook(project, &notebook, limit).await?;
        total.n_embedded += report.n_embedded;
        total.n_missing += report.n_missing;
    }
    Ok(total)
}

/// Embeds the memories written since the last search, a few per notebook.
pub(crate) async fn embed_new_memories(project: &Project) -> Result<(), Error> {
    // A provider is slow, and the user waits for the search. `waylore embed` is for providers.
    if !project.config.models.is_built_in() {
        return Ok(());
    }
    for notebook in project.notebooks() {
        embed_notebook(project, &notebook, MEMORIES_BEFORE_SEARCH).await?;
    }
    Ok(())
}

async fn embed_notebook(
    project: &Project,
    notebook: &Notebook,
    limit: usize,
) -> Result<EmbeddingReport, Error> {
    let embeddings = project.config.models.embeddings().await?;
    let job = EmbeddingJob {
        store: project.notebook_writer(notebook),
        index: load_index(project, &notebook.store, Some(&embeddings)).await?,
        embeddings,
        timeout: FOREGROUND_TIMEOUT,
    };
    job.run(limit, &TaskProgress::default()).await
}

/// Embeds every memory without a vector, then deletes the vectors of other models.
pub(crate) async fn embed_all(
    project: &Project,
    progress: &TaskProgress,
) -> Result<EmbeddingReport, Error> {
    let embeddings = project.config.models.embeddings().await?;
    // All notebooks are counted before the first is embedded, so that the progress has its total.
    let mut jobs = Vec::new();
    for notebook in project.notebooks() {
        let index = load_index(project, &notebook.store, Some(&embeddings)).await?;
        let n_missing = read_index(&index).unembedded().len();
        progress.add_total(n_missing);
        let (embeddings, store) = (embeddings.clone(), project.notebook_writer(&notebook));
        jobs.push(EmbeddingJob { embeddings, store, index, timeout: Duration::MAX });
    }
    let mut total = EmbeddingReport::default();
    for job in jobs {
        let mut report = job.run(usize::MAX, progress).await?;
        // The vectors of the old model stay until every memory has a new one.
        if report.n_missing == 0 {
            let model = embeddings.id().to_owned();
            report.n_dropped = job.store.drop_other_models(model).await?;
        }
        total.n_embedded += report.n_embedded;
        total.n_missing += report.n_missing;
        total.n_dropped += report.n_dropped;
    }
    Ok(total)
}

/// Names the current model and counts what it has not embedded yet.
pub(crate) async fn embedding_coverage(reader: &ProjectReader) -> Result<EmbeddingCoverage, Error> {
    let model = reader.config.models.embeddings().await?.id().to_owned();
    let (n_missing, n_memories) = count_unembedded(reader).await?;
    Ok(EmbeddingCoverage { model, n_missing, n_memories })
}

/// Counts the memories without a vector by the current model, and all memories.
pub(crate) async fn count_unembedded(reader: &ProjectReader) -> Result<(usize, usize), Error> {
    let embeddings = reader.config.models.embeddings().await.ok();
    let (mut n_missing, mut n_memories) = (0, 0);
    for notebook in reader.notebooks() {
        let index = load_index(reader, &notebook.store, embeddings.as_ref()).await?;
        let index = read_index(&index);
        n_missing += index.unembedded().len();
        n_memories += index.n_memories();
    }
    Ok((n_missing, n_memories))
}

/// The embedding of one notebook.
struct EmbeddingJob {
    embeddings: EmbeddingModel,
    store: Store,
    index: SharedIndex,
    /// Time the provider gets per batch.
    timeout: Duration,
}

impl EmbeddingJob {
    async fn run(&self, limit: usize, progress: &TaskProgress) -> Result<EmbeddingReport, Error> {
        let missing = read_index(&self.index).unembedded().to_vec();
        let mut report = EmbeddingReport { n_missing: missing.len(), ..EmbeddingReport::default() };
        for numbers in missing[..limit.min(missing.len())].chunks(MEMORIES_PER_BATCH) {
            // Checked between batches: a batch that was sent is saved.
            if progress.is_stopped() {
                break;
            }
            let n_embedded = self.embed_batch(numbers).await?;
            report.n_embedded += n_embedded;
            report.n_missing -= n_embedded;
            progress.add_done(n_embedded);
        }
        Ok(report)
    }

    /// Embeds some memories and returns how many vectors were saved. The store refuses the vector of
    /// a memory that was edited in the meantime.
    async fn embed_batch(&self, numbers: &[i64]) -> Result<usize, Error> {
        let memories = self.store.memories().get_by_numbers(numbers.to_vec()).await?;
        let (model, timeout) = (self.embeddings.clone(), self.timeout);
        let model_id = model.id().to_owned();
        let computed = run_blocking(move || {
            let texts_by_memory: Vec<Vec<(Grain, String)>> =
                memories.iter().map(|(_, memory)| redacted_texts(memory)).collect();
            // One request for all texts of the batch; the vectors come back in the same order.
            let all_texts: Vec<&str> =
                texts_by_memory.iter().flatten().map(|(_, text)| text.as_str()).collect();
            let mut vectors = model.embed_documents_within(&all_texts, timeout)?.into_iter();
            let mut embeddings = Vec::new();
            for ((_, memory), texts) in memories.iter().zip(&texts_by_memory) {
                // Takes as many of the vectors as this memory has texts.
                let own_vectors = vectors.by_ref().take(texts.len());
                let parts = texts.iter().zip(own_vectors);
                embeddings.push(MemoryEmbedding {
                    owner: memory.id,
                    version: memory.version,
                    model: model_id.clone(),
                    parts: parts.map(|((grain, _), it)| embedding_part(*grain, it)).collect(),
                });
            }
            Ok::<_, infer::Error>(embeddings)
        });

        // One `bool` per memory: its vectors were saved.
        let saved = self.store.put_vectors(computed.await?).await?;
        Ok(saved.into_iter().filter(|it| *it).count())
    }
}

/// The texts of a memory to embed. They may be sent to a provider, so they are redacted: a memory can
/// hold a secret that only the current rules know.
fn redacted_texts(memory: &Memory) -> Vec<(Grain, String)> {
    let texts = embedding_texts(memory).into_iter();
    texts.map(|(grain, text)| (grain, secrets::redact(&text).text)).collect()
}

/// Sentences are only scanned and never rescored, so only their code is stored.
fn embedding_part(grain: Grain, values: Vec<f32>) -> VectorPart {
    let code = encode_vector(&values);
    let values = if grain == Grain::Sentence { Vec::new() } else { values };
    VectorPart { grain, values, code }
}
