//! Tests that no failure of Waylore ever disturbs an agent host, a program that runs an agent.
//!
//! At each event of a session the host starts `waylore hook HOST`, with a JSON message on standard input
//! in the host's own dialect, and injects the answer into the conversation.
//!
//! Every kind of failure (invalid messages, broken settings, damaged data, a hostile daemon socket)
//! is tried with every host that has hooks. `waylore hook` must exit with 0, print nothing on
//! standard error, and inject no notes; only beside a silent daemon may it inject those that it finds by
//! itself. The hosts come from `engine::HOSTS`, so a new host is tested without a change here.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{HOSTS, HookEvent, Host};
use serde_json::{Value, json};

use crate::hooks::sandbox_with_memories;
use crate::sandbox::{Sandbox, files};

/// Names of the session start event; every host uses one of them.
const START_EVENTS: &[&str] = &["SessionStart", "sessionStart", "session.start"];
/// An event name that no host uses.
const UNKNOWN_EVENT: &str = "EventThatDoesNotExist";

/// A hook message with the fields of all hosts together; each host's parser picks its own.
fn hook_message(event: &str, cwd: &Path) -> Value {
    let cwd = cwd.display().to_string();
    json!({ "hook_event_name": event, "source": "startup", "cwd": cwd, "directory": cwd,
        "session_id": "s1", "sessionId": "s1", "sessionID": "s1" })
}

/// The session start message that this host's parser recognises.
fn start_message(host: &Host, cwd: &Path) -> String {
    let mut messages = START_EVENTS.iter().map(|it| hook_message(it, cwd).to_string());
    let is_start = |it: &String| {
        let message = host.parse_message(it.as_bytes(), None);
        message.is_some_and(|it| matches!(it.event, HookEvent::SessionStart { .. }))
    };
    let name = host.name;
    messages
        .find(is_start)
        .unwrap_or_else(|| panic!("no name in START_EVENTS is the session start of `{name}`"))
}

/// Sends a message to the hook of a host, asserts that the hook succeeds silently, and returns the
/// answer (standard output).
fn hook_answer(sandbox: &Sandbox, host: &Host, message: &[u8]) -> String {
    let output = sandbox.run_with_input(&["hook", host.name], message);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}: {}", host.name, output.out);
    output.out
}

fn hosts_with_hooks() -> impl Iterator<Item = &'static Host> {
    HOSTS.iter().filter(|it| it.hook_protocol.is_some())
}

#[test]
fn every_host_receives_notes_in_a_healthy_project() {
    for host in hosts_with_hooks() {
        let sandbox = sandbox_with_memories();
        let answer = hook_answer(&sandbox, host, start_message(host, &sandbox.project).as_bytes());
        assert!(answer.contains("All dates are stored in UTC"), "{}: {answer}", host.name);
        let _: Value = serde_json::from_str(&answer).expect("hosts read the answer as JSON");
    }
}

#[test]
fn an_invalid_hook_message_gets_an_empty_answer() {
    let sandbox = sandbox_with_memories();
    let valid = start_message(hosts_with_hooks().next().unwrap(), &sandbox.project);
    // Cut in the middle.
    let truncated = &valid.as_bytes()[..valid.len() / 2];
    let deeply_nested = "[".repeat(100_000);
    let invalid_messages: &[&[u8]] = &[
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"text\"",
        b"{}",
        b"\x00\xff\xfe",
        b"{\"hook_event_name\": {\"a\": 1}, \"cwd\": 7, \"session_id\": []}",
        truncated,
        deeply_nested.as_bytes(),
    ];
    for host in hosts_with_hooks() {
        for message in invalid_messages {
            let answer = hook_answer(&sandbox, host, message);
            let beginning = String::from_utf8_lossy(&message[..message.len().min(40)]);
            assert_eq!(answer, "", "{} {beginning:?}", host.name);
        }
        let unknown = hook_message(UNKNOWN_EVENT, &sandbox.project).to_string();
        let answer = hook_answer(&sandbox, host, unknown.as_bytes());
        assert_eq!(answer, "", "{}: an unknown event", host.name);
    }
}

/// Name of a failure, and a function that causes it and returns the folder in which the host works.
type FailureCase = (&'static str, fn(&Sandbox) -> PathBuf);

const FAILURE_CASES: &[FailureCase] = &[
    ("a folder that does not exist", |sandbox| sandbox.root.join("nowhere")),
    ("a folder that is a file", |sandbox| {
        let file = sandbox.root.join("file");
        fs::write(&file, "").unwrap();
        file
    }),
    ("memory disabled", |sandbox| {
        sandbox.run(&["config", "set", "memory.enabled", "false"]).expect_code(0, "config set");
        sandbox.project.clone()
    }),
    ("a configuration file that is not TOML", |sandbox| {
        let config = sandbox.home.join("config/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, "[[[").unwrap();
        sandbox.project.clone()
    }),
    ("damaged databases", |sandbox| {
        let is_database = |it: &&PathBuf| it.extension().is_some_and(|it| it == "db");
        for database in files(&sandbox.home).iter().filter(is_database) {
            fs::write(database, "not a database").unwrap();
        }
        sandbox.project.clone()
    }),
    ("a data folder that is a file", |sandbox| {
        fs::remove_dir_all(sandbox.home.join("data")).unwrap();
        fs::write(sandbox.home.join("data"), "").unwrap();
        sandbox.project.clone()
    }),
];

#[test]
fn a_broken_project_never_stops_a_host() {
    for (failure, cause_failure) in FAILURE_CASES {
        let sandbox = sandbox_with_memories();
        let cwd = cause_failure(&sandbox);
        for host in hosts_with_hooks() {
            // The answer may report the problem, but must not contain notes.
            let answer = hook_answer(&sandbox, host, start_message(host, &cwd).as_bytes());
            assert!(!answer.contains("stored in UTC"), "{}, {failure}: {answer}", host.name);
        }
    }
}

/// Another program listens on the daemon's socket and never answers, or answers something else.
#[cfg(unix)]
#[test]
fn a_hostile_daemon_socket_never_stops_a_host() {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    const ANSWER_OF_OLD_VERSION: &str =
        "{\"id\":1,\"ok\":true,\"text\":null,\"version\":\"0.0.1\"}\n";
    // `None` accepts the connection and never answers; the others answer at once and hang up.
    let socket_answers =
        [None, Some(""), Some("rubbish\n"), Some("{}\n"), Some(ANSWER_OF_OLD_VERSION)];
    for socket_answer in socket_answers {
        let mut sandbox = sandbox_with_memories();
        // With the test timeout of 30 s, every hook would wait that long for the silent socket.
        sandbox.has_long_hook_timeout = false;
        let socket = crate::daemon::socket(&sandbox);
        let folder = socket.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            // Dropping a stream would close the connection.
            let mut open_streams = Vec::new();
            for mut stream in listener.incoming().flatten() {
                match socket_answer {
                    Some(answer) => _ = stream.write_all(answer.as_bytes()),
                    None => open_streams.push(stream),
                }
            }
        });
        for host in hosts_with_hooks() {
            let message = start_message(host, &sandbox.project);
            let answer = hook_answer(&sandbox, host, message.as_bytes());
            // The first hook notes that the daemon did not answer in time. The hooks after it do not wait for
            // the silent socket again and answer alone.
            let is_alone = socket_answer.is_none() && answer.contains("stored in UTC");
            assert!(answer.is_empty() || is_alone, "{}, {socket_answer:?}: {answer}", host.name);
        }
    }
}
