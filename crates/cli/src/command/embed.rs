//! `waylore embed`.

use engine::{EmbeddingReport, Error, TaskProgress};
use serde_json::json;

use super::CommandSession;
use crate::failure::{CliFailure, FailureKind};
use crate::output::format_count;
use crate::ticker::ProgressTicker;

/// Compute missing embeddings with the configured model
///
/// Needed after changing the model or after an outage of a provider; new memories are embedded automatically. Can be
/// interrupted; the next run continues. When all memories have a vector, those of other models are deleted.
#[derive(clap::Args, Debug)]
pub(crate) struct EmbedArgs {}

pub(crate) async fn run(_: EmbedArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let progress = TaskProgress::default();
    let ticker = ProgressTicker::start_ticker(&progress, "memories", out);
    let res = session.project.embedding_indexer().embed_all(&progress).await;
    drop(ticker);
    let done = match res {
        Ok(done) => done,
        Err(Error::Model(error)) => return Err(broken_off(&error.to_string(), &progress)),
        Err(error) => return Err(error.into()),
    };
    let model = session.project.embedding_indexer().coverage().await?.model;
    let code = u8::from(done.n_missing > 0);
    if out.json {
        let EmbeddingReport { n_embedded: done, n_missing: left, n_dropped: dropped } = done;
        let body = json!({ "model": model, "done": done, "left": left, "dropped": dropped });
        out.data_json("embedded", body);
        return Ok(code);
    }
    out.print_line(&format_report(&done, &model));
    if done.n_missing > 0 {
        out.hint("the memories changed meanwhile; run the command again");
    }
    Ok(code)
}

fn format_report(done: &EmbeddingReport, model: &str) -> String {
    let mut parts = vec![match done.n_embedded {
        0 => format!("every memory has a vector of {model}"),
        n => format!("{} a vector of {model}", format_count(n, "memory got", "memories got")),
    }];
    if done.n_missing > 0 {
        parts.push(format!(
            "{} none yet",
            format_count(done.n_missing, "memory has", "memories have")
        ));
    }
    if done.n_dropped > 0 {
        parts.push(format!(
            "{} of other models dropped",
            format_count(done.n_dropped, "vector", "vectors")
        ));
    }
    parts.join(", ")
}

/// The provider failed; vectors computed before are saved.
fn broken_off(why: &str, progress: &TaskProgress) -> anyhow::Error {
    let (done, total) = (progress.n_done(), progress.n_total());
    let message = match total {
        0 => why.to_owned(),
        _ => format!("{done} of {total} memories got a vector, then: {why}"),
    };
    let hint = "`waylore config test-provider` tests it; `waylore embed` continues from there";
    CliFailure { kind: FailureKind::Environment, message, hint: Some(hint.to_owned()) }.into()
}
