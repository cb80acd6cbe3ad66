//! Requests for scores and their answers, as each interface spells them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{RerankApi, ollama};

pub(super) struct Portion {
    /// Documents in one request.
    pub(super) texts: usize,
    /// Bytes of one document, and of the query; what is beyond is not read.
    pub(super) text: usize,
}

impl RerankApi {
    #[rustfmt::skip]
    pub(super) const fn portion(self) -> Portion {
        match self {
            //                                  texts        text
            Self::Cohere     => Portion { texts: 1_000, text: 16_000 },
            Self::Tei        => Portion { texts: 32,    text: 16_000 }, // unless told otherwise
            Self::Compatible => Portion { texts: 100,   text: 16_000 },
            Self::Ollama     => Portion { texts: 1,     text:  6_000 }, // it reads 4,096 tokens unless told otherwise
        }
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Cohere => "/v2/rerank",
            Self::Tei => "/rerank",
            Self::Compatible => "/v1/rerank",
            Self::Ollama => "/api/generate",
        }
    }

    pub(super) fn body(self, model: &str, query: &str, documents: &[&str]) -> Value {
        let n_documents = documents.len();
        match self {
            Self::Cohere | Self::Compatible => {
                json!({ "model": model, "query": query, "documents": documents, "top_n": n_documents })
            }
            Self::Tei => {
                json!({ "query": query, "texts": documents, "raw_scores": false, "return_text": false, "truncate": true })
            }
            Self::Ollama => ollama::body(model, query, documents[0]),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) results: Vec<Scored>,
}

#[derive(Deserialize)]
pub(super) struct Scored {
    pub(super) index: usize,
    /// TEI says `score`, everybody else `relevance_score`.
    #[serde(alias = "relevance_score")]
    pub(super) score: f32,
}
