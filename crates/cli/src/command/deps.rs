//! `waylore deps`: prints the symbols that a symbol or file (the target) refers to, directly or in several steps.
//! The counterpart is `impact`, which follows the references backwards.

use serde_json::{Value, json};

use super::CommandContext;
use super::code::{format_symbol, from_working_folder, print_by_depth, warn_if_stale};
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

pub(crate) async fn run(args: DepsArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let report = command
        .project
        .code_graph()
        .dependencies(&from_working_folder(&args.target, command), args.depth)
        .await?;
    let code = u8::from(report.reached.is_empty());
    if out.json {
        let targets: Vec<Value> = report.targets.iter().map(wire::graph::symbol_json).collect();
        let reached: Vec<Value> = report.reached.iter().map(wire::graph::reached_json).collect();
        let freshness = wire::graph::freshness_json(&report.freshness);
        out.print_json(
            "deps",
            json!({ "targets": targets, "reached": reached, "freshness": freshness }),
        );
        return Ok(code);
    }
    for symbol in &report.targets {
        out.print_line(&format_symbol(symbol));
    }
    print_by_depth(out, &report.reached, args.limit);
    if report.reached.is_empty() {
        out.print_line("no dependencies in this project");
    }
    warn_if_stale(out, &report.freshness);
    Ok(code)
}
