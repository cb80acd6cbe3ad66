//! `waylore path`.

use serde_json::{Value, json};

use super::Session;
use super::code::{doubts, place};
use crate::output::DIM;
use crate::wire;

/// Show the shortest way along references from one symbol to another
#[derive(clap::Args, Debug)]
pub(crate) struct PathArgs {
    /// Where it begins: `path:symbol`, `path:line`, `path` or a symbol
    from: String,
    /// Where it ends
    to: String,
}

pub(crate) async fn run(args: PathArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let found = session.engine.route(&args.from, &args.to).await?;
    if out.json {
        let step = |it: &(engine::Symbol, Option<engine::Link>)| -> Value {
            let by = it.1.map(|(kind, how, line)| json!({ "edge": kind.slug(), "resolved_by": how.slug(), "line": line }));
            json!({ "symbol": wire::graph::symbol(&it.0), "by": by })
        };
        let steps: Vec<Value> = found.steps.iter().map(step).collect();
        out.data_json(
            "path",
            json!({ "steps": steps, "freshness": wire::graph::freshness(&found.freshness) }),
        );
        return Ok(0);
    }
    for (symbol, by) in &found.steps {
        if let Some((kind, _, line)) = by {
            out.line(&format!("  {DIM}{kind} (line {line}){DIM:#}"));
        }
        out.line(&place(symbol));
    }
    doubts(out, &found.freshness);
    Ok(0)
}
