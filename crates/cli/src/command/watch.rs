//! `waylore watch`.

use std::time::Instant;

use engine::{CodeWatch, Engine, FollowedUp, Pass, Progress};
use serde_json::json;

use super::Session;
use super::index::{all_cores, said};
use crate::interrupt::stoppable;
use crate::output::{Output, count};
use crate::ticker::Ticker;
use crate::wire;

/// Follow the project's code: read what changes, until Ctrl-C
///
/// Reads everything that is new, like `index`, and then whatever changes, half a second after it did.
/// Prints a line each time something did. New commits are read as soon as they are made, and modules found
/// again with them. Others may ask and index meanwhile.
#[derive(clap::Args, Debug)]
pub(crate) struct WatchArgs {
    /// How many threads read at once [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) async fn run(args: WatchArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let mut watch = session.engine.watch_code(args.threads.unwrap_or_else(all_cores)).await?;
    let (progress, stop) = (Progress::default(), watch.stopper());
    let end = || {
        progress.stop();
        stop.stop();
    };
    stoppable(follow(&mut session.engine, &mut watch, &progress, out), end).await?;
    out.say("no longer watching");
    Ok(0)
}

async fn follow(
    engine: &mut Engine,
    watch: &mut CodeWatch,
    progress: &Progress,
    out: &Output,
) -> Result<(), engine::Error> {
    let (mut is_first, mut trouble) = (true, None);
    loop {
        let start = Instant::now();
        // Later passes are short; a line that comes and goes would only flicker.
        let ticker = is_first.then(|| Ticker::start(progress, "files", out));
        let pass = watch.next(progress).await?;
        drop(ticker);
        let Some(pass) = pass.filter(|it| !it.indexed.is_partial) else { return Ok(()) };
        if is_first || !pass.read.is_empty() || !pass.gone.is_empty() {
            let took = is_first.then(|| start.elapsed());
            tell(&pass, took, out);
        }
        // Also where no file changed: commits came.
        tell_more(engine.follow_up(&pass.indexed, progress).await?, out);
        let now = watch.trouble().map(str::to_owned);
        if now != trouble
            && let Some(why) = &now
        {
            out.warn(&format!("{why}: everything is looked at every five seconds instead"));
            out.hint("on Linux, `sysctl fs.inotify.max_user_watches` says how many there are");
        }
        trouble = now;
        if std::mem::take(&mut is_first) {
            out.say("watching; Ctrl-C ends it");
        }
    }
}

fn tell(pass: &Pass, took: Option<std::time::Duration>, out: &Output) {
    if out.json {
        let mut body = wire::graph::indexed(&pass.indexed);
        body["read_files"] = json!(pass.read);
        body["gone_files"] = json!(pass.gone);
        out.data_json("indexed", body);
        return;
    }
    match took {
        Some(took) => out.line(&said(&pass.indexed, took)),
        None => out.line(&news(pass)),
    }
}

fn tell_more(done: FollowedUp, out: &Output) {
    if out.json && done != FollowedUp::default() {
        let body = json!({ "new_commits": done.n_commits, "modules": done.n_modules });
        return out.data_json("followed_up", body);
    }
    let commits = (done.n_commits > 0).then(|| count(done.n_commits, "new commit", "new commits"));
    let modules = done.n_modules.map(|it| count(it, "module", "modules"));
    let parts: Vec<String> = [commits, modules].into_iter().flatten().collect();
    if !parts.is_empty() {
        out.say(&parts.join(", "));
    }
}

/// What changed, by name while it is little.
fn news(pass: &Pass) -> String {
    let named = |verb: &str, paths: &[String]| match paths {
        [] => None,
        [one] => Some(format!("{verb} {one}")),
        [one, rest @ ..] => Some(format!("{verb} {one} and {} more", rest.len())),
    };
    let parts = [named("read", &pass.read), named("gone", &pass.gone)];
    let concerned = format!("{} resolved anew", pass.indexed.n_resolved);
    let parts: Vec<String> = parts.into_iter().flatten().chain([concerned]).collect();
    parts.join(", ")
}
