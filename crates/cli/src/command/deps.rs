//! `waylore deps`.

use serde_json::{Value, json};

use super::Session;
use super::code::{doubts, place, rings};
use crate::wire;

/// Show what something needs: what it calls, builds on, is typed as
#[derive(clap::Args, Debug)]
pub(crate) struct DepsArgs {
    /// Whose needs: `path:symbol`, `path:line`, `path`, or a symbol that only one file defines
    target: String,
    /// How many steps away something may be
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    depth: u32,
    /// How many lines at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn run(args: DepsArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let found = session.engine.dependencies(&args.target, args.depth).await?;
    let code = u8::from(found.mentions.is_empty());
    if out.json {
        let targets: Vec<Value> = found.targets.iter().map(wire::graph::symbol).collect();
        let reached: Vec<Value> = found.mentions.iter().map(wire::graph::mention).collect();
        let freshness = wire::graph::freshness(&found.freshness);
        out.data_json(
            "deps",
            json!({ "targets": targets, "reached": reached, "freshness": freshness }),
        );
        return Ok(code);
    }
    for it in &found.targets {
        out.line(&place(it));
    }
    rings(out, &found.mentions, args.limit);
    if found.mentions.is_empty() {
        out.line("it needs nothing of this project");
    }
    doubts(out, &found.freshness);
    Ok(code)
}
