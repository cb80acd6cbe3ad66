//! `waylore index`: brings the code graph (symbols, and references between them as edges), the git history and
//! the module map up to date. With `--scip`, it refines the graph instead, by a precise index: the references that
//! a compiler found, in SCIP format.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use engine::{HistoryReport, IndexReport, TaskProgress};

use super::CommandContext;
use crate::interrupt::run_stoppable;
use crate::output::{escape_controls, format_count, format_size};
use crate::ticker::ProgressTicker;
use crate::wire;

/// Most rejected files of a precise index to name.
const MAX_NAMED_FILES: usize = 6;

/// Index the code: definitions and references
///
/// Only changed files are parsed. Can be interrupted; the next run continues. Skips files ignored by git or
/// `.wayloreignore`, vendored folders (node_modules, vendor), minified files, and files above 2 MB. Generated files are
/// indexed, but belong to no module.
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

pub(crate) async fn run(args: IndexArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let threads = args.threads.unwrap_or_else(all_cores);
    let progress = TaskProgress::default();
    if let Some(file) = &args.scip {
        return refine_index(file, args.below.trim_matches('/'), threads, command).await;
    }
    let work = index_project(&progress, threads, command);
    let report = run_stoppable(work, || progress.stop()).await?;
    let exit_code = u8::from(report.code.is_partial);
    if out.json {
        let mut body = wire::graph::index_json(&report.code);
        body["history"] = wire::graph::history_json(&report.history);
        body["modules"] = report.n_modules.into();
        out.print_json("indexed", body);
        return Ok(exit_code);
    }
    // Ctrl-C stopped it.
    if report.code.is_partial {
        let n_unread = progress.n_total().saturating_sub(report.code.n_read);
        out.print_line(&format!("stopped with {} unread", format_count(n_unread, "file", "files")));
        out.hint("the progress is saved; `waylore index` continues from there");
        return Ok(exit_code);
    }
    for (_, line) in report.summary_lines() {
        out.print_line(&line);
    }
    if report.code.n_partly_parsed > 0 {
        let files = format_count(report.code.n_partly_parsed, "file", "files");
        out.say(&format!("{files} understood in part: definitions and references may be missing"));
    }
    for (why, n) in &report.code.skipped {
        out.say(&format!("skipped: {} ({why})", format_count(*n, "file", "files")));
    }
    Ok(exit_code)
}

/// Result of indexing: code, history, module map.
pub(crate) struct ProjectIndexReport {
    pub(crate) code: IndexReport,
    code_time: Duration,
    pub(crate) history: HistoryReport,
    /// Time for the history and the module map.
    history_time: Duration,
    pub(crate) n_modules: usize,
}

impl ProjectIndexReport {
    /// Summary lines with their labels.
    pub(crate) fn summary_lines(&self) -> Vec<(&'static str, String)> {
        let mut res = vec![("code", format_index_report(&self.code, self.code_time))];
        if self.history.n_commits > 0 {
            res.push(("history", format_history(&self.history, self.history_time)));
        }
        if self.n_modules > 0 {
            let modules = format_count(self.n_modules, "module", "modules");
            res.push(("modules", format!("{modules}; `waylore map` shows them")));
        }
        res
    }
}

/// Indexes changed code; if that completes, also the git history and the module map.
pub(crate) async fn index_project(
    progress: &TaskProgress,
    threads: usize,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<ProjectIndexReport> {
    let start = Instant::now();
    let ticker = ProgressTicker::start(progress, "files", command.output);
    let indexed = command.project.code_indexer().index_code(progress, threads).await;
    // Clear the progress line before anything else is printed.
    drop(ticker);
    let (code, code_time) = (indexed?, start.elapsed());
    let (mut history, mut n_modules) = (HistoryReport::default(), 0);
    // The module map needs the whole graph.
    if !code.is_partial {
        history = command.project.code_indexer().index_history(progress).await?;
        n_modules = command.project.code_indexer().index_map().await?;
    }
    // Everything after the code.
    let history_time = start.elapsed().saturating_sub(code_time);
    Ok(ProjectIndexReport { code, code_time, history, history_time, n_modules })
}

/// Replaces the edges of files that a precise index covers. `below` is the folder that its paths are
/// relative to.
async fn refine_index(
    file: &Path,
    below: &str,
    threads: usize,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<u8> {
    let out = command.output;
    let bytes = engine::read_scip_file(&command.base.join(file))?;
    let progress = TaskProgress::default();
    let ticker = ProgressTicker::start(&progress, "files", out);
    // Not awaited yet: `run_stoppable` polls it beside the handler of Ctrl-C.
    let mut indexer = command.project.code_indexer();
    let work = indexer.refine_code(bytes, below, &progress, threads);
    let refined = run_stoppable(work, || progress.stop()).await;
    drop(ticker);
    let report = refined?;
    if out.json {
        out.print_json("refined", wire::graph::refine_json(&report));
        return Ok(0);
    }
    let files = format_count(report.n_files, "file", "files");
    out.print_line(&format!("{files} refined, {} references known precisely", report.n_references));
    let changed = &report.changed_files;
    if !changed.is_empty() {
        let files = format_count(changed.len(), "file has", "files have");
        let names: Vec<&str> = changed.iter().take(MAX_NAMED_FILES).map(String::as_str).collect();
        let names = escape_controls(&names.join(", "));
        let more = if changed.len() > MAX_NAMED_FILES { ", …" } else { "" };
        out.say(&format!(
            "{files} changed since the precise index was made and were not refined: {names}{more}"
        ));
        out.hint("make a new index to refine them");
    }
    if report.n_unknown > 0 {
        let files = format_count(report.n_unknown, "file", "files");
        out.say(&format!("{files} of the precise index are not indexed here"));
    }
    Ok(0)
}

pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

pub(crate) fn format_index_report(report: &IndexReport, time: Duration) -> String {
    let read = match report.n_read {
        0 => "nothing changed".to_owned(),
        n => format!("{} read ({})", format_count(n, "file", "files"), format_size(report.n_bytes)),
    };
    let gone = match report.n_removed {
        0 => String::new(),
        n => format!(", {n} gone"),
    };
    format!(
        "{read}{gone} in {:.1} s: {}, {}, {}, {} on disk",
        time.as_secs_f64(),
        format_count(report.n_files, "file", "files"),
        format_count(report.n_symbols, "symbol", "symbols"),
        format_count(report.n_edges, "edge", "edges"),
        format_size(report.size)
    )
}

fn format_history(report: &HistoryReport, time: Duration) -> String {
    let new = match report.n_new {
        0 => "no new commits".to_owned(),
        n => format!("{} read", format_count(n, "commit", "commits")),
    };
    let rewritten =
        if report.was_rewritten { ", all of them again: the history was rewritten" } else { "" };
    let partial = if report.is_partial { ", incomplete" } else { "" };
    format!(
        "{new}{rewritten}{partial} in {:.1} s, {} in all",
        time.as_secs_f64(),
        format_count(report.n_commits, "commit", "commits")
    )
}
