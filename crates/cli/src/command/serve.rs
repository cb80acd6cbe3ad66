//! `waylore serve`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use engine::Engine;
use serde_json::Value;
use serve::client::Silence;
use serve::{Address, Ended};

use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::models;
use crate::output::{Output, count};

/// Keep projects open for agents and other programs
///
/// Hooks start it when they need it, and it ends by itself; there is nothing to set up. Programs speak to
/// it over a socket in the data folder, or over --stdio: one JSON object a line, described in
/// docs/reference/protocol.md.
#[derive(clap::Args, Debug)]
pub(crate) struct ServeArgs {
    /// Serve one program over standard input and output instead of the socket
    #[arg(long, conflicts_with_all = ["status", "stop"])]
    stdio: bool,
    /// Show whether it runs and what it does
    #[arg(long, conflicts_with = "stop")]
    status: bool,
    /// Ask it to end, and wait until it has
    #[arg(long)]
    stop: bool,
    /// Leave whoever started this process
    #[arg(long, hide = true)]
    detached: bool,
}

/// After so long without a word about it a project is closed.
const QUIET: Duration = Duration::from_mins(5);
/// Threads that answer; the engine has its own for what takes long.
const WORKERS: usize = 2;
/// Threads for what blocks, at most.
const BLOCKING: usize = 16;

pub(crate) fn run(args: ServeArgs, out: &Output) -> anyhow::Result<u8> {
    if args.detached {
        serve::leave_host();
    }
    let environment = Environment::read()?;
    let address = Address::of(&environment.data);
    if args.status {
        return Ok(status(&address, out));
    }
    if args.stop {
        let was_there = serve::client::stop(&address);
        out.say(if was_there { "it has ended" } else { "it does not run" });
        return Ok(0);
    }
    let config = config(environment)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .thread_keep_alive(Duration::from_secs(5))
        .enable_all()
        .build()?;
    let res = if args.stdio {
        runtime.block_on(serve::run_stdio(config)).map(|()| Ended::Stopped).map_err(Into::into)
    } else {
        runtime.block_on(serve::run(config)).map_err(anyhow::Error::from)
    };
    // What is still going on there is what may be cut off.
    runtime.shutdown_background();
    if let Ended::AlreadyThere { version } = res? {
        out.say(&format!("it runs already, version {version}"));
    }
    Ok(0)
}

fn config(environment: Environment) -> anyhow::Result<serve::Config> {
    let settings = Settings::load(&environment)?;
    let models = models::plan(&settings)?.models();
    let of_engine = engine::Config {
        data: environment.data.clone(),
        key: settings.key(&environment)?,
        home: environment.home.clone(),
        types: settings.types.clone(),
        models: models.clone(),
        random: environment::random,
    };
    let open: serve::Open = Arc::new(move |folder, now| {
        let config = of_engine.clone();
        Box::pin(async move { Engine::open(config, &folder, now).await })
    });
    let file = environment.config_file();
    let read_from = stamp(&file);
    let minutes = settings.number("serve.idle_minutes");
    Ok(serve::Config {
        data: environment.data,
        version: environment::version(),
        idle: Duration::from_secs(u64::from(minutes) * 60),
        quiet: QUIET,
        now: environment::now,
        open,
        backup_every_days: settings.number("backup.every_days"),
        resolve: Arc::new(move |stored| {
            let settings = settings.clone().with_project(stored);
            serve::Resolved {
                closed: settings.get("memory.enabled") == "false",
                manners: settings.manners(),
            }
        }),
        is_outdated: Arc::new(move || stamp(&file) != read_from),
        models,
    })
}

/// What tells a settings file from what it becomes.
fn stamp(path: &PathBuf) -> Option<(SystemTime, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

fn status(address: &Address, out: &Output) -> u8 {
    match serve::client::status(address) {
        Ok(status) if out.json => out.data_json("daemon", status),
        Ok(status) => {
            out.line(&brief(&status));
            for project in status["projects"].as_array().into_iter().flatten() {
                out.line(&format!("  {}", project.as_str().unwrap_or_default()));
            }
        }
        Err(Silence::Nobody) => {
            out.say("it does not run");
            return 1;
        }
        Err(Silence::Trouble(why)) => {
            out.warn(&format!("it does not answer: {why}"));
            return 3;
        }
    }
    0
}

/// The daemon in one line.
pub(crate) fn brief(status: &Value) -> String {
    let number = |name: &str| status[name].as_u64().unwrap_or(0);
    let some = |n: u64, one: &str, more: &str| count(usize::try_from(n).unwrap_or(0), one, more);
    let projects = status["projects"].as_array().map_or(0, Vec::len);
    let mut res = format!(
        "version {}, process {}, up for {} s; {} open, {}, {}",
        status["version"].as_str().unwrap_or("?"),
        number("pid"),
        number("seconds_up"),
        count(projects, "project", "projects"),
        some(number("sessions"), "session", "sessions"),
        some(number("events"), "event", "events"),
    );
    let job = status["job"]["name"].as_str();
    let job = job.map(|it| format!("; at work: {it} for {} s", status["job"]["seconds"]));
    let queued = Some(number("queued")).filter(|it| *it > 0);
    let queued = queued.map(|it| format!("; {} waiting", some(it, "job", "jobs")));
    let trouble = status["last_trouble"].as_str().map(|it| format!("; last trouble: {it}"));
    res.extend([job, queued, trouble].into_iter().flatten());
    res
}
