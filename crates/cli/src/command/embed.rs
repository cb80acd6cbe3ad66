//! `waylore embed`: computes the vectors (embeddings) that memories lack, with the configured model. A search by
//! meaning compares them; a memory without one is found by keywords only.

use engine::{EmbeddingReport, Error, TaskProgress};
use serde_json::json;

use super::CommandContext;
use crate::failure::{CliFailure, FailureKind};
use crate::output::format_count;
use crate::ticker::ProgressTicker;

/// Compute missing embeddings with the configured model
///
/// Needed after changing the model or after an outage of a provider; new memories are embedded automatically. Can be
/// interrupted; the next run continues. When all memories have a vector, those of other models are deleted.
#[derive(clap::Args, Debug)]
pub(crate) struct EmbedArgs {}

pub(crate) async fn run(_: EmbedArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let progress = TaskProgress::default();
    let ticker = ProgressTicker::start(&progress, "memories", out);
    let embedded = command.project.embedding_indexer().embed_all(&progress).await;
    drop(ticker);
    let report = match embedded {
        Ok(report) => report,
        Err(Error::Model(error)) => return Err(provider_failure(&error.to_string(), &progress)),
        Err(error) => return Err(error.into()),
    };
    let model = command.project.embedding_indexer().coverage().await?.model;
    let code = u8::from(report.n_missing > 0);
    if out.json {
        let body = json!({
            "model": model,
            "done": report.n_embedded,
            "left": report.n_missing,
            "dropped": report.n_dropped,
        });
        out.print_json("embedded", body);
        return Ok(code);
    }
    out.print_line(&format_report(&report, &model));
    if report.n_missing > 0 {
        out.hint("the memories changed meanwhile; run the command again");
    }
    Ok(code)
}

fn format_report(report: &EmbeddingReport, model: &str) -> String {
    let mut parts = vec![match report.n_embedded {
        0 => format!("every memory has a vector of {model}"),
        n => format!("{} a vector of {model}", format_count(n, "memory got", "memories got")),
    }];
    if report.n_missing > 0 {
        parts.push(format!(
            "{} none yet",
            format_count(report.n_missing, "memory has", "memories have")
        ));
    }
    if report.n_dropped > 0 {
        parts.push(format!(
            "{} of other models dropped",
            format_count(report.n_dropped, "vector", "vectors")
        ));
    }
    parts.join(", ")
}

/// The error if the provider failed half-way; vectors computed before are saved.
fn provider_failure(why: &str, progress: &TaskProgress) -> anyhow::Error {
    let (done, total) = (progress.n_done(), progress.n_total());
    let message = match total {
        // It failed before the first memory.
        0 => why.to_owned(),
        _ => format!("{done} of {total} memories got a vector, then: {why}"),
    };
    let hint = "`waylore config test-provider` tests it; `waylore embed` continues from there";
    CliFailure { kind: FailureKind::Environment, message, hint: Some(hint.to_owned()) }.into()
}
