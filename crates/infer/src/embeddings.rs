//! Vectors from wherever they are configured to come from: the built-in model or one provider.
//!
//! A provider that fails is an error, never another model's vectors. Nothing partial is returned.

mod batch;
mod ids;
mod probe;
mod remote;
mod vectors;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use model::closed;

use crate::embedder::BuiltInEmbedder;
use crate::error::Error;
use crate::http::ProviderEndpoint;
use crate::{DIMS, MODEL_ID};

pub use probe::EmbeddingProbe;
use remote::RemoteEmbeddings;

closed! {
    /// API of an embedding provider.
    pub enum EmbeddingApi: "embedding provider" {
        Ollama = "ollama",
        /// OpenAI itself. Not `Compatible`: it takes larger requests.
        OpenAi = "openai",
        /// TEI, llama.cpp, LM Studio and others with the API of OpenAI.
        Compatible = "compatible",
        /// Nearly as OpenAI, with other names for two fields and a refusal of the usual ones.
        Voyage = "voyage",
    }
}

#[derive(Clone, Debug)]
pub struct EmbeddingConfig {
    pub api: EmbeddingApi,
    pub endpoint: ProviderEndpoint,
    pub model: String,
    /// Requested dimensions, checked; the model's own if absent.
    pub dims: Option<usize>,
}

/// One source of vectors. Clones are cheap and share connections.
///
/// Calls compute or wait for a server, so async callers move them off their runtime.
#[derive(Clone)]
pub enum EmbeddingModel {
    BuiltIn(BuiltInEmbedder),
    Provider(EmbeddingProvider),
}

/// A provider that answered once and whose model is known.
#[derive(Clone, Debug)]
pub struct EmbeddingProvider(Arc<RemoteEmbeddings>);

impl EmbeddingModel {
    /// Asks the provider what the model is, so it may take seconds; texts are sent only to learn
    /// the length of vectors where nothing else says it, and then they are ours.
    pub fn open(config: &EmbeddingConfig) -> Result<Self, Error> {
        Self::open_within(config, Duration::MAX)
    }

    /// Like `open` with a time limit for measuring the dimensions.
    pub fn open_within(config: &EmbeddingConfig, patience: Duration) -> Result<Self, Error> {
        RemoteEmbeddings::open(config, patience)
            .map(|it| Self::Provider(EmbeddingProvider(Arc::new(it))))
    }

    /// Vectors with different ids are never compared.
    pub fn id(&self) -> &str {
        match self {
            Self::BuiltIn(_) => MODEL_ID,
            Self::Provider(EmbeddingProvider(it)) => &it.id,
        }
    }

    pub fn dims(&self) -> usize {
        match self {
            Self::BuiltIn(_) => DIMS,
            Self::Provider(EmbeddingProvider(it)) => it.dims,
        }
    }

    /// Vectors of texts that are to be found, in their order, each of length one.
    ///
    /// Many texts become several requests, each with its own time; a caller that wants to stop in
    /// between gives fewer texts.
    pub fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        self.embed_documents_within(texts, Duration::MAX)
    }

    /// Like `embed_documents` with a time limit per request.
    pub fn embed_documents_within(
        &self,
        texts: &[&str],
        patience: Duration,
    ) -> Result<Vec<Vec<f32>>, Error> {
        match self {
            Self::BuiltIn(it) => Ok(it.embed(texts)),
            Self::Provider(EmbeddingProvider(it)) => it.embed_documents(texts, patience),
        }
    }

    /// The vector of a question. The built-in model takes milliseconds and no notice of the deadline.
    pub fn embed_query(&self, text: &str, deadline: Duration) -> Result<Vec<f32>, Error> {
        match self {
            Self::BuiltIn(it) => Ok(it.embed_one(text)),
            Self::Provider(EmbeddingProvider(it)) => it.embed_query(text, deadline),
        }
    }

    /// A live test: is it there, is it the same model, is it quick, does it know what belongs together?
    pub fn probe(&self) -> Result<EmbeddingProbe, Error> {
        if let Self::Provider(EmbeddingProvider(it)) = self {
            it.check_unchanged()?;
        }
        probe::probe_embeddings(self)
    }
}
