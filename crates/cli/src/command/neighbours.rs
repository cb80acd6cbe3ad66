//! `waylore neighbours`: prints the files with the most references to and from the given ones, as the code index
//! knows them.

use serde_json::{Value, json};

use super::CommandContext;
use super::code::{from_working_folder, warn_if_stale};
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

pub(crate) async fn run(args: NeighboursArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let files: Vec<String> = args.files.iter().map(|it| from_working_folder(it, command)).collect();
    let (neighbours, freshness) = command.project.code_graph().neighbours(&files).await?;
    let code = u8::from(neighbours.is_empty());
    if out.json {
        let files: Vec<Value> = neighbours.iter().map(wire::graph::neighbour_json).collect();
        out.print_json(
            "neighbours",
            json!({ "files": files, "freshness": wire::graph::freshness_json(&freshness) }),
        );
        return Ok(code);
    }
    // `n_outgoing` counts references from the given files, so they lead to the neighbour.
    for it in neighbours.iter().take(args.limit) {
        out.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{} to it, {} from it{DIM_STYLE:#}",
            it.path, it.n_outgoing, it.n_incoming
        ));
    }
    if neighbours.is_empty() {
        out.say("no coupled files");
    }
    warn_if_stale(out, &freshness);
    Ok(code)
}
