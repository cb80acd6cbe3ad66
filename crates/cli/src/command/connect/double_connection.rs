//! Detects hosts (programs that run agents) connected both in the user's and in the project's settings. Such a
//! host runs our hook command twice per event.
//!
//! The second hook of an event is ignored, so nothing counts twice, but it costs a process per event.

use std::path::Path;

use engine::{HOSTS, Host, SettingsScope};

use super::{WhichHost, has_waylore_entries, settings_files};
use crate::GlobalArgs;
use crate::environment::Environment;
use crate::output::Output;

/// True if the host is connected in the other scope: for `--scope user` in the settings of the current
/// project, for `--scope project` in those of the user.
pub(super) fn is_connected_elsewhere(
    which: &WhichHost,
    global: &GlobalArgs,
    environment: &Environment,
) -> bool {
    let start = environment.working_folder(global.project.as_deref());
    // Outside of a project there are no other settings.
    let Ok(place) = engine::locate_project(&start, environment.home.as_deref()) else {
        return false;
    };
    let other_root = match which.scope {
        SettingsScope::User => Some(place.root.as_path()),
        SettingsScope::Project => None,
    };
    is_connected(which.host, other_root, environment)
}

pub(super) fn warn_both_scopes(which: &WhichHost, output: &Output) {
    let name = which.host.name;
    let (other, other_arguments) = match which.scope {
        SettingsScope::User => ("this project's", format!("{name} --scope project")),
        SettingsScope::Project => ("your own", name.to_owned()),
    };
    output.warn(&format!("{other} settings are connected too: two processes run at every event"));
    output.hint(&format!("events count once; `waylore disconnect {other_arguments}` removes one"));
}

/// Hosts connected in both settings of a project.
pub(in crate::command) fn hosts_in_both_scopes(
    root: &Path,
    environment: &Environment,
) -> Vec<&'static str> {
    let is_in_both = |it: &'static Host| {
        is_connected(it, None, environment) && is_connected(it, Some(root), environment)
    };
    HOSTS.iter().filter(|it| is_in_both(it)).map(|it| it.name).collect()
}

/// True if the settings of the user, or with a project root those of the project, contain our hooks.
fn is_connected(
    host: &'static Host,
    project_root: Option<&Path>,
    environment: &Environment,
) -> bool {
    // A host without hooks is connected by its MCP server alone, which it starts once although it is
    // listed twice.
    if host.hook_protocol.is_none() {
        return false;
    }
    let Ok(files) = settings_files(host, project_root, environment) else { return false };
    // The first file is the one with the hooks.
    files.first().is_some_and(has_waylore_entries)
}
