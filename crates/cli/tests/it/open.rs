//! Whatever goes wrong, every host goes on: each failure with each host's way to speak. The hosts come from
//! the table, so that one more comes in by itself.

use std::fs;
use std::path::Path;

use engine::{HOSTS, HookEvent, Host};
use serde_json::{Value, json};

use crate::hooks::taught;
use crate::kit::{Desk, files};

/// What hosts call the start of a session, and a moment that none of them knows.
const STARTS: &[&str] = &["SessionStart", "sessionStart", "session.start"];
const UNKNOWN: &str = "SomethingNobodyHasHeardOf";

/// A message with whatever any host says of an event; each reads its own.
fn message(event: &str, cwd: &Path) -> Value {
    let cwd = cwd.display().to_string();
    json!({ "hook_event_name": event, "source": "startup", "cwd": cwd, "directory": cwd,
        "session_id": "s1", "sessionId": "s1", "sessionID": "s1" })
}

/// The start of a session in the host's own words.
fn start(host: &Host, cwd: &Path) -> String {
    let said = STARTS.iter().map(|it| message(it, cwd).to_string());
    let is_start = |it: &String| {
        let message = host.parse(it.as_bytes(), None);
        message.is_some_and(|it| matches!(it.event, HookEvent::SessionStart { .. }))
    };
    let name = host.name;
    said.into_iter().find(is_start).unwrap_or_else(|| panic!("how does `{name}` say it begins?"))
}

/// What a host hears when it says this.
fn heard(desk: &Desk, host: &Host, said: &[u8]) -> String {
    let res = desk.feed(&["hook", host.name], said);
    assert_eq!((res.code, res.err.as_str()), (0, ""), "{}: {}", host.name, res.out);
    res.out
}

fn speaking() -> impl Iterator<Item = &'static Host> {
    HOSTS.iter().filter(|it| it.hook_protocol.is_some())
}

#[test]
fn every_host_is_told_when_nothing_is_wrong() {
    for host in speaking() {
        let desk = taught();
        let told = heard(&desk, host, start(host, &desk.project).as_bytes());
        assert!(told.contains("All dates are stored in UTC"), "{}: {told}", host.name);
        let _: Value = serde_json::from_str(&told).unwrap();
    }
}

#[test]
fn what_is_no_message_is_not_answered() {
    let desk = taught();
    let begin = start(speaking().next().unwrap(), &desk.project);
    let half = &begin.as_bytes()[..begin.len() / 2];
    let deep = "[".repeat(100_000);
    let rubbish: &[&[u8]] = &[
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"text\"",
        b"{}",
        b"\x00\xff\xfe",
        b"{\"hook_event_name\": {\"a\": 1}, \"cwd\": 7, \"session_id\": []}",
        half,
        deep.as_bytes(),
    ];
    for host in speaking() {
        for said in rubbish {
            assert_eq!(heard(&desk, host, said), "", "{} {:?}", host.name, said.get(..40));
        }
        let unknown = message(UNKNOWN, &desk.project).to_string();
        assert_eq!(heard(&desk, host, unknown.as_bytes()), "", "{}: an unknown event", host.name);
    }
}

/// Something that is wrong: its name, and how it comes about. What it returns is the folder the host works in.
type Wrong = (&'static str, fn(&Desk) -> std::path::PathBuf);

const WRONG: &[Wrong] = &[
    ("a folder that is not there", |desk| desk.root.join("nowhere")),
    ("a folder that is a file", |desk| {
        let file = desk.root.join("file");
        fs::write(&file, "").unwrap();
        file
    }),
    ("memory is off", |desk| {
        desk.run(&["config", "set", "memory.enabled", "false"]).ends(0, "it is done");
        desk.project.clone()
    }),
    ("settings that cannot be read", |desk| {
        let config = desk.home.join("config/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, "[[[").unwrap();
        desk.project.clone()
    }),
    ("data that is damaged", |desk| {
        let is_database = |it: &&std::path::PathBuf| it.extension().is_some_and(|it| it == "db");
        for database in files(&desk.home).iter().filter(is_database) {
            fs::write(database, "not a database").unwrap();
        }
        desk.project.clone()
    }),
    ("a data folder that is a file", |desk| {
        fs::remove_dir_all(desk.home.join("data")).unwrap();
        fs::write(desk.home.join("data"), "").unwrap();
        desk.project.clone()
    }),
];

#[test]
fn whatever_is_wrong_here_every_host_goes_on() {
    for (what, make) in WRONG {
        let desk = taught();
        let cwd = make(&desk);
        for host in speaking() {
            let told = heard(&desk, host, start(host, &cwd).as_bytes());
            assert!(!told.contains("stored in UTC"), "{}, {what}: {told}", host.name);
        }
    }
}

/// Somebody listens in the daemon's place, and says nothing, or something else.
#[cfg(unix)]
#[test]
fn whoever_is_in_the_daemons_place_every_host_goes_on() {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    const OLDER: &str = "{\"id\":1,\"ok\":true,\"text\":null,\"version\":\"0.0.1\"}\n";
    for answer in [None, Some(""), Some("rubbish\n"), Some("{}\n"), Some(OLDER)] {
        let mut desk = taught();
        desk.patient = false;
        let socket = crate::daemon::socket(&desk);
        let folder = socket.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            let mut hung = Vec::new();
            for mut stream in listener.incoming().flatten() {
                match answer {
                    Some(answer) => _ = stream.write_all(answer.as_bytes()),
                    None => hung.push(stream),
                }
            }
        });
        for host in speaking() {
            let told = heard(&desk, host, start(host, &desk.project).as_bytes());
            assert_eq!(told, "", "{}, {answer:?}", host.name);
        }
    }
}
