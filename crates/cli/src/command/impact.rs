//! `waylore impact`.

use serde_json::{Value, json};

use super::Session;
use super::code::{doubts, place, rings};
use super::shared::line;
use crate::output::count;
use crate::wire;
use crate::wire::MemoryWire;

/// Show who would notice a change: callers, users, heirs, tests
///
/// Every line says by which kind of edge and, when it is only a guess, how it was found.
#[derive(clap::Args, Debug)]
pub(crate) struct ImpactArgs {
    /// What would change: `path:symbol`, `path:line`, `path`, or a symbol that only one file defines
    target: String,
    /// How many steps away somebody may be
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3))]
    depth: u32,
    /// How many lines at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(crate) async fn run(args: ImpactArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let found = session.engine.impact(&args.target, args.depth).await?;
    if out.json {
        let memories: Vec<MemoryWire> = found.memories.iter().map(MemoryWire::from).collect();
        let list =
            |it: &[engine::Symbol]| it.iter().map(wire::graph::symbol).collect::<Vec<Value>>();
        let reached: Vec<Value> = found.mentions.iter().map(wire::graph::mention).collect();
        let body = json!({
            "targets": list(&found.targets), "reached": reached, "memories": memories,
            "freshness": wire::graph::freshness(&found.freshness),
        });
        out.data_json("impact", body);
        return Ok(u8::from(found.mentions.is_empty()));
    }
    for it in &found.targets {
        out.line(&place(it));
    }
    rings(out, &found.mentions, args.limit);
    let n_tests = found.mentions.iter().filter(|it| it.symbol.is_test).count();
    if found.mentions.is_empty() {
        out.line("nobody refers to it");
    } else {
        out.line(&format!("{} among them", count(n_tests, "test", "tests")));
    }
    for it in &found.memories {
        out.line(&line(it, &session.settings.types));
    }
    doubts(out, &found.freshness);
    Ok(u8::from(found.mentions.is_empty()))
}
