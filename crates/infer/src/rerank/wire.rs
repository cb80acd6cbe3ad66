//! JSON of the reranking APIs: limits, paths, request bodies and responses.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{RerankApi, ollama};

/// Limits of one request.
pub(super) struct RerankLimits {
    /// Documents in one request.
    pub(super) max_documents: usize,
    /// Bytes of one document, and of the query; the rest is not sent.
    pub(super) max_text_bytes: usize,
}

#[rustfmt::skip]
pub(super) const fn rerank_limits(api: RerankApi) -> RerankLimits {
    match api {
        // TEI accepts 32 documents by default; Ollama reads 4,096 tokens by default.
        RerankApi::Cohere     => RerankLimits { max_documents: 1_000, max_text_bytes: 16_000 },
        RerankApi::Tei        => RerankLimits { max_documents: 32,    max_text_bytes: 16_000 },
        RerankApi::Compatible => RerankLimits { max_documents: 100,   max_text_bytes: 16_000 },
        RerankApi::Ollama     => RerankLimits { max_documents: 1,     max_text_bytes:  6_000 },
    }
}

pub(super) const fn request_path(api: RerankApi) -> &'static str {
    match api {
        RerankApi::Cohere => "/v2/rerank",
        RerankApi::Tei => "/rerank",
        RerankApi::Compatible => "/v1/rerank",
        RerankApi::Ollama => "/api/generate",
    }
}

pub(super) fn request_body(api: RerankApi, model: &str, query: &str, documents: &[&str]) -> Value {
    let n_documents = documents.len();
    match api {
        RerankApi::Cohere | RerankApi::Compatible => {
            json!({ "model": model, "query": query, "documents": documents, "top_n": n_documents })
        }
        RerankApi::Tei => {
            json!({ "query": query, "texts": documents, "raw_scores": false, "return_text": false, "truncate": true })
        }
        RerankApi::Ollama => ollama::rerank_body(model, query, documents[0]),
    }
}

#[derive(Deserialize)]
pub(super) struct RerankReply {
    pub(super) results: Vec<ScoredDocument>,
}

#[derive(Deserialize)]
pub(super) struct ScoredDocument {
    pub(super) index: usize,
    /// TEI sends `score`, other servers `relevance_score`.
    #[serde(alias = "relevance_score")]
    pub(super) score: f32,
}
