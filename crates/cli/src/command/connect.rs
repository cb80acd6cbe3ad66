//! `waylore connect` and `waylore disconnect`.

mod scope;
mod shown;
mod trust;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::{
    FilePlace, HOSTS, Host, HostChange, HostSetup, HostVersion, SettingsFile, SettingsScope,
    apply_host_change, plan_connect, plan_disconnect, write_private_file,
};
use serde_json::json;

use super::shared::{ask_yes_no, confirm_or_fail};
use crate::GlobalArgs;
use crate::environment::{self, Environment};
use crate::failure::{CliFailure, FailureKind, usage_error};
use crate::output::Output;

/// Connect the host of an agent
///
/// Adds hooks and an MCP server to the settings of the host, beside existing ones. The agent then gets notes at session
/// start, with prompts, at files and at errors, and Waylore learns from the session when it ends. Shows the changes
/// and asks first.
#[derive(clap::Args, Debug)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: WhichHost,
    /// Write a plugin with the same hooks into this folder and change no settings
    #[arg(long, value_name = "DIR")]
    plugin: Option<PathBuf>,
    /// Mark the hooks as trusted without asking, for hosts that run only trusted hooks
    #[arg(long)]
    trust: bool,
}

/// Remove Waylore from the settings of a host
///
/// Restores the file byte for byte; if it changed since, only our entries are removed.
#[derive(clap::Args, Debug)]
pub(crate) struct DisconnectArgs {
    #[command(flatten)]
    which: WhichHost,
}

#[derive(clap::Args, Debug)]
struct WhichHost {
    /// Host
    #[arg(value_name = "HOST", value_parser = host_name())]
    host: &'static Host,
    /// Settings to change: yours, or those of this project for everyone who works on it (the program is then found by name)
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t = HostScope::User)]
    scope: HostScope,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum HostScope {
    User,
    Project,
}

pub(super) use scope::hosts_in_both_scopes;

/// Host names for the command line.
pub(super) fn host_name() -> impl TypedValueParser<Value = &'static Host> {
    let named = |it: &'static Host| PossibleValue::new(it.name).aliases(it.aliases);
    PossibleValuesParser::new(HOSTS.iter().map(named))
        .map(|it| engine::find_host(&it).expect("only names of hosts are possible"))
}

/// A settings file of a host and the folder of its backup.
struct HostFile {
    file: &'static SettingsFile,
    path: PathBuf,
    backup_folder: PathBuf,
}

/// Settings files of a host, for the user or for a project.
fn settings_files(
    host: &'static Host,
    project: Option<&Path>,
    environment: &Environment,
) -> anyhow::Result<Vec<HostFile>> {
    let (root, folder) = host
        .settings_folder(environment.home.as_deref(), environment::folder_variable)
        .ok_or_else(|| missing_home(host))?;
    let path = |place: FilePlace| match place {
        FilePlace::Folder(name) => folder.join(name),
        FilePlace::Root(name) => root.join(name),
        FilePlace::Project(name) => project.unwrap_or(&root).join(name),
    };
    let all = environment.data.join("connected");
    let kept = |name: &str| match project {
        Some(root) => all.join(name).join(model::fingerprint_text(&root.to_string_lossy())),
        None => all.join(name),
    };
    let here = |file: &'static SettingsFile| HostFile {
        file,
        path: path(file.place),
        backup_folder: kept(file.backup_name),
    };
    let scope = if project.is_some() { SettingsScope::Project } else { SettingsScope::User };
    Ok(host.files_in(scope).map(here).collect())
}

fn missing_home(host: &Host) -> CliFailure {
    let variable = host.bases.iter().find_map(|it| it.variable);
    CliFailure {
        kind: FailureKind::Environment,
        message: format!("there is no home directory with settings of {}", host.title),
        hint: variable.map(|it| format!("set {it} to their folder")),
    }
}

/// Settings files for the chosen scope.
fn files_for_scope(
    which: &WhichHost,
    global: &GlobalArgs,
    environment: &Environment,
) -> anyhow::Result<Vec<HostFile>> {
    if which.scope == HostScope::User {
        return settings_files(which.host, None, environment);
    }
    let start = environment.working_folder(global.project.as_deref());
    let place = engine::locate_project(&start, environment.home.as_deref());
    let root = place.map_err(engine::Error::from)?.root;
    let res = settings_files(which.host, Some(&root), environment)?;
    if res.is_empty() {
        let what = format!("{} has no settings for a project", which.host.title);
        return Err(usage_error(what, "leave out `--scope project`"));
    }
    Ok(res)
}

pub(crate) fn connect_host(
    args: &ConnectArgs,
    global: &GlobalArgs,
    output: &Output,
) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let host = args.which.host;
    let program =
        if args.which.scope == HostScope::Project { "waylore".to_owned() } else { own_program()? };
    if let Some(folder) = &args.plugin {
        return write_plugin(host, &environment.cwd.join(folder), &program, output);
    }
    check_program_name(&program)?;
    let files = files_for_scope(&args.which, global, &environment)?;
    let in_both_scopes = scope::is_connected_elsewhere(&args.which, global, &environment);
    // People who share a project may have different versions of the host.
    let version = if args.which.scope == HostScope::Project { None } else { host_version(host) };
    let plans = plan_changes(&files, &HostSetup { program: &program, version })?;
    let kept: Vec<_> = files.into_iter().map(|it| Some(it.backup_folder)).collect();
    let done = carry_out(&args.which, &plans, &kept, output)?;
    let is_connected = done || plans.iter().all(HostChange::is_empty);
    let trusted = if is_connected && args.which.scope == HostScope::User && !args.which.dry_run {
        trust::ensure_trusted(host, args.trust, &environment, output)?
    } else {
        None
    };
    if output.json {
        let mut res = to_json(&args.which, &plans, done);
        res["trusted"] = json!(trusted);
        res["connected_twice"] = json!(in_both_scopes);
        output.data_json("connected", res);
    } else if done && trusted == Some(false) {
        output.say(&format!("{} will call waylore once you trust the hooks", host.name));
    } else if done {
        output.say(&format!("{} will call waylore from its next session on", host.name));
        warn_if_untested(host, output);
        output.hint(&format!("`waylore disconnect {}` reverts it", describe_host(&args.which)));
    } else if plans.iter().all(HostChange::is_empty) {
        output.say(&format!("{} is connected already", host.name));
    }
    if in_both_scopes && is_connected {
        scope::warn_both_scopes(&args.which, output);
    }
    Ok(0)
}

/// The command that a host runs.
fn own_program() -> anyhow::Result<String> {
    Ok(std::env::current_exe()?.to_string_lossy().into_owned())
}

/// Rejects a program name that `disconnect` would not recognise in the settings.
fn check_program_name(program: &str) -> anyhow::Result<()> {
    if engine::is_waylore_program(program) {
        return Ok(());
    }
    let message = format!("`disconnect` would not recognise `{program}` in the settings");
    Err(usage_error(message, "name the program `waylore` or `waylore-…` and run the command again"))
}

/// The reported version of an installed host.
fn host_version(host: &Host) -> Option<HostVersion> {
    engine::parse_version(&environment::command_output(host.version_command()?, "--version")?)
}

fn plan_changes(
    files: &[HostFile],
    setup: &HostSetup<'_>,
) -> Result<Vec<HostChange>, engine::Error> {
    files.iter().map(|it| plan_connect(it.file, &it.path, setup)).collect()
}

fn describe_host(which: &WhichHost) -> String {
    format!(
        "{}{}",
        which.host.name,
        if which.scope == HostScope::Project { " --scope project" } else { "" }
    )
}

fn warn_if_untested(host: &Host, output: &Output) {
    if !host.is_tested {
        let title = host.title;
        output.hint(&format!(
            "this follows the documentation of {title}; it was not tested with a real session"
        ));
    }
}

pub(crate) fn disconnect_host(
    args: &DisconnectArgs,
    global: &GlobalArgs,
    output: &Output,
) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let files = files_for_scope(&args.which, global, &environment)?;
    let plan = |it: &HostFile| plan_disconnect(it.file, &it.path, &it.backup_folder);
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

/// An installed host.
pub(super) struct HostConnection {
    pub(super) host: &'static str,
    pub(super) connected: bool,
}

/// Offers to connect every installed host.
pub(super) fn connect_found_hosts(
    environment: &Environment,
    yes: bool,
    output: &Output,
) -> anyhow::Result<Vec<HostConnection>> {
    let mut res = Vec::new();
    let program = own_program()?;
    if let Err(why) = check_program_name(&program) {
        output.warn(&format!("no agent can be connected: {why}"));
        return Ok(res);
    }
    for host in HOSTS {
        let Ok(files) = settings_files(host, None, environment) else { continue };
        if !is_installed(host, environment) {
            continue;
        }
        let plans =
            plan_changes(&files, &HostSetup { program: &program, version: host_version(host) })?;
        let name = host.name;
        if plans.iter().all(HostChange::is_empty) {
            output.say(&format!("agents: {name} is connected already"));
            res.push(HostConnection { host: name, connected: true });
            continue;
        }
        if yes {
            shown::print_summary(&plans, output);
        } else {
            output.say(&format!("agents: {name} is installed; this would change:"));
            shown::print_full_diff(&plans, output);
        }
        let connected = ask_yes_no(yes, &format!("Connect {name}?"))?;
        if connected {
            let kept: Vec<_> = files.into_iter().map(|it| Some(it.backup_folder)).collect();
            apply_changes(&plans, &kept)?;
            let trusted = trust::ensure_trusted(host, false, environment, output)?;
            let when = match trusted {
                Some(false) => "once you trust the hooks",
                _ => "from its next session on",
            };
            output.say(&format!("agents: {name} will call waylore {when}"));
            warn_if_untested(host, output);
        }
        res.push(HostConnection { host: name, connected });
    }
    Ok(res)
}

/// Connection state of an installed host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    Connected,
    /// Connected, but with entries that differ from those of this version.
    Outdated,
    Not,
}

/// Installed hosts with their connection states.
pub(super) fn connection_states(
    environment: &Environment,
) -> anyhow::Result<Vec<(&'static Host, ConnectionState)>> {
    let program = own_program()?;
    let mut res = Vec::new();
    for host in HOSTS.iter().filter(|it| is_installed(it, environment)) {
        let files = settings_files(host, None, environment)?;
        let setup = HostSetup { program: &program, version: host_version(host) };
        let with = |it: &HostFile| plan_connect(it.file, &it.path, &setup);
        // An unreadable file counts as not connected.
        let is_done = |it: &HostFile| with(it).is_ok_and(|it| it.is_empty());
        let standing = match (files.iter().all(is_done), files.iter().any(has_waylore_entries)) {
            (true, _) => ConnectionState::Connected,
            (false, true) => ConnectionState::Outdated,
            (false, false) => ConnectionState::Not,
        };
        res.push((host, standing));
    }
    Ok(res)
}

/// True if a file contains our entries; an unreadable file does not.
fn has_waylore_entries(it: &HostFile) -> bool {
    plan_disconnect(it.file, &it.path, Path::new("")).is_ok_and(|it| !it.is_empty())
}

/// True if the settings folder of a host exists.
fn is_installed(host: &Host, environment: &Environment) -> bool {
    let folder = host.settings_folder(environment.home.as_deref(), environment::folder_variable);
    folder.is_some_and(|it| it.1.is_dir())
}

/// Writes the files of a plugin; replaces an existing folder only if it is our plugin.
fn write_plugin(host: &Host, folder: &Path, program: &str, output: &Output) -> anyhow::Result<u8> {
    let Some(plugin) = &host.plugin else {
        let message = format!("there is no plugin for {}", host.title);
        return Err(usage_error(message, "leave out `--plugin`"));
    };
    let files = (plugin.files)(program, env!("CARGO_PKG_VERSION"));
    let is_ours = folder.join(files[0].0).exists();
    let is_taken = folder.read_dir().is_ok_and(|mut it| it.next().is_some());
    if is_taken && !is_ours {
        let message = format!("`{}` is not empty and holds no plugin", folder.display());
        return Err(usage_error(message, "name a folder that is empty or does not exist"));
    }
    for (path, text) in &files {
        write_private_file(&folder.join(path), text.as_bytes()).map_err(engine::Error::from)?;
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

/// Shows the changes, asks once and applies them; true if any was made.
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
        shown::print_full_diff(plans, output);
    }
    if which.dry_run || !confirm_or_fail(which.yes, "Change it?")? {
        return Ok(false);
    }
    apply_changes(plans, kept)?;
    Ok(true)
}

fn apply_changes(plans: &[HostChange], kept: &[Option<PathBuf>]) -> Result<(), engine::Error> {
    for (plan, kept) in plans.iter().zip(kept).filter(|it| !it.0.is_empty()) {
        apply_host_change(plan, kept.as_deref())?;
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
