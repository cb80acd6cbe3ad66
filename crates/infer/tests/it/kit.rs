//! Providers at a test's own server, and what they answer when all is well.

use std::time::Duration;

use serde_json::{Value, json};
use waylore_infer::{
    ApiKey, EmbeddingApi, EmbeddingConfig, EmbeddingModel, Error, ProviderEndpoint, RerankApi,
    RerankConfig, Reranker, ResponseFlaw,
};

use crate::server::{Reply, Seen, Server};

pub(crate) const KEY: &str = "sk-live-0123456789abcdef";

/// A port that nobody listens on and that no other test is given.
pub(crate) const NOBODY: &str = "http://127.0.0.1:1";

/// Longer than any test takes that passes.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// Too short for a second attempt.
pub(crate) const SHORT: Duration = Duration::from_millis(90);

pub(crate) fn endpoint(server: &Server) -> ProviderEndpoint {
    ProviderEndpoint {
        url: server.url(),
        key: Some(ApiKey::new(KEY).unwrap()),
        allow_plain_http: false,
    }
}

/// Of an unknown model, with vectors of two numbers; nothing is sent to open it.
pub(crate) fn embeddings(server: &Server) -> EmbeddingModel {
    open(server, EmbeddingApi::Compatible, "some-model", Some(2)).unwrap()
}

pub(crate) fn open(
    server: &Server,
    api: EmbeddingApi,
    model: &str,
    dims: Option<usize>,
) -> Result<EmbeddingModel, Error> {
    let model = model.to_owned();
    EmbeddingModel::open(&EmbeddingConfig { api, endpoint: endpoint(server), model, dims })
}

pub(crate) fn reranker(server: &Server, api: RerankApi) -> Reranker {
    let model = "some-reranker".to_owned();
    Reranker::new(&RerankConfig { api, endpoint: endpoint(server), model }).unwrap()
}

/// An `OpenAI` answer with these vectors, in order.
pub(crate) fn data(vectors: &[Vec<f32>]) -> Value {
    let row =
        |(i, it): (usize, &Vec<f32>)| json!({ "object": "embedding", "index": i, "embedding": it });
    json!({ "object": "list", "data": vectors.iter().enumerate().map(row).collect::<Vec<_>>() })
}

/// One vector of two numbers for every text of the request.
pub(crate) fn fine(seen: &Seen) -> Reply {
    let n_texts = seen.body["input"].as_array().unwrap().len();
    Reply::json(data(&vec![vec![0.6, 0.8]; n_texts]))
}

/// What is wrong with an answer, when that is what is wrong.
pub(crate) fn flaw(error: Error) -> ResponseFlaw {
    match error {
        Error::Answer { flaw, .. } => flaw,
        error => panic!("{error}"),
    }
}
