//! `waylore connect` and `waylore disconnect`.

use std::path::PathBuf;

use clap::ValueEnum;
use engine::{HostChange, change_host, connect_plan, disconnect_plan};
use serde_json::json;

use super::shared::{agreed, confirmed};
use crate::environment::{self, Environment};
use crate::failure::{Failure, Kind};
use crate::output::{DIM, GOOD, Output};

/// Let an agent's host call Waylore
///
/// Adds hooks to the host's settings, beside those that are there: at the start of a session and with a
/// prompt the agent is told what is known, at a file what to beware of, at an error what ended it before;
/// and when the session ends, Waylore learns from it. Shows what changes and asks first.
#[derive(clap::Args, Debug)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: WhichHost,
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

    /// The file with the person's own settings.
    fn settings(self, environment: &Environment) -> anyhow::Result<PathBuf> {
        match self {
            Self::ClaudeCode => {
                let home = environment.home.as_ref().map(|it| it.join(".claude"));
                let folder = environment::claude_folder().or(home).ok_or_else(|| Failure {
                    kind: Kind::Environment,
                    message: "there is no home directory with settings of Claude Code".to_owned(),
                    hint: Some("set CLAUDE_CONFIG_DIR to their folder".to_owned()),
                })?;
                Ok(folder.join("settings.json"))
            }
        }
    }
}

pub(crate) fn connect(args: &ConnectArgs, output: &Output) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let program = std::env::current_exe()?;
    let settings = args.which.host.settings(&environment)?;
    let plan = connect_plan(&settings, &program.to_string_lossy())?;
    let host = args.which.host.slug();
    let kept = environment.data.join("connected").join(host);
    let done = carry_out(&args.which, &plan, Some(kept), output)?;
    if output.json {
        output.data_json("connected", to_json(&args.which, &plan, done));
    } else if done {
        output.say(&format!("{host} calls waylore from its next session on"));
        output.hint(&format!("`waylore disconnect {host}` takes it back"));
    } else if plan.is_empty() {
        output.say(&format!("{host} is connected already"));
    }
    Ok(0)
}

pub(crate) fn disconnect(args: &DisconnectArgs, output: &Output) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let settings = args.which.host.settings(&environment)?;
    let host = args.which.host.slug();
    let plan = disconnect_plan(&settings, &environment.data.join("connected").join(host))?;
    let done = carry_out(&args.which, &plan, None, output)?;
    if output.json {
        output.data_json("disconnected", to_json(&args.which, &plan, done));
    } else if done {
        output.say(&format!("{host} no longer calls waylore"));
    } else if plan.is_empty() {
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
        let Ok(settings) = host.settings(environment) else { continue };
        if !settings.parent().is_some_and(std::path::Path::is_dir) {
            continue;
        }
        let slug = host.slug();
        let plan = connect_plan(&settings, &std::env::current_exe()?.to_string_lossy())?;
        if plan.is_empty() {
            output.say(&format!("agents: {slug} is connected already"));
            res.push(Met { host: slug, connected: true });
            continue;
        }
        output.say(&format!(
            "agents: {slug} is here; in `{}` this would change:",
            plan.path.display()
        ));
        for line in differences(&plan) {
            output.say(&line);
        }
        let connected = agreed(yes, &format!("Let {slug} call Waylore?"))?;
        if connected {
            change_host(&plan, Some(&environment.data.join("connected").join(slug)))?;
            output.say(&format!("agents: {slug} calls waylore from its next session on"));
        }
        res.push(Met { host: slug, connected });
    }
    Ok(res)
}

/// Shows a change, asks, and makes it; whether it was made.
fn carry_out(
    which: &WhichHost,
    plan: &HostChange,
    kept: Option<PathBuf>,
    output: &Output,
) -> anyhow::Result<bool> {
    if plan.is_empty() {
        return Ok(false);
    }
    if !output.json {
        output.say(&format!("in `{}`:", plan.path.display()));
        for line in differences(plan) {
            output.say(&line);
        }
    }
    if which.dry_run || !confirmed(which.yes, "Change it?")? {
        return Ok(false);
    }
    change_host(plan, kept.as_deref())?;
    Ok(true)
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

fn to_json(which: &WhichHost, plan: &HostChange, done: bool) -> serde_json::Value {
    json!({
        "host": which.host.slug(),
        "path": plan.path.display().to_string(),
        "changed": done,
        "would_change": !plan.is_empty(),
    })
}
