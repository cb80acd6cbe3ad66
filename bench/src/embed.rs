//! Built-in embeddings (vectors of texts, by which searches compare them): a question and a note, alone
//! and in a batch, and loading the model.

use std::num::NonZero;
use std::time::Instant;

use infer::BuiltInEmbedder;

use crate::table::{BenchRow, row};
use crate::timing::{format_duration, time_rounds};

const SAMPLE_QUESTION: &str = "why does the rate limiter reject valid tokens after a deploy";
const SAMPLE_NOTE: &str = "The rate limiter must run before verifyJwt because the token bucket is shared between workers; a request \
                    that fails there is counted twice and shows up as exhausted quota in the daily report.";

const BATCH_SIZE: usize = 32;

#[expect(clippy::unnecessary_wraps, reason = "every benchmark has the same signature")]
pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    // One thread, so that the numbers do not depend on the machine.
    let one = NonZero::<usize>::MIN;
    let start = Instant::now();
    let embedder = BuiltInEmbedder::with_threads(one);
    embedder.load_now();
    let load = start.elapsed();
    let question = time_rounds(100, |_| {
        std::hint::black_box(embedder.embed_one(SAMPLE_QUESTION));
    });
    let note = time_rounds(100, |_| {
        std::hint::black_box(embedder.embed_one(SAMPLE_NOTE));
    });
    let texts = [SAMPLE_NOTE; BATCH_SIZE];
    let batch = time_rounds(10, |_| {
        std::hint::black_box(embedder.embed(&texts));
    });
    let each = batch.p50().div_f64(BATCH_SIZE as f64);
    Ok(vec![
        row("embed a 12-token question, one core", question.format_p50_p99(), "", ""),
        row(
            "embed a 40-token note, one core",
            note.format_p50_p99(),
            "",
            format!("in a batch of {BATCH_SIZE}: {} each", format_duration(each)),
        ),
        row("load the built-in model", format_duration(load), "", ""),
    ])
}
