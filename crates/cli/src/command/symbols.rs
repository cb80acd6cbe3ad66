//! `waylore symbols`.

use serde_json::{Value, json};

use super::Session;
use super::code::doubts;
use crate::output::{BOLD, DIM};
use crate::wire;

/// List what a file defines
#[derive(clap::Args, Debug)]
pub(crate) struct SymbolsArgs {
    /// The file
    file: String,
}

pub(crate) async fn run(args: SymbolsArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let (found, freshness) = session.engine.symbols(&args.file).await?;
    let code = u8::from(found.is_empty());
    if out.json {
        let symbols: Vec<Value> = found.iter().map(wire::graph::symbol).collect();
        out.data_json(
            "symbols",
            json!({ "symbols": symbols, "freshness": wire::graph::freshness(&freshness) }),
        );
        return Ok(code);
    }
    for it in &found {
        let depth = it.name.matches('.').count();
        let kind = it.kind.map_or("file", engine::DefKind::slug);
        let name = it.name.rsplit('.').next().unwrap_or(&it.name);
        let pad = "  ".repeat(depth);
        out.line(&format!("{:>5}  {pad}{BOLD}{name}{BOLD:#}  {DIM}{kind}{DIM:#}", it.lines.0));
    }
    doubts(out, &freshness);
    Ok(code)
}
