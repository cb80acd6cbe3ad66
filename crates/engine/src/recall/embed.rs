//! Giving memories their vectors: a few at once when they are written or asked for, all of them in
//! the background when the model changed. What was done stays done; the rest is done next time.

use std::time::Duration;

use infer::Embeddings;
use model::Grain;
use store::{Embedding, Part, Store};

use super::book::{Shared, read};
use super::text;
use crate::models::{self, aside};
use crate::{Engine, Error, Notebook, Progress};

/// How many memories are embedded and saved together: what an interruption costs at most.
const AT_ONCE: usize = 32;
/// How long a provider may take for them while somebody waits for something else.
const IN_PASSING: Duration = Duration::from_secs(10);

/// What embedding came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    pub done: usize,
    /// Memories that still have no vector by this model.
    pub left: usize,
    /// Vectors of other models that nobody needs any more.
    pub dropped: usize,
}

/// How many memories the model in use knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub model: String,
    /// Memories without a vector by this model.
    pub lacking: usize,
    pub total: usize,
}

impl Engine {
    /// Gives a vector to up to `limit` memories of any notebook, in passing: a provider that is slow
    /// is not waited for.
    pub async fn embed_few(&self, limit: usize) -> Result<Embedded, Error> {
        let mut res = Embedded::default();
        for Notebook { store, .. } in self.notebooks() {
            let done = self.embed_some(&store, limit.saturating_sub(res.done)).await?;
            res.done += done.done;
            res.left += done.left;
        }
        Ok(res)
    }

    /// Gives a vector to up to `limit` memories that have none.
    pub(crate) async fn embed_some(&self, store: &Store, limit: usize) -> Result<Embedded, Error> {
        let embeddings = self.config.models.embeddings().await?;
        let index = self.index(store).await?;
        let job = Job { embeddings, store: store.clone(), index, patience: IN_PASSING };
        job.run(limit, &Progress::default()).await
    }

    /// Gives a vector to every memory that has none, and drops those of other models once all have
    /// one. Runs until done or stopped; search goes on meanwhile.
    pub async fn embed_all(&self, progress: &Progress) -> Result<Embedded, Error> {
        let embeddings = self.config.models.embeddings().await?;
        let mut jobs = Vec::new();
        for Notebook { store, .. } in self.notebooks() {
            let index = self.index(&store).await?;
            let n_left = read(&index).unembedded().len();
            progress.expect(n_left);
            let (embeddings, patience) = (embeddings.clone(), Duration::MAX);
            jobs.push(Job { embeddings, store, index, patience });
        }
        let mut res = Embedded::default();
        for job in jobs {
            let mut done = job.run(usize::MAX, progress).await?;
            if done.left == 0 {
                let model = embeddings.id().to_owned();
                done.dropped = job.store.drop_other_models(model).await?;
            }
            res.done += done.done;
            res.left += done.left;
            res.dropped += done.dropped;
        }
        Ok(res)
    }

    /// Which model is in use, and how many memories it knows.
    pub async fn coverage(&self) -> Result<Coverage, Error> {
        let model = self.config.models.embeddings().await?.id().to_owned();
        let (lacking, total) = self.unembedded().await?;
        Ok(Coverage { model, lacking, total })
    }

    /// How many memories have no vector by the model in use, of how many.
    pub async fn unembedded(&self) -> Result<(usize, usize), Error> {
        let mut res = (0, 0);
        for Notebook { store, .. } in self.notebooks() {
            let index = self.index(&store).await?;
            let index = read(&index);
            res.0 += index.unembedded().len();
            res.1 += index.n_standing();
        }
        Ok(res)
    }
}

/// One notebook's work.
struct Job {
    embeddings: Embeddings,
    store: Store,
    index: Shared,
    patience: Duration,
}

impl Job {
    async fn run(&self, limit: usize, progress: &Progress) -> Result<Embedded, Error> {
        let lacking = read(&self.index).unembedded().to_vec();
        let mut res = Embedded { left: lacking.len(), ..Embedded::default() };
        for numbers in lacking[..limit.min(lacking.len())].chunks(AT_ONCE) {
            if progress.is_stopped() {
                break;
            }
            let done = self.embed(numbers).await?;
            res.done += done;
            res.left -= done;
            progress.advance(done);
        }
        Ok(res)
    }

    /// Embeds some memories; says how many got their vector. One that changed meanwhile did not.
    async fn embed(&self, numbers: &[i64]) -> Result<usize, Error> {
        let memories = self.store.numbered(numbers.to_vec()).await?;
        let (embedding, patience) = (self.embeddings.clone(), self.patience);
        let model = embedding.id().to_owned();
        let made = aside(move || {
            let texts: Vec<Vec<(Grain, String)>> =
                memories.iter().map(|it| text::texts(&it.1)).collect();
            let flat: Vec<&str> = texts.iter().flatten().map(|it| it.1.as_str()).collect();
            let mut vectors = embedding.embed_documents_within(&flat, patience)?.into_iter();
            let res = memories.iter().zip(&texts).map(|((_, memory), texts)| Embedding {
                owner: memory.id,
                version: memory.version,
                model: model.clone(),
                parts: texts.iter().zip(vectors.by_ref()).map(|(it, to)| part(it.0, to)).collect(),
            });
            Ok::<_, infer::Error>(res.collect::<Vec<_>>())
        });
        let made = made.await?;
        let kept = self.store.put_vectors(made).await?;
        Ok(kept.into_iter().filter(|it| *it).count())
    }
}

/// A sentence is only ever scanned, so its code is all that is kept.
fn part(grain: Grain, values: Vec<f32>) -> Part {
    let code = models::code(&values);
    let values = if grain == Grain::Sentence { Vec::new() } else { values };
    Part { grain, values, code }
}
