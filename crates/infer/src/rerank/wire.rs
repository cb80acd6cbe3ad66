//! Requests for scores and their answers, as each interface spells them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{RerankApi, ollama};

pub(super) struct RerankLimits {
    /// Documents in one request.
    pub(super) texts: usize,
    /// Bytes of one document, and of the query; what is beyond is not read.
    pub(super) text: usize,
}

#[rustfmt::skip]
pub(super) const fn rerank_limits(api: RerankApi) -> RerankLimits {
    match api {
        //                                  texts        text
        RerankApi::Cohere     => RerankLimits { texts: 1_000, text: 16_000 },
        RerankApi::Tei        => RerankLimits { texts: 32,    text: 16_000 }, // unless told otherwise
        RerankApi::Compatible => RerankLimits { texts: 100,   text: 16_000 },
        RerankApi::Ollama     => RerankLimits { texts: 1,     text:  6_000 }, // it reads 4,096 tokens unless told otherwise
    }
}

pub(super) const fn path(api: RerankApi) -> &'static str {
    match api {
        RerankApi::Cohere => "/v2/rerank",
        RerankApi::Tei => "/rerank",
        RerankApi::Compatible => "/v1/rerank",
        RerankApi::Ollama => "/api/generate",
    }
}

pub(super) fn body(api: RerankApi, model: &str, query: &str, documents: &[&str]) -> Value {
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
