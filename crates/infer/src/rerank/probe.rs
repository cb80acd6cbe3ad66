//! A live test of a reranker with built-in texts: measures latency and checks that the answer to a
//! question scores higher than an unrelated text.

use std::time::Duration;

use super::Reranker;
use crate::error::Error;
use crate::http::instant_now;

/// Result of a live test.
#[derive(Clone, Debug, PartialEq)]
pub struct RerankProbe {
    pub model: String,
    pub latency: Duration,
    /// The score of the answer.
    pub related: f32,
    /// The score of an unrelated text.
    pub unrelated: f32,
}

impl RerankProbe {
    /// True if the relevant document scores higher.
    pub fn is_sane(&self) -> bool {
        self.related > self.unrelated
    }
}

const PROBE_QUERY: &str = "why does the login fail after an hour";
/// An unrelated text and the answer. The answer is second, so that a server that scores by position
/// fails the test.
const PROBE_DOCUMENTS: [&str; 2] = [
    "The colour of the button comes from the theme, not from the page.",
    "Access tokens expire after 60 minutes and the client does not renew them.",
];

pub(super) fn probe_reranker(reranker: &Reranker) -> Result<RerankProbe, Error> {
    let start = instant_now();
    let scores = reranker.score(PROBE_QUERY, &PROBE_DOCUMENTS, Duration::MAX)?;
    let latency = start.elapsed();
    let model = reranker.model.clone();
    Ok(RerankProbe { model, latency, unrelated: scores[0], related: scores[1] })
}
