//! JSON of the embedding APIs: paths, request bodies and responses.
//!
//! Ollama answers with the vectors in the order of the texts, `{"embeddings": [[…], […]]}`; the others
//! give an index with each vector, `{"data": [{"index": 1, "embedding": […]}, …]}`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::EmbeddingApi;
use crate::error::ResponseFlaw;

/// Role of a text; some models embed queries and documents differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRole {
    Query,
    Document,
}

/// One request.
pub(super) struct EmbeddingRequest<'a> {
    pub(super) model: &'a str,
    pub(super) texts: &'a [String],
    pub(super) dims: Option<usize>,
    pub(super) role: TextRole,
}

/// Time that Ollama keeps the model loaded after a request.
const KEEP_ALIVE: &str = "5m";

pub(super) const fn request_path(api: EmbeddingApi) -> &'static str {
    match api {
        EmbeddingApi::Ollama => "/api/embed",
        EmbeddingApi::OpenAi | EmbeddingApi::Compatible | EmbeddingApi::Voyage => "/v1/embeddings",
    }
}

pub(super) fn request_body(api: EmbeddingApi, request: &EmbeddingRequest<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("input".to_owned(), json!(request.texts));
    let api_fields = match api {
        EmbeddingApi::Ollama => json!({ "truncate": true, "keep_alive": KEEP_ALIVE }),
        EmbeddingApi::OpenAi | EmbeddingApi::Compatible => json!({ "encoding_format": "float" }),
        EmbeddingApi::Voyage => json!({ "input_type": request.role.slug(), "truncation": true }),
    };
    body.extend(api_fields.as_object().cloned().unwrap_or_default());
    if let Some(dims) = request.dims {
        body.insert(dims_field(api).to_owned(), json!(dims));
    }
    Value::Object(body)
}

/// Name of the field for the dimensions. Voyage rejects a request with `dimensions`.
const fn dims_field(api: EmbeddingApi) -> &'static str {
    match api {
        EmbeddingApi::Ollama | EmbeddingApi::OpenAi | EmbeddingApi::Compatible => "dimensions",
        EmbeddingApi::Voyage => "output_dimension",
    }
}

impl TextRole {
    const fn slug(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Document => "document",
        }
    }
}

#[derive(Deserialize)]
pub(super) struct OllamaEmbeddings {
    pub(super) embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiEmbeddings {
    pub(super) data: Vec<IndexedVector>,
}

#[derive(Deserialize)]
pub(super) struct IndexedVector {
    index: usize,
    embedding: Vec<f32>,
}

/// The vectors sorted by their index. Each index from zero on must be present once.
pub(super) fn vectors_in_order(
    mut data: Vec<IndexedVector>,
) -> Result<Vec<Vec<f32>>, ResponseFlaw> {
    data.sort_by_key(|it| it.index);
    if data.iter().enumerate().any(|(i, it)| i != it.index) {
        return Err(ResponseFlaw::Order);
    }
    Ok(data.into_iter().map(|it| it.embedding).collect())
}
