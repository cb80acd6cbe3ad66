//! Reranking by a cross-encoder somewhere else: how well does each document answer the query?
//!
//! It neither sorts nor drops. After a timeout the caller keeps its own order.

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

#[derive(Clone, Debug)]
pub struct RerankConfig {
    pub api: RerankApi,
    pub endpoint: ProviderEndpoint,
    /// TEI serves one model and takes no name.
    pub model: String,
}

/// Clones are cheap and share connections. Calls wait for a server, so async callers move them off
/// their runtime.
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
    /// All scores or an error, within the deadline. Scores of one call compare with one another, and
    /// with nothing else.
    pub fn score(
        &self,
        query: &str,
        documents: &[&str],
        deadline: Duration,
    ) -> Result<Vec<f32>, Error> {
        let deadline = CallKind::Rerank.deadline_within(deadline);
        let portion = wire::rerank_limits(self.api);
        let query = text::truncate_text(query, portion.text);
        let mut acc = Vec::with_capacity(documents.len());
        for documents in documents.chunks(portion.texts) {
            let documents: Vec<&str> =
                documents.iter().map(|it| text::truncate_text(it, portion.text)).collect();
            acc.extend(self.request_scores(query, &documents, &deadline)?);
        }
        scores::to_unit_range(acc).map_err(|it| flawed_response(&self.client, it))
    }

    /// A live test: is it there, is it quick, does it know an answer from something else?
    pub fn probe(&self) -> Result<RerankProbe, Error> {
        probe::probe_reranker(self)
    }

    fn request_scores(
        &self,
        query: &str,
        documents: &[&str],
        deadline: &CallDeadline,
    ) -> Result<Vec<f32>, Error> {
        let path = wire::path(self.api);
        let body = wire::body(self.api, &self.model, query, documents);
        let flaw = |it: ResponseFlaw| flawed_response(&self.client, it);
        match self.api {
            RerankApi::Ollama => {
                let answer = self.client.post(CallKind::Rerank, path, &body, deadline)?;
                Ok(vec![ollama::yes_probability(&answer).map_err(flaw)?])
            }
            RerankApi::Tei => {
                let answer = self.client.post(CallKind::Rerank, path, &body, deadline)?;
                scores::in_order(answer, documents.len()).map_err(flaw)
            }
            RerankApi::Cohere | RerankApi::Compatible => {
                let answer: wire::RerankReply =
                    self.client.post(CallKind::Rerank, path, &body, deadline)?;
                scores::in_order(answer.results, documents.len()).map_err(flaw)
            }
        }
    }
}
