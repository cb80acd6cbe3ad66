//! A live test of a reranker, with texts of our own.

use std::time::Duration;

use super::Reranker;
use crate::error::Error;
use crate::http::now;

/// What a live test found.
#[derive(Clone, Debug, PartialEq)]
pub struct RerankProbe {
    pub model: String,
    pub latency: Duration,
    /// The score of the answer.
    pub related: f32,
    /// The score of something else.
    pub unrelated: f32,
}

impl RerankProbe {
    /// Whether the answer wins.
    pub fn is_sane(&self) -> bool {
        self.related > self.unrelated
    }
}

const QUESTION: &str = "why does the login fail after an hour";
/// Something else and the answer. The answer is not the first: a server that scores by place would win.
const TEXTS: [&str; 2] = [
    "The colour of the button comes from the theme, not from the page.",
    "Access tokens expire after 60 minutes and the client does not renew them.",
];

pub(super) fn probe(reranker: &Reranker) -> Result<RerankProbe, Error> {
    let began = now();
    let scores = reranker.score(QUESTION, &TEXTS, Duration::MAX)?;
    let (latency, model) = (began.elapsed(), reranker.model.clone());
    Ok(RerankProbe { model, latency, unrelated: scores[0], related: scores[1] })
}
