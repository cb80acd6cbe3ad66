//! `waylore connect` and `waylore disconnect`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use engine::{
    HostChange, change_host, connect_plan, disconnect_plan, host_plugin, register_plan,
    unregister_plan, write_private,
};
use serde_json::json;

use super::shared::{agreed, confirmed};
use crate::environment::{self, Environment};
use crate::failure::{Failure, Kind, usage};
use crate::output::{DIM, GOOD, Output};

/// Let an agent's host call Waylore
///
/// Adds hooks and an MCP server to the host's settings, beside those that are there: at the start of a session and with a
/// prompt the agent is told what is known, at a file what to beware of, at an error what ended it before;
/// and when the session ends, Waylore learns from it. Shows what changes and asks first.
#[derive(clap::Args, Debug)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: WhichHost,
    /// Write a plugin with the same into this folder instead, and change no settings
    #[arg(long, value_name = "DIR")]
    plugin: Option<PathBuf>,
}

/// Take Waylore out of a host's settings
///
/// Puts back what was there before, byte for byte, unless the file has changed since; then only our hooks go.
#[derive(clap::Args, Debug)]
pub(crate) struct DisconnectArgs {
    #[command(flatten)]
    which: WhichHost,
}

#[derive(clap::Args, Debug)]
struct WhichHost {
    /// The host
    #[arg(value_name = "HOST")]
    host: Host,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Host {
    ClaudeCode,
}

impl Host {
    const fn slug(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
        }
    }

    /// The file with the person's own settings, and the one with their MCP servers.
    fn files(self, environment: &Environment) -> anyhow::Result<(PathBuf, PathBuf)> {
        match self {
            Self::ClaudeCode => {
                let own = environment::claude_folder();
                let base = own.clone().or_else(|| environment.home.clone());
                let base = base.ok_or_else(|| Failure {
                    kind: Kind::Environment,
                    message: "there is no home directory with settings of Claude Code".to_owned(),
                    hint: Some("set CLAUDE_CONFIG_DIR to their folder".to_owned()),
                })?;
                let folder = own.unwrap_or_else(|| base.join(".claude"));
                Ok((folder.join("settings.json"), base.join(".claude.json")))
            }
        }
    }
}

/// The folders that keep what was there before, for each of the two files.
fn kept(environment: &Environment, host: &str) -> [PathBuf; 2] {
    let all = environment.data.join("connected");
    [all.join(host), all.join(format!("{host}-mcp"))]
}

pub(crate) fn connect(args: &ConnectArgs, output: &Output) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let program = std::env::current_exe()?;
    let program = program.to_string_lossy();
    if let Some(folder) = &args.plugin {
        return write_plugin(&environment.cwd.join(folder), &program, output);
    }
    let (settings, servers) = args.which.host.files(&environment)?;
    let plans = [connect_plan(&settings, &program)?, register_plan(&servers, &program)?];
    let host = args.which.host.slug();
    let kept = kept(&environment, host).map(Some);
    let done = carry_out(&args.which, &plans, kept, output)?;
    if output.json {
        output.data_json("connected", to_json(&args.which, &plans, done));
    } else if done {
        output.say(&format!("{host} calls waylore from its next session on"));
        output.hint(&format!("`waylore disconnect {host}` takes it back"));
    } else if plans.iter().all(HostChange::is_empty) {
        output.say(&format!("{host} is connected already"));
    }
    Ok(0)
}

pub(crate) fn disconnect(args: &DisconnectArgs, output: &Output) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let (settings, servers) = args.which.host.files(&environment)?;
    let host = args.which.host.slug();
    let [hooks, server] = kept(&environment, host);
    let plans = [disconnect_plan(&settings, &hooks)?, unregister_plan(&servers, &server)?];
    let done = carry_out(&args.which, &plans, [None, None], output)?;
    if output.json {
        output.data_json("disconnected", to_json(&args.which, &plans, done));
    } else if done {
        output.say(&format!("{host} no longer calls waylore"));
    } else if plans.iter().all(HostChange::is_empty) {
        output.say(&format!("{host} is not connected"));
    }
    Ok(0)
}

/// A host that is installed here.
pub(super) struct Met {
    pub(super) host: &'static str,
    pub(super) connected: bool,
}

/// Offers to connect every host that is found here.
pub(super) fn meet(
    environment: &Environment,
    yes: bool,
    output: &Output,
) -> anyhow::Result<Vec<Met>> {
    let mut res = Vec::new();
    for host in Host::value_variants().iter().copied() {
        let Ok((settings, servers)) = host.files(environment) else { continue };
        if !settings.parent().is_some_and(Path::is_dir) {
            continue;
        }
        let slug = host.slug();
        let program = std::env::current_exe()?;
        let program = program.to_string_lossy();
        let plans = [connect_plan(&settings, &program)?, register_plan(&servers, &program)?];
        if plans.iter().all(HostChange::is_empty) {
            output.say(&format!("agents: {slug} is connected already"));
            res.push(Met { host: slug, connected: true });
            continue;
        }
        output.say(&format!("agents: {slug} is here; this would change:"));
        show(&plans, output);
        let connected = agreed(yes, &format!("Let {slug} call Waylore?"))?;
        if connected {
            change(&plans, &kept(environment, slug).map(Some))?;
            output.say(&format!("agents: {slug} calls waylore from its next session on"));
        }
        res.push(Met { host: slug, connected });
    }
    Ok(res)
}

/// Writes the files of a plugin. What is there already is replaced only if it is a plugin of ours.
fn write_plugin(folder: &Path, program: &str, output: &Output) -> anyhow::Result<u8> {
    let files = host_plugin(program, env!("CARGO_PKG_VERSION"));
    let is_ours = folder.join(files[0].0).exists();
    let is_taken = folder.read_dir().is_ok_and(|mut it| it.next().is_some());
    if is_taken && !is_ours {
        let message = format!("`{}` is not empty and holds no plugin", folder.display());
        return Err(usage(message, "name a folder that is empty or does not exist"));
    }
    for (path, text) in &files {
        write_private(&folder.join(path), text.as_bytes()).map_err(engine::Error::from)?;
    }
    let paths: Vec<&str> = files.iter().map(|it| it.0).collect();
    if output.json {
        let folder = folder.display().to_string();
        output.data_json("plugin", json!({ "folder": folder, "files": paths }));
    } else {
        output.say(&format!("a plugin is in `{}`", folder.display()));
        let add = format!("`claude plugin marketplace add {}`", folder.display());
        output.hint(&format!("{add}, then `claude plugin install waylore@waylore`"));
    }
    Ok(0)
}

/// Shows the changes, asks once, and makes them; whether any was made.
fn carry_out(
    which: &WhichHost,
    plans: &[HostChange; 2],
    kept: [Option<PathBuf>; 2],
    output: &Output,
) -> anyhow::Result<bool> {
    if plans.iter().all(HostChange::is_empty) {
        return Ok(false);
    }
    if !output.json {
        show(plans, output);
    }
    if which.dry_run || !confirmed(which.yes, "Change it?")? {
        return Ok(false);
    }
    change(plans, &kept)?;
    Ok(true)
}

fn show(plans: &[HostChange], output: &Output) {
    for plan in plans.iter().filter(|it| !it.is_empty()) {
        output.say(&format!("in `{}`:", plan.path.display()));
        for line in differences(plan) {
            output.say(&line);
        }
    }
}

fn change(plans: &[HostChange], kept: &[Option<PathBuf>]) -> Result<(), engine::Error> {
    for (plan, kept) in plans.iter().zip(kept).filter(|it| !it.0.is_empty()) {
        change_host(plan, kept.as_deref())?;
    }
    Ok(())
}

/// The lines that go and come. Ours stand together, so that what is common before and behind tells all.
fn differences(plan: &HostChange) -> Vec<String> {
    let lines = |it: &Option<String>| -> Vec<String> {
        it.as_deref().unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(&plan.before), lines(&plan.after));
    let mut res = Vec::new();
    let (mut b, mut a) = (0, 0);
    while b < before.len() || a < after.len() {
        if b < before.len() && a < after.len() && before[b] == after[a] {
            (b, a) = (b + 1, a + 1);
        } else if let Some(line) = before.get(b)
            && let Some(skip) = after[a..].iter().position(|it| it == line)
        {
            res.extend(after[a..a + skip].iter().map(|it| format!("{GOOD}+ {it}{GOOD:#}")));
            a += skip;
        } else if b < before.len() {
            res.push(format!("{DIM}- {}{DIM:#}", before[b]));
            b += 1;
        } else {
            res.push(format!("{GOOD}+ {}{GOOD:#}", after[a]));
            a += 1;
        }
    }
    res
}

fn to_json(which: &WhichHost, plans: &[HostChange; 2], done: bool) -> serde_json::Value {
    json!({
        "host": which.host.slug(),
        "path": plans[0].path.display().to_string(),
        "mcp_path": plans[1].path.display().to_string(),
        "changed": done,
        "would_change": plans.iter().any(|it| !it.is_empty()),
    })
}
