//! Built-in embeddings: a question and a note, alone and in a batch, and the first use.

use std::num::NonZero;
use std::time::Instant;

use infer::Embedder;

use crate::clock::{show, times};
use crate::table::{Row, row};

const QUESTION: &str = "why does the rate limiter reject valid tokens after a deploy";
const NOTE: &str = "The rate limiter must run before verifyJwt because the token bucket is shared between workers; a request \
                    that fails there is counted twice and shows up as exhausted quota in the daily report.";

#[expect(clippy::unnecessary_wraps, reason = "every benchmark has the same shape")]
pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let one = NonZero::<usize>::MIN;
    let start = Instant::now();
    let embedder = Embedder::with_threads(one);
    embedder.warm();
    let load = start.elapsed();
    let question = times(100, |_| {
        std::hint::black_box(embedder.embed_one(QUESTION));
    });
    let note = times(100, |_| {
        std::hint::black_box(embedder.embed_one(NOTE));
    });
    let texts = [NOTE; 32];
    let batch = times(10, |_| {
        std::hint::black_box(embedder.embed(&texts));
    });
    let each = batch.p50() / 32;
    Ok(vec![
        row("embed a 12-token question, one core", question.both(), "", ""),
        row(
            "embed a 40-token note, one core",
            note.both(),
            "",
            format!("in a batch of 32: {} each", show(each)),
        ),
        row("load the built-in model", show(load), "", ""),
    ])
}
