//! `waylore neighbours`.

use serde_json::{Value, json};

use super::Session;
use super::code::doubts;
use crate::output::{BOLD, DIM};
use crate::wire;

/// Show the files one step away from others, most strongly tied first
#[derive(clap::Args, Debug)]
pub(crate) struct NeighboursArgs {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// How many lines at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) async fn run(args: NeighboursArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let (found, freshness) = session.engine.neighbours(&args.files).await?;
    let code = u8::from(found.is_empty());
    if out.json {
        let files: Vec<Value> = found.iter().map(wire::graph::neighbour).collect();
        out.data_json(
            "neighbours",
            json!({ "files": files, "freshness": wire::graph::freshness(&freshness) }),
        );
        return Ok(code);
    }
    for it in found.iter().take(args.limit) {
        out.line(&format!(
            "{BOLD}{}{BOLD:#}  {DIM}{} to it, {} from it{DIM:#}",
            it.path, it.n_out, it.n_into
        ));
    }
    if found.is_empty() {
        out.say("no other file is tied to these");
    }
    doubts(out, &freshness);
    Ok(code)
}
