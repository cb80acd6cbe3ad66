//! A live test of a source of vectors, with texts of our own.

use std::time::Duration;

use super::Embeddings;
use crate::error::Error;
use crate::http::now;

/// What a live test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub id: String,
    pub dims: usize,
    /// The first request, with whatever the provider had to load.
    pub first: Duration,
    /// A question after that.
    pub latency: Duration,
    /// Mean cosine, in per mille, of questions and their answers.
    pub related: i32,
    /// Mean cosine, in per mille, of questions and something else.
    pub unrelated: i32,
}

impl Probe {
    /// Whether the model tells an answer from something else; one that does not is no embedding model.
    pub fn is_sane(&self) -> bool {
        self.related > self.unrelated
    }
}

/// A question, its answer in other words, and something else.
const ROWS: &[[&str; 3]] = &[
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

pub(super) fn probe(embeddings: &Embeddings) -> Result<Probe, Error> {
    let began = now();
    let texts: Vec<&str> = ROWS.iter().flat_map(|it| [it[1], it[2]]).collect();
    let documents = embeddings.embed_documents(&texts)?;
    let first = began.elapsed();
    let began = now();
    let mut questions = vec![embeddings.embed_query(ROWS[0][0], Duration::MAX)?];
    let latency = began.elapsed();
    for row in &ROWS[1..] {
        questions.push(embeddings.embed_query(row[0], Duration::MAX)?);
    }
    let mean = |column: usize| {
        let cosine = |(i, it): (usize, &Vec<f32>)| cosine(it, &documents[2 * i + column]);
        per_mille(questions.iter().enumerate().map(cosine).sum::<f32>(), ROWS.len())
    };
    let (related, unrelated) = (mean(0), mean(1));
    let (id, dims) = (embeddings.id().to_owned(), embeddings.dims());
    Ok(Probe { id, dims, first, latency, related, unrelated })
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a few cosines")]
fn per_mille(sum: f32, n: usize) -> i32 {
    (1000.0 * sum / n as f32).round() as i32
}
