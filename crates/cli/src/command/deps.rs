//! `waylore deps`.

use serde_json::{Value, json};

use super::CommandSession;
use super::code::{format_symbol, print_by_depth, warn_if_stale};
use crate::wire;

/// Show dependencies: calls, base types, used types
#[derive(clap::Args, Debug)]
pub(crate) struct DepsArgs {
    /// Target: `path:symbol`, `path:line`, `path`, or a symbol that only one file defines
    target: String,
    /// Largest number of steps
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    depth: u32,
    /// Most lines to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn run(args: DepsArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let found = session.project.code_graph().dependencies(&args.target, args.depth).await?;
    let code = u8::from(found.reached.is_empty());
    if out.json {
        let targets: Vec<Value> = found.targets.iter().map(wire::graph::symbol_json).collect();
        let reached: Vec<Value> = found.reached.iter().map(wire::graph::reached_json).collect();
        let freshness = wire::graph::freshness_json(&found.freshness);
        out.data_json(
            "deps",
            json!({ "targets": targets, "reached": reached, "freshness": freshness }),
        );
        return Ok(code);
    }
    for it in &found.targets {
        out.print_line(&format_symbol(it));
    }
    print_by_depth(out, &found.reached, args.limit);
    if found.reached.is_empty() {
        out.print_line("no dependencies in this project");
    }
    warn_if_stale(out, &found.freshness);
    Ok(code)
}
