//! `waylore chunks`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Session;
use crate::output::{BOLD, DIM, count};
use crate::wire;

/// Cut a file into pieces for search: whole symbols, never half a statement
#[derive(clap::Args, Debug)]
pub(crate) struct ChunksArgs {
    /// The file
    file: PathBuf,
    /// Print the text of the pieces as well
    #[arg(long)]
    text: bool,
}

pub(crate) fn run(args: &ChunksArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let path = session.engine.path(&args.file, &session.base)?;
    let found = session.engine.chunks(&path)?;
    if out.json {
        let chunks: Vec<Value> = found.iter().map(wire::graph::chunk).collect();
        out.data_json("chunks", json!({ "path": path, "chunks": chunks }));
        return Ok(0);
    }
    for it in &found {
        let lines = count(it.text.lines().count(), "line", "lines");
        out.line(&format!("{BOLD}{}{BOLD:#}  {DIM}{lines}{DIM:#}", it.title));
        if args.text {
            out.line(&it.text);
        }
    }
    Ok(0)
}
