//! Detects hosts connected both in the user's and in the project's settings, which then run two hooks
//! per event.
//!
//! The second hook of an event is ignored, so nothing counts twice, but it costs a process per event.

use std::path::Path;

use engine::{HOSTS, Host};

use super::{HostScope, WhichHost, has_waylore_entries, settings_files};
use crate::GlobalArgs;
use crate::environment::Environment;
use crate::output::Output;

/// True if the other settings of a host are connected as well, in the current project.
pub(super) fn is_connected_elsewhere(
    which: &WhichHost,
    global: &GlobalArgs,
    environment: &Environment,
) -> bool {
    let start = environment.working_folder(global.project.as_deref());
    let Ok(place) = engine::locate_project(&start, environment.home.as_deref()) else {
        return false;
    };
    let other = (which.scope == HostScope::User).then_some(place.root.as_path());
    is_connected(which.host, other, environment)
}

pub(super) fn warn_both_scopes(which: &WhichHost, output: &Output) {
    let name = which.host.name;
    let (other, leave) = match which.scope {
        HostScope::User => ("this project's", format!("{name} --scope project")),
        HostScope::Project => ("your own", name.to_owned()),
    };
    output.warn(&format!("{other} settings are connected too: two processes run at every event"));
    output.hint(&format!("events count once; `waylore disconnect {leave}` removes one"));
}

/// Hosts connected in both settings of a project.
pub(in crate::command) fn hosts_in_both_scopes(
    root: &Path,
    environment: &Environment,
) -> Vec<&'static str> {
    let both = |it: &'static Host| {
        is_connected(it, None, environment) && is_connected(it, Some(root), environment)
    };
    HOSTS.iter().filter(|it| both(it)).map(|it| it.name).collect()
}

/// True if the settings contain our hooks. An MCP server listed twice is started once.
fn is_connected(host: &'static Host, project: Option<&Path>, environment: &Environment) -> bool {
    let Ok(files) = settings_files(host, project, environment) else { return false };
    host.hook_protocol.is_some() && files.first().is_some_and(has_waylore_entries)
}
