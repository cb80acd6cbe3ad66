//! `waylore watch`.

use std::time::Instant;

use engine::{CodeWatch, FollowUpReport, IndexPass, Project, TaskProgress};
use serde_json::json;

use super::CommandSession;
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

pub(crate) async fn run(args: WatchArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let mut watch =
        session.project.code_indexer().watch_code(args.threads.unwrap_or_else(all_cores)).await?;
    let (progress, stop) = (TaskProgress::default(), watch.stop_handle());
    let end = || {
        progress.stop();
        stop.stop();
    };
    run_stoppable(follow_changes(&mut session.project, &mut watch, &progress, out), end).await?;
    out.say("no longer watching");
    Ok(0)
}

async fn follow_changes(
    engine: &mut Project,
    watch: &mut CodeWatch,
    progress: &TaskProgress,
    out: &Output,
) -> Result<(), engine::Error> {
    let (mut is_first, mut trouble) = (true, None);
    loop {
        let start = Instant::now();
        // Later passes are short; a progress line would only flicker.
        let ticker = is_first.then(|| ProgressTicker::start_ticker(progress, "files", out));
        let pass = watch.next_pass(progress).await?;
        drop(ticker);
        let Some(pass) = pass.filter(|it| !it.indexed.is_partial) else { return Ok(()) };
        if is_first || !pass.indexed_files.is_empty() || !pass.removed.is_empty() {
            let took = is_first.then(|| start.elapsed());
            report_pass(&pass, took, out);
        }
        // Also without changed files: new commits may have arrived.
        tell_more(engine.code_indexer().follow_up(&pass.indexed, progress).await?, out);
        let now = watch.polling_reason().map(str::to_owned);
        if now != trouble
            && let Some(why) = &now
        {
            out.warn(&format!("{why}: polling every five seconds instead"));
            out.hint("on Linux, `sysctl fs.inotify.max_user_watches` says how many there are");
        }
        trouble = now;
        if std::mem::take(&mut is_first) {
            out.say("watching; Ctrl-C stops it");
        }
    }
}

fn report_pass(pass: &IndexPass, took: Option<std::time::Duration>, out: &Output) {
    if out.json {
        let mut body = wire::graph::index_json(&pass.indexed);
        body["read_files"] = json!(pass.indexed_files);
        body["gone_files"] = json!(pass.removed);
        out.data_json("indexed", body);
        return;
    }
    match took {
        Some(took) => out.print_line(&format_index_report(&pass.indexed, took)),
        None => out.print_line(&format_pass(pass)),
    }
}

fn tell_more(done: FollowUpReport, out: &Output) {
    if out.json && done != FollowUpReport::default() {
        let body = json!({ "new_commits": done.n_commits, "modules": done.n_modules });
        return out.data_json("followed_up", body);
    }
    let commits =
        (done.n_commits > 0).then(|| format_count(done.n_commits, "new commit", "new commits"));
    let modules = done.n_modules.map(|it| format_count(it, "module", "modules"));
    let parts: Vec<String> = [commits, modules].into_iter().flatten().collect();
    if !parts.is_empty() {
        out.say(&parts.join(", "));
    }
}

/// Formats the changes; names files if there are few.
fn format_pass(pass: &IndexPass) -> String {
    let named = |verb: &str, paths: &[String]| match paths {
        [] => None,
        [one] => Some(format!("{verb} {one}")),
        [one, rest @ ..] => Some(format!("{verb} {one} and {} more", rest.len())),
    };
    let parts = [named("read", &pass.indexed_files), named("gone", &pass.removed)];
    let concerned = format!("{} resolved again", pass.indexed.n_resolved);
    let parts: Vec<String> = parts.into_iter().flatten().chain([concerned]).collect();
    parts.join(", ")
}
