//! The daemon (`waylore serve`): hooks and client programs get notes from it, it learns in the
//! background, there is one per user, and neither its death nor its errors lose events or disturb the
//! host.
//!
//! Terms. The *host* is the program that runs an agent, such as Claude Code. A *hook* is
//! `waylore hook claude-code`, which the host starts at every event of a session; `injected_text`
//! (in `hooks.rs`) runs one and returns the notes that it adds to the conversation. The *journal* is
//! the daemon's file with the events of a running session, the *inbox* a folder for events that
//! arrived without a daemon, and the *scratchpad* holds what an agent recorded during a session,
//! before it is learned.
//!
//! The protocol is one JSON value per line on a Unix socket. An event has no answer unless it is
//! wrong; a request has one answer with its `id`:
//!
//! ```text
//! {"event":"user_message","event_id":"u","session_id":"…","at":1001,"text":"…"}
//! {"request":"ping","id":1}    →    {"id":1,"ok":{}}  or  {"id":1,"error":{"code":"…","message":"…"}}
//! ```
//!
//! Many tests use the two memories of `sandbox_with_memories` (in `hooks.rs`): a gotcha about
//! `src/auth.rs`, which contains "seconds, not milliseconds", and a decision about the whole project,
//! which contains "UTC". `RunningDaemon` and `DaemonClient` are used by other test files, too.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hooks::{
    GIT_SHOW_ERROR, GIT_SHOW_SESSION, failed_command, file_read, injected_text,
    sandbox_with_memories, session_start, user_prompt,
};
use crate::learning::write_transcript;
use crate::sandbox::{
    Sandbox, files, files_containing, has_program, id_of, is_root, record, skip, string,
    wait_until, workspace,
};

/// The session whose events a test sends as a client program.
const SESSION_ID: &str = "018f0000-0000-7000-8000-0000000000aa";
const NEXT_SESSION_ID: &str = "018f0000-0000-7000-8000-0000000000ab";
/// User id of an unprivileged account.
const UNPRIVILEGED_USER: u32 = 65534;

/// A daemon that is killed at the end of the test.
pub(crate) struct RunningDaemon {
    child: Child,
}

impl RunningDaemon {
    /// Starts the daemon and waits until it answers.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::spawn(sandbox, sandbox.command(&["serve"]))
    }

    /// As `start`, with a command that was prepared by the test.
    pub(crate) fn spawn(sandbox: &Sandbox, mut command: Command) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let res = Self { child };
        wait_until("the daemon answers", || is_daemon_up(sandbox));
        res
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, written as an option of `kill(1)`: `-TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Waits until the daemon has stopped by itself; true if it reports success.
    fn wait_for_exit(mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

impl Drop for RunningDaemon {
    fn drop(&mut self) {
        // Fails if the daemon has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The path of the daemon's socket.
pub(crate) fn socket(sandbox: &Sandbox) -> PathBuf {
    serve::DaemonAddress::for_data_dir(&sandbox.home.join("data")).socket
}

/// A program connected to the daemon, which sends events and requests (see the file header).
pub(crate) struct DaemonClient {
    reader: BufReader<UnixStream>,
}

impl DaemonClient {
    pub(crate) fn connect(sandbox: &Sandbox) -> Self {
        let stream = UnixStream::connect(socket(sandbox)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        self.reader.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn read_answer(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|it| panic!("{it}: {line:?}"))
    }

    pub(crate) fn request(&mut self, request: Value) -> Value {
        self.send_line(&request.to_string());
        self.read_answer()
    }

    /// Returns when the daemon has processed everything sent before.
    fn ping(&mut self) {
        assert_eq!(self.request(json!({ "id": 1, "request": "ping" }))["ok"], json!({}));
    }
}

#[test]
fn the_daemon_injects_the_same_notes_as_a_hook_without_it() {
    let sandbox = sandbox_with_memories();
    let _daemon = RunningDaemon::start(&sandbox);

    // The start of a session gets the note about the project, once per session.
    assert!(injected_text(&sandbox, "s1", session_start("startup")).contains("UTC"));
    let notes = injected_text(&sandbox, "s1", session_start("resume"));
    assert_eq!(notes, "", "already injected in this session");

    // A prompt gets the note that it is about; reading the file does not repeat it.
    let prompt = user_prompt("the token is rejected: does verify() want milliseconds?");
    let notes = injected_text(&sandbox, "s1", prompt);
    assert!(notes.contains("seconds, not milliseconds"), "{notes}");
    let notes = injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs"));
    assert_eq!(notes, "", "already injected with the prompt");

    // Another session gets the note when it reads the file.
    assert!(injected_text(&sandbox, "s2", file_read(&sandbox, "src/auth.rs")).contains("seconds"));

    // The running daemon notices that memory is turned off for the project.
    sandbox
        .run(&["config", "set", "memory.enabled", "false", "--for-project"])
        .expect_code(0, "turn memory off");
    let notes = injected_text(&sandbox, "s3", file_read(&sandbox, "src/auth.rs"));
    assert_eq!(notes, "", "memory is off");
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|it| it == "ndjson");
    let n_journals = files(&sandbox.home).into_iter().filter(is_journal).count();
    assert_eq!(n_journals, 2, "s1 and s2 have a journal, s3 with memory off has none");

    // The notes did come from the daemon: it has counted the six hooks above and this request.
    let status = DaemonClient::connect(&sandbox).request(json!({ "id": 1, "request": "status" }));
    assert!(status["ok"]["requests"].as_u64() > Some(6), "the daemon served them: {status}");
}

#[test]
fn changes_by_other_processes_apply_at_the_next_event() {
    let sandbox = sandbox_with_memories();
    let _daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    let (first_note, second_note) = ("seconds, not milliseconds", "Tokens without an issuer");

    // Reads `src/auth.rs` and returns whether the first and the second note are injected. Each read is
    // in a new session, so that no note is left out as already injected.
    let mut n_sessions = 0;
    let mut injected_notes = || {
        n_sessions += 1;
        let mut message = file_read(&sandbox, "src/auth.rs");
        message["session_id"] = json!(format!("s{n_sessions}"));
        message["cwd"] = json!(sandbox.project);
        let hook = json!({ "id": n_sessions, "request": "hook", "host": "claude-code", "message": message });
        let answer = client.request(hook);
        let text = answer["ok"]["text"].as_str().unwrap_or_default();
        (text.contains(first_note), text.contains(second_note))
    };
    assert_eq!(injected_notes(), (true, false), "only the first memory exists");

    // A new memory is injected.
    let text = "Tokens without an issuer must be refused by verify()";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "src/auth.rs:verify", text])
        .expect_code(0, "remember a second gotcha");
    assert_eq!(injected_notes(), (true, true), "a new memory");

    // A memory that the host's own rules file contains is not injected.
    let rules = sandbox.project.join("CLAUDE.md");
    fs::write(&rules, format!("- {text}\n")).unwrap();
    assert_eq!(injected_notes(), (true, false), "the host reads this rule by itself");
    fs::write(&rules, format!("- {}\n", text.replace("issuer", "expiry"))).unwrap();
    assert_eq!(injected_notes(), (true, true), "the rule differs from the memory now");

    // A forgotten memory is not injected.
    let memories = sandbox.memories();
    let first = memories.iter().find(|it| string(&it["content"]).contains(first_note)).unwrap();
    sandbox.run(&["forget", &string(&first["id"])]).expect_code(0, "forget the first gotcha");
    assert_eq!(injected_notes(), (false, true), "a forgotten memory");

    // A memory about the function `verify` is not injected after the function has disappeared.
    fs::write(sandbox.project.join("src/auth.rs"), "fn check() {}\n").unwrap();
    assert_eq!(injected_notes(), (false, false), "the symbol of the second note is gone");
}

#[test]
fn the_daemon_learns_from_a_client_session_and_serves_the_next_one() {
    let sandbox = Sandbox::new();
    let daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);

    // Every event arrives twice; duplicates count once.
    for event in session_with_fixed_error(&sandbox) {
        client.send_line(&event);
        client.send_line(&event);
    }

    // The agent records a note.
    let note = json!({ "id": "n", "request": "record", "session_id": SESSION_ID, "type": "gotcha", "content": "a.rs is generated by build.rs: edit that instead", "files": ["a.rs"] });
    assert_eq!(client.request(note)["ok"]["kept"], "scratchpad");

    // Successful subtasks of a long session are enough for a recorded note to become a memory.
    for n in 10..16 {
        let subtask = json!({ "id": n, "request": "validate", "session_id": SESSION_ID, "kind": "subtask_succeeded", "ok": true, "event_id": format!("part {n}") });
        assert_eq!(client.request(subtask)["ok"], json!({}));
    }
    wait_until("the note is stored while the session still runs", || {
        sandbox.run(&["list"]).out.contains("generated by build.rs")
    });

    // The session ends with success and is learned from.
    let validation = json!({ "id": 2, "request": "validate", "session_id": SESSION_ID, "kind": "qa_passed", "ok": true });
    assert_eq!(client.request(validation)["ok"], json!({}));
    let finished = client.request(json!({ "id": 3, "request": "finish", "session_id": SESSION_ID, "outcome": "success", "wait": true }));
    assert!(finished["ok"]["learned"].as_u64() > Some(0), "{finished}");

    // The next session meets the same error and gets the fix.
    client.send_line(&session_with_fixed_error(&sandbox)[0].replace(SESSION_ID, NEXT_SESSION_ID));
    let step = json!({ "id": 4, "request": "step_context", "session_id": NEXT_SESSION_ID, "tool": "shell", "command": "git show --no-stat", "error": GIT_SHOW_ERROR });
    let answer = client.request(step);
    assert!(answer["ok"]["text"].as_str().unwrap().contains("git show --stat HEAD"), "{answer}");

    // A search finds the recorded note, but reading the file does not inject it: no user has confirmed
    // it yet.
    let search = json!({ "id": 5, "request": "search", "project": sandbox.project, "query": "who generates a.rs?" });
    let found = client.request(search);
    assert!(found["ok"]["hits"].to_string().contains("build.rs"), "{found}");
    assert_eq!(found["ok"]["memories"][0], found["ok"]["hits"][0]["id"]);
    let file_context = json!({ "id": 6, "request": "file_context", "session_id": NEXT_SESSION_ID, "files": ["a.rs"] });
    let answer = client.request(file_context);
    assert_eq!(answer["ok"]["text"], "", "an unconfirmed note is not injected at its file");

    // The daemon stops at a signal and removes its socket.
    daemon.signal("-TERM");
    assert!(daemon.wait_for_exit(), "the daemon stops without an error");
    assert!(!socket(&sandbox).exists());
}

#[test]
fn of_two_contradicting_notes_of_a_session_only_the_later_becomes_a_memory() {
    let sandbox = Sandbox::new();
    let record_note = |limit: u8| {
        let content = format!("The retry limit of the upload queue is {limit}");
        json!({ "id": limit, "request": "record", "session_id": SESSION_ID, "type": "decision", "content": content }).to_string()
    };

    // The session passes its tests, so its notes need no review.
    let input = [
        session_with_fixed_error(&sandbox).join("\n"),
        record_note(3),
        record_note(5),
        json!({ "id": 9, "request": "finish", "session_id": SESSION_ID, "outcome": "success", "wait": true }).to_string(),
    ];
    sandbox
        .run_with_input(&["serve", "--stdio"], input.join("\n").as_bytes())
        .expect_code(0, "serve --stdio");
    sandbox.run(&["learn"]).expect_code(0, "nothing is left to learn");

    let memories = sandbox.memories();
    let mut notes = Vec::new();
    for memory in &memories {
        if string(&memory["content"]).contains("retry limit") {
            notes.push((string(&memory["content"]), string(&memory["status"])));
        }
    }
    let later_note = "The retry limit of the upload queue is 5".to_owned();
    assert_eq!(notes, [(later_note, "live".to_owned())]);
    let activity = sandbox.json(&["stats"])["activity"].clone();
    assert_eq!(activity["failed"], 0, "{activity}");
}

#[test]
fn journalled_events_survive_a_killed_daemon() {
    let sandbox = Sandbox::new();
    let daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    for event in session_with_fixed_error(&sandbox) {
        client.send_line(&event);
    }
    // The answer to the ping shows that the events are in the journal.
    client.ping();
    daemon.signal("-KILL");
    assert!(!daemon.wait_for_exit());

    // The next daemon learns from the journal of the first, and knows the fix of its error.
    let _next_daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    let finish = json!({ "id": 1, "request": "finish", "session_id": SESSION_ID, "wait": true });
    let finished = client.request(finish);
    assert!(finished["ok"]["learned"].is_number(), "the journal is found: {finished}");
    let failed_git_show = failed_command("git show --no-stat", GIT_SHOW_ERROR);
    let notes = injected_text(&sandbox, "s9", failed_git_show);
    assert!(notes.contains("git show --stat HEAD"), "{notes}");
}

#[test]
fn hook_events_without_a_daemon_wait_in_the_inbox_with_secrets_masked() {
    let sandbox = Sandbox::new();
    let (session, transcript) = write_git_show_transcript(&sandbox);

    // A hook without a daemon stores its event, without the secret in it.
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let bash_event = json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1", "transcript_path": transcript,
        "tool_input": { "command": format!("curl -H 'token: {secret}'") }, "tool_response": { "stdout": "ok" } });
    assert_eq!(injected_text(&sandbox, &session, bash_event), "");
    assert_eq!(n_inbox_events(&sandbox), 1);
    assert!(files_containing(&sandbox.home, &secret).is_empty(), "the secret is masked");

    // The daemon reads the inbox. The end of the session names no transcript, so that it is found
    // through the event that waited there.
    let _daemon = RunningDaemon::start(&sandbox);
    let end = json!({ "hook_event_name": "SessionEnd", "transcript_path": "/gone.jsonl" });
    injected_text(&sandbox, &session, end);
    assert_learned_once(&sandbox);
    assert_eq!(n_inbox_events(&sandbox), 0);
}

#[test]
fn a_transcript_and_the_hook_events_of_its_session_count_once() {
    let sandbox = Sandbox::new();
    let _daemon = RunningDaemon::start(&sandbox);
    let (session, transcript) = write_git_show_transcript(&sandbox);
    // Both events make the daemon read the same transcript.
    for event in ["Stop", "SessionEnd"] {
        let message = json!({ "hook_event_name": event, "transcript_path": transcript });
        injected_text(&sandbox, &session, message);
    }
    assert_learned_once(&sandbox);
}

#[test]
fn there_is_one_daemon_and_it_is_private() {
    let sandbox = Sandbox::new();
    let daemon = RunningDaemon::start(&sandbox);

    // A second daemon does not start.
    let output = sandbox.run(&["serve"]);
    assert!(output.code == 0 && output.err.contains("already running"), "{output:?}");

    // Only its user may open the socket and the socket's folder. The mask removes the file type.
    let permission_bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let socket = socket(&sandbox);
    assert_eq!(permission_bits(&socket), 0o600);
    assert_eq!(permission_bits(socket.parent().unwrap()), 0o700);

    // `serve --status` and `doctor` report it.
    let status = sandbox.json(&["serve", "--status"]);
    assert_eq!(status["pid"].as_u64(), Some(u64::from(daemon.pid())));
    let doctor = sandbox.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.out.contains("daemon"), "{doctor:?}");

    // Even with open permissions, it does not answer another user.
    if is_root() && has_program("setpriv") && has_program("/usr/bin/python3") {
        let output = ping_as_other_user(&sandbox);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0", "{output:?}");
    } else {
        skip("the daemon refuses another user", "only root can become another user");
    }

    sandbox.run(&["serve", "--stop"]).expect_code(0, "stop the daemon");
    assert!(daemon.wait_for_exit());
}

#[test]
fn the_daemon_stops_for_a_newer_version_only() {
    let sandbox = Sandbox::new();
    let daemon = RunningDaemon::start(&sandbox);
    let older = json!({ "id": 1, "request": "stop", "for_version": "0.0.1" });
    assert_eq!(DaemonClient::connect(&sandbox).request(older)["error"]["code"], "refused");
    let newer = json!({ "id": 1, "request": "stop", "for_version": "99.0.0" });
    assert!(DaemonClient::connect(&sandbox).request(newer)["ok"]["version"].is_string());
    assert!(daemon.wait_for_exit());
}

#[test]
fn changed_settings_stop_the_daemon() {
    let sandbox = Sandbox::new();
    let daemon = RunningDaemon::start(&sandbox);
    sandbox.run(&["config", "set", "list.limit", "7"]).expect_code(0, "change a setting");
    assert!(daemon.wait_for_exit());
}

#[test]
fn a_hook_works_alone_when_no_daemon_is_behind_the_socket() {
    let sandbox = sandbox_with_memories();
    let socket = socket(&sandbox);
    create_private_folder_of(&socket);
    let injects_notes = |session: &str| {
        injected_text(&sandbox, session, file_read(&sandbox, "src/auth.rs")).contains("seconds")
    };

    // A closed listener leaves its socket file behind, as a killed daemon does.
    drop(UnixListener::bind(&socket).unwrap());
    assert!(injects_notes("a"), "a stale socket");

    fs::remove_file(&socket).unwrap();
    fs::write(&socket, "not a socket").unwrap();
    assert!(injects_notes("b"), "an ordinary file");
    assert_eq!(n_inbox_events(&sandbox), 2, "both events wait for a daemon");

    // Another user who listens there gets no event.
    if is_root() {
        fs::remove_file(&socket).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::chown(&socket, Some(UNPRIVILEGED_USER), None).unwrap();
        assert!(injects_notes("c"), "a socket of another user");
        assert_eq!(n_inbox_events(&sandbox), 3);
    } else {
        skip("a hook does not use a socket of another user", "only root can give a file away");
    }
}

/// A daemon that answers nonsense or nothing: the hook stays silent and its event is kept.
#[test]
fn wrong_answers_of_a_daemon_do_not_disturb_the_host() {
    let mut sandbox = sandbox_with_memories();
    create_private_folder_of(&socket(&sandbox));
    let listener = UnixListener::bind(socket(&sandbox)).unwrap();

    // The fake daemon: gives each connection the next answer from the channel; `None` is no answer.
    let (answer_sender, answers) = mpsc::channel::<Option<&'static str>>();
    std::thread::spawn(move || {
        let mut open_connections = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let Some(answer) = answer else {
                // Kept open without an answer.
                open_connections.push(stream);
                continue;
            };
            let mut line = String::new();
            BufReader::new(&mut stream).read_line(&mut line).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });

    let wrong_answers: &[Option<&str>] = &[
        // Silence, a closed connection, and a truncated line.
        None,
        Some(""),
        Some("{\"id\":1,\"ok\":{\"text\":\"half"),
        // Whole lines that are no answer.
        Some("rubbish\n"),
        Some("{}\n"),
        // A reported failure.
        Some("{\"id\":1,\"error\":{\"code\":\"failed\",\"message\":\"the disk is full\"}}\n"),
        // A success whose text has the wrong type. Its event counts as taken by the daemon.
        Some("{\"id\":1,\"ok\":{\"text\":7,\"version\":{}}}\n"),
    ];
    let n_taken = 1;
    for (n, answer) in wrong_answers.iter().enumerate() {
        answer_sender.send(*answer).unwrap();
        // Without an answer the hook must give up by itself.
        sandbox.has_long_hook_timeout = answer.is_some();
        let notes = injected_text(&sandbox, &format!("w{n}"), file_read(&sandbox, "src/auth.rs"));
        assert_eq!(notes, "", "{answer:?}");
    }
    let n_waiting = wrong_answers.len() - n_taken;
    assert_eq!(n_inbox_events(&sandbox), n_waiting, "every other event waits for a daemon");
}

#[test]
fn a_hook_does_not_wait_for_a_hung_daemon() {
    let mut sandbox = sandbox_with_memories();
    sandbox.has_long_hook_timeout = false;
    let daemon = RunningDaemon::start(&sandbox);

    // A stopped process accepts connections (the kernel does), but never answers.
    daemon.signal("-STOP");
    assert_eq!(injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs")), "");
    daemon.signal("-CONT");
    assert_eq!(n_inbox_events(&sandbox), 1, "the event waits for a daemon");
}

#[test]
fn hooks_of_processes_that_waylore_started_are_ignored() {
    let sandbox = sandbox_with_memories();
    let message = json!({ "hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": sandbox.project });
    let mut command = sandbox.command(&["hook", "claude-code"]);
    // Waylore sets this variable for the processes that it starts itself.
    command.env("WAYLORE_OWN", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Fails if the hook has exited without reading.
    let _ = child.stdin.take().unwrap().write_all(message.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(!sandbox.home.join("data/inbox").exists());
}

#[test]
fn a_hook_starts_a_daemon_that_holds_nothing_of_the_host() {
    let sandbox = sandbox_with_memories();
    let message = json!({ "hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": sandbox.project });
    let mut command = sandbox.command(&["hook", "claude-code"]);
    // Sandboxes forbid hooks to start a daemon; this one may.
    command.env("WAYLORE_SERVE_START", "true");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
    // Returns only when no process holds the pipes open, the new daemon included.
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("UTC"));
    wait_until("the daemon that the hook started answers", || is_daemon_up(&sandbox));

    // The daemon leads its own session, so that the end of the host's terminal does not kill it.
    let status = sandbox.json(&["serve", "--status"]);
    if let Ok(stat) = fs::read_to_string(format!("/proc/{}/stat", status["pid"])) {
        // proc(5): `pid (name) state parent group session …`; the name may contain spaces.
        let (_pid_and_name, fields) = stat.rsplit_once(") ").unwrap();
        let session_id = fields.split(' ').nth(3).unwrap();
        assert_eq!(session_id, status["pid"].to_string(), "{stat}");
    }

    sandbox.run(&["serve", "--stop"]).expect_code(0, "stop the daemon");
    assert_eq!(sandbox.run(&["serve", "--status"]).code, 1, "the daemon has stopped");
}

#[test]
fn requests_reach_no_file_outside_the_project_and_its_files_configure_nothing() {
    let sandbox = sandbox_with_memories();
    fs::write(sandbox.root.join("secret.txt"), "outside").unwrap();
    // Files that would be settings of Waylore if a project could contain them.
    fs::create_dir(sandbox.project.join(".waylore")).unwrap();
    fs::write(
        sandbox.project.join(".waylore/config.toml"),
        "[embeddings]\nprovider = \"openai\"\nurl = \"https://evil.example\"\n",
    )
    .unwrap();
    fs::write(sandbox.project.join("config.toml"), "[memory]\nenabled = false\n").unwrap();
    let _daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);

    for path in ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "a\0b", "..\\secret.txt"] {
        // A backslash is an ordinary character of a file name here, so that path may be accepted.
        let may_be_accepted = path.contains('\\');
        let is_rejected = |answer: &Value| answer["error"]["code"] == "malformed";

        // Requests for notes about the file are refused, or give nothing of it.
        for request in ["file_context", "session_context"] {
            let answer = client.request(
                json!({ "id": 1, "request": request, "project": sandbox.project, "files": [path] }),
            );
            let text = answer["ok"]["text"].as_str().unwrap_or_default();
            assert!(
                answer["error"]["code"] == "refused" || !text.contains("secret"),
                "{path}: {answer}"
            );
        }

        // An event with the path is rejected.
        let read_event = json!({ "event": "tool_call", "call_id": "x", "tool": "read", "args": { "paths": [path] } });
        client.send_line(&session_with_fixed_error(&sandbox)[0]);
        client.send_line(&event_line("x", 5, read_event));
        let answer = client.request(json!({ "id": 2, "request": "ping" }));
        assert!(is_rejected(&answer) || may_be_accepted, "{path}: {answer}");
        if answer["id"].is_null() {
            // Only the error of an event has no id, so the answer to the ping follows.
            client.read_answer();
        }

        // A note about the file is rejected.
        let answer = client.request(json!({ "id": 3, "request": "record", "session_id": SESSION_ID, "type": "gotcha", "content": "x", "files": [path] }));
        assert!(is_rejected(&answer) || may_be_accepted, "{path}: {answer}");
    }

    // The folder of a project must be absolute and exist.
    for folder in ["relative", "/no/such/folder", ""] {
        let search = json!({ "id": 4, "request": "search", "project": folder, "query": "x" });
        let answer = client.request(search);
        assert_eq!(answer["error"]["code"], "no_project", "{folder}: {answer}");
    }

    // Memory is still on, and the built-in embeddings still answer, whatever the project's files say.
    let answer = client.request(json!({ "id": 5, "request": "search", "project": sandbox.project, "query": "does verify() want milliseconds?" }));
    assert!(
        answer["ok"]["hits"].to_string().contains("seconds"),
        "the project's files configure nothing: {answer}"
    );
}

#[test]
fn many_events_leak_neither_file_handles_nor_memory() {
    /// Other connections may be open at the moment of counting.
    const MAX_MORE_FILES: usize = 8;
    /// Less than 3 KB for each of the 18,000 measured events; caches may still grow.
    const MAX_MORE_KILOBYTES: u64 = 50_000;

    let sandbox = Sandbox::in_memory();
    let daemon = RunningDaemon::start(&sandbox);
    let proc = format!("/proc/{}", daemon.pid());
    if !PathBuf::from(&proc).exists() {
        return skip("a daemon's files and memory are counted", "there is no /proc");
    }

    // How to measure: `fd` has one entry per open file; `status` has a line `VmRSS:  12345 kB`.
    let n_open_files = || fs::read_dir(format!("{proc}/fd")).unwrap().count();
    let resident_kilobytes = || {
        let status = fs::read_to_string(format!("{proc}/status")).unwrap();
        let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };

    // How to load it: tool calls of one session, each with its number as id and time.
    let mut client = DaemonClient::connect(&sandbox);
    client.send_line(&session_with_fixed_error(&sandbox)[0]);
    let mut send_events = |numbers: std::ops::Range<i64>| {
        for n in numbers {
            let args = json!({ "command": format!("echo {n}") });
            let call = json!({ "event": "tool_call", "call_id": n.to_string(), "tool": "shell", "args": args });
            client.send_line(&event_line(&format!("n{n}"), n, call));
        }
        client.ping();
    };

    // The first events fill caches and buffers; growth is measured from there.
    send_events(0..2_000);
    let (files_before, memory_before) = (n_open_files(), resident_kilobytes());
    send_events(2_000..20_000);
    for n in 0..50 {
        injected_text(&sandbox, &format!("s{n}"), session_start("startup"));
    }
    let (files_after, memory_after) = (n_open_files(), resident_kilobytes());
    assert!(files_after <= files_before + MAX_MORE_FILES, "{files_before}, then {files_after}");
    assert!(
        memory_after < memory_before + MAX_MORE_KILOBYTES,
        "{memory_before} KB, then {memory_after} KB"
    );

    daemon.signal("-INT");
    assert!(daemon.wait_for_exit());
}

#[test]
fn a_busy_daemon_stops_on_request_and_its_work_can_be_completed_later() {
    let sandbox = Sandbox::in_memory();
    // Enough memories without embeddings that the daemon is busy for a while.
    let memory = |n: u64| {
        let content = format!("Queue {n} drops what is late by {n} seconds, part {}", n * 7);
        record(&id_of(1, n), &content).to_string()
    };
    let memories: Vec<String> = (0..300).map(memory).collect();
    let path = sandbox.project.join("notes.jsonl");
    fs::write(&path, memories.join("\n")).unwrap();
    sandbox
        .run(&["import", "--trust", &path.display().to_string()])
        .expect_code(0, "import 300 memories");

    // The first event opens the project, and the daemon begins with the missing embeddings.
    let daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    client.send_line(&session_with_fixed_error(&sandbox)[0]);
    wait_until("the daemon computes embeddings", || {
        client.request(json!({ "id": 1, "request": "status" }))["ok"]["job"]["name"] == "embed"
    });

    // It stops in time. Waiting has no time limit of its own, so a thread waits.
    daemon.signal("-TERM");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(daemon.wait_for_exit()));
    assert_eq!(receiver.recv_timeout(Duration::from_mins(1)), Ok(true), "the daemon stops");

    // `embed` completes the job.
    let embedded = sandbox.json(&["embed"]);
    assert_ne!(embedded["done"], 0, "the daemon did not finish the job before it stopped");
    assert_eq!(embedded["left"], 0, "the rest of the job is done");
}

#[test]
fn the_example_clients_work() {
    let sandbox = sandbox_with_memories();
    let _daemon = RunningDaemon::start(&sandbox);
    for (client, command) in example_clients() {
        let Some(mut command) = command else {
            skip(&format!("the example {client}"), "no installed interpreter can run it");
            continue;
        };
        sandbox.set_environment(&mut command);
        command.arg(socket(&sandbox)).arg(&sandbox.project);
        let output = successful_stdout(command, client);
        assert!(
            output.contains("seconds, not milliseconds") && output.contains("learned"),
            "{client}: {output}"
        );
    }
}

#[test]
fn serve_stdio_serves_one_program_over_its_pipes() {
    let sandbox = sandbox_with_memories();
    let input = [
        session_with_fixed_error(&sandbox).join("\n"),
        json!({ "id": 1, "request": "search", "project": sandbox.project, "query": "does verify() want milliseconds?" }).to_string(),
        json!({ "id": 2, "request": "finish", "session_id": SESSION_ID, "outcome": "success" }).to_string(),
    ];
    let output = sandbox.run_with_input(&["serve", "--stdio"], input.join("\n").as_bytes());
    assert_eq!(output.code, 0, "{output:?}");

    // Only the two requests are answered.
    let answers: Vec<Value> =
        output.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(answers[0]["ok"]["hits"].to_string().contains("seconds"), "{answers:?}");
    assert_eq!(answers.len(), 2, "events have no answer: {answers:?}");

    // It learned from the session before it exited, and never opened a socket.
    let failed_git_show = failed_command("git show --no-stat", GIT_SHOW_ERROR);
    let notes = injected_text(&sandbox, "s9", failed_git_show);
    assert!(notes.contains("git show --stat HEAD"), "{notes}");
    assert!(!socket(&sandbox).exists());
}

fn is_daemon_up(sandbox: &Sandbox) -> bool {
    sandbox.run(&["serve", "--status"]).code == 0
}

/// Number of events that wait in the inbox for a daemon.
fn n_inbox_events(sandbox: &Sandbox) -> usize {
    files(&sandbox.home.join("data/inbox")).len()
}

/// Writes the transcript of a finished session of Claude Code. Returns the session id for its hook
/// events, which is the name of the file, and the path of the file.
fn write_git_show_transcript(sandbox: &Sandbox) -> (String, PathBuf) {
    write_transcript(sandbox, 1, 1, GIT_SHOW_SESSION);
    let transcript = files(&sandbox.root.join(".claude")).pop().unwrap();
    let session = transcript.file_stem().unwrap().to_str().unwrap().to_owned();
    (session, transcript)
}

/// An event of the session `SESSION_ID`, as one line of the protocol. `body` holds the fields that
/// depend on the kind of event.
fn event_line(id: &str, time: i64, body: Value) -> String {
    let mut res = json!({ "event_id": id, "session_id": SESSION_ID, "at": time });
    for (key, value) in body.as_object().unwrap() {
        res[key] = value.clone();
    }
    res.to_string()
}

/// The events of a session that edits a file, meets an error, fixes it, and passes the tests. The
/// first event is the start of the session.
fn session_with_fixed_error(sandbox: &Sandbox) -> Vec<String> {
    // A call and its result share the id `c<time>`.
    let call = |time: i64, command: &str| {
        let args = json!({ "command": command });
        let body = json!({ "event": "tool_call", "call_id": format!("c{time}"), "tool": "shell", "args": args });
        event_line(&format!("c{time}"), time, body)
    };
    let result = |time: i64, ok: bool, text: &str| {
        let body = json!({ "event": "tool_result", "call_id": format!("c{time}"), "tool": "shell", "ok": ok, "excerpt": text });
        event_line(&format!("r{time}"), time, body)
    };
    let start =
        json!({ "event": "session_start", "project_root": sandbox.project, "agent": "tester" });
    let prompt = json!({ "event": "user_message", "text": "look at the change" });
    let edit = json!({ "event": "tool_call", "call_id": "e", "tool": "edit", "args": { "paths": ["a.rs"] } });
    let edit_result = json!({ "event": "tool_result", "call_id": "e", "tool": "edit", "ok": true });
    vec![
        event_line("start", 1_000, start),
        event_line("u", 1_001, prompt),
        event_line("e", 1_002, edit),
        event_line("er", 1_003, edit_result),
        call(1_004, "git show --no-stat HEAD"),
        result(1_004, false, "fatal: unrecognized argument: --no-stat"),
        call(1_006, "git show --stat HEAD"),
        result(1_006, true, "1 file changed"),
        event_line("s1", 1_007, json!({ "event": "step_complete" })),
        call(1_008, "cargo test"),
        result(1_008, true, "test result: ok. 3 passed; 0 failed"),
    ]
}

/// Waits until the daemon has learned, then asserts that the only session counted exactly once.
fn assert_learned_once(sandbox: &Sandbox) {
    wait_until("the daemon has learned from the session", || {
        let status = sandbox.json(&["serve", "--status"]);
        let is_idle = status["job"].is_null() && status["queued"] == 0;
        // `done` counts finished jobs by name: `learn` follows the end of a session, `learn_left`
        // learns from journals of ended sessions. The first `learn_left` runs when the project is
        // opened, possibly before this session has ended, so only a second one counts.
        let (learn, learn_left) = (&status["done"]["learn"], &status["done"]["learn_left"]);
        is_idle && (learn.is_u64() || learn_left.as_u64() > Some(1))
    });
    let learned = sandbox.json(&["learn"]);
    assert_eq!(learned["sessions"], 0, "no session is left to learn from: {learned}");
    let failed_git_show = failed_command("git show --no-stat", GIT_SHOW_ERROR);
    let notes = injected_text(sandbox, "another", failed_git_show);
    assert!(notes.contains("--stat HEAD") && notes.contains("seen once"), "{notes}");
}

/// Opens the socket's permissions, then pings the daemon as another user, by a Python script that
/// prints the number of bytes of the answer: 0 if the daemon refuses. Needs root, `setpriv` and
/// Python.
fn ping_as_other_user(sandbox: &Sandbox) -> Output {
    let data = sandbox.home.join("data");
    for folder in [sandbox.root.clone(), sandbox.home.clone(), data.clone(), data.join("serve")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(socket(sandbox), fs::Permissions::from_mode(0o666)).unwrap();
    let script = format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({:?})\ntry:\n s.sendall(b'{{\"id\":1,\"request\":\"ping\"}}\\n')\n print(len(s.recv(100)))\nexcept OSError:\n print(0)",
        socket(sandbox).display().to_string()
    );
    let mut command = Command::new("setpriv");
    command.args([
        &format!("--reuid={UNPRIVILEGED_USER}"),
        &format!("--regid={UNPRIVILEGED_USER}"),
        "--clear-groups",
    ]);
    command.args(["/usr/bin/python3", "-c", &script]).output().unwrap()
}

/// Creates the socket's folder as the daemon would, so that the hook trusts it.
fn create_private_folder_of(socket: &Path) {
    let folder = socket.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
}

/// The example clients with the command that runs each, `None` if no interpreter is installed. Node.js
/// must be new enough to strip TypeScript types.
fn example_clients() -> [(&'static str, Option<Command>); 2] {
    let example = |name: &str| workspace().join("examples").join(name);
    let python = has_program("python3").then(|| {
        let mut command = Command::new("python3");
        command.arg(example("client.py"));
        command
    });
    let flag = "--experimental-strip-types";
    let strips_types = |node: &PathBuf| {
        let probe = Command::new(node).args([flag, "--version"]).output();
        probe.is_ok_and(|it| it.status.success())
    };
    let installed = workspace().join(".tools/mcp-node/current/bin/node");
    let node = [PathBuf::from("node"), installed].into_iter().find(strips_types).map(|it| {
        let mut command = Command::new(it);
        command.args([flag, "--no-warnings"]).arg(example("client.ts"));
        command
    });
    [("client.py", python), ("client.ts", node)]
}

/// Runs a command, asserts success, and returns its standard output.
fn successful_stdout(mut command: Command, what: &str) -> String {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut output = String::new();
    let mut stdout: ChildStdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut output).unwrap();
    assert!(child.wait().unwrap().success(), "{what}: {output}");
    output
}
