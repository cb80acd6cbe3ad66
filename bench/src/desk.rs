//! A project to measure in, the daemon beside it, and a line to that.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::process::binary;

/// To which something relates, in a project that was taught.
const PROMPT: &str =
    "In which window does the limiter of module 41 count, and which token expires first?";

/// A project of its own, with a daemon or without.
pub(crate) struct Desk {
    pub(crate) binary: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    _dir: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let root = dir.path().canonicalize()?;
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir(&project)?;
        Ok(Self { binary: binary()?, home, project, _dir: dir })
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut res = Command::new(&self.binary);
        res.env("WAYLORE_HOME", &self.home).env("WAYLORE_SERVE_START", "false");
        res.current_dir(&self.project).args(args);
        res.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        res
    }

    pub(crate) fn run(&self, args: &[&str]) -> anyhow::Result<()> {
        let status = self.command(args).status()?;
        anyhow::ensure!(status.success(), "{args:?} fails");
        Ok(())
    }

    /// What a command answers in JSON.
    pub(crate) fn answer(&self, args: &[&str]) -> anyhow::Result<Value> {
        let output = self.command(args).stdout(Stdio::piped()).output()?;
        anyhow::ensure!(output.status.success(), "{args:?} fails");
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    pub(crate) fn start(&self) -> anyhow::Result<Daemon<'_>> {
        let child = self.command(&["serve"]).spawn()?;
        let res = Daemon { desk: self, child };
        while !self.command(&["serve", "--status"]).status()?.success() {}
        Ok(res)
    }

    /// One hook, from spawn to exit.
    pub(crate) fn hook(&self, message: &Value) {
        let mut command = self.command(&["hook", "claude-code"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the hook runs");
        let mut stdin = child.stdin.take().expect("it was asked for");
        stdin.write_all(message.to_string().as_bytes()).expect("the hook reads");
        drop(stdin);
        assert!(child.wait().is_ok_and(|it| it.success()), "a hook never fails");
    }

    pub(crate) fn message(&self, session: &str, event: &str) -> Value {
        let file = self.project.join("src/file7.rs").display().to_string();
        let mut res =
            json!({ "session_id": session, "cwd": self.project, "hook_event_name": event });
        match event {
            "PostToolUse" => {
                res["tool_name"] = json!("Read");
                res["tool_use_id"] = json!(session);
                res["tool_input"] = json!({ "file_path": file });
                res["tool_response"] =
                    json!({ "type": "text", "file": { "content": "fn a() {}\n".repeat(100) } });
            }
            "UserPromptSubmit" => {
                res["prompt"] = json!(PROMPT);
            }
            "SessionStart" => res["source"] = json!("startup"),
            _ => {}
        }
        res
    }
}

pub(crate) struct Daemon<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) child: Child,
}

impl Daemon<'_> {
    pub(crate) fn line(&self) -> anyhow::Result<Line> {
        let socket = self.desk.home.join("data/serve/socket");
        Ok(Line { reader: BufReader::new(UnixStream::connect(socket)?) })
    }

    pub(crate) fn status(&self) -> anyhow::Result<Value> {
        Ok(self.line()?.ask(&json!({ "id": 1, "request": "status" }))?["ok"].take())
    }

    /// Waits until nothing is done in the background.
    pub(crate) fn settle(&self) -> anyhow::Result<()> {
        loop {
            let status = self.status()?;
            if status["job"].is_null() && status["queued"] == 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn proc(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.child.id())
    }

    pub(crate) fn resident(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(self.proc("status"))?;
        let line =
            status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("memory is told")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// What every descriptor of it leads to.
    pub(crate) fn open_files(&self) -> anyhow::Result<Vec<String>> {
        let entries = fs::read_dir(self.proc("fd"))?.flatten();
        let named = entries.filter_map(|it| fs::read_link(it.path()).ok());
        // A socket is as good as another.
        let kind = |it: PathBuf| it.display().to_string().split(":[").next().map(str::to_owned);
        let mut res: Vec<String> = named.filter_map(kind).collect();
        res.sort();
        Ok(res)
    }

    /// Waits until it is at this job in the background.
    pub(crate) fn await_job(&self, name: &str) -> anyhow::Result<()> {
        loop {
            let status = self.status()?;
            if status["job"]["name"] == name {
                return Ok(());
            }
            anyhow::ensure!(status["done"][name].is_null(), "`{name}` was done too quickly");
        }
    }

    /// Asks it to end; how long that takes.
    pub(crate) fn end(mut self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        anyhow::ensure!(self.child.wait()?.success(), "it ends well");
        Ok(began.elapsed())
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // One that has ended cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Line {
    pub(crate) reader: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn send(&mut self, line: &str) -> anyhow::Result<()> {
        Ok(self.reader.get_mut().write_all(format!("{line}\n").as_bytes())?)
    }

    pub(crate) fn ask(&mut self, request: &Value) -> anyhow::Result<Value> {
        self.send(&request.to_string())?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

pub(crate) fn session(n: usize) -> String {
    format!("018f0000-0000-7000-8000-{n:012x}")
}

pub(crate) fn begin(project: &Path, session: &str) -> String {
    json!({ "event": "session_start", "event_id": "start", "session_id": session, "at": 1, "project_root": project, "agent": "bench" }).to_string()
}

pub(crate) fn event(session: &str, n: usize) -> String {
    if n.is_multiple_of(20) {
        return json!({ "event": "step_complete", "event_id": format!("n{n}"), "session_id": session, "at": n }).to_string();
    }
    json!({
        "event": "tool_result", "event_id": format!("n{n}"), "session_id": session, "at": n, "call_id": n.to_string(), "tool": "shell",
        "ok": true, "excerpt": format!("line {n}: the limiter of module{} is not the one you look for\n", n % 97).repeat(3),
    })
    .to_string()
}
