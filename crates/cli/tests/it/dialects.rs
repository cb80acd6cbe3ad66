//! Whatever goes wrong, every host goes on: each failure in the words of each host that calls us.

use std::fs;
use std::path::Path;

use engine::HOSTS;
use serde_json::{Value, json};

use crate::hooks::taught;
use crate::kit::{Desk, Said, fed, files};

/// How a host says that a session begins: the argument it adds, and the message.
fn beginning(host: &str, session: &str, folder: &Path) -> (Option<&'static str>, Value) {
    match host {
        "copilot" => (Some("sessionStart"), json!({ "sessionId": session, "cwd": folder })),
        "opencode" => {
            let event = "session.start";
            (None, json!({ "hook_event_name": event, "sessionID": session, "directory": folder }))
        }
        _ => {
            let event = "SessionStart";
            (None, json!({ "hook_event_name": event, "session_id": session, "cwd": folder }))
        }
    }
}

/// What a host hears, told that a session begins in a folder, or something else in place of that.
fn heard(desk: &Desk, host: &str, folder: &Path, instead: Option<&str>, patience: &str) -> Said {
    // A session of its own each time: what was said once is not said again.
    let session = format!("{}-{}", host, files(&desk.home).len());
    let (event, message) = beginning(host, &session, folder);
    let args: Vec<&str> = ["hook", host].into_iter().chain(event).collect();
    let mut command = desk.command(&args);
    command.env("WAYLORE_HOOK_PATIENCE_MS", patience);
    let message = instead.map_or_else(|| message.to_string(), str::to_owned);
    fed(command, message.as_bytes())
}

const LONG: &str = "30000";
const SHORT: &str = "300";

#[test]
fn every_host_goes_on_whatever_goes_wrong() {
    for host in HOSTS.iter().filter(|it| it.speech.is_some()).map(|it| it.name) {
        let desk = taught();
        let told = |what: &str| {
            let said = heard(&desk, host, &desk.project, None, LONG);
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{host}, {what}");
            assert!(said.out.contains("UTC"), "{host}, {what}: {said:?}");
        };
        let silent = |folder: &Path, instead: Option<&str>, patience: &str, what: &str| {
            let said = heard(&desk, host, folder, instead, patience);
            assert_eq!((said.code, said.all().as_str()), (0, ""), "{host}, {what}");
        };
        told("nobody serves");
        for rubbish in ["", "{", "[]", "null", "{\"hook_event_name\":\"nonsense\"}", "\0"] {
            silent(&desk.project, Some(rubbish), LONG, rubbish);
        }
        silent(&desk.root.join("gone"), None, LONG, "a folder that is not there");
        #[cfg(unix)]
        hung(&desk, &|| silent(&desk.project, None, SHORT, "a daemon that does not answer"));
        desk.run(&["config", "set", "memory.enabled", "false"]).ends(0, "off");
        silent(&desk.project, None, LONG, "memory is off");
        desk.run(&["config", "set", "memory.enabled", "true"]).ends(0, "on");
        told("memory is on again");
        for it in files(&desk.home).iter().filter(|it| it.extension().is_some_and(|it| it == "db"))
        {
            fs::write(it, "not a database").unwrap();
        }
        silent(&desk.project, None, LONG, "a damaged notebook");
    }
}

/// Does something while somebody listens in the daemon's place, who never answers.
#[cfg(unix)]
fn hung(desk: &Desk, meanwhile: &dyn Fn()) {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;
    let socket = crate::daemon::socket(desk);
    let folder = socket.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    meanwhile();
    drop(listener);
    fs::remove_file(&socket).unwrap();
}
