//! `waylore chunks`: shows how a file is cut into chunks, pieces that begin and end at symbol boundaries.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::CommandContext;
use crate::output::{BOLD_STYLE, DIM_STYLE, format_count};
use crate::wire;

/// Split a file into chunks at symbol boundaries
#[derive(clap::Args, Debug)]
pub(crate) struct ChunksArgs {
    /// File
    file: PathBuf,
    /// Also print the text of the chunks
    #[arg(long)]
    text: bool,
}

pub(crate) fn run(args: &ChunksArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let path = command.project.project_path(&args.file, &command.base)?;
    let chunks = command.project.code_graph().chunks(&path)?;
    if out.json {
        let chunks: Vec<Value> = chunks.iter().map(wire::graph::chunk_json).collect();
        out.print_json("chunks", json!({ "path": path, "chunks": chunks }));
        return Ok(0);
    }
    for chunk in &chunks {
        let lines = format_count(chunk.text.lines().count(), "line", "lines");
        out.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{lines}{DIM_STYLE:#}",
            chunk.title
        ));
        if args.text {
            out.print_verbatim(&chunk.text);
        }
    }
    Ok(0)
}
