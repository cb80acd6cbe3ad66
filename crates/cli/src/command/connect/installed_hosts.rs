//! All hosts (programs that run agents) installed on this machine: `init` offers to connect each of them, `doctor`
//! reports which are connected. Both work on the settings of the user, not on those of a project.

use engine::{HOSTS, Host, HostChange, HostSetup, plan_connect};

use super::trust::{self, TrustOutcome};
use super::{
    HostFile, apply_changes, change_display, check_program_name, has_waylore_entries, host_version,
    own_program, plan_connection, settings_files, warn_if_untested,
};
use crate::command::shared::ask_yes_no;
use crate::environment::{self, Environment};
use crate::output::Output;

/// An installed host, and whether it is connected now.
pub(in crate::command) struct HostConnection {
    pub(in crate::command) host: &'static str,
    pub(in crate::command) connected: bool,
}

/// Offers to connect every installed host, for `init`, one line each; with `yes` connects them without asking.
/// `with_diff` shows every line that would change.
pub(in crate::command) fn connect_found_hosts(
    environment: &Environment,
    yes: bool,
    with_diff: bool,
    output: &Output,
) -> anyhow::Result<Vec<HostConnection>> {
    let mut res = Vec::new();
    let program = own_program()?;
    if let Err(why) = check_program_name(&program) {
        output.warn(&format!("no agent can be connected: {why}"));
        return Ok(res);
    }
    for host in HOSTS {
        // Without a home directory no host has settings.
        let Ok(files) = settings_files(host, None, environment) else { continue };
        if !is_installed(host, environment) {
            continue;
        }
        let plans =
            plan_connection(&files, &HostSetup { program: &program, version: host_version(host) })?;
        let name = host.name;
        if plans.iter().all(HostChange::is_empty) {
            output.say(&format!("agents: {name} is connected already"));
            res.push(HostConnection { host: name, connected: true });
            continue;
        }
        output.say(&format!(
            "agents: {name} is installed; connecting it changes {}",
            format_files(&plans)
        ));
        if with_diff {
            change_display::print_full_diff(&plans, output);
        }
        let connected = ask_yes_no(yes, &format!("Connect {name}?"))?;
        if connected {
            let backups: Vec<_> = files.into_iter().map(|it| Some(it.backup_folder)).collect();
            apply_changes(&plans, &backups)?;
            // `yes` is no consent to trust: the user is asked again if there is a terminal.
            let trusted = trust::ensure_trusted(host, false, environment, output)?;
            let when = match trusted {
                TrustOutcome::Declined => "once you trust the hooks",
                TrustOutcome::Trusted | TrustOutcome::Unknown => "from its next session on",
            };
            output.say(&format!("agents: {name} will call waylore {when}"));
            warn_if_untested(host, output);
        }
        res.push(HostConnection { host: name, connected });
    }
    Ok(res)
}

/// The files that a connection changes.
fn format_files(plans: &[HostChange]) -> String {
    let changed = plans.iter().filter(|it| !it.is_empty());
    let mut paths: Vec<String> = changed.map(|it| format!("`{}`", it.path.display())).collect();
    paths.dedup();
    paths.join(" and ")
}

/// Connection state of an installed host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum ConnectionState {
    Connected,
    /// Connected, but the host runs only trusted hooks and does not trust ours.
    Untrusted,
    /// Connected, but with entries that differ from those of this version.
    Outdated,
    NotConnected,
}

/// Installed hosts with their connection states, for `doctor`.
pub(in crate::command) fn connection_states(
    environment: &Environment,
) -> anyhow::Result<Vec<(&'static Host, ConnectionState)>> {
    let program = own_program()?;
    let mut res = Vec::new();
    for host in HOSTS.iter().filter(|it| is_installed(it, environment)) {
        let files = settings_files(host, None, environment)?;
        let setup = HostSetup { program: &program, version: host_version(host) };
        // Up to date if connecting again would change nothing. An unreadable file counts as not connected.
        let is_up_to_date = |it: &HostFile| {
            plan_connect(it.file, &it.path, &setup).is_ok_and(|change| change.is_empty())
        };
        let state = if files.iter().all(is_up_to_date) {
            let is_untrusted = trust::has_untrusted_hooks(host, environment);
            if is_untrusted { ConnectionState::Untrusted } else { ConnectionState::Connected }
        } else if files.iter().any(has_waylore_entries) {
            ConnectionState::Outdated
        } else {
            ConnectionState::NotConnected
        };
        res.push((host, state));
    }
    Ok(res)
}

/// The first host, in the order of the table, whose settings of the user run Waylore. Unlike
/// [`connection_states`] it starts no process.
pub(in crate::command) fn first_connected_host(environment: &Environment) -> Option<&'static Host> {
    HOSTS.iter().find(|host| {
        let files = settings_files(host, None, environment).unwrap_or_default();
        is_installed(host, environment) && files.iter().any(has_waylore_entries)
    })
}

/// True if the settings folder of a host exists.
fn is_installed(host: &Host, environment: &Environment) -> bool {
    let folder = host.settings_folder(environment.home.as_deref(), environment::folder_variable);
    folder.is_some_and(|(_, settings_folder)| settings_folder.is_dir())
}
