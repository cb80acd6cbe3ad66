//! `waylore path`: prints the shortest chain of references between two symbols.

use serde_json::{Value, json};

use super::CommandContext;
use super::code::{format_symbol, from_working_folder, warn_if_stale};
use crate::output::DIM_STYLE;
use crate::wire;

/// Show the shortest path of references between two symbols
#[derive(clap::Args, Debug)]
pub(crate) struct PathArgs {
    /// Start: `path:symbol`, `path:line`, `path` or a symbol
    from: String,
    /// End
    to: String,
}

pub(crate) async fn run(args: PathArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    // The steps are symbols, each with the edge (reference) that leads to it; the first has none.
    let (from, to) =
        (from_working_folder(&args.from, command), from_working_folder(&args.to, command));
    let route = command.project.code_graph().route(&from, &to).await?;
    if out.json {
        let step_json = |(symbol, edge): &(engine::SymbolInfo, Option<engine::RouteEdge>)| {
            let edge_json = edge.map(|edge| {
                json!({
                    "edge": edge.kind.slug(),
                    "resolved_by": edge.resolution.slug(),
                    "line": edge.line,
                })
            });
            json!({ "symbol": wire::graph::symbol_json(symbol), "by": edge_json })
        };
        let steps: Vec<Value> = route.steps.iter().map(step_json).collect();
        out.print_json(
            "path",
            json!({ "steps": steps, "freshness": wire::graph::freshness_json(&route.freshness) }),
        );
        return Ok(0);
    }
    for (symbol, edge) in &route.steps {
        if let Some(edge) = edge {
            out.print_line(&format!(
                "  {DIM_STYLE}{} (line {}){DIM_STYLE:#}",
                edge.kind, edge.line
            ));
        }
        out.print_line(&format_symbol(symbol));
    }
    warn_if_stale(out, &route.freshness);
    Ok(0)
}
