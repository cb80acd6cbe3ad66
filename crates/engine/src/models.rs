//! The models of a process: embedding, reranking, text generation.
//!
//! `cli` builds one [`ModelSet`] from the settings and passes it in the `Config` of every project;
//! its clones share the models. A model is loaded or contacted when it is first needed: most commands
//! need none. Everything that computes or waits runs off the caller's runtime. Secrets are redacted
//! before a text leaves the machine: by `rerank` and `generate_text` themselves, but before
//! `embed_query` by its caller, with `text_for_provider`. The models themselves are in the crate
//! `infer`. A *provider* is an external model that the user configured; a *reranker* scores how well
//! a text answers a query.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use infer::{
    BuiltInEmbedder, EmbeddingConfig, EmbeddingModel, EmbeddingProbe, ModelAnswer,
    ModelCalibration, QuestionModel, RerankProbe, Reranker, TextGenerator, TextProbe, TextPrompt,
};
use recall::SimilarityPrior;
use tokio::sync::OnceCell;

use crate::blocking::run_blocking;

/// Time that embedding or reranking may add to a search. After that the search goes on without it.
pub(crate) const QUERY_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Time for a generated answer, which the user asked for.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// Queries whose vectors are cached.
const MAX_CACHED_QUERIES: usize = 256;

/// Time for a provider to report its model. A provider that loads the model only now may need
/// longer; the next command finds it loaded.
const PROVIDER_OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Creates a model that takes time to create, for example because its key comes from a key store.
/// Called once, when the model is first needed.
pub type ModelFactory<T> = Arc<dyn Fn() -> Result<T, infer::Error> + Send + Sync>;

/// Query texts with their vectors, newest last.
type QueryVectorCache = VecDeque<(String, Vec<f32>)>;

/// The source of embeddings.
#[derive(Clone)]
pub enum EmbeddingSource {
    /// The model inside the binary.
    BuiltIn(BuiltInEmbedder),
    /// A provider with known settings.
    Provider(EmbeddingConfig),
    /// A provider whose settings are read when it is first needed.
    Lazy(ModelFactory<EmbeddingConfig>),
}

/// All models that a process may use. Clones share them.
#[derive(Clone)]
pub struct ModelSet {
    source: EmbeddingSource,
    /// The embedding model, or the error with which it failed to open.
    opened_embeddings: Arc<OnceCell<Result<EmbeddingModel, infer::Error>>>,
    /// A cache, because agents repeat their queries.
    query_vectors: Arc<Mutex<QueryVectorCache>>,
    reranker: Option<LazyModel<Reranker>>,
    generator: Option<LazyModel<TextGenerator>>,
    /// Answers questions about sessions.
    question_model: Option<LazyModel<QuestionModel>>,
}

impl ModelSet {
    /// A set with models that are at hand. An absent reranker or generator turns its stages off.
    pub fn new(
        source: EmbeddingSource,
        reranker: Option<Reranker>,
        generator: Option<TextGenerator>,
    ) -> Self {
        Self::with_factories(source, reranker.map(ready_factory), generator.map(ready_factory))
    }

    /// Like `new`, with a reranker and a generator that are created on first use.
    pub fn with_factories(
        source: EmbeddingSource,
        reranker: Option<ModelFactory<Reranker>>,
        generator: Option<ModelFactory<TextGenerator>>,
    ) -> Self {
        let (reranker, generator) = (reranker.map(LazyModel::new), generator.map(LazyModel::new));
        let (opened_embeddings, query_vectors) = (Arc::default(), Arc::default());
        let question_model = None;
        Self { source, opened_embeddings, query_vectors, reranker, generator, question_model }
    }

    /// The same set with a model that answers questions about sessions, created on first use.
    #[must_use]
    pub fn with_question_model(self, factory: ModelFactory<QuestionModel>) -> Self {
        Self { question_model: Some(LazyModel::new(factory)), ..self }
    }

    /// Returns whether a model answers questions about sessions.
    pub fn can_answer_questions(&self) -> bool {
        self.question_model.is_some()
    }

    /// The built-in embedding model, without reranker and generator.
    pub fn built_in() -> Self {
        Self::new(EmbeddingSource::BuiltIn(BuiltInEmbedder::new()), None, None)
    }

    pub fn can_rerank(&self) -> bool {
        self.reranker.is_some()
    }

    pub fn can_generate(&self) -> bool {
        self.generator.is_some()
    }

    /// True if texts are embedded in this process, so that none leaves the machine.
    pub const fn is_built_in(&self) -> bool {
        matches!(self.source, EmbeddingSource::BuiltIn(_))
    }

    /// Loads the built-in model on its own thread, so that it is ready for the first search.
    pub fn preload(&self) {
        if let EmbeddingSource::BuiltIn(embedder) = &self.source {
            let embedder = embedder.clone();
            // A search that comes first loads the model itself, so a failed thread does no harm.
            let _ = std::thread::Builder::new()
                .name("waylore-model".to_owned())
                .spawn(move || embedder.load_now());
        }
    }

    /// Frees the weights; the next search loads them again.
    pub fn release(&self) {
        if let EmbeddingSource::BuiltIn(embedder) = &self.source {
            embedder.release();
        }
    }

    /// The embedding model, opened on first use. The result is final for this process: a provider
    /// that failed is not contacted again, and the built-in model does not replace it, because its
    /// vectors are not comparable.
    pub(crate) async fn embeddings(&self) -> Result<EmbeddingModel, infer::Error> {
        let open = || async {
            match self.source.clone() {
                EmbeddingSource::BuiltIn(it) => Ok(EmbeddingModel::BuiltIn(it)),
                EmbeddingSource::Provider(config) => {
                    run_blocking(move || {
                        EmbeddingModel::open_within(&config, PROVIDER_OPEN_TIMEOUT)
                    })
                    .await
                }
                EmbeddingSource::Lazy(config) => {
                    run_blocking(move || {
                        EmbeddingModel::open_within(&config()?, PROVIDER_OPEN_TIMEOUT)
                    })
                    .await
                }
            }
        };
        self.opened_embeddings.get_or_init(open).await.clone()
    }

    /// Embeds a query, or returns its cached vector. The caller redacts the text first, with
    /// [`text_for_provider`](Self::text_for_provider).
    pub(crate) async fn embed_query(&self, text: &str) -> Result<Vec<f32>, infer::Error> {
        let embeddings = self.embeddings().await?;
        if let Some((_, vector)) = self.cached_queries().iter().find(|(query, _)| query == text) {
            return Ok(vector.clone());
        }
        let query = text.to_owned();
        let vector = run_blocking(move || embeddings.embed_query(&query, QUERY_TIMEOUT)).await?;
        // The lock is taken again, because it must not be held while the model computes.
        let mut cached = self.cached_queries();
        cached.push_back((text.to_owned(), vector.clone()));
        if cached.len() > MAX_CACHED_QUERIES {
            cached.pop_front();
        }
        Ok(vector)
    }

    fn cached_queries(&self) -> MutexGuard<'_, QueryVectorCache> {
        self.query_vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The query text as the embedding model may see it: secrets are not sent to a provider.
    pub(crate) fn text_for_provider(&self, text: &str) -> String {
        if self.is_built_in() { text.to_owned() } else { secrets::redact(text).text }
    }

    /// Tests the embedding model with a real request.
    pub async fn probe_embeddings(&self) -> Result<EmbeddingProbe, infer::Error> {
        let embeddings = self.embeddings().await?;
        run_blocking(move || embeddings.probe()).await
    }

    /// Tests the reranker with a real request; `None` without one.
    pub async fn probe_reranker(&self) -> Option<Result<RerankProbe, infer::Error>> {
        let reranker = self.reranker.clone()?.get().await;
        Some(run_blocking(move || reranker?.probe()).await)
    }

    /// Tests the language model with a real request; `None` without one.
    pub async fn probe_text(&self) -> Option<Result<TextProbe, infer::Error>> {
        let generator = self.generator.clone()?.get().await;
        Some(run_blocking(move || generator?.probe()).await)
    }

    /// Scores how well each text answers the query, 0 to 1; `None` without a reranker. Secrets are
    /// redacted before anything is sent.
    pub(crate) async fn rerank(
        &self,
        query: &str,
        texts: Vec<String>,
    ) -> Option<Result<Vec<f32>, infer::Error>> {
        let reranker = self.reranker.clone()?.get().await;
        let query = query.to_owned();
        Some(
            run_blocking(move || {
                // Redaction is part of the blocking work: it scans every text.
                let redact = |it: &str| secrets::redact(it).text;
                let texts: Vec<String> = texts.iter().map(|it| redact(it)).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                reranker?.score(&redact(&query), &texts, QUERY_TIMEOUT)
            })
            .await,
        )
    }

    /// Lets the language model write a text; `None` without one. Secrets are redacted before anything
    /// is sent.
    pub(crate) async fn generate_text(
        &self,
        system: &'static str,
        user: String,
        max_tokens: u32,
        timeout: Duration,
    ) -> Option<Result<String, infer::Error>> {
        let generator = self.generator.clone()?.get().await;
        Some(
            run_blocking(move || {
                let user = secrets::redact(&user).text;
                generator?.complete(&TextPrompt { system, user: &user, max_tokens }, timeout)
            })
            .await,
        )
    }
}

impl ModelSet {
    /// Asks the model of sessions; `None` without one. Secrets are redacted before anything is sent.
    pub(crate) async fn answer_question(
        &self,
        system: &'static str,
        user: String,
        max_tokens: u32,
        timeout: Duration,
    ) -> Option<Result<ModelAnswer, infer::Error>> {
        let question_model = self.question_model.clone()?.get().await;
        Some(
            run_blocking(move || {
                let user = secrets::redact(&user).text;
                question_model?.answer(&TextPrompt { system, user: &user, max_tokens }, timeout)
            })
            .await,
        )
    }
}

/// A factory for a model that is at hand already.
fn ready_factory<T: Clone + Send + Sync + 'static>(model: T) -> ModelFactory<T> {
    Arc::new(move || Ok(model.clone()))
}

/// A model that is created on first use. A failure is final: the factory is called once.
struct LazyModel<T> {
    factory: ModelFactory<T>,
    created: Arc<OnceCell<Result<T, infer::Error>>>,
}

impl<T> Clone for LazyModel<T> {
    fn clone(&self) -> Self {
        Self { factory: Arc::clone(&self.factory), created: Arc::clone(&self.created) }
    }
}

impl<T: Clone + Send + 'static> LazyModel<T> {
    fn new(factory: ModelFactory<T>) -> Self {
        Self { factory, created: Arc::default() }
    }

    async fn get(&self) -> Result<T, infer::Error> {
        let create = || async {
            let factory = Arc::clone(&self.factory);
            run_blocking(move || factory()).await
        };
        self.created.get_or_init(create).await.clone()
    }
}

/// The meaning of cosines of one embedding model, as fractions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CosineCalibration {
    /// Mean cosine of unrelated texts.
    pub(crate) unrelated: f32,
    /// Cosine that one unrelated pair in a hundred exceeds.
    pub(crate) chance: f32,
    /// Cosine from which two texts are duplicates.
    pub(crate) duplicate: f32,
    /// The values were measured for this model and are not defaults.
    pub(crate) measured: bool,
}

impl CosineCalibration {
    /// The part that the statistics of a small notebook start from.
    pub(crate) const fn prior(self) -> SimilarityPrior {
        SimilarityPrior { unrelated: self.unrelated, chance: self.chance, measured: self.measured }
    }
}

/// Looks up the calibration of a model; an unknown model gets defaults.
pub(crate) fn cosine_calibration(model: &str) -> CosineCalibration {
    let ModelCalibration { unrelated, chance, duplicate, measured, .. } =
        infer::calibration_for(model);
    let fraction = |it: u16| f32::from(it) / 1000.0;
    let (unrelated, chance, duplicate) =
        (fraction(unrelated), fraction(chance), fraction(duplicate));
    CosineCalibration { unrelated, chance, duplicate, measured }
}
