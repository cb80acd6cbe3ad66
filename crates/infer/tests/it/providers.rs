//! Provider configurations that point to a stub server, and its ordinary replies.

use std::time::Duration;

use serde_json::{Value, json};
use waylore_infer::{
    ApiKey, EmbeddingApi, EmbeddingConfig, EmbeddingModel, Error, ProviderEndpoint, RerankApi,
    RerankConfig, Reranker, ResponseFlaw,
};

use crate::server::{StubProvider, StubReply, StubRequest};

pub(crate) const KEY: &str = "sk-live-0123456789abcdef";

/// Address of a port that no program listens on and that no stub server gets.
pub(crate) const CLOSED_PORT_URL: &str = "http://127.0.0.1:1";

/// Longer than any passing test takes.
pub(crate) const GENEROUS_DEADLINE: Duration = Duration::from_secs(30);

/// Too short for a second attempt.
pub(crate) const SHORT_DEADLINE: Duration = Duration::from_millis(90);

pub(crate) fn endpoint(server: &StubProvider) -> ProviderEndpoint {
    ProviderEndpoint {
        url: server.url(),
        key: Some(ApiKey::new(KEY).unwrap()),
        // The stub server has no TLS, but loopback addresses are exempt.
        allow_plain_http: false,
    }
}

/// A model with vectors of two numbers. Opening it sends no request, because the length is given.
pub(crate) fn two_dim_model(server: &StubProvider) -> EmbeddingModel {
    open_model(server, EmbeddingApi::Compatible, "some-model", Some(2)).unwrap()
}

pub(crate) fn open_model(
    server: &StubProvider,
    api: EmbeddingApi,
    model: &str,
    dims: Option<usize>,
) -> Result<EmbeddingModel, Error> {
    let model = model.to_owned();
    EmbeddingModel::open(&EmbeddingConfig { api, endpoint: endpoint(server), model, dims })
}

pub(crate) fn reranker(server: &StubProvider, api: RerankApi) -> Reranker {
    let model = "some-reranker".to_owned();
    Reranker::new(&RerankConfig { api, endpoint: endpoint(server), model }).unwrap()
}

/// An `OpenAI` answer with these vectors, in order.
pub(crate) fn openai_body(vectors: &[Vec<f32>]) -> Value {
    let row =
        |(i, it): (usize, &Vec<f32>)| json!({ "object": "embedding", "index": i, "embedding": it });
    json!({ "object": "list", "data": vectors.iter().enumerate().map(row).collect::<Vec<_>>() })
}

/// One vector of two numbers for every text of the request.
pub(crate) fn reply_with_vectors(seen: &StubRequest) -> StubReply {
    let n_texts = seen.body["input"].as_array().unwrap().len();
    StubReply::json(openai_body(&vec![vec![0.6, 0.8]; n_texts]))
}

/// The flaw of an error that is about a response; panics for any other error.
pub(crate) fn response_flaw(error: Error) -> ResponseFlaw {
    match error {
        Error::UnusableResponse { flaw, .. } => flaw,
        error => panic!("{error}"),
    }
}
