//! `waylore impact`: prints the code affected by a change of a symbol or file (the target): whatever refers to it,
//! directly or in several steps, with the memories about it. The counterpart is `deps`.

use serde_json::{Value, json};

use super::CommandContext;
use super::code::{format_symbol, print_by_depth, warn_if_stale};
use super::shared::format_memory;
use crate::output::format_count;
use crate::wire;
use crate::wire::MemoryWire;

/// Show the code affected by a change: callers, users, subtypes, tests
///
/// Each line names the kind of edge and, for a guess, how it was resolved.
#[derive(clap::Args, Debug)]
pub(crate) struct ImpactArgs {
    /// Target: `path:symbol`, `path:line`, `path`, or a symbol that only one file defines
    target: String,
    /// Largest number of steps
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3))]
    depth: u32,
    /// Most lines to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn run(args: ImpactArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let report = command.project.code_graph().impact(&args.target, args.depth).await?;
    let code = u8::from(report.reached.is_empty());
    if out.json {
        let memories: Vec<MemoryWire> = report.memories.iter().map(MemoryWire::from).collect();
        let targets: Vec<Value> = report.targets.iter().map(wire::graph::symbol_json).collect();
        let reached: Vec<Value> = report.reached.iter().map(wire::graph::reached_json).collect();
        let body = json!({
            "targets": targets,
            "reached": reached,
            "memories": memories,
            "freshness": wire::graph::freshness_json(&report.freshness),
        });
        out.print_json("impact", body);
        return Ok(code);
    }
    for symbol in &report.targets {
        out.print_line(&format_symbol(symbol));
    }
    print_by_depth(out, &report.reached, args.limit);
    let n_tests = report.reached.iter().filter(|it| it.symbol.is_test).count();
    if report.reached.is_empty() {
        out.print_line("no references found");
    } else {
        out.print_line(&format!("{} among them", format_count(n_tests, "test", "tests")));
    }
    for rated in &report.memories {
        out.print_line(&format_memory(rated, &command.settings.types));
    }
    warn_if_stale(out, &report.freshness);
    Ok(code)
}
