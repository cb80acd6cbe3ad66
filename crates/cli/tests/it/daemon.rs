//! The daemon: one at a time, private, quick to end, and nothing is lost with it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hooks::{failure, prompt, read, start, taught, told};
use crate::kit::{Desk, files, has, id_of, is_root, record, skip, string, workspace};
use crate::learning::put;

/// A daemon that ends with the test.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    /// Starts it and waits until it answers.
    pub(crate) fn start(desk: &Desk) -> Self {
        let mut command = desk.command(&["serve"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let res = Self { child };
        // Each attempt is a process of its own, so that this ends.
        let is_up = |_| desk.run(&["serve", "--status"]).code == 0;
        assert!((0..200).any(is_up), "the daemon answers");
        res
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Waits until the daemon has stopped by itself.
    fn ends(mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn socket(desk: &Desk) -> PathBuf {
    serve::DaemonAddress::for_data_dir(&desk.home.join("data")).socket
}

/// A program that speaks to the daemon.
pub(crate) struct Line {
    reader: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn to(desk: &Desk) -> Self {
        let stream = UnixStream::connect(socket(desk)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.reader.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|it| panic!("{it}: {line:?}"))
    }

    pub(crate) fn ask(&mut self, request: Value) -> Value {
        self.send(&request.to_string());
        self.next()
    }
}

const SESSION: &str = "018f0000-0000-7000-8000-0000000000aa";

fn event(id: &str, at: i64, body: Value) -> String {
    let mut res = json!({ "event_id": id, "session_id": SESSION, "at": at });
    for (key, value) in body.as_object().unwrap() {
        res[key] = value.clone();
    }
    res.to_string()
}

/// A session of a program in which an error is met, ended, and the work checked.
fn story(desk: &Desk) -> Vec<String> {
    let call = |n: i64, command: &str| {
        let args = json!({ "command": command });
        event(
            &format!("c{n}"),
            n,
            json!({ "event": "tool_call", "call_id": format!("c{n}"), "tool": "shell", "args": args }),
        )
    };
    let result = |n: i64, ok: bool, text: &str| {
        event(
            &format!("r{n}"),
            n,
            json!({ "event": "tool_result", "call_id": format!("c{n}"), "tool": "shell", "ok": ok, "excerpt": text }),
        )
    };
    let edit = json!({ "event": "tool_call", "call_id": "e", "tool": "edit", "args": { "paths": ["a.rs"] } });
    let edited = json!({ "event": "tool_result", "call_id": "e", "tool": "edit", "ok": true });
    vec![
        event(
            "start",
            1_000,
            json!({ "event": "session_start", "project_root": desk.project, "agent": "tester" }),
        ),
        event("u", 1_001, json!({ "event": "user_message", "text": "look at the change" })),
        event("e", 1_002, edit),
        event("er", 1_003, edited),
        call(1_004, "git show --no-stat HEAD"),
        result(1_004, false, "fatal: unrecognized argument: --no-stat"),
        call(1_006, "git show --stat HEAD"),
        result(1_006, true, "1 file changed"),
        event("s1", 1_007, json!({ "event": "step_complete" })),
        call(1_008, "cargo test"),
        result(1_008, true, "test result: ok. 3 passed; 0 failed"),
    ]
}

const ERROR: &str = "Exit code 128\nfatal: unrecognized argument: --no-stat";

#[test]
fn hooks_are_answered_by_the_daemon_as_they_answer_themselves() {
    let desk = taught();
    let _running = Running::start(&desk);
    assert!(told(&desk, "s1", start("startup")).contains("UTC"));
    assert_eq!(told(&desk, "s1", start("resume")), "", "said already");
    let said = told(&desk, "s1", prompt("the token is rejected: does verify() want milliseconds?"));
    assert!(said.contains("seconds, not milliseconds"), "{said}");
    assert_eq!(told(&desk, "s1", read(&desk, "src/auth.rs")), "", "said already");
    assert!(told(&desk, "s2", read(&desk, "src/auth.rs")).contains("seconds"));
    desk.run(&["config", "set", "memory.enabled", "false", "--for-project"]).ends(0, "done");
    assert_eq!(told(&desk, "s3", read(&desk, "src/auth.rs")), "", "turned off at once");
    let journals =
        files(&desk.home).into_iter().filter(|it| it.extension().is_some_and(|it| it == "ndjson"));
    assert_eq!(journals.count(), 2, "a session that was turned off left nothing");
    assert!(
        Line::to(&desk).ask(json!({ "id": 1, "request": "status" }))["ok"]["requests"].as_u64()
            > Some(6)
    );
}

#[test]
fn what_others_change_counts_at_the_next_event() {
    let desk = taught();
    let _running = Running::start(&desk);
    let mut line = Line::to(&desk);
    let mut n = 0;
    let mut said = |desk: &Desk| {
        n += 1;
        let mut message = read(desk, "src/auth.rs");
        (message["session_id"], message["cwd"]) = (json!(format!("s{n}")), json!(desk.project));
        let ask = json!({ "id": n, "request": "hook", "host": "claude-code", "message": message });
        line.ask(ask)["ok"]["text"].as_str().unwrap_or_default().to_owned()
    };
    let (first, second) = ("seconds, not milliseconds", "Tokens without an issuer");
    let holds = |said: &str| (said.contains(first), said.contains(second));
    assert_eq!(holds(&said(&desk)), (true, false));
    let text = "Tokens without an issuer must be refused by verify()";
    let remember = ["remember", "--type", "gotcha", "--file", "src/auth.rs:verify", text];
    desk.run(&remember).ends(0, "it is done");
    assert_eq!(holds(&said(&desk)), (true, true), "a new memory");
    let rules = desk.project.join("CLAUDE.md");
    fs::write(&rules, format!("- {text}\n")).unwrap();
    assert_eq!(holds(&said(&desk)), (true, false), "a rule that the host reads by itself");
    fs::write(&rules, format!("- {}\n", text.replace("issuer", "expiry"))).unwrap();
    assert_eq!(holds(&said(&desk)), (true, true), "a rule that says something else now");
    let all = desk.memories();
    let known = all.iter().find(|it| string(&it["content"]).contains(first)).unwrap();
    desk.run(&["forget", &string(&known["id"])]).ends(0, "it is done");
    assert_eq!(holds(&said(&desk)), (false, true), "a memory that was dismissed");
    fs::write(desk.project.join("src/auth.rs"), "fn check() {}\n").unwrap();
    assert_eq!(holds(&said(&desk)), (false, false), "a symbol that is gone");
}

#[test]
fn a_program_is_learned_from_and_told_what_others_learned() {
    let desk = Desk::new();
    let running = Running::start(&desk);
    let mut line = Line::to(&desk);
    for event in story(&desk) {
        line.send(&event);
        line.send(&event);
    }
    let note = json!({ "id": "n", "request": "record", "session_id": SESSION, "type": "gotcha", "content": "a.rs is generated by build.rs: edit that instead", "files": ["a.rs"] });
    assert_eq!(line.ask(note)["ok"]["kept"], "scratchpad");
    // Of a long build, what was noted is kept as its parts succeed, before the whole is done.
    for n in 10..16 {
        let part = json!({ "id": n, "request": "validate", "session_id": SESSION, "kind": "subtask_succeeded", "ok": true, "event_id": format!("part {n}") });
        assert_eq!(line.ask(part)["ok"], json!({}));
    }
    let is_kept = |_| desk.run(&["list"]).out.contains("generated by build.rs");
    assert!((0..200).any(is_kept), "the note is kept while the session goes on");
    let checked = json!({ "id": 2, "request": "validate", "session_id": SESSION, "kind": "qa_passed", "ok": true });
    assert_eq!(line.ask(checked)["ok"], json!({}));
    let done = line.ask(json!({ "id": 3, "request": "finish", "session_id": SESSION, "outcome": "success", "wait": true }));
    assert!(done["ok"]["learned"].as_u64() > Some(0), "{done}");
    let again = format!("{SESSION:.35}b");
    line.send(&story(&desk)[0].replace(SESSION, &again));
    let step = json!({ "id": 4, "request": "step_context", "session_id": again, "tool": "shell", "command": "git show --no-stat", "error": ERROR });
    let said = line.ask(step);
    assert!(said["ok"]["text"].as_str().unwrap().contains("git show --stat HEAD"), "{said}");
    let hits = line.ask(json!({ "id": 5, "request": "search", "project": desk.project, "query": "who generates a.rs?" }));
    assert!(hits["ok"]["hits"].to_string().contains("build.rs"), "{hits}");
    assert_eq!(hits["ok"]["memories"][0], hits["ok"]["hits"][0]["id"]);
    let about =
        json!({ "id": 6, "request": "file_context", "session_id": again, "files": ["a.rs"] });
    assert_eq!(line.ask(about)["ok"]["text"], "", "what nobody has confirmed is not said unasked");
    running.signal("-TERM");
    assert!(running.ends(), "it ends well");
    assert!(!socket(&desk).exists());
}

#[test]
fn what_was_journalled_survives_the_daemon_and_is_learned_by_the_next() {
    let desk = Desk::new();
    let running = Running::start(&desk);
    let mut line = Line::to(&desk);
    for event in story(&desk) {
        line.send(&event);
    }
    assert_eq!(line.ask(json!({ "id": 1, "request": "ping" }))["ok"], json!({}));
    running.signal("-KILL");
    assert!(!running.ends());
    let _next = Running::start(&desk);
    let mut line = Line::to(&desk);
    let done =
        line.ask(json!({ "id": 1, "request": "finish", "session_id": SESSION, "wait": true }));
    assert!(done["ok"]["learned"].is_number(), "the session is found by its journal: {done}");
    let said = told(&desk, "s9", failure("git show --no-stat", ERROR));
    assert!(said.contains("git show --stat HEAD"), "{said}");
}

#[test]
fn events_without_a_daemon_wait_and_are_learned_later() {
    let desk = Desk::new();
    put(&desk, 1, 1, crate::hooks::FLAG);
    let transcript = files(&desk.root.join(".claude")).pop().unwrap().display().to_string();
    let name = PathBuf::from(&transcript).file_stem().unwrap().to_str().unwrap().to_owned();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let bash = json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1", "transcript_path": transcript,
        "tool_input": { "command": format!("curl -H 'token: {secret}'") }, "tool_response": { "stdout": "ok" } });
    assert_eq!(told(&desk, &name, bash), "");
    assert_eq!(files(&desk.home.join("data/inbox")).len(), 1);
    assert!(crate::kit::holding(&desk.home, &secret).is_empty(), "secrets are masked");
    let end = json!({ "hook_event_name": "SessionEnd", "transcript_path": "/gone.jsonl" });
    let _running = Running::start(&desk);
    told(&desk, &name, end);
    learned_once(&desk);
    assert!(files(&desk.home.join("data/inbox")).is_empty());
}

/// Waits until the daemon has learned, and looks whether the one session there is counts once.
fn learned_once(desk: &Desk) {
    let is_done = |_| {
        let status = desk.json(&["serve", "--status"]);
        let is_quiet = status["job"].is_null() && status["queued"] == 0;
        let (ended, left) = (&status["done"]["learn"], &status["done"]["learn_left"]);
        is_quiet && (ended.is_u64() || left.as_u64() > Some(1))
    };
    assert!((0..1_000).any(is_done), "it was learned from: {}", desk.json(&["serve", "--status"]));
    let learned = desk.json(&["learn"]);
    assert_eq!(learned["sessions"], 0, "nothing is new: {learned}");
    let said = told(desk, "another", failure("git show --no-stat", ERROR));
    assert!(said.contains("--stat HEAD") && said.contains("seen once"), "{said}");
}

#[test]
fn what_the_host_wrote_down_is_followed_and_counts_once() {
    let desk = Desk::new();
    let _running = Running::start(&desk);
    put(&desk, 1, 1, crate::hooks::FLAG);
    let path = files(&desk.root.join(".claude")).pop().unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let with = |event: &str| json!({ "hook_event_name": event, "transcript_path": path.display().to_string() });
    told(&desk, &name, with("Stop"));
    told(&desk, &name, with("SessionEnd"));
    learned_once(&desk);
}

#[test]
fn there_is_one_daemon_and_it_is_private() {
    let desk = Desk::new();
    let running = Running::start(&desk);
    let said = desk.run(&["serve"]);
    assert!(said.code == 0 && said.err.contains("already running"), "{said:?}");
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(socket(&desk)), 0o600);
    assert_eq!(mode(socket(&desk).parent().unwrap().to_owned()), 0o700);
    let status = desk.json(&["serve", "--status"]);
    assert_eq!(status["pid"].as_u64(), Some(u64::from(running.pid())));
    let doctor = desk.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.out.contains("daemon"), "{doctor:?}");
    if is_root() && has("setpriv") && has("/usr/bin/python3") {
        fs::set_permissions(&desk.root, fs::Permissions::from_mode(0o755)).unwrap();
        for folder in [desk.home.clone(), desk.home.join("data"), desk.home.join("data/serve")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(socket(&desk), fs::Permissions::from_mode(0o666)).unwrap();
        let script = format!(
            "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({:?})\ntry:\n s.sendall(b'{{\"id\":1,\"request\":\"ping\"}}\\n')\n print(len(s.recv(100)))\nexcept OSError:\n print(0)",
            socket(&desk).display().to_string()
        );
        let mut stranger = Command::new("setpriv");
        stranger.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "/usr/bin/python3",
            "-c",
            &script,
        ]);
        let output = stranger.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0", "{output:?}");
    } else {
        skip("another user is refused by the daemon", "only root can become another user");
    }
    desk.run(&["serve", "--stop"]).ends(0, "it is asked");
    assert!(running.ends());
}

#[test]
fn a_newer_program_takes_over_and_an_older_one_does_not() {
    let desk = Desk::new();
    let running = Running::start(&desk);
    let older = json!({ "id": 1, "request": "stop", "for_version": "0.0.1" });
    assert_eq!(Line::to(&desk).ask(older)["error"]["code"], "refused");
    let newer = json!({ "id": 1, "request": "stop", "for_version": "99.0.0" });
    assert!(Line::to(&desk).ask(newer)["ok"]["version"].is_string());
    assert!(running.ends(), "it makes room");
}

#[test]
fn changed_settings_end_it() {
    let desk = Desk::new();
    let running = Running::start(&desk);
    desk.run(&["config", "set", "list.limit", "7"]).ends(0, "it is done");
    assert!(running.ends());
}

/// Whatever is in the daemon's place, the host goes on; and what it said waits.
#[test]
fn whatever_is_wrong_with_the_daemon_the_host_goes_on() {
    let mut desk = taught();
    let folder = socket(&desk).parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    // Nobody listens any more; and something else lies in its place.
    drop(UnixListener::bind(socket(&desk)).unwrap());
    assert!(told(&desk, "a", read(&desk, "src/auth.rs")).contains("seconds"), "a stale socket");
    fs::remove_file(socket(&desk)).unwrap();
    fs::write(socket(&desk), "not a socket").unwrap();
    assert!(told(&desk, "b", read(&desk, "src/auth.rs")).contains("seconds"), "a file");
    if is_root() {
        fs::remove_file(socket(&desk)).unwrap();
        let _listener = UnixListener::bind(socket(&desk)).unwrap();
        std::os::unix::fs::chown(socket(&desk), Some(65534), None).unwrap();
        assert!(
            told(&desk, "c", read(&desk, "src/auth.rs")).contains("seconds"),
            "somebody else's"
        );
    } else {
        skip("a socket of another user is not spoken to", "only root can give a file away");
    }
    fs::remove_file(socket(&desk)).unwrap();
    // Somebody listens, and answers what they like.
    let listener = UnixListener::bind(socket(&desk)).unwrap();
    let (answers, given) = mpsc::channel::<Option<&'static str>>();
    std::thread::spawn(move || {
        let mut hung = Vec::new();
        for answer in given {
            let (mut stream, _) = listener.accept().unwrap();
            let Some(answer) = answer else {
                hung.push(stream);
                continue;
            };
            let mut line = String::new();
            BufReader::new(&mut stream).read_line(&mut line).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let wrong: &[Option<&str>] = &[
        None,
        Some(""),
        Some("{\"id\":1,\"ok\":{\"text\":\"half"),
        Some("rubbish\n"),
        Some("{}\n"),
        Some("{\"id\":1,\"error\":{\"code\":\"failed\",\"message\":\"the disk is full\"}}\n"),
        Some("{\"id\":1,\"ok\":{\"text\":7,\"version\":{}}}\n"),
    ];
    for (n, answer) in wrong.iter().enumerate() {
        answers.send(*answer).unwrap();
        desk.patient = answer.is_some();
        assert_eq!(told(&desk, &format!("w{n}"), read(&desk, "src/auth.rs")), "", "{answer:?}");
    }
    assert_eq!(
        files(&desk.home.join("data/inbox")).len(),
        3 + wrong.len() - 1,
        "what it said waits"
    );
}

#[test]
fn a_daemon_that_hangs_is_not_waited_for() {
    let mut desk = taught();
    desk.patient = false;
    let running = Running::start(&desk);
    running.signal("-STOP");
    assert_eq!(told(&desk, "s1", read(&desk, "src/auth.rs")), "");
    running.signal("-CONT");
    assert_eq!(files(&desk.home.join("data/inbox")).len(), 1);
}

#[test]
fn what_our_own_processes_cause_is_not_observed() {
    let desk = taught();
    let message = json!({ "hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": desk.project });
    let mut command = desk.command(&["hook", "claude-code"]);
    command.env("WAYLORE_OWN", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may be gone before it has read anything.
    let _ = child.stdin.take().unwrap().write_all(message.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(!desk.home.join("data/inbox").exists());
}

#[test]
fn a_hook_starts_the_daemon_and_nothing_of_the_host_is_held() {
    let desk = taught();
    let message = json!({ "hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": desk.project });
    let mut command = desk.command(&["hook", "claude-code"]);
    command.env("WAYLORE_SERVE_START", "true");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
    // Ends only when nobody holds the host's pipes any more.
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("UTC"));
    let is_up = |_| desk.run(&["serve", "--status"]).code == 0;
    assert!((0..500).any(is_up), "it was started");
    let status = desk.json(&["serve", "--status"]);
    let stat = fs::read_to_string(format!("/proc/{}/stat", status["pid"]));
    if let Ok(stat) = stat {
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        assert_eq!(fields[3], status["pid"].to_string(), "a session of its own: {stat}");
    }
    desk.run(&["serve", "--stop"]).ends(0, "it is asked");
    assert_eq!(desk.run(&["serve", "--status"]).code, 1, "the daemon has stopped");
}

#[test]
fn paths_do_not_leave_the_project_and_nothing_in_it_configures_us() {
    let desk = taught();
    fs::write(desk.root.join("secret.txt"), "outside").unwrap();
    fs::create_dir(desk.project.join(".waylore")).unwrap();
    fs::write(
        desk.project.join(".waylore/config.toml"),
        "[embeddings]\nprovider = \"openai\"\nurl = \"https://evil.example\"\n",
    )
    .unwrap();
    fs::write(desk.project.join("config.toml"), "[memory]\nenabled = false\n").unwrap();
    let _running = Running::start(&desk);
    let mut line = Line::to(&desk);
    for path in ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "a\0b", "..\\secret.txt"] {
        for request in ["file_context", "session_context"] {
            let asked =
                json!({ "id": 1, "request": request, "project": desk.project, "files": [path] });
            let said = line.ask(asked);
            let text = said["ok"]["text"].as_str().unwrap_or_default();
            assert!(
                said["error"]["code"] == "refused" || text.is_empty() || !text.contains("secret"),
                "{path}: {said}"
            );
        }
        let escape = json!({ "event": "tool_call", "call_id": "x", "tool": "read", "args": { "paths": [path] } });
        line.send(&story(&desk)[0]);
        line.send(&event("x", 5, escape));
        let said = line.ask(json!({ "id": 2, "request": "ping" }));
        assert!(said["error"]["code"] == "malformed" || path.contains('\\'), "{path}: {said}");
        if said["id"].is_null() {
            line.next();
        }
        let note = json!({ "id": 3, "request": "record", "session_id": SESSION, "type": "gotcha", "content": "x", "files": [path] });
        let said = line.ask(note);
        assert!(said["error"]["code"] == "malformed" || path.contains('\\'), "{path}: {said}");
    }
    for folder in ["relative", "/no/such/folder", ""] {
        let said =
            line.ask(json!({ "id": 4, "request": "search", "project": folder, "query": "x" }));
        assert_eq!(said["error"]["code"], "no_project", "{folder}: {said}");
    }
    let said = line.ask(json!({ "id": 5, "request": "search", "project": desk.project, "query": "does verify() want milliseconds?" }));
    assert!(
        said["ok"]["hits"].to_string().contains("seconds"),
        "our settings are not those of the project: {said}"
    );
}

#[test]
fn many_events_leave_no_file_open_and_little_in_memory() {
    let desk = Desk::in_memory();
    let running = Running::start(&desk);
    let proc = format!("/proc/{}", running.pid());
    if !PathBuf::from(&proc).exists() {
        return skip("a daemon's files and memory are counted", "there is no /proc");
    }
    let n_open = || fs::read_dir(format!("{proc}/fd")).unwrap().count();
    let resident = || {
        let status = fs::read_to_string(format!("{proc}/status")).unwrap();
        let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let mut line = Line::to(&desk);
    line.send(&story(&desk)[0]);
    let mut send = |from: i64, to: i64| {
        for n in from..to {
            let args = json!({ "command": format!("echo {n}") });
            line.send(&event(&format!("n{n}"), n, json!({ "event": "tool_call", "call_id": n.to_string(), "tool": "shell", "args": args })));
        }
        assert_eq!(line.ask(json!({ "id": 1, "request": "ping" }))["ok"], json!({}));
    };
    send(0, 2_000);
    let (open, before) = (n_open(), resident());
    send(2_000, 20_000);
    for n in 0..50 {
        told(&desk, &format!("s{n}"), start("startup"));
    }
    assert!(n_open() <= open + 8, "{} files were open, now {}", open, n_open());
    assert!(resident() < before + 50_000, "{before} KB before, {} KB now", resident());
    running.signal("-INT");
    assert!(running.ends());
}

#[test]
fn a_daemon_at_work_ends_when_it_is_asked_to_and_what_it_left_is_done_later() {
    let desk = Desk::in_memory();
    let note = |n: u64| {
        let content = format!("Queue {n} drops what is late by {n} seconds, part {}", n * 7);
        record(&id_of(1, n), &content).to_string()
    };
    let notes: Vec<String> = (0..300).map(note).collect();
    let path = desk.project.join("notes.jsonl");
    fs::write(&path, notes.join("\n")).unwrap();
    desk.run(&["import", "--trust", &path.display().to_string()]).ends(0, "they are taken");
    let running = Running::start(&desk);
    let mut line = Line::to(&desk);
    line.send(&story(&desk)[0]);
    let mut status = || line.ask(json!({ "id": 1, "request": "status" }))["ok"].take();
    // Each question is a round trip, so that this ends.
    assert!((0..100_000).any(|_| status()["job"]["name"] == "embed"), "it is at work");
    running.signal("-TERM");
    let (ended, wait) = mpsc::channel();
    std::thread::spawn(move || ended.send(running.ends()));
    assert_eq!(wait.recv_timeout(Duration::from_mins(1)), Ok(true), "it ends");
    let left = desk.json(&["embed"]);
    assert_ne!(left["done"], 0, "it did not finish first");
    assert_eq!(left["left"], 0, "what was left is done");
}

fn spoken(mut command: Command, what: &str) -> String {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut said = String::new();
    let mut stdout: ChildStdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{what}: {said}");
    said
}

/// The example clients, and who runs them: a Node must be new enough to pass over types.
fn examples() -> [(&'static str, Option<Command>); 2] {
    let at = |name: &str| workspace().join("examples").join(name);
    let python = has("python3").then(|| {
        let mut command = Command::new("python3");
        command.arg(at("client.py"));
        command
    });
    let flag = "--experimental-strip-types";
    let can = |it: &PathBuf| {
        let probe = Command::new(it).args([flag, "--version"]).output();
        probe.is_ok_and(|it| it.status.success())
    };
    let installed = workspace().join(".tools/mcp-node/current/bin/node");
    let node = [PathBuf::from("node"), installed].into_iter().find(can).map(|it| {
        let mut command = Command::new(it);
        command.args([flag, "--no-warnings"]).arg(at("client.ts"));
        command
    });
    [("client.py", python), ("client.ts", node)]
}

#[test]
fn the_example_clients_work() {
    let desk = taught();
    let _running = Running::start(&desk);
    for (client, command) in examples() {
        let Some(mut command) = command else {
            skip(&format!("the example {client}"), "nothing here runs it");
            continue;
        };
        desk.surround(&mut command);
        command.arg(socket(&desk)).arg(&desk.project);
        let said = spoken(command, client);
        assert!(
            said.contains("seconds, not milliseconds") && said.contains("learned"),
            "{client}: {said}"
        );
    }
}

#[test]
fn one_program_is_served_over_its_own_pipes() {
    let desk = taught();
    let input = [
        story(&desk).join("\n"),
        json!({ "id": 1, "request": "search", "project": desk.project, "query": "does verify() want milliseconds?" }).to_string(),
        json!({ "id": 2, "request": "finish", "session_id": SESSION, "outcome": "success" }).to_string(),
    ];
    let said = desk.feed(&["serve", "--stdio"], input.join("\n").as_bytes());
    assert_eq!(said.code, 0, "{said:?}");
    let answers: Vec<Value> =
        said.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(answers[0]["ok"]["hits"].to_string().contains("seconds"), "{answers:?}");
    assert_eq!(answers.len(), 2, "events have no answer: {answers:?}");
    let said = told(&desk, "s9", failure("git show --no-stat", ERROR));
    assert!(said.contains("git show --stat HEAD"), "it was learned from before the end: {said}");
    assert!(!socket(&desk).exists());
}
