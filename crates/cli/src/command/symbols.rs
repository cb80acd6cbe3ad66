//! `waylore symbols`: prints the symbols (definitions) of a file with their lines, indented by nesting, or all
//! definitions of a name with their files.

use engine::{DefKind, SymbolInfo};
use serde_json::{Value, json};

use super::CommandContext;
use super::code::{from_working_folder, warn_if_stale};
use crate::output::{BOLD_STYLE, DIM_STYLE, Output};
use crate::wire;

/// List the symbols of a file, or the definitions of a name
#[derive(clap::Args, Debug)]
pub(crate) struct SymbolsArgs {
    /// File, or the name of a symbol
    #[arg(value_name = "FILE|NAME")]
    target: String,
}

pub(crate) async fn run(args: SymbolsArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let code_graph = command.project.code_graph();
    let named = code_graph.symbols_named(&args.target).await?;
    let is_name = !named.0.is_empty();
    let (symbols, freshness) = if is_name {
        named
    } else {
        code_graph.symbols(&from_working_folder(&args.target, command)).await?
    };
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
    if is_name {
        print_definitions(&symbols, out);
        warn_if_stale(out, &freshness);
        return Ok(code);
    }
    for symbol in &symbols {
        // A nested symbol is named `Outer.inner`.
        let depth = symbol.name.matches('.').count();
        let name = symbol.name.rsplit('.').next().unwrap_or(&symbol.name);
        // Only definitions have a kind; the entry of the file itself has none.
        let kind = symbol.kind.map_or("file", DefKind::slug);
        let indent = "  ".repeat(depth);
        let (first_line, _) = symbol.lines;
        out.print_line(&format!(
            "{first_line:>5}  {indent}{BOLD_STYLE}{name}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{DIM_STYLE:#}"
        ));
    }
    warn_if_stale(out, &freshness);
    Ok(code)
}

/// Prints definitions of several files: `src/de.rs:157  Number.from_str  method`.
fn print_definitions(symbols: &[SymbolInfo], out: &Output) {
    for SymbolInfo { path, lines: (first_line, _), name, kind, .. } in symbols {
        let kind = kind.map_or("file", DefKind::slug);
        out.print_line(&format!(
            "{path}:{first_line}  {BOLD_STYLE}{name}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{DIM_STYLE:#}"
        ));
    }
}
