//! `waylore watch`: indexes the project, then every change, until Ctrl-C. The work comes in *passes*: the first
//! covers everything new, each later one a set of changed files. After each pass a *follow-up* brings the git
//! history and the module map up to date.

use std::time::Instant;

use engine::{CodeWatch, FollowUpReport, IndexPass, Project, TaskProgress};
use serde_json::json;

use super::CommandContext;
use super::index::{all_cores, format_index_report};
use crate::interrupt::run_stoppable;
use crate::output::{Output, format_count};
use crate::ticker::ProgressTicker;
use crate::wire;

/// Index changes continuously until Ctrl-C
///
/// Indexes everything new, like `index`, then each change half a second after it happened, and prints a line for it. New
/// commits update the history and the module map. Other processes may query and index meanwhile.
#[derive(clap::Args, Debug)]
pub(crate) struct WatchArgs {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) async fn run(args: WatchArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    let out = command.output;
    let mut watch =
        command.project.code_indexer().watch_code(args.threads.unwrap_or_else(all_cores)).await?;
    let (progress, watch_stop) = (TaskProgress::default(), watch.stop_handle());
    // Ctrl-C may come while a pass runs, or while the watch waits for changes.
    let stop = || {
        progress.stop();
        watch_stop.stop();
    };
    run_stoppable(follow_changes(&mut command.project, &mut watch, &progress, out), stop).await?;
    out.say("no longer watching");
    Ok(0)
}

/// Runs one indexing pass per set of changes, until the watch is stopped.
async fn follow_changes(
    project: &mut Project,
    watch: &mut CodeWatch,
    progress: &TaskProgress,
    out: &Output,
) -> Result<(), engine::Error> {
    let mut is_first = true;
    // Set while the system does not report changes, for example because it has no watches left.
    let mut last_polling_reason = None;
    loop {
        let start = Instant::now();
        // Later passes are short; a progress line would only flicker.
        let ticker = is_first.then(|| ProgressTicker::start(progress, "files", out));
        let pass = watch.next_pass(progress).await?;
        drop(ticker);
        // No pass or a partial one: the watch was stopped.
        let Some(pass) = pass.filter(|it| !it.indexed.is_partial) else { return Ok(()) };
        let has_changes = !pass.indexed_files.is_empty() || !pass.removed.is_empty();
        if is_first || has_changes {
            let took = is_first.then(|| start.elapsed());
            report_pass(&pass, took, out);
        }
        // Also without changed files: new commits may have arrived.
        let follow_up = project.code_indexer().follow_up(&pass.indexed, progress).await?;
        report_follow_up(follow_up, out);
        // Warn once for each reason, not in every pass.
        let polling_reason = watch.polling_reason().map(str::to_owned);
        if polling_reason != last_polling_reason
            && let Some(why) = &polling_reason
        {
            out.warn(&format!("{why}: polling every five seconds instead"));
            out.hint("on Linux, `sysctl fs.inotify.max_user_watches` says how many there are");
        }
        last_polling_reason = polling_reason;
        if is_first {
            out.say("watching; Ctrl-C stops it");
            is_first = false;
        }
    }
}

/// Prints a pass; with a time, as the report of a whole index.
fn report_pass(pass: &IndexPass, took: Option<std::time::Duration>, out: &Output) {
    if out.json {
        let mut body = wire::graph::index_json(&pass.indexed);
        body["read_files"] = json!(pass.indexed_files);
        body["gone_files"] = json!(pass.removed);
        out.print_json("indexed", body);
        return;
    }
    match took {
        Some(took) => out.print_line(&format_index_report(&pass.indexed, took)),
        None => out.print_line(&format_pass(pass)),
    }
}

/// Prints new commits and a changed module map, if any.
fn report_follow_up(report: FollowUpReport, out: &Output) {
    if out.json && report != FollowUpReport::default() {
        let body = json!({ "new_commits": report.n_commits, "modules": report.n_modules });
        return out.print_json("followed_up", body);
    }
    let mut parts = Vec::new();
    if report.n_commits > 0 {
        parts.push(format_count(report.n_commits, "new commit", "new commits"));
    }
    if let Some(n_modules) = report.n_modules {
        parts.push(format_count(n_modules, "module", "modules"));
    }
    if !parts.is_empty() {
        out.say(&parts.join(", "));
    }
}

/// Formats the changes of a pass: `read src/a.rs and 2 more, gone src/b.rs, 7 resolved again`.
fn format_pass(pass: &IndexPass) -> String {
    let format_paths = |verb: &str, paths: &[String]| match paths {
        [] => None,
        [path] => Some(format!("{verb} {path}")),
        [path, rest @ ..] => Some(format!("{verb} {path} and {} more", rest.len())),
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(format_paths("read", &pass.indexed_files));
    parts.extend(format_paths("gone", &pass.removed));
    parts.push(format!("{} resolved again", pass.indexed.n_resolved));
    parts.join(", ")
}
