//! `waylore index`.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use engine::{Indexed, Progress};

use super::Session;
use crate::output::{count, size};
use crate::ticker::Ticker;
use crate::wire;

/// Read the project's code: who defines what, and who refers to whom
///
/// Only what changed since the last time is read. Can be interrupted at any time: what was read stays,
/// and the next run goes on. What git ignores is left alone, and so is what `.wayloreignore` names, what
/// others wrote (node_modules, vendor), what was generated or minified, and files above 2 MB.
#[derive(clap::Args, Debug)]
pub(crate) struct IndexArgs {
    /// The project's folder, instead of the current one
    #[arg(value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// How many threads read at once [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) async fn run(args: IndexArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let threads =
        args.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
    let progress = Progress::default();
    let start = Instant::now();
    let ticker = Ticker::start(&progress, "files", out);
    let res = session.engine.index_code(&progress, threads).await;
    drop(ticker);
    let done = res?;
    if out.json {
        out.data_json("indexed", wire::graph::indexed(&done));
        return Ok(0);
    }
    out.line(&said(&done, start.elapsed()));
    for (why, n) in &done.passed {
        out.say(&format!("passed over: {} ({why})", count(*n, "file", "files")));
    }
    Ok(0)
}

fn said(done: &Indexed, took: Duration) -> String {
    let read = match done.n_read {
        0 => "nothing changed".to_owned(),
        n => format!("{} read ({})", count(n, "file", "files"), size(done.n_bytes)),
    };
    let gone = if done.n_gone > 0 { format!(", {} gone", done.n_gone) } else { String::new() };
    format!(
        "{read}{gone} in {:.1} s: {}, {} symbols, {} edges, {} on disk",
        took.as_secs_f64(),
        count(done.n_files, "file", "files"),
        done.n_symbols,
        done.n_edges,
        size(done.size)
    )
}
