//! Requests for vectors and their answers, as each interface spells them.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::EmbeddingApi;
use crate::error::Flaw;

/// What a text is for; some models embed a question otherwise than its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Query,
    Document,
}

/// One request.
pub(super) struct Ask<'a> {
    pub(super) model: &'a str,
    pub(super) texts: &'a [String],
    pub(super) dims: Option<usize>,
    pub(super) role: Role,
}

/// How long Ollama keeps the model loaded after a request.
const KEEP_ALIVE: &str = "5m";

impl EmbeddingApi {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Ollama => "/api/embed",
            Self::OpenAi | Self::Compatible | Self::Voyage => "/v1/embeddings",
        }
    }

    pub(super) fn body(self, ask: &Ask<'_>) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(ask.model));
        body.insert("input".to_owned(), json!(ask.texts));
        let more = match self {
            Self::Ollama => json!({ "truncate": true, "keep_alive": KEEP_ALIVE }),
            Self::OpenAi | Self::Compatible => json!({ "encoding_format": "float" }),
            Self::Voyage => json!({ "input_type": ask.role.slug(), "truncation": true }),
        };
        body.extend(more.as_object().cloned().unwrap_or_default());
        if let Some(dims) = ask.dims {
            body.insert(self.dims_field().to_owned(), json!(dims));
        }
        Value::Object(body)
    }

    /// Voyage refuses a request that says `dimensions`.
    const fn dims_field(self) -> &'static str {
        match self {
            Self::Ollama | Self::OpenAi | Self::Compatible => "dimensions",
            Self::Voyage => "output_dimension",
        }
    }
}

impl Role {
    const fn slug(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Document => "document",
        }
    }
}

#[derive(Deserialize)]
pub(super) struct OllamaAnswer {
    pub(super) embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiAnswer {
    pub(super) data: Vec<Indexed>,
}

#[derive(Deserialize)]
pub(super) struct Indexed {
    index: usize,
    embedding: Vec<f32>,
}

/// Vectors by their index; each index from zero on is there once.
pub(super) fn in_order(mut data: Vec<Indexed>) -> Result<Vec<Vec<f32>>, Flaw> {
    data.sort_by_key(|it| it.index);
    if data.iter().enumerate().any(|(i, it)| i != it.index) {
        return Err(Flaw::Order);
    }
    Ok(data.into_iter().map(|it| it.embedding).collect())
}
