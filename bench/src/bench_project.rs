//! A temporary project for measurements, a daemon for it, and a connection to the daemon.
//!
//! The daemon (`waylore serve`) keeps projects open and answers on a socket: a client sends requests and
//! events as JSON lines, and each request gets one line. A hook (`waylore hook`) is a short process that
//! a host, the program that runs an agent, starts at each event of a session.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::process::waylore_binary;

/// A prompt that matches memories of the seeded project.
const MATCHING_PROMPT: &str =
    "In which window does the limiter of module 41 count, and which token expires first?";

/// A project in a temporary folder with its own data folder.
pub(crate) struct BenchProject {
    pub(crate) binary: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
    _dir: tempfile::TempDir,
}

impl BenchProject {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        // The project is identified by its real path.
        let root = dir.path().canonicalize()?;
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir(&project)?;
        Ok(Self { binary: waylore_binary()?, home, root: project, _dir: dir })
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        // The daemon is started by the benchmark only, not by a command that misses it.
        command.env("WAYLORE_HOME", &self.home).env("WAYLORE_SERVE_START", "false");
        command.current_dir(&self.root).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> anyhow::Result<()> {
        let status = self.command(args).status()?;
        anyhow::ensure!(status.success(), "{args:?} failed");
        Ok(())
    }

    /// Runs a command and parses its JSON output.
    pub(crate) fn run_json(&self, args: &[&str]) -> anyhow::Result<Value> {
        let output = self.command(args).stdout(Stdio::piped()).output()?;
        anyhow::ensure!(output.status.success(), "{args:?} failed");
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    pub(crate) fn start_daemon(&self) -> anyhow::Result<RunningDaemon<'_>> {
        let child = self.command(&["serve"]).spawn()?;
        let daemon = RunningDaemon { fixture: self, child };
        // Until it answers on its socket.
        while !self.command(&["serve", "--status"]).status()?.success() {}
        Ok(daemon)
    }

    /// Runs one hook, from spawn to exit.
    pub(crate) fn run_hook(&self, message: &Value) {
        let mut command = self.command(&["hook", "claude-code"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the hook runs");
        // Closing the pipe ends the message.
        let mut stdin = child.stdin.take().expect("it was asked for");
        stdin.write_all(message.to_string().as_bytes()).expect("the hook reads");
        drop(stdin);
        assert!(child.wait().is_ok_and(|it| it.success()), "a hook never fails");
    }

    /// The message of Claude Code at an event.
    pub(crate) fn hook_message(&self, session: &str, event: &str) -> Value {
        let file = self.root.join("src/file7.rs").display().to_string();
        let mut message =
            json!({ "session_id": session, "cwd": self.root, "hook_event_name": event });
        match event {
            "PostToolUse" => {
                message["tool_name"] = json!("Read");
                message["tool_use_id"] = json!(session);
                message["tool_input"] = json!({ "file_path": file });
                message["tool_response"] =
                    json!({ "type": "text", "file": { "content": "fn a() {}\n".repeat(100) } });
            }
            "UserPromptSubmit" => {
                message["prompt"] = json!(MATCHING_PROMPT);
            }
            "SessionStart" => message["source"] = json!("startup"),
            _ => {}
        }
        message
    }
}

/// A daemon that is killed when dropped.
pub(crate) struct RunningDaemon<'a> {
    pub(crate) fixture: &'a BenchProject,
    pub(crate) child: Child,
}

impl RunningDaemon<'_> {
    pub(crate) fn connect(&self) -> anyhow::Result<DaemonConnection> {
        let socket = self.fixture.home.join("data/serve/socket");
        Ok(DaemonConnection { reader: BufReader::new(UnixStream::connect(socket)?) })
    }

    pub(crate) fn status(&self) -> anyhow::Result<Value> {
        Ok(self.connect()?.request(&json!({ "id": 1, "request": "status" }))?["ok"].take())
    }

    /// Waits until no background job runs or is queued.
    pub(crate) fn wait_until_idle(&self) -> anyhow::Result<()> {
        loop {
            let status = self.status()?;
            if status["job"].is_null() && status["queued"] == 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn proc_path(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.child.id())
    }

    pub(crate) fn resident_mb(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(self.proc_path("status"))?;
        let line =
            status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("`/proc` has VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// The targets of its file descriptors, sorted.
    pub(crate) fn open_files(&self) -> anyhow::Result<Vec<String>> {
        let mut targets = Vec::new();
        for entry in fs::read_dir(self.proc_path("fd"))?.flatten() {
            // A file that was closed meanwhile has no link.
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            // `socket` of `socket:[1234]`: the number differs in every run.
            let target = target.display().to_string();
            targets.push(target.split(":[").next().unwrap_or_default().to_owned());
        }
        targets.sort();
        Ok(targets)
    }

    /// Waits until it runs this background job.
    pub(crate) fn wait_for_job(&self, name: &str) -> anyhow::Result<()> {
        loop {
            let status = self.status()?;
            if status["job"]["name"] == name {
                return Ok(());
            }
            anyhow::ensure!(
                status["done"][name].is_null(),
                "`{name}` finished before it was seen running"
            );
        }
    }

    /// Sends SIGTERM and returns the time until it has exited.
    pub(crate) fn terminate(mut self) -> anyhow::Result<Duration> {
        let started = Instant::now();
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        anyhow::ensure!(self.child.wait()?.success(), "the daemon exits with an error");
        Ok(started.elapsed())
    }
}

impl Drop for RunningDaemon<'_> {
    fn drop(&mut self) {
        // Both fail if it has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection to the socket of a daemon: one JSON object per line.
pub(crate) struct DaemonConnection {
    pub(crate) reader: BufReader<UnixStream>,
}

impl DaemonConnection {
    pub(crate) fn send_line(&mut self, line: &str) -> anyhow::Result<()> {
        Ok(self.reader.get_mut().write_all(format!("{line}\n").as_bytes())?)
    }

    pub(crate) fn request(&mut self, request: &Value) -> anyhow::Result<Value> {
        self.send_line(&request.to_string())?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

/// The id of a session by its number.
pub(crate) fn session_id(n: usize) -> String {
    format!("018f0000-0000-7000-8000-{n:012x}")
}

pub(crate) fn session_start_line(project: &Path, session: &str) -> String {
    json!({ "event": "session_start", "event_id": "start", "session_id": session, "at": 1, "project_root": project, "agent": "bench" }).to_string()
}

/// The event number `n` of a session as a line.
pub(crate) fn event_line(session: &str, n: usize) -> String {
    // A step ends after every twenty events, as in a session.
    if n.is_multiple_of(20) {
        return json!({ "event": "step_complete", "event_id": format!("n{n}"), "session_id": session, "at": n }).to_string();
    }
    json!({
        "event": "tool_result", "event_id": format!("n{n}"), "session_id": session, "at": n, "call_id": n.to_string(), "tool": "shell",
        "ok": true, "excerpt": format!("line {n}: the limiter of module{} is not the one you look for\n", n % 97).repeat(3),
    })
    .to_string()
}
