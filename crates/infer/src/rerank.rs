//! Reranking by a provider: a cross-encoder scores how well each document answers the query.
//!
//! Returns scores in the order of the documents; it neither sorts nor drops any. After a timeout the
//! caller keeps its own order.

mod ollama;
mod probe;
mod scores;
mod wire;

use std::time::Duration;

use model::closed;

use crate::error::{Error, ResponseFlaw};
use crate::http::{
    AuthScheme, CallDeadline, CallKind, ProviderClient, ProviderEndpoint, flawed_response,
};
use crate::text;

pub use probe::RerankProbe;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// API of a reranking provider.
    pub enum RerankApi: "reranking provider" {
        Cohere = "cohere",
        /// Hugging Face's text-embeddings-inference.
        Tei = "tei",
        /// llama.cpp, Jina, vLLM and others that answer `/v1/rerank`.
        Compatible = "compatible",
        /// Qwen3-Reranker: Ollama has no reranking API, so the model generates yes or no.
        Ollama = "ollama",
    }
}

/// A configured reranking provider.
#[derive(Clone, Debug)]
pub struct RerankConfig {
    pub api: RerankApi,
    pub endpoint: ProviderEndpoint,
    /// TEI serves one model and takes no name.
    pub model: String,
}

/// A reranker. Clones are cheap and share connections. Calls wait for a server, so async callers move
/// them off their runtime.
#[derive(Clone, Debug)]
pub struct Reranker {
    client: ProviderClient,
    api: RerankApi,
    model: String,
}

impl Reranker {
    /// Sends nothing yet.
    pub fn new(config: &RerankConfig) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        let client = ProviderClient::new(&config.endpoint, AuthScheme::Bearer)?;
        Ok(Self { client, api: config.api, model: config.model.clone() })
    }

    /// Relevance of each document, from 0 to 1, in the order of the documents.
    ///
    /// All scores or an error, within the time limit. Only scores of the same call are comparable.
    pub fn score(
        &self,
        query: &str,
        documents: &[&str],
        time_limit: Duration,
    ) -> Result<Vec<f32>, Error> {
        let deadline = CallKind::Rerank.deadline_within(time_limit);
        let limits = wire::rerank_limits(self.api);
        let query = text::truncate_text(query, limits.max_text_bytes);
        let mut acc = Vec::with_capacity(documents.len());
        // All requests share the deadline.
        for batch in documents.chunks(limits.max_documents) {
            let batch: Vec<&str> =
                batch.iter().map(|it| text::truncate_text(it, limits.max_text_bytes)).collect();
            acc.extend(self.request_scores(query, &batch, &deadline)?);
        }
        scores::to_unit_range(acc).map_err(|it| flawed_response(&self.client, it))
    }

    /// A live test of reachability, latency and quality.
    pub fn probe(&self) -> Result<RerankProbe, Error> {
        probe::probe_reranker(self)
    }

    /// Scores of the documents of one request, as the provider gives them.
    fn request_scores(
        &self,
        query: &str,
        documents: &[&str],
        deadline: &CallDeadline,
    ) -> Result<Vec<f32>, Error> {
        let path = wire::request_path(self.api);
        let body = wire::request_body(self.api, &self.model, query, documents);
        let flaw = |it: ResponseFlaw| flawed_response(&self.client, it);
        match self.api {
            RerankApi::Ollama => {
                let answer = self.client.post(CallKind::Rerank, path, &body, deadline)?;
                Ok(vec![ollama::yes_probability(&answer).map_err(flaw)?])
            }
            RerankApi::Tei => {
                let answer = self.client.post(CallKind::Rerank, path, &body, deadline)?;
                scores::scores_in_order(answer, documents.len()).map_err(flaw)
            }
            RerankApi::Cohere | RerankApi::Compatible => {
                let answer: wire::RerankReply =
                    self.client.post(CallKind::Rerank, path, &body, deadline)?;
                scores::scores_in_order(answer.results, documents.len()).map_err(flaw)
            }
        }
    }
}
