//! Embedding models behind one interface: the built-in model or one configured provider.
//!
//! A provider that fails is an error; it is never replaced by another model, whose vectors would not
//! be comparable. A call returns all vectors or an error.

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

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// API of an embedding provider.
    pub enum EmbeddingApi: "embedding provider" {
        Ollama = "ollama",
        /// OpenAI itself. Not `Compatible`: it takes larger requests.
        OpenAi = "openai",
        /// TEI, llama.cpp, LM Studio and others with the API of OpenAI.
        Compatible = "compatible",
        /// Nearly the API of OpenAI. Not `Compatible`: it has other names for two fields and rejects
        /// the usual ones.
        Voyage = "voyage",
    }
}

/// A configured embedding provider.
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
    /// Requests the properties of the model from the provider, so it may take seconds. A text of ours
    /// is sent only if the length of the vectors cannot be found otherwise.
    pub fn open(config: &EmbeddingConfig) -> Result<Self, Error> {
        Self::open_within(config, Duration::MAX)
    }

    /// Like `open` with a time limit for measuring the dimensions.
    pub fn open_within(config: &EmbeddingConfig, time_limit: Duration) -> Result<Self, Error> {
        RemoteEmbeddings::open(config, time_limit)
            .map(|it| Self::Provider(EmbeddingProvider(Arc::new(it))))
    }

    /// Id of the model. Vectors of different ids are never compared.
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

    /// Vectors of texts to be stored and searched, in their order, each of length one.
    ///
    /// Many texts become several requests, each with its own time limit; a caller that wants to stop
    /// in between passes fewer texts.
    pub fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        self.embed_documents_within(texts, Duration::MAX)
    }

    /// Like `embed_documents` with a time limit per request.
    pub fn embed_documents_within(
        &self,
        texts: &[&str],
        time_limit: Duration,
    ) -> Result<Vec<Vec<f32>>, Error> {
        match self {
            Self::BuiltIn(it) => Ok(it.embed(texts)),
            Self::Provider(EmbeddingProvider(it)) => it.embed_documents(texts, time_limit),
        }
    }

    /// The vector of a query. The built-in model takes milliseconds and ignores the time limit.
    pub fn embed_query(&self, text: &str, time_limit: Duration) -> Result<Vec<f32>, Error> {
        match self {
            Self::BuiltIn(it) => Ok(it.embed_one(text)),
            Self::Provider(EmbeddingProvider(it)) => it.embed_query(text, time_limit),
        }
    }

    /// A live test of reachability, identity, latency and quality.
    pub fn probe(&self) -> Result<EmbeddingProbe, Error> {
        if let Self::Provider(EmbeddingProvider(it)) = self {
            it.check_unchanged()?;
        }
        probe::probe_embeddings(self)
    }
}
