//! `waylore connect` and `waylore disconnect`: add our hooks and our MCP server to the settings files of
//! a host, and remove them. `init` and `doctor` use the file `installed_hosts`.
//!
//! A *host* is a program that runs agents, such as Claude Code. A *hook* is a command that the host runs at an
//! event; an *MCP server* is a process whose tools the agent may call. Both are entries in settings files, of
//! the user or of a project (the *scope*).
//!
//! Every command runs in the same stages: find the settings files of the host, plan the change of each
//! (`engine::plan_connect`, `plan_disconnect`), show the changes and ask, apply them, report. A plan is the text
//! of a file before and after ([`HostChange`]); it is empty if both are equal.

mod change_display;
mod double_connection;
mod installed_hosts;
mod trust;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::{
    FilePlace, HOSTS, Host, HostChange, HostSetup, HostVersion, SettingsFile, SettingsScope,
    apply_host_change, plan_connect, plan_disconnect, write_private_file,
};
use serde_json::json;

use super::shared::confirm_or_fail;
use crate::GlobalArgs;
use crate::environment::{self, Environment};
use crate::failure::{CliFailure, FailureKind, usage_error};
use crate::output::Output;

pub(super) use double_connection::hosts_in_both_scopes;
pub(super) use installed_hosts::{
    ConnectionState, HostConnection, connect_found_hosts, connection_states, first_connected_host,
};
use trust::TrustOutcome;

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
    #[arg(value_name = "HOST", value_parser = host_parser())]
    host: &'static Host,
    /// Settings to change: yours, or those of this project for everyone who works on it (the program is then found by name)
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = scope_parser())]
    scope: SettingsScope,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

/// Parses the name of a host on the command line.
pub(super) fn host_parser() -> impl TypedValueParser<Value = &'static Host> {
    let possible_value = |it: &'static Host| PossibleValue::new(it.name).aliases(it.aliases);
    PossibleValuesParser::new(HOSTS.iter().map(possible_value))
        .map(|it| engine::find_host(&it).expect("only names of hosts are possible"))
}

/// Parses `--scope`.
fn scope_parser() -> impl TypedValueParser<Value = SettingsScope> {
    PossibleValuesParser::new(["user", "project"])
        .map(|it| if it == "project" { SettingsScope::Project } else { SettingsScope::User })
}

/// A settings file of a host and the folder of its backup.
struct HostFile {
    file: &'static SettingsFile,
    path: PathBuf,
    backup_folder: PathBuf,
}

/// Settings files of a host: those of the user, or with a project root those of the project. The file
/// with the hooks comes first, the one with the MCP server last; they may be the same file.
fn settings_files(
    host: &'static Host,
    project_root: Option<&Path>,
    environment: &Environment,
) -> anyhow::Result<Vec<HostFile>> {
    // For Claude Code: `~`, and `~/.claude` in it.
    let (host_root, settings_folder) = host
        .settings_folder(environment.home.as_deref(), environment::folder_variable)
        .ok_or_else(|| missing_home(host))?;
    let scope = if project_root.is_some() { SettingsScope::Project } else { SettingsScope::User };
    let mut res = Vec::new();
    for file in host.files_in(scope) {
        let path = match file.place {
            FilePlace::Folder(name) => settings_folder.join(name),
            FilePlace::Root(name) => host_root.join(name),
            // Only files of the project scope have this place, so there is a project root.
            FilePlace::Project(name) => project_root.unwrap_or(&host_root).join(name),
        };
        // The text of the file before the first change is kept here, so that `disconnect` can restore it.
        let mut backup_folder = environment.data.join("connected").join(file.backup_name);
        // One backup per project: a hash of its path makes the folder unique.
        if let Some(root) = project_root {
            backup_folder.push(model::fingerprint_text(&root.to_string_lossy()));
        }
        res.push(HostFile { file, path, backup_folder });
    }
    Ok(res)
}

fn missing_home(host: &Host) -> CliFailure {
    // Some hosts have a variable that names their folder, such as CLAUDE_CONFIG_DIR.
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
    if which.scope == SettingsScope::User {
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
    let (host, scope) = (args.which.host, args.which.scope);
    // People who share the settings of a project have the program at different paths, so the host must
    // find it by name.
    let program = match scope {
        SettingsScope::User => own_program()?,
        SettingsScope::Project => "waylore".to_owned(),
    };
    if let Some(folder) = &args.plugin {
        return write_plugin(host, &environment.cwd.join(folder), &program, output);
    }
    check_program_name(&program)?;
    // The version decides which hooks are installed. People who share a project may have different ones;
    // `None` then installs the hooks that every version supports.
    let version = match scope {
        SettingsScope::User => host_version(host),
        SettingsScope::Project => None,
    };

    // Find the files, plan, ask, apply.
    let files = files_for_scope(&args.which, global, &environment)?;
    let is_connected_elsewhere =
        double_connection::is_connected_elsewhere(&args.which, global, &environment);
    let plans = plan_connection(&files, &HostSetup { program: &program, version })?;
    let backups: Vec<_> = files.into_iter().map(|it| Some(it.backup_folder)).collect();
    let has_changed = confirm_and_apply(&args.which, &plans, &backups, output)?;

    // True also if nothing had to change.
    let is_connected = has_changed || plans.iter().all(HostChange::is_empty);
    // Some hosts run only hooks that the user trusts. Trust is personal, so it is not part of a change to
    // the shared settings of a project.
    let may_trust = is_connected && scope == SettingsScope::User && !args.which.dry_run;
    let trusted = if may_trust {
        trust::ensure_trusted(host, args.trust, &environment, output)?
    } else {
        TrustOutcome::Unknown
    };
    let outcome = ConnectOutcome { has_changed, is_connected, trusted, is_connected_elsewhere };
    report_connect(&args.which, &plans, &outcome, output);
    Ok(0)
}

/// The result of `connect`.
struct ConnectOutcome {
    /// A file was written.
    has_changed: bool,
    /// True also if nothing had to change.
    is_connected: bool,
    trusted: TrustOutcome,
    /// The host is connected in the other scope, too: that of the project or that of the user.
    is_connected_elsewhere: bool,
}

fn report_connect(
    which: &WhichHost,
    plans: &[HostChange],
    outcome: &ConnectOutcome,
    output: &Output,
) {
    let name = which.host.name;
    if output.json {
        let mut res = change_json(which, plans, outcome.has_changed);
        res["trusted"] = outcome.trusted.to_json();
        res["connected_twice"] = json!(outcome.is_connected_elsewhere);
        output.print_json("connected", res);
    } else if outcome.has_changed && outcome.trusted == TrustOutcome::Declined {
        output.say(&format!("{name} will call waylore once you trust the hooks"));
    } else if outcome.has_changed {
        output.say(&format!("{name} will call waylore from its next session on"));
        warn_if_untested(which.host, output);
        output.hint(&format!("`waylore disconnect {}` reverts it", disconnect_arguments(which)));
    } else if outcome.is_connected {
        output.say(&format!("{name} is connected already"));
    }
    // No branch applies if the user declined or it was a dry run: the changes were shown, nothing to add.

    if outcome.is_connected_elsewhere && outcome.is_connected {
        double_connection::warn_both_scopes(which, output);
    }
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

/// Plans the change of each file; a file that has our entries gets an empty change.
fn plan_connection(
    files: &[HostFile],
    setup: &HostSetup<'_>,
) -> Result<Vec<HostChange>, engine::Error> {
    files.iter().map(|it| plan_connect(it.file, &it.path, setup)).collect()
}

/// The arguments of `disconnect` that revert a connection.
fn disconnect_arguments(which: &WhichHost) -> String {
    match which.scope {
        SettingsScope::User => which.host.name.to_owned(),
        SettingsScope::Project => format!("{} --scope project", which.host.name),
    }
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
    // The backups of `connect` must not be overwritten, so none are made.
    let no_backups = vec![None; plans.len()];
    let has_changed = confirm_and_apply(&args.which, &plans, &no_backups, output)?;
    if has_changed {
        for file in &files {
            engine::remove_new_folders(&file.backup_folder)?;
        }
    }
    let host = args.which.host.name;
    if output.json {
        output.print_json("disconnected", change_json(&args.which, &plans, has_changed));
    } else if has_changed {
        output.say(&format!("{host} no longer calls waylore"));
    } else if plans.iter().all(HostChange::is_empty) {
        output.say(&format!("{host} is not connected"));
    }
    Ok(0)
}

/// True if a file contains our entries; an unreadable file does not.
fn has_waylore_entries(host_file: &HostFile) -> bool {
    // Only planned, never applied, so no folder of backups is needed.
    let no_backups = Path::new("");
    plan_disconnect(host_file.file, &host_file.path, no_backups).is_ok_and(|it| !it.is_empty())
}

/// Writes the files of a plugin; replaces an existing folder only if it is our plugin.
fn write_plugin(host: &Host, folder: &Path, program: &str, output: &Output) -> anyhow::Result<u8> {
    let Some(plugin) = &host.plugin else {
        let message = format!("there is no plugin for {}", host.title);
        return Err(usage_error(message, "leave out `--plugin`"));
    };
    let files = (plugin.files)(program, env!("CARGO_PKG_VERSION"));
    // The manifest comes first; it tells our plugin from a folder of the user.
    let (manifest, _) = files[0];
    let is_our_plugin = folder.join(manifest).exists();
    let is_empty = folder.read_dir().map_or(true, |mut it| it.next().is_none());
    if !is_empty && !is_our_plugin {
        let message = format!("`{}` is not empty and holds no plugin", folder.display());
        return Err(usage_error(message, "name a folder that is empty or does not exist"));
    }
    for (path, text) in &files {
        write_private_file(&folder.join(path), text.as_bytes()).map_err(engine::Error::from)?;
    }
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    if output.json {
        let folder = folder.display().to_string();
        output.print_json("plugin", json!({ "folder": folder, "files": paths }));
    } else {
        output.say(&format!("a plugin is in `{}`", folder.display()));
        output.hint(&(plugin.install)(&folder.display().to_string()));
    }
    Ok(0)
}

/// Shows the changes, asks once and applies them; true if any was made. `backups` as in [`apply_changes`].
fn confirm_and_apply(
    which: &WhichHost,
    plans: &[HostChange],
    backups: &[Option<PathBuf>],
    output: &Output,
) -> anyhow::Result<bool> {
    if plans.iter().all(HostChange::is_empty) {
        return Ok(false);
    }
    if !output.json {
        change_display::print_full_diff(plans, output);
    }
    if which.dry_run || !confirm_or_fail(which.yes, "Change it?")? {
        return Ok(false);
    }
    apply_changes(plans, backups)?;
    Ok(true)
}

/// Applies the changes. `backups` has one entry per plan, in the same order: the backup folder of the file,
/// or `None` for no backup.
fn apply_changes(plans: &[HostChange], backups: &[Option<PathBuf>]) -> Result<(), engine::Error> {
    for (plan, backup_folder) in plans.iter().zip(backups) {
        if !plan.is_empty() {
            apply_host_change(plan, backup_folder.as_deref())?;
        }
    }
    Ok(())
}

fn change_json(which: &WhichHost, plans: &[HostChange], has_changed: bool) -> serde_json::Value {
    let path = |it: &HostChange| it.path.display().to_string();
    // In the order of `settings_files`: hooks first, MCP server last.
    json!({
        "host": which.host.name,
        "path": plans.first().map(path),
        "mcp_path": plans.last().map(path),
        "changed": has_changed,
        "would_change": plans.iter().any(|it| !it.is_empty()),
    })
}
