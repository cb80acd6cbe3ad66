//! `waylore search`.

use serde_json::json;

use super::Session;
use super::list::Which;
use super::shared::{line, text_or_stdin};
use crate::output::DIM;
use crate::wire::MemoryWire;

/// Find memories by words
///
/// All the words if any memory has them, else some of them. `verifyJwt` is also found by `jwt`.
#[derive(clap::Args, Debug)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true)]
    words: Vec<String>,
    #[command(flatten)]
    which: Which,
}

pub(crate) async fn run(args: SearchArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let query = text_or_stdin(&args.words)?;
    let (filter, reach) = args.which.filter(session)?;
    let hits = session.engine.search(&query, &filter, reach).await?;
    let code = u8::from(hits.is_empty());
    if session.output.json {
        let hit = |it: &engine::Hit| json!({ "memory": MemoryWire::from(&it.shown), "score": it.score, "because": it.because });
        let hits: Vec<_> = hits.iter().map(hit).collect();
        session.output.data_json("hits", json!({ "query": query, "hits": hits }));
        return Ok(code);
    }
    for hit in &hits {
        session.output.line(&format!(
            "{}  {DIM}({}){DIM:#}",
            line(&hit.shown, &session.settings.types),
            hit.because.join(", ")
        ));
    }
    if hits.is_empty() {
        session.output.say("nothing found");
    }
    Ok(code)
}
