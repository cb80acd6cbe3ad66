//! `waylore symbols`: prints the symbols (definitions) of a file with their lines, indented by nesting.

use serde_json::{Value, json};

use super::CommandContext;
use super::code::{from_working_folder, warn_if_stale};
use crate::output::{BOLD_STYLE, DIM_STYLE};
use crate::wire;

/// List the symbols of a file
#[derive(clap::Args, Debug)]
pub(crate) struct SymbolsArgs {
    /// File
    file: String,
}

pub(crate) async fn run(args: SymbolsArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let (symbols, freshness) =
        command.project.code_graph().symbols(&from_working_folder(&args.file, command)).await?;
    // Exit code 1 means that nothing was found.
    let code = u8::from(symbols.is_empty());
    if out.json {
        let symbols: Vec<Value> = symbols.iter().map(wire::graph::symbol_json).collect();
        out.print_json(
            "symbols",
            json!({ "symbols": symbols, "freshness": wire::graph::freshness_json(&freshness) }),
        );
        return Ok(code);
    }
    for symbol in &symbols {
        // A nested symbol is named `Outer.inner`.
        let depth = symbol.name.matches('.').count();
        let name = symbol.name.rsplit('.').next().unwrap_or(&symbol.name);
        // Only definitions have a kind; the entry of the file itself has none.
        let kind = symbol.kind.map_or("file", engine::DefKind::slug);
        let indent = "  ".repeat(depth);
        let (first_line, _) = symbol.lines;
        out.print_line(&format!(
            "{first_line:>5}  {indent}{BOLD_STYLE}{name}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{DIM_STYLE:#}"
        ));
    }
    warn_if_stale(out, &freshness);
    Ok(code)
}
