//! `waylore connect` and `waylore disconnect`.

mod scope;
mod shown;
mod trust;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::{
    FilePlace, HOSTS, Host, HostChange, SettingsFile, Setup, Version, change_host, connect_plan,
    disconnect_plan, write_private,
};
use serde_json::json;

use super::shared::{agreed, confirmed};
use crate::Global;
use crate::environment::{self, Environment};
use crate::failure::{Failure, Kind, usage};
use crate::output::Output;

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
    /// Trust our hooks without asking, where a host runs only trusted ones
    #[arg(long)]
    trust: bool,
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
    #[arg(value_name = "HOST", value_parser = host_name())]
    host: &'static Host,
    /// Whose settings: yours, or those of this project, for everybody who works on it; what is run is then looked up by its name
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t = Scope::User)]
    scope: Scope,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    User,
    Project,
}

pub(super) use scope::called_twice;

/// The names of hosts on a command line.
pub(super) fn host_name() -> impl TypedValueParser<Value = &'static Host> {
    let named = |it: &'static Host| PossibleValue::new(it.name).aliases(it.aliases);
    PossibleValuesParser::new(HOSTS.iter().map(named))
        .map(|it| engine::host(&it).expect("only names of hosts are possible"))
}

/// A file of a host's settings here, and the folder that keeps what was there before.
struct HostFile {
    file: &'static SettingsFile,
    path: PathBuf,
    kept: PathBuf,
}

/// The files of a host's settings: a person's, or those of a project.
fn files(
    host: &'static Host,
    project: Option<&Path>,
    environment: &Environment,
) -> anyhow::Result<Vec<HostFile>> {
    let (root, folder) = host
        .folder(environment.home.as_deref(), environment::folder)
        .ok_or_else(|| homeless(host))?;
    let path = |place: FilePlace| match place {
        FilePlace::Folder(name) => folder.join(name),
        FilePlace::Root(name) => root.join(name),
        FilePlace::Project(name) => project.unwrap_or(&root).join(name),
    };
    let all = environment.data.join("connected");
    let kept = |name: &str| match project {
        Some(root) => all.join(name).join(model::fingerprint(&root.to_string_lossy())),
        None => all.join(name),
    };
    let here = |file: &'static SettingsFile| HostFile {
        file,
        path: path(file.place),
        kept: kept(file.kept),
    };
    Ok(host.files_of(project.is_some()).map(here).collect())
}

fn homeless(host: &Host) -> Failure {
    let variable = host.bases.iter().find_map(|it| it.variable);
    Failure {
        kind: Kind::Environment,
        message: format!("there is no home directory with settings of {}", host.title),
        hint: variable.map(|it| format!("set {it} to their folder")),
    }
}

/// The files that a command is about.
fn files_of(
    which: &WhichHost,
    global: &Global,
    environment: &Environment,
) -> anyhow::Result<Vec<HostFile>> {
    if which.scope == Scope::User {
        return files(which.host, None, environment);
    }
    let start = environment.start(global.project.as_deref());
    let place = engine::locate(&start, environment.home.as_deref());
    let root = place.map_err(engine::Error::from)?.root;
    let res = files(which.host, Some(&root), environment)?;
    if res.is_empty() {
        let what = format!("{} has no settings for a project", which.host.title);
        return Err(usage(what, "leave out `--scope project`"));
    }
    Ok(res)
}

pub(crate) fn connect(args: &ConnectArgs, global: &Global, output: &Output) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let host = args.which.host;
    let program =
        if args.which.scope == Scope::Project { "waylore".to_owned() } else { program()? };
    if let Some(folder) = &args.plugin {
        return write_plugin(host, &environment.cwd.join(folder), &program, output);
    }
    refuse_nameless(&program)?;
    let files = files_of(&args.which, global, &environment)?;
    let twice = scope::is_connected_elsewhere(&args.which, global, &environment);
    // Everybody who works on a project may have another version.
    let version = if args.which.scope == Scope::Project { None } else { version(host) };
    let plans = plans(&files, &Setup { program: &program, version })?;
    let kept: Vec<_> = files.into_iter().map(|it| Some(it.kept)).collect();
    let done = carry_out(&args.which, &plans, &kept, output)?;
    let is_there = done || plans.iter().all(HostChange::is_empty);
    let trusted = if is_there && args.which.scope == Scope::User && !args.which.dry_run {
        trust::see_to(host, args.trust, &environment, output)?
    } else {
        None
    };
    if output.json {
        let mut res = to_json(&args.which, &plans, done);
        res["trusted"] = json!(trusted);
        res["twice"] = json!(twice);
        output.data_json("connected", res);
    } else if done && trusted == Some(false) {
        output.say(&format!("{} calls waylore as soon as you trust the hooks", host.name));
    } else if done {
        output.say(&format!("{} calls waylore from its next session on", host.name));
        untried(host, output);
        output.hint(&format!("`waylore disconnect {}` takes it back", said(&args.which)));
    } else if plans.iter().all(HostChange::is_empty) {
        output.say(&format!("{} is connected already", host.name));
    }
    if twice && is_there {
        scope::say_twice(&args.which, output);
    }
    Ok(0)
}

/// What a host is to run.
fn program() -> anyhow::Result<String> {
    Ok(std::env::current_exe()?.to_string_lossy().into_owned())
}

/// Refuses a program that would not be found again in settings, where ours is known by its name.
fn refuse_nameless(program: &str) -> anyhow::Result<()> {
    if engine::is_our_name(program) {
        return Ok(());
    }
    let message = format!("in settings `{program}` would not be known as Waylore's");
    Err(usage(message, "call the program `waylore`, or `waylore-` and something, and say it again"))
}

/// The version of a host that is installed, as it says itself.
fn version(host: &Host) -> Option<Version> {
    engine::read_version(&environment::said_by(host.command()?, "--version")?)
}

fn plans(files: &[HostFile], setup: &Setup<'_>) -> Result<Vec<HostChange>, engine::Error> {
    files.iter().map(|it| connect_plan(it.file, &it.path, setup)).collect()
}

fn said(which: &WhichHost) -> String {
    format!(
        "{}{}",
        which.host.name,
        if which.scope == Scope::Project { " --scope project" } else { "" }
    )
}

fn untried(host: &Host, output: &Output) {
    if !host.is_tried {
        let title = host.title;
        output.hint(&format!(
            "this follows the documentation of {title}; no real session has tried it"
        ));
    }
}

pub(crate) fn disconnect(
    args: &DisconnectArgs,
    global: &Global,
    output: &Output,
) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let files = files_of(&args.which, global, &environment)?;
    let plan = |it: &HostFile| disconnect_plan(it.file, &it.path, &it.kept);
    let plans = files.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    let done = carry_out(&args.which, &plans, &vec![None; plans.len()], output)?;
    let host = args.which.host.name;
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
    let program = program()?;
    if let Err(why) = refuse_nameless(&program) {
        output.warn(&format!("no agent can be connected: {why}"));
        return Ok(res);
    }
    for host in HOSTS {
        let Ok(files) = files(host, None, environment) else { continue };
        if !is_here(host, environment) {
            continue;
        }
        let plans = plans(&files, &Setup { program: &program, version: version(host) })?;
        let name = host.name;
        if plans.iter().all(HostChange::is_empty) {
            output.say(&format!("agents: {name} is connected already"));
            res.push(Met { host: name, connected: true });
            continue;
        }
        if yes {
            shown::brief(&plans, output);
        } else {
            output.say(&format!("agents: {name} is here; this would change:"));
            shown::whole(&plans, output);
        }
        let connected = agreed(yes, &format!("Let {name} call Waylore?"))?;
        if connected {
            let kept: Vec<_> = files.into_iter().map(|it| Some(it.kept)).collect();
            change(&plans, &kept)?;
            let trusted = trust::see_to(host, false, environment, output)?;
            let when = match trusted {
                Some(false) => "as soon as you trust the hooks",
                _ => "from its next session on",
            };
            output.say(&format!("agents: {name} calls waylore {when}"));
            untried(host, output);
        }
        res.push(Met { host: name, connected });
    }
    Ok(res)
}

/// How a host that is installed here stands to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Connected,
    /// Something of ours is there, but not as this version writes it.
    InPart,
    Not,
}

/// The hosts that are installed here, and how each stands to us.
pub(super) fn standings(
    environment: &Environment,
) -> anyhow::Result<Vec<(&'static Host, Standing)>> {
    let program = program()?;
    let mut res = Vec::new();
    for host in HOSTS.iter().filter(|it| is_here(it, environment)) {
        let files = files(host, None, environment)?;
        let setup = Setup { program: &program, version: version(host) };
        let with = |it: &HostFile| connect_plan(it.file, &it.path, &setup);
        // What cannot be read is nobody's.
        let is_done = |it: &HostFile| with(it).is_ok_and(|it| it.is_empty());
        let standing = match (files.iter().all(is_done), files.iter().any(has_ours)) {
            (true, _) => Standing::Connected,
            (false, true) => Standing::InPart,
            (false, false) => Standing::Not,
        };
        res.push((host, standing));
    }
    Ok(res)
}

/// Whether something of ours stands in a file. What cannot be read is nobody's.
fn has_ours(it: &HostFile) -> bool {
    disconnect_plan(it.file, &it.path, Path::new("")).is_ok_and(|it| !it.is_empty())
}

/// Whether a host has been used here: it has made the folder for its settings.
fn is_here(host: &Host, environment: &Environment) -> bool {
    let folder = host.folder(environment.home.as_deref(), environment::folder);
    folder.is_some_and(|it| it.1.is_dir())
}

/// Writes the files of a plugin. What is there already is replaced only if it is a plugin of ours.
fn write_plugin(host: &Host, folder: &Path, program: &str, output: &Output) -> anyhow::Result<u8> {
    let Some(plugin) = &host.plugin else {
        let message = format!("there is no plugin for {}", host.title);
        return Err(usage(message, "leave out `--plugin`"));
    };
    let files = (plugin.files)(program, env!("CARGO_PKG_VERSION"));
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
        output.hint(&(plugin.install)(&folder.display().to_string()));
    }
    Ok(0)
}

/// Shows the changes, asks once, and makes them; whether any was made.
fn carry_out(
    which: &WhichHost,
    plans: &[HostChange],
    kept: &[Option<PathBuf>],
    output: &Output,
) -> anyhow::Result<bool> {
    if plans.iter().all(HostChange::is_empty) {
        return Ok(false);
    }
    if !output.json {
        shown::whole(plans, output);
    }
    if which.dry_run || !confirmed(which.yes, "Change it?")? {
        return Ok(false);
    }
    change(plans, kept)?;
    Ok(true)
}

fn change(plans: &[HostChange], kept: &[Option<PathBuf>]) -> Result<(), engine::Error> {
    for (plan, kept) in plans.iter().zip(kept).filter(|it| !it.0.is_empty()) {
        change_host(plan, kept.as_deref())?;
    }
    Ok(())
}

fn to_json(which: &WhichHost, plans: &[HostChange], done: bool) -> serde_json::Value {
    let path = |it: Option<&HostChange>| it.map(|it| it.path.display().to_string());
    json!({
        "host": which.host.name,
        "path": path(plans.first()),
        "mcp_path": path(plans.last()),
        "changed": done,
        "would_change": plans.iter().any(|it| !it.is_empty()),
    })
}
