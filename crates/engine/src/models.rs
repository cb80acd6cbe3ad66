//! The models a process uses: where vectors come from, and who reranks and writes, if anybody does.
//!
//! Nothing is loaded, opened or asked before it is needed. What is computed or waited for leaves the
//! caller's runtime here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use infer::{
    Calibration, Embedder, EmbeddingConfig, Embeddings, Generator, Probe, Prompt, RerankProbe,
    Reranker, TextProbe, encode_i8,
};
use recall::Prior;
use tokio::sync::OnceCell;
use tokio::task;

/// What a question may cost in time before it is answered without.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1_500);
/// What a written answer may take: somebody asked for it and waits.
pub(crate) const LONG_PATIENCE: Duration = Duration::from_mins(1);

/// How many questions' vectors are kept.
const QUESTIONS: usize = 256;

/// How long a provider may take to say what its model is. A model that is loaded only then may
/// need longer; the next command finds it loaded.
const OPENING: Duration = Duration::from_secs(10);

/// How to make something that costs more than a glance: a key may have to be fetched, a server asked.
/// Followed when it is first needed, once.
pub type Recipe<T> = Arc<dyn Fn() -> Result<T, infer::Error> + Send + Sync>;

/// Questions with their vectors.
type Questions = VecDeque<(String, Vec<f32>)>;

/// Where vectors come from.
#[derive(Clone)]
pub enum VectorSource {
    /// The model that is part of the program.
    BuiltIn(Embedder),
    /// A provider, asked when it is first needed.
    Provider(EmbeddingConfig),
    /// A provider of which only the recipe is known so far.
    Later(Recipe<EmbeddingConfig>),
}

/// Every model a process may use. Clones share them.
#[derive(Clone)]
pub struct Models {
    source: VectorSource,
    opened: Arc<OnceCell<Result<Embeddings, infer::Error>>>,
    /// The vectors of the last questions, newest last: agents ask the same again and again.
    asked: Arc<Mutex<Questions>>,
    reranker: Option<Late<Reranker>>,
    generator: Option<Late<Generator>>,
}

/// What a recipe makes, and whether it was made already.
struct Late<T> {
    recipe: Recipe<T>,
    made: Arc<OnceCell<Result<T, infer::Error>>>,
}

impl<T> Clone for Late<T> {
    fn clone(&self) -> Self {
        Self { recipe: Arc::clone(&self.recipe), made: Arc::clone(&self.made) }
    }
}

impl<T: Clone + Send + 'static> Late<T> {
    fn new(recipe: Recipe<T>) -> Self {
        Self { recipe, made: Arc::default() }
    }

    async fn get(&self) -> Result<T, infer::Error> {
        let make = || async {
            let recipe = Arc::clone(&self.recipe);
            aside(move || recipe()).await
        };
        self.made.get_or_init(make).await.clone()
    }
}

impl Models {
    pub fn new(
        source: VectorSource,
        reranker: Option<Reranker>,
        generator: Option<Generator>,
    ) -> Self {
        let reranker = reranker.map(|it| -> Recipe<Reranker> { Arc::new(move || Ok(it.clone())) });
        let generator =
            generator.map(|it| -> Recipe<Generator> { Arc::new(move || Ok(it.clone())) });
        Self::later(source, reranker, generator)
    }

    /// As `new`, with whoever reranks and writes made when first needed.
    pub fn later(
        source: VectorSource,
        reranker: Option<Recipe<Reranker>>,
        generator: Option<Recipe<Generator>>,
    ) -> Self {
        let (reranker, generator) = (reranker.map(Late::new), generator.map(Late::new));
        Self { source, opened: Arc::default(), asked: Arc::default(), reranker, generator }
    }

    /// The built-in model alone.
    pub fn built_in() -> Self {
        Self::new(VectorSource::BuiltIn(Embedder::new()), None, None)
    }

    pub fn can_rerank(&self) -> bool {
        self.reranker.is_some()
    }

    pub fn can_write(&self) -> bool {
        self.generator.is_some()
    }

    /// Whether vectors are made here, so that no text leaves the machine for them.
    pub const fn is_built_in(&self) -> bool {
        matches!(self.source, VectorSource::BuiltIn(_))
    }

    /// Loads the built-in model on a thread of its own, so that the first question finds it ready.
    pub fn warm(&self) {
        if let VectorSource::BuiltIn(it) = &self.source {
            let it = it.clone();
            // Whoever needs it sooner waits for this thread, or loads it, whichever comes first.
            let _ = std::thread::Builder::new()
                .name("waylore-model".to_owned())
                .spawn(move || it.warm());
        }
    }

    /// Lets go of the weights; the next question loads them again.
    pub fn release(&self) {
        if let VectorSource::BuiltIn(it) = &self.source {
            it.release();
        }
    }

    /// The source of vectors, opened now if need be. A provider that fails keeps failing for this
    /// process: one wait is enough, and vectors of another model would be worse than none.
    pub(crate) async fn embeddings(&self) -> Result<Embeddings, infer::Error> {
        let open = || async {
            match self.source.clone() {
                VectorSource::BuiltIn(it) => Ok(Embeddings::BuiltIn(it)),
                VectorSource::Provider(config) => {
                    aside(move || Embeddings::open_within(&config, OPENING)).await
                }
                VectorSource::Later(recipe) => {
                    aside(move || Embeddings::open_within(&recipe()?, OPENING)).await
                }
            }
        };
        self.opened.get_or_init(open).await.clone()
    }

    /// The vector of a question.
    pub(crate) async fn query(&self, text: &str) -> Result<Vec<f32>, infer::Error> {
        let embeddings = self.embeddings().await?;
        if let Some(known) = self.last_questions().iter().find(|it| it.0 == text) {
            return Ok(known.1.clone());
        }
        let question = text.to_owned();
        let vector = aside(move || embeddings.embed_query(&question, PATIENCE)).await?;
        let mut asked = self.last_questions();
        asked.push_back((text.to_owned(), vector.clone()));
        if asked.len() > QUESTIONS {
            asked.pop_front();
        }
        Ok(vector)
    }

    fn last_questions(&self) -> MutexGuard<'_, Questions> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A question as the source of vectors may see it: a secret in it does not leave the machine.
    pub(crate) fn sayable(&self, text: &str) -> String {
        if self.is_built_in() { text.to_owned() } else { secrets::redact(text).text }
    }

    /// A live test of the source of vectors.
    pub async fn probe_embeddings(&self) -> Result<Probe, infer::Error> {
        let embeddings = self.embeddings().await?;
        aside(move || embeddings.probe()).await
    }

    /// A live test of the reranker; `None` without one.
    pub async fn probe_reranker(&self) -> Option<Result<RerankProbe, infer::Error>> {
        let reranker = self.reranker.clone()?.get().await;
        Some(aside(move || reranker?.probe()).await)
    }

    /// A live test of the language model; `None` without one.
    pub async fn probe_text(&self) -> Option<Result<TextProbe, infer::Error>> {
        let generator = self.generator.clone()?.get().await;
        Some(aside(move || generator?.probe()).await)
    }

    /// How well each text answers the question, from 0 to 1; `None` without a reranker. Secrets stay here.
    pub(crate) async fn rerank(
        &self,
        query: &str,
        texts: Vec<String>,
    ) -> Option<Result<Vec<f32>, infer::Error>> {
        let reranker = self.reranker.clone()?.get().await;
        let query = query.to_owned();
        Some(
            aside(move || {
                let clean = |it: &str| secrets::redact(it).text;
                let texts: Vec<String> = texts.iter().map(|it| clean(it)).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                reranker?.score(&clean(&query), &texts, PATIENCE)
            })
            .await,
        )
    }

    /// What a language model writes; `None` without one. Secrets stay here.
    pub(crate) async fn write(
        &self,
        system: &'static str,
        user: String,
        max_tokens: u32,
        patience: Duration,
    ) -> Option<Result<String, infer::Error>> {
        let generator = self.generator.clone()?.get().await;
        Some(
            aside(move || {
                let user = secrets::redact(&user).text;
                generator?.complete(&Prompt { system, user: &user, max_tokens }, patience)
            })
            .await,
        )
    }
}

/// Runs what computes or waits away from the caller's runtime.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    task::spawn_blocking(work).await.expect("models report errors and do not panic")
}

/// From here on only the beginning of a vector is scanned: such models put what matters there.
const LONG: usize = 512;
const BEGINNING: usize = 256;

/// The length of the codes of vectors of this length.
pub(crate) const fn code_dims(dims: usize) -> usize {
    if dims > LONG { BEGINNING } else { dims }
}

/// What is scanned of a vector: all of it, or its beginning brought back to length one.
pub(crate) fn head(values: &[f32]) -> Vec<f32> {
    let head = &values[..code_dims(values.len()).min(values.len())];
    let length = head.iter().map(|it| it * it).sum::<f32>().sqrt();
    if head.len() == values.len() || length <= f32::EPSILON {
        return head.to_vec();
    }
    head.iter().map(|it| it / length).collect()
}

/// The code of a vector.
pub(crate) fn code(values: &[f32]) -> Vec<i8> {
    encode_i8(&head(values))
}

/// What a cosine of this model means, as fractions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning {
    pub(crate) unrelated: f32,
    pub(crate) chance: f32,
    pub(crate) duplicate: f32,
    /// Whether somebody measured it.
    pub(crate) measured: bool,
}

impl Meaning {
    pub(crate) const fn prior(self) -> Prior {
        Prior { unrelated: self.unrelated, chance: self.chance, measured: self.measured }
    }
}

pub(crate) fn meaning(model: &str) -> Meaning {
    let Calibration { unrelated, chance, duplicate, measured, .. } = infer::calibration(model);
    let part = |it: u16| f32::from(it) / 1000.0;
    let (unrelated, chance, duplicate) = (part(unrelated), part(chance), part(duplicate));
    Meaning { unrelated, chance, duplicate, measured }
}
