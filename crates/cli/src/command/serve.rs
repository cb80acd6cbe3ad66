//! `waylore serve`: runs the daemon, or shows its status, or stops it. The daemon is the one process per user that
//! keeps projects open and answers the hooks of agents. It is the crate `serve`; this file gives it the settings,
//! the clock and the function that opens projects.

mod daemon_commands;

pub(crate) use daemon_commands::CommandResult;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use serve::client::ClientError;
use serve::{DaemonAddress, DaemonExit};

use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::output::{Output, format_count};
use crate::project::{DamageTolerance, ProjectFactory};
use daemon_commands::DaemonCommands;

/// Run the daemon
///
/// Hooks start it when needed and it exits by itself; no setup is needed. Clients use a socket in the data folder, or
/// --stdio: one JSON object per line, described in docs/reference/protocol.md.
#[derive(clap::Args, Debug)]
pub(crate) struct ServeArgs {
    /// Serve one client over standard input and output instead of the socket
    #[arg(long, conflicts_with_all = ["status", "stop"])]
    stdio: bool,
    /// Show the status of the daemon
    #[arg(long, conflicts_with = "stop")]
    status: bool,
    /// Stop the daemon and wait for it
    #[arg(long)]
    stop: bool,
    /// Detach from the parent process
    #[arg(long, hide = true)]
    detached: bool,
}

/// Idle time after which the daemon closes a project, to free its memory.
const PROJECT_IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// Threads that answer requests; the engine has its own for long work.
const WORKER_THREADS: usize = 2;
/// Most threads for blocking work.
const MAX_BLOCKING_THREADS: usize = 16;

pub(crate) fn run(args: ServeArgs, out: &Output) -> anyhow::Result<u8> {
    if args.detached {
        serve::detach_from_host();
    }
    let environment = Environment::read()?;
    let address = DaemonAddress::for_data_dir(&environment.data);
    // Requests to a running daemon; they need no project and no runtime.
    if args.status {
        return Ok(print_status(&address, out));
    }
    if args.stop {
        // Waits until the daemon has stopped.
        let was_there = serve::client::stop_daemon(&address);
        out.say(if was_there { "the daemon has stopped" } else { "the daemon is not running" });
        return Ok(0);
    }
    let config = daemon_config(environment)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_keep_alive(Duration::from_secs(5))
        .enable_all()
        .build()?;
    let res = if args.stdio {
        runtime.block_on(serve::run_stdio(config)).map(|()| DaemonExit::Stopped).map_err(Into::into)
    } else {
        runtime.block_on(serve::run(config)).map_err(anyhow::Error::from)
    };
    // The daemon has closed everything within its time limits; other work may be cut off.
    runtime.shutdown_background();
    if let DaemonExit::AlreadyRunning { version } = res? {
        out.say(&format!("the daemon is already running, version {version}"));
    }
    Ok(0)
}

fn daemon_config(environment: Environment) -> anyhow::Result<serve::Config> {
    let factory = ProjectFactory::new(&environment)?;
    let models = factory.config.models.clone();
    // The daemon reads these files only now. If one changes, `is_outdated` lets the daemon exit, and the next
    // hook starts one with the new settings.
    let config_files = [environment.config_file(), environment.key_file()];
    let stamps = move || config_files.each_ref().map(file_stamp);
    let stamps_at_start = stamps();
    let commands = Arc::new(DaemonCommands::new(environment.clone(), factory.clone())?);
    let idle_minutes = factory.settings.get_number("serve.idle_minutes");
    let backup_every_days = factory.settings.get_number("backup.every_days");
    let open_factory = factory.clone();
    let open_project: serve::OpenProjectFn = Arc::new(move |folder, now| {
        let factory = open_factory.clone();
        Box::pin(async move {
            // The daemon reads the settings of a project again before each piece of work.
            let opened = factory.open(&folder, now, DamageTolerance::ProjectSettings).await?;
            Ok(opened.project)
        })
    });
    Ok(serve::Config {
        data_dir: environment.data,
        key: factory.config.key.clone(),
        version: environment::own_version(),
        daemon_idle_timeout: Duration::from_secs(u64::from(idle_minutes) * 60),
        project_idle_timeout: PROJECT_IDLE_TIMEOUT,
        now: environment::now,
        open_project,
        backup_every_days,
        resolve_policy: Arc::new(move |stored| factory.policy(stored)),
        is_outdated: Arc::new(move || stamps() != stamps_at_start),
        commands,
        models,
    })
}

/// Starts the daemon if the settings ask for it, without waiting for it, and returns whether it was
/// started.
pub(crate) fn start_daemon_if_wanted(environment: &Environment) -> bool {
    let is_wanted = Settings::load(environment).is_ok_and(|it| it.get("serve.start") == "true");
    is_wanted && cfg!(unix) && environment::start_daemon().is_ok()
}

/// Modification time and size, to detect changes of the settings file.
fn file_stamp(path: &PathBuf) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Prints the status of the daemon and returns the exit code.
fn print_status(address: &DaemonAddress, out: &Output) -> u8 {
    match serve::client::daemon_status(address) {
        Ok(status) if out.json => out.print_json("daemon", status),
        Ok(status) => {
            out.print_line(&format_status(&status));
            for project in status["projects"].as_array().into_iter().flatten() {
                out.print_line(&format!("  {}", project.as_str().unwrap_or_default()));
            }
        }
        Err(ClientError::NotRunning) => {
            out.say("the daemon is not running");
            return 1;
        }
        Err(why) => {
            out.warn(&format!("the daemon does not answer: {why}"));
            return 3;
        }
    }
    0
}

/// The status of the daemon in one line.
pub(crate) fn format_status(status: &Value) -> String {
    let number = |name: &str| status[name].as_u64().unwrap_or(0);
    let count =
        |n: u64, one: &str, many: &str| format_count(usize::try_from(n).unwrap_or(0), one, many);
    let n_projects = status["projects"].as_array().map_or(0, Vec::len);
    let mut res = format!(
        "version {}, process {}, up for {} s; {} open, {}, {}",
        status["version"].as_str().unwrap_or("?"),
        number("pid"),
        number("seconds_up"),
        format_count(n_projects, "project", "projects"),
        count(number("sessions"), "session", "sessions"),
        count(number("events"), "event", "events"),
    );
    if let Some(job) = status["job"]["name"].as_str() {
        let _ = write!(res, "; running: {job} for {} s", status["job"]["seconds"]);
    }
    if number("queued") > 0 {
        let _ = write!(res, "; {} waiting", count(number("queued"), "job", "jobs"));
    }
    if let Some(error) = status["last_trouble"].as_str() {
        let _ = write!(res, "; last error: {error}");
    }
    res
}
