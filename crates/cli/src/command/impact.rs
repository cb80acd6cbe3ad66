//! `waylore impact`: prints the code affected by a change of a symbol or file (the target): whatever refers to it,
//! directly or in several steps, with the memories about it. The counterpart is `deps`.

use engine::{ReachedSymbol, UnknownReceivers};
use serde_json::{Value, json};

use super::CommandContext;
use super::code::{format_symbol, from_working_folder, print_by_file, warn_if_stale};
use super::shared::format_memory;
use crate::output::{Output, format_count};
use crate::wire;
use crate::wire::MemoryWire;

/// Show the code affected by a change: callers, users, subtypes, tests
///
/// Results are grouped by file; tests are only counted unless `--tests` is given. Each line names the kind of edge
/// and, for a guess, how it was resolved. Calls of the same name on values of unknown type are counted.
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
    /// Also list tests
    #[arg(long)]
    tests: bool,
}

/// Files with calls of unknown type to name.
const MAX_NAMED_FILES: usize = 3;

pub(crate) async fn run(args: ImpactArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let report = command
        .project
        .code_graph()
        .impact(&from_working_folder(&args.target, command), args.depth)
        .await?;
    let code = u8::from(report.reached.is_empty());
    if out.json {
        let memories: Vec<MemoryWire> = report.memories.iter().map(MemoryWire::from).collect();
        let targets: Vec<Value> = report.targets.iter().map(wire::graph::symbol_json).collect();
        let reached: Vec<Value> = report.reached.iter().map(wire::graph::reached_json).collect();
        let body = json!({
            "targets": targets,
            "reached": reached,
            "unknown_receivers": wire::graph::unknown_receivers_json(&report.unknown_receivers),
            "memories": memories,
            "freshness": wire::graph::freshness_json(&report.freshness),
        });
        out.print_json("impact", body);
        return Ok(code);
    }
    for symbol in &report.targets {
        out.print_line(&format_symbol(symbol));
    }
    let is_listed = |it: &&ReachedSymbol| args.tests || !it.symbol.is_test;
    let listed: Vec<&ReachedSymbol> = report.reached.iter().filter(is_listed).collect();
    print_by_file(out, &listed, args.limit);
    let n_tests = report.reached.iter().filter(|it| it.symbol.is_test).count();
    let tests = format_count(n_tests, "test", "tests");
    match (report.reached.is_empty(), args.tests || n_tests == 0) {
        (true, _) => out.print_line("no references found"),
        (false, true) => out.print_line(&format!("{tests} among them")),
        (false, false) => out.print_line(&format!("and {tests}; --tests lists them")),
    }
    print_unknown_receivers(out, &report.unknown_receivers);
    for rated in &report.memories {
        out.print_line(&format_memory(rated, &command.settings.types));
    }
    warn_if_stale(out, &report.freshness);
    Ok(code)
}

/// Says how many calls may reach the target although their receiver is unknown.
fn print_unknown_receivers(out: &Output, unknown: &UnknownReceivers) {
    if unknown.files.is_empty() {
        return;
    }
    let calls = format_count(unknown.n_calls() as usize, "call", "calls");
    let files = format_count(unknown.files.len(), "file", "files");
    let most: Vec<String> = unknown
        .files
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|(path, n)| format!("{path} ({n})"))
        .collect();
    out.print_line(&format!(
        "{calls} of `{}` in {files} on an unknown receiver, possibly further users: {}{}",
        unknown.name,
        most.join(", "),
        if unknown.files.len() > MAX_NAMED_FILES { ", …" } else { "" }
    ));
}
