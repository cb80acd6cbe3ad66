//! `waylore index`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use engine::{HistoryReport, IndexReport, TaskProgress};

use super::CommandSession;
use crate::interrupt::run_stoppable;
use crate::output::{escape_controls, format_count, format_size};
use crate::ticker::ProgressTicker;
use crate::wire;

/// Most rejected files of a precise index to name.
const MAX_NAMED_FILES: usize = 6;

/// Index the code: definitions and references
///
/// Only changed files are parsed. Can be interrupted; the next run continues. Skips files ignored by git or
/// `.wayloreignore`, vendored folders (node_modules, vendor), generated and minified files, and files above 2 MB.
#[derive(clap::Args, Debug)]
pub(crate) struct IndexArgs {
    /// Folder of the project, instead of the current one
    #[arg(value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Replace edges by those of a precise index in SCIP format
    #[arg(long, value_name = "FILE")]
    scip: Option<PathBuf>,
    /// Folder that paths in the precise index are relative to
    #[arg(long, value_name = "DIR", requires = "scip", default_value = "")]
    below: String,
}

pub(crate) async fn run(args: IndexArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let threads = args.threads.unwrap_or_else(all_cores);
    let progress = TaskProgress::default();
    if let Some(file) = &args.scip {
        return refine_index(file, args.below.trim_matches('/'), threads, session).await;
    }
    let work = read_project(&progress, threads, session);
    let read = run_stoppable(work, || progress.stop()).await?;
    let IndexReading { code: done, history, n_modules, .. } = &read;
    let code = u8::from(done.is_partial);
    if out.json {
        let mut body = wire::graph::index_json(done);
        body["history"] = wire::graph::history_json(history);
        body["modules"] = (*n_modules).into();
        out.data_json("indexed", body);
        return Ok(code);
    }
    if done.is_partial {
        let left = progress.n_total().saturating_sub(done.n_read);
        out.print_line(&format!("stopped with {} unread", format_count(left, "file", "files")));
        out.hint("the progress is saved; `waylore index` continues from there");
        return Ok(code);
    }
    for (_, line) in read.summary_lines() {
        out.print_line(&line);
    }
    for (why, n) in &done.skipped {
        out.say(&format!("skipped: {} ({why})", format_count(*n, "file", "files")));
    }
    Ok(code)
}

/// Result of indexing: code, history, module map.
pub(crate) struct IndexReading {
    pub(crate) code: IndexReport,
    took: Duration,
    pub(crate) history: HistoryReport,
    history_took: Duration,
    pub(crate) n_modules: usize,
}

impl IndexReading {
    /// Summary lines with their labels.
    pub(crate) fn summary_lines(&self) -> Vec<(&'static str, String)> {
        let mut res = vec![("code", format_index_report(&self.code, self.took))];
        if self.history.n_commits > 0 {
            res.push(("history", format_history(&self.history, self.history_took)));
        }
        if self.n_modules > 0 {
            let modules = format_count(self.n_modules, "module", "modules");
            res.push(("modules", format!("{modules}; `waylore map` shows them")));
        }
        res
    }
}

/// Indexes changed code; if that completes, also the git history and the module map.
pub(crate) async fn read_project(
    progress: &TaskProgress,
    threads: usize,
    session: &mut CommandSession<'_>,
) -> anyhow::Result<IndexReading> {
    let start = Instant::now();
    let ticker = ProgressTicker::start_ticker(progress, "files", session.output);
    let res = session.project.code_indexer().index_code(progress, threads).await;
    drop(ticker);
    let (code, took) = (res?, start.elapsed());
    let (mut history, mut n_modules) = (HistoryReport::default(), 0);
    if !code.is_partial {
        history = session.project.code_indexer().index_history(progress).await?;
        n_modules = session.project.code_indexer().index_map().await?;
    }
    let history_took = start.elapsed().saturating_sub(took);
    Ok(IndexReading { code, took, history, history_took, n_modules })
}

async fn refine_index(
    file: &Path,
    below: &str,
    threads: usize,
    session: &mut CommandSession<'_>,
) -> anyhow::Result<u8> {
    let out = session.output;
    let bytes = engine::read_scip_file(&session.base.join(file))?;
    let progress = TaskProgress::default();
    let ticker = ProgressTicker::start_ticker(&progress, "files", out);
    let mut indexer = session.project.code_indexer();
    let work = indexer.refine_code(bytes, below, &progress, threads);
    let res = run_stoppable(work, || progress.stop()).await;
    drop(ticker);
    let done = res?;
    if out.json {
        out.data_json("refined", wire::graph::refine_json(&done));
        return Ok(0);
    }
    let files = format_count(done.n_files, "file", "files");
    out.print_line(&format!("{files} refined, {} references known precisely", done.n_references));
    if !done.changed_files.is_empty() {
        let n = format_count(done.changed_files.len(), "file has", "files have");
        let named: Vec<&str> =
            done.changed_files.iter().take(MAX_NAMED_FILES).map(String::as_str).collect();
        let more = if done.changed_files.len() > MAX_NAMED_FILES { ", …" } else { "" };
        let which = escape_controls(&named.join(", "));
        out.say(&format!(
            "{n} changed since the precise index was made and were not refined: {which}{more}"
        ));
        out.hint("make a new index to refine them");
    }
    if done.n_unknown > 0 {
        let n = format_count(done.n_unknown, "file", "files");
        out.say(&format!("{n} of the precise index are not indexed here"));
    }
    Ok(0)
}

pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

pub(crate) fn format_index_report(done: &IndexReport, took: Duration) -> String {
    let read = match done.n_read {
        0 => "nothing changed".to_owned(),
        n => format!("{} read ({})", format_count(n, "file", "files"), format_size(done.n_bytes)),
    };
    let gone =
        if done.n_removed > 0 { format!(", {} gone", done.n_removed) } else { String::new() };
    format!(
        "{read}{gone} in {:.1} s: {}, {} symbols, {} edges, {} on disk",
        took.as_secs_f64(),
        format_count(done.n_files, "file", "files"),
        done.n_symbols,
        done.n_edges,
        format_size(done.size)
    )
}

fn format_history(read: &HistoryReport, took: Duration) -> String {
    let new = match read.n_new {
        0 => "no new commits".to_owned(),
        n => format!("{} read", format_count(n, "commit", "commits")),
    };
    let anew =
        if read.was_rewritten { ", all of them again: the history was rewritten" } else { "" };
    let partial = if read.is_partial { ", incomplete" } else { "" };
    format!(
        "{new}{anew}{partial} in {:.1} s: {} stored",
        took.as_secs_f64(),
        format_count(read.n_commits, "commit is", "commits are")
    )
}
