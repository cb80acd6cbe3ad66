//! `waylore chunks`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::CommandSession;
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

pub(crate) fn run(args: &ChunksArgs, session: &CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let path = session.project.project_path(&args.file, &session.base)?;
    let found = session.project.code_graph().chunks(&path)?;
    if out.json {
        let chunks: Vec<Value> = found.iter().map(wire::graph::chunk_json).collect();
        out.data_json("chunks", json!({ "path": path, "chunks": chunks }));
        return Ok(0);
    }
    for it in &found {
        let lines = format_count(it.text.lines().count(), "line", "lines");
        out.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{lines}{DIM_STYLE:#}",
            it.title
        ));
        if args.text {
            out.print_line(&it.text);
        }
    }
    Ok(0)
}
