//! Reranking by a cross-encoder somewhere else: how well does each document answer the query?
//!
//! It sorts nothing and drops nothing. A caller whose time runs out keeps the order it had.

mod ollama;
mod probe;
mod scores;
mod wire;

use std::time::Duration;

use model::closed;

use crate::error::{Error, Flaw};
use crate::http::{Auth, Call, Client, Deadline, Endpoint};
use crate::text;

pub use probe::RerankProbe;

closed! {
    /// Whose interface a reranker speaks.
    pub enum RerankApi: "reranking provider" {
        Cohere = "cohere",
        /// Hugging Face's text-embeddings-inference.
        Tei = "tei",
        /// llama.cpp, Jina, vLLM and others that answer `/v1/rerank`.
        Compatible = "compatible",
        /// Qwen3-Reranker: Ollama has no reranking, so the model is asked yes or no.
        Ollama = "ollama",
    }
}

#[derive(Clone, Debug)]
pub struct RerankConfig {
    pub api: RerankApi,
    pub endpoint: Endpoint,
    /// TEI serves one model and takes no name.
    pub model: String,
}

/// Clones are cheap and share connections. Calls wait for a server, so async callers move them off
/// their runtime.
#[derive(Clone, Debug)]
pub struct Reranker {
    client: Client,
    api: RerankApi,
    model: String,
}

impl Reranker {
    /// Sends nothing yet.
    pub fn new(config: &RerankConfig) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        let client = Client::new(&config.endpoint, Auth::Bearer)?;
        Ok(Self { client, api: config.api, model: config.model.clone() })
    }

    /// How well each document answers the query, from 0 to 1, in the order of the documents.
    ///
    /// All scores or an error, within the deadline. Scores of one call compare with one another, and
    /// with nothing else.
    pub fn score(
        &self,
        query: &str,
        documents: &[&str],
        deadline: Duration,
    ) -> Result<Vec<f32>, Error> {
        let deadline = Call::Rerank.within(deadline);
        let portion = self.api.portion();
        let query = text::cut(query, portion.text);
        let mut acc = Vec::with_capacity(documents.len());
        for documents in documents.chunks(portion.texts) {
            let documents: Vec<&str> =
                documents.iter().map(|it| text::cut(it, portion.text)).collect();
            acc.extend(self.ask(query, &documents, &deadline)?);
        }
        scores::unit(acc).map_err(|it| self.client.flaw(it))
    }

    /// A live test: is it there, is it quick, does it know an answer from something else?
    pub fn probe(&self) -> Result<RerankProbe, Error> {
        probe::probe(self)
    }

    fn ask(&self, query: &str, documents: &[&str], deadline: &Deadline) -> Result<Vec<f32>, Error> {
        let path = self.api.path();
        let body = self.api.body(&self.model, query, documents);
        let flaw = |it: Flaw| self.client.flaw(it);
        match self.api {
            RerankApi::Ollama => {
                let answer = self.client.post(Call::Rerank, path, &body, deadline)?;
                Ok(vec![ollama::vote(&answer).map_err(flaw)?])
            }
            RerankApi::Tei => {
                let answer = self.client.post(Call::Rerank, path, &body, deadline)?;
                scores::in_order(answer, documents.len()).map_err(flaw)
            }
            RerankApi::Cohere | RerankApi::Compatible => {
                let answer: wire::Answer = self.client.post(Call::Rerank, path, &body, deadline)?;
                scores::in_order(answer.results, documents.len()).map_err(flaw)
            }
        }
    }
}
