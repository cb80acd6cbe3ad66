//! `waylore neighbours`.

use serde_json::{Value, json};

use super::CommandSession;
use super::code::warn_if_stale;
use crate::output::{BOLD_STYLE, DIM_STYLE};
use crate::wire;

/// Show files coupled to the given ones, strongest first
#[derive(clap::Args, Debug)]
pub(crate) struct NeighboursArgs {
    /// Files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Most lines to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) async fn run(args: NeighboursArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let (found, freshness) = session.project.code_graph().neighbours(&args.files).await?;
    let code = u8::from(found.is_empty());
    if out.json {
        let files: Vec<Value> = found.iter().map(wire::graph::neighbour_json).collect();
        out.data_json(
            "neighbours",
            json!({ "files": files, "freshness": wire::graph::freshness_json(&freshness) }),
        );
        return Ok(code);
    }
    for it in found.iter().take(args.limit) {
        out.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{} to it, {} from it{DIM_STYLE:#}",
            it.path, it.n_outgoing, it.n_incoming
        ));
    }
    if found.is_empty() {
        out.say("no coupled files");
    }
    warn_if_stale(out, &freshness);
    Ok(code)
}
