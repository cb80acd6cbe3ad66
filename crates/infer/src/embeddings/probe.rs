//! A live test of an embedding model with built-in texts: measures latency and checks that a question
//! is closer to its answer than to an unrelated text.

use std::time::Duration;

use super::EmbeddingModel;
use crate::error::Error;
use crate::http::instant_now;

/// Result of a live test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingProbe {
    pub id: String,
    pub dims: usize,
    /// Time of the first request, in which the provider may have to load the model.
    pub first_request_time: Duration,
    /// Time of a query after that.
    pub warm_query_time: Duration,
    /// Mean cosine of questions and their answers, per mille.
    pub related: i32,
    /// Mean cosine of questions and unrelated texts, per mille.
    pub unrelated: i32,
}

impl EmbeddingProbe {
    /// True if related texts are closer than unrelated ones.
    pub fn is_sane(&self) -> bool {
        self.related > self.unrelated
    }
}

/// A question, its answer in other words, and an unrelated text.
struct ProbeCase {
    question: &'static str,
    answer: &'static str,
    unrelated: &'static str,
}

const PROBE_CASES: &[ProbeCase] = &[
    ProbeCase {
        question: "login fails after an hour",
        answer: "Access tokens expire after 60 minutes and the client does not renew them.",
        unrelated: "Dates in the report are shown in the reader's own time zone.",
    },
    ProbeCase {
        question: "why is the build slow",
        answer: "Compilation takes eight minutes because the cache key contains the date.",
        unrelated: "The colour of the button comes from the theme, not from the page.",
    },
    ProbeCase {
        question: "two threads wait for each other forever",
        answer: "Taking the cache lock inside the refresh callback leads to a deadlock.",
        unrelated: "The installer asks for a folder and remembers the last one.",
    },
];

/// Embeds all answers and unrelated texts in one request, then each question by itself.
pub(super) fn probe_embeddings(model: &EmbeddingModel) -> Result<EmbeddingProbe, Error> {
    let answers = PROBE_CASES.iter().map(|it| it.answer);
    let documents: Vec<&str> = answers.chain(PROBE_CASES.iter().map(|it| it.unrelated)).collect();
    let start = instant_now();
    let vectors = model.embed_documents(&documents)?;
    let first_request_time = start.elapsed();
    let (answers, unrelated_texts) = vectors.split_at(PROBE_CASES.len());

    let mut questions = Vec::new();
    let mut query_times = Vec::new();
    for case in PROBE_CASES {
        let start = instant_now();
        questions.push(model.embed_query(case.question, Duration::MAX)?);
        query_times.push(start.elapsed());
    }
    Ok(EmbeddingProbe {
        id: model.id().to_owned(),
        dims: model.dims(),
        first_request_time,
        // Any of them would do: the first request has loaded the model.
        warm_query_time: query_times[0],
        related: mean_cosine(&questions, answers),
        unrelated: mean_cosine(&questions, unrelated_texts),
    })
}

/// Mean cosine of pairs of unit vectors, per mille.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a few cosines")]
fn mean_cosine(left: &[Vec<f32>], right: &[Vec<f32>]) -> i32 {
    let mut sum = 0.0;
    for (a, b) in left.iter().zip(right) {
        // The cosine of unit vectors is their dot product.
        sum += a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    }
    (1000.0 * sum / left.len() as f32).round() as i32
}
