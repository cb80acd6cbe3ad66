//! `waylore index`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use engine::{HistoryRead, Indexed, Progress};

use super::Session;
use crate::interrupt::stoppable;
use crate::output::{count, size, visible};
use crate::ticker::Ticker;
use crate::wire;

/// How many of the files that a precise index does not fit are named.
const NAMED: usize = 6;

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
    /// Let a precise index in SCIP's format replace what was found without a compiler
    #[arg(long, value_name = "FILE")]
    scip: Option<PathBuf>,
    /// The folder of the project that the paths in the precise index count from
    #[arg(long, value_name = "DIR", requires = "scip", default_value = "")]
    below: String,
}

pub(crate) async fn run(args: IndexArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let threads = args.threads.unwrap_or_else(all_cores);
    let progress = Progress::default();
    if let Some(file) = &args.scip {
        return refine(file, args.below.trim_matches('/'), threads, session).await;
    }
    let work = read_project(&progress, threads, session);
    let read = stoppable(work, || progress.stop()).await?;
    let Reading { code: done, history, n_modules, .. } = &read;
    let code = u8::from(done.is_partial);
    if out.json {
        let mut body = wire::graph::indexed(done);
        body["history"] = wire::graph::history(history);
        body["modules"] = (*n_modules).into();
        out.data_json("indexed", body);
        return Ok(code);
    }
    if done.is_partial {
        let left = progress.total().saturating_sub(done.n_read);
        out.line(&format!("stopped with {} unread", count(left, "file", "files")));
        out.hint("what was read is kept; `waylore index` goes on from there");
        return Ok(code);
    }
    for (_, line) in read.lines() {
        out.line(&line);
    }
    for (why, n) in &done.passed {
        out.say(&format!("passed over: {} ({why})", count(*n, "file", "files")));
    }
    Ok(code)
}

/// What was read of a project: its code, its past, its parts.
pub(crate) struct Reading {
    pub(crate) code: Indexed,
    took: Duration,
    pub(crate) history: HistoryRead,
    history_took: Duration,
    pub(crate) n_modules: usize,
}

impl Reading {
    /// A line for each that there is something to say about, under its name.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut res = vec![("code", said(&self.code, self.took))];
        if self.history.n_commits > 0 {
            res.push(("past", said_history(&self.history, self.history_took)));
        }
        if self.n_modules > 0 {
            let modules = count(self.n_modules, "module", "modules");
            res.push(("parts", format!("{modules}; `waylore map` shows them")));
        }
        res
    }
}

/// Reads what changed of the code, and when all of it was read, of the past, and finds the modules.
pub(crate) async fn read_project(
    progress: &Progress,
    threads: usize,
    session: &mut Session<'_>,
) -> anyhow::Result<Reading> {
    let start = Instant::now();
    let ticker = Ticker::start(progress, "files", session.output);
    let res = session.engine.index_code(progress, threads).await;
    drop(ticker);
    let (code, took) = (res?, start.elapsed());
    let (mut history, mut n_modules) = (HistoryRead::default(), 0);
    if !code.is_partial {
        history = session.engine.index_history(progress).await?;
        n_modules = session.engine.index_map().await?;
    }
    let history_took = start.elapsed().saturating_sub(took);
    Ok(Reading { code, took, history, history_took, n_modules })
}

async fn refine(
    file: &Path,
    below: &str,
    threads: usize,
    session: &mut Session<'_>,
) -> anyhow::Result<u8> {
    let out = session.output;
    let bytes = engine::read_index(&session.base.join(file))?;
    let progress = Progress::default();
    let ticker = Ticker::start(&progress, "files", out);
    let work = session.engine.refine_code(bytes, below, &progress, threads);
    let res = stoppable(work, || progress.stop()).await;
    drop(ticker);
    let done = res?;
    if out.json {
        out.data_json("refined", wire::graph::refined(&done));
        return Ok(0);
    }
    let files = count(done.n_files, "file", "files");
    out.line(&format!("{files} refined, {} references known precisely", done.n_sites));
    if !done.stale.is_empty() {
        let n = count(done.stale.len(), "file has", "files have");
        let named: Vec<&str> = done.stale.iter().take(NAMED).map(String::as_str).collect();
        let more = if done.stale.len() > NAMED { ", …" } else { "" };
        let which = visible(&named.join(", "));
        out.say(&format!(
            "{n} changed since the precise index was made and stay as they are: {which}{more}"
        ));
        out.hint("make the index anew to have those, too");
    }
    if done.n_unknown > 0 {
        let n = count(done.n_unknown, "file", "files");
        out.say(&format!("{n} of the precise index are not indexed here"));
    }
    Ok(0)
}

pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

pub(crate) fn said(done: &Indexed, took: Duration) -> String {
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

fn said_history(read: &HistoryRead, took: Duration) -> String {
    let new = match read.n_new {
        0 => "no new commits".to_owned(),
        n => format!("{} read", count(n, "commit", "commits")),
    };
    let anew = if read.anew { ", all of them anew: the history was rewritten" } else { "" };
    let partial = if read.is_partial { ", not to the end" } else { "" };
    format!(
        "{new}{anew}{partial} in {:.1} s: {} kept",
        took.as_secs_f64(),
        count(read.n_commits, "commit is", "commits are")
    )
}
