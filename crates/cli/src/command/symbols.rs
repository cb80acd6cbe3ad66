//! `waylore symbols`.

use serde_json::{Value, json};

use super::CommandSession;
use super::code::warn_if_stale;
use crate::output::{BOLD_STYLE, DIM_STYLE};
use crate::wire;

/// List the symbols of a file
#[derive(clap::Args, Debug)]
pub(crate) struct SymbolsArgs {
    /// File
    file: String,
}

pub(crate) async fn run(args: SymbolsArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let (found, freshness) = session.project.code_graph().symbols(&args.file).await?;
    let code = u8::from(found.is_empty());
    if out.json {
        let symbols: Vec<Value> = found.iter().map(wire::graph::symbol_json).collect();
        out.data_json(
            "symbols",
            json!({ "symbols": symbols, "freshness": wire::graph::freshness_json(&freshness) }),
        );
        return Ok(code);
    }
    for it in &found {
        let depth = it.name.matches('.').count();
        let kind = it.kind.map_or("file", engine::DefKind::slug);
        let name = it.name.rsplit('.').next().unwrap_or(&it.name);
        let pad = "  ".repeat(depth);
        out.print_line(&format!(
            "{:>5}  {pad}{BOLD_STYLE}{name}{BOLD_STYLE:#}  {DIM_STYLE}{kind}{DIM_STYLE:#}",
            it.lines.0
        ));
    }
    warn_if_stale(out, &freshness);
    Ok(code)
}
