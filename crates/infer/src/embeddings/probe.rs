//! A live test of an embedding model with built-in texts.

use std::time::Duration;

use super::EmbeddingModel;
use crate::error::Error;
use crate::http::instant_now;

/// Result of a live test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingProbe {
    pub id: String,
    pub dims: usize,
    /// The first request, with whatever the provider had to load.
    pub first_request_time: Duration,
    /// A question after that.
    pub warm_query_time: Duration,
    /// Mean cosine, in per mille, of questions and their answers.
    pub related: i32,
    /// Mean cosine, in per mille, of questions and something else.
    pub unrelated: i32,
}

impl EmbeddingProbe {
    /// True if related texts are closer than unrelated ones.
    pub fn is_sane(&self) -> bool {
        self.related > self.unrelated
    }
}

/// A question, its answer in other words, and something else.
const PROBE_TEXTS: &[[&str; 3]] = &[
    [
        "login fails after an hour",
        "Access tokens expire after 60 minutes and the client does not renew them.",
        "Dates in the report are shown in the reader's own time zone.",
    ],
    [
        "why is the build slow",
        "Compilation takes eight minutes because the cache key contains the date.",
        "The colour of the button comes from the theme, not from the page.",
    ],
    [
        "two threads wait for each other forever",
        "Taking the cache lock inside the refresh callback leads to a deadlock.",
        "The installer asks for a folder and remembers the last one.",
    ],
];

pub(super) fn probe_embeddings(embeddings: &EmbeddingModel) -> Result<EmbeddingProbe, Error> {
    let began = instant_now();
    let texts: Vec<&str> = PROBE_TEXTS.iter().flat_map(|it| [it[1], it[2]]).collect();
    let documents = embeddings.embed_documents(&texts)?;
    let first = began.elapsed();
    let began = instant_now();
    let mut questions = vec![embeddings.embed_query(PROBE_TEXTS[0][0], Duration::MAX)?];
    let latency = began.elapsed();
    for row in &PROBE_TEXTS[1..] {
        questions.push(embeddings.embed_query(row[0], Duration::MAX)?);
    }
    let mean = |column: usize| {
        let cosine = |(i, it): (usize, &Vec<f32>)| dot(it, &documents[2 * i + column]);
        mean_per_mille(questions.iter().enumerate().map(cosine).sum::<f32>(), PROBE_TEXTS.len())
    };
    let (related, unrelated) = (mean(0), mean(1));
    let (id, dims) = (embeddings.id().to_owned(), embeddings.dims());
    Ok(EmbeddingProbe {
        id,
        dims,
        first_request_time: first,
        warm_query_time: latency,
        related,
        unrelated,
    })
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a few cosines")]
fn mean_per_mille(sum: f32, n: usize) -> i32 {
    (1000.0 * sum / n as f32).round() as i32
}
