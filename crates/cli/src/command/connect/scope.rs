//! A person's settings and a project's, both connected: a host then runs two hooks at every event.
//!
//! Whoever serves hears the second and says nothing to it, so that nothing counts or is told twice; it
//! costs a process an event, and one of the two is enough.

use std::path::Path;

use engine::{HOSTS, Host};

use super::{Scope, WhichHost, files, has_ours};
use crate::Global;
use crate::environment::Environment;
use crate::output::Output;

/// Whether the other settings of a host call us as well, in the project at hand.
pub(super) fn is_connected_elsewhere(
    which: &WhichHost,
    global: &Global,
    environment: &Environment,
) -> bool {
    let start = environment.start(global.project.as_deref());
    let Ok(place) = engine::locate(&start, environment.home.as_deref()) else { return false };
    let other = (which.scope == Scope::User).then_some(place.root.as_path());
    calls(which.host, other, environment)
}

pub(super) fn say_twice(which: &WhichHost, output: &Output) {
    let name = which.host.name;
    let (other, leave) = match which.scope {
        Scope::User => ("this project's", format!("{name} --scope project")),
        Scope::Project => ("your own", name.to_owned()),
    };
    output.warn(&format!("{other} settings call waylore, too: here it runs twice at every event"));
    output.hint(&format!(
        "what is told or learned counts once; `waylore disconnect {leave}` ends it"
    ));
}

/// The hosts that call us from both settings in a project.
pub(in crate::command) fn called_twice(
    root: &Path,
    environment: &Environment,
) -> Vec<&'static str> {
    let both =
        |it: &'static Host| calls(it, None, environment) && calls(it, Some(root), environment);
    HOSTS.iter().filter(|it| both(it)).map(|it| it.name).collect()
}

/// Whether hooks of ours stand in a person's settings, or those of a project. A server that is listed
/// twice is started once.
fn calls(host: &'static Host, project: Option<&Path>, environment: &Environment) -> bool {
    let Ok(files) = files(host, project, environment) else { return false };
    host.speech.is_some() && files.first().is_some_and(has_ours)
}
