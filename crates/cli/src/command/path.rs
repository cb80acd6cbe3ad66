//! `waylore path`.

use serde_json::{Value, json};

use super::CommandSession;
use super::code::{format_symbol, warn_if_stale};
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

pub(crate) async fn run(args: PathArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let found = session.project.code_graph().route(&args.from, &args.to).await?;
    if out.json {
        let step = |it: &(engine::SymbolInfo, Option<engine::RouteEdge>)| -> Value {
            let by = it.1.map(|edge| {
                json!({ "edge": edge.kind.slug(), "resolved_by": edge.resolution.slug(), "line": edge.line })
            });
            json!({ "symbol": wire::graph::symbol_json(&it.0), "by": by })
        };
        let steps: Vec<Value> = found.steps.iter().map(step).collect();
        out.data_json(
            "path",
            json!({ "steps": steps, "freshness": wire::graph::freshness_json(&found.freshness) }),
        );
        return Ok(0);
    }
    for (symbol, by) in &found.steps {
        if let Some(edge) = by {
            out.print_line(&format!(
                "  {DIM_STYLE}{} (line {}){DIM_STYLE:#}",
                edge.kind, edge.line
            ));
        }
        out.print_line(&format_symbol(symbol));
    }
    warn_if_stale(out, &found.freshness);
    Ok(0)
}
