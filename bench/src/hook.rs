//! Hooks from spawn to exit, with a daemon and without; the daemon itself: how much it takes, how quickly
//! it answers, how little it keeps.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::clock::{Times, show, times};
use crate::process::binary;
use crate::table::{Row, row};

const MEMORIES: usize = 10_000;
const FILES: usize = 2_000;
const CLIENTS: usize = 8;
const EVENTS: usize = 20_000;
const SOAK: usize = 1_000_000;

/// A project of its own, with a daemon or without.
struct Desk {
    binary: PathBuf,
    home: PathBuf,
    project: PathBuf,
    _dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let root = dir.path().canonicalize()?;
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir(&project)?;
        Ok(Self { binary: binary()?, home, project, _dir: dir })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut res = Command::new(&self.binary);
        res.env("WAYLORE_HOME", &self.home).env("WAYLORE_SERVE_START", "false");
        res.current_dir(&self.project).args(args);
        res.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        res
    }

    fn run(&self, args: &[&str]) -> anyhow::Result<()> {
        let status = self.command(args).status()?;
        anyhow::ensure!(status.success(), "{args:?} fails");
        Ok(())
    }

    fn start(&self) -> anyhow::Result<Daemon<'_>> {
        let child = self.command(&["serve"]).spawn()?;
        let res = Daemon { desk: self, child };
        while !self.command(&["serve", "--status"]).status()?.success() {}
        Ok(res)
    }

    /// One hook, from spawn to exit.
    fn hook(&self, message: &Value) {
        let mut command = self.command(&["hook", "claude-code"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the hook runs");
        let mut stdin = child.stdin.take().expect("it was asked for");
        stdin.write_all(message.to_string().as_bytes()).expect("the hook reads");
        drop(stdin);
        assert!(child.wait().is_ok_and(|it| it.success()), "a hook never fails");
    }

    fn message(&self, session: &str, event: &str) -> Value {
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
                res["prompt"] = json!("why does the limiter of module 41 reject tokens?");
            }
            "SessionStart" => res["source"] = json!("startup"),
            _ => {}
        }
        res
    }
}

struct Daemon<'a> {
    desk: &'a Desk,
    child: Child,
}

impl Daemon<'_> {
    fn line(&self) -> anyhow::Result<Line> {
        let socket = self.desk.home.join("data/serve/socket");
        Ok(Line { reader: BufReader::new(UnixStream::connect(socket)?) })
    }

    fn status(&self) -> anyhow::Result<Value> {
        Ok(self.line()?.ask(&json!({ "id": 1, "request": "status" }))?["ok"].take())
    }

    /// Waits until nothing is done in the background.
    fn settle(&self) -> anyhow::Result<()> {
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

    fn resident(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(self.proc("status"))?;
        let line =
            status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("memory is told")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    fn n_open(&self) -> anyhow::Result<usize> {
        Ok(fs::read_dir(self.proc("fd"))?.count())
    }

    /// Asks it to end; how long that takes.
    fn end(mut self) -> anyhow::Result<Duration> {
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

struct Line {
    reader: BufReader<UnixStream>,
}

impl Line {
    fn send(&mut self, line: &str) -> anyhow::Result<()> {
        Ok(self.reader.get_mut().write_all(format!("{line}\n").as_bytes())?)
    }

    fn ask(&mut self, request: &Value) -> anyhow::Result<Value> {
        self.send(&request.to_string())?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

fn session(n: usize) -> String {
    format!("018f0000-0000-7000-8000-{n:012x}")
}

fn begin(project: &Path, session: &str) -> String {
    json!({ "event": "session_start", "event_id": "start", "session_id": session, "at": 1, "project_root": project, "agent": "bench" }).to_string()
}

fn event(session: &str, n: usize) -> String {
    if n.is_multiple_of(20) {
        return json!({ "event": "step_complete", "event_id": format!("n{n}"), "session_id": session, "at": n }).to_string();
    }
    json!({
        "event": "tool_result", "event_id": format!("n{n}"), "session_id": session, "at": n, "call_id": n.to_string(), "tool": "shell",
        "ok": true, "excerpt": format!("line {n}: the limiter of module{} is not the one you look for\n", n % 97).repeat(3),
    })
    .to_string()
}

fn teach(desk: &Desk) -> anyhow::Result<()> {
    fs::create_dir(desk.project.join("src"))?;
    for n in 0..FILES {
        let text = format!("pub fn function{n}() {{ function{}(); }}\n", (n + 1) % FILES);
        fs::write(desk.project.join(format!("src/file{n}.rs")), text.repeat(5))?;
    }
    let record = |n: usize| {
        json!({
            "id": format!("018f1111-0000-7000-8000-{n:012x}"), "type": "gotcha", "confidence": 0.9, "created_at": 1_763_000_000_000_i64,
            "content": format!("The limiter of module {} counts in window {n}; the token of part{} expires first", n % 97, n % 53),
            "files": [format!("src/file{}.rs", n % FILES)], "user_verified": true,
        })
    };
    let all: Vec<String> = (0..MEMORIES).map(|n| record(n).to_string()).collect();
    let path = desk.home.with_file_name("memories.jsonl");
    fs::write(&path, all.join("\n"))?;
    desk.run(&["import", "--trust", &path.display().to_string()])?;
    desk.run(&["embed"])?;
    desk.run(&["index"])
}

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let desk = Desk::new()?;
    teach(&desk)?;
    let mut rows = Vec::new();
    let nothing = times(300, |_| {
        Command::new("true").status().expect("`true` runs");
    });
    let mut n_sessions = 0;
    let mut hooks = |rounds: usize, event: &str| -> Times {
        times(rounds, |_| {
            n_sessions += 1;
            desk.hook(&desk.message(&format!("s{n_sessions}"), event));
        })
    };
    let moments = [
        ("plain", "Stop"),
        ("file", "PostToolUse"),
        ("start", "SessionStart"),
        ("prompt", "UserPromptSubmit"),
    ];
    let goals = ["p50 < 5 ms, p99 < 20 ms", "< 100 ms", "< 500 ms", "< 2 s"];
    let alone: Vec<Times> = moments.iter().map(|it| hooks(60, it.1)).collect();
    let daemon = desk.start()?;
    hooks(5, "UserPromptSubmit");
    daemon.settle()?;
    for (((name, event), goal), alone) in moments.iter().zip(goals).zip(&alone) {
        let rounds = if *name == "plain" { 1_000 } else { 200 };
        let served = hooks(rounds, event);
        let baseline =
            format!("`true`: {}; without a daemon: {}", served.against(&nothing), alone.both());
        rows.push(row(
            format!("hook, {name}, {MEMORIES} memories, spawn to exit"),
            served.both(),
            goal,
            baseline,
        ));
    }
    rows.extend(injections(&daemon)?);
    rows.push(throughput(&daemon)?);
    rows.extend(at_rest(&desk, daemon)?);
    Ok(rows)
}

/// What a hook waits for, without its own process.
fn injections(daemon: &Daemon<'_>) -> anyhow::Result<Vec<Row>> {
    let mut line = daemon.line()?;
    let mut n = 0;
    let mut rows = Vec::new();
    for (name, event, goal) in [
        ("start", "SessionStart", "< 50 ms"),
        ("file", "PostToolUse", "< 2 ms"),
        ("prompt", "UserPromptSubmit", ""),
    ] {
        let measured = times(300, |_| {
            n += 1;
            let message = daemon.desk.message(&format!("i{n}"), event);
            let asked =
                json!({ "id": n, "request": "hook", "host": "claude-code", "message": message });
            line.ask(&asked).expect("it answers");
        });
        let what = format!("injection, {name}, {MEMORIES} memories, over the socket");
        rows.push(row(what, measured.both(), goal, ""));
    }
    let own = session(1);
    line.send(&begin(&daemon.desk.project, &own))?;
    let step = times(300, |round| {
        let files = [format!("src/file{}.rs", round % FILES)];
        let asked = json!({ "id": round, "request": "step_context", "session_id": own, "step": 9, "files": files });
        line.ask(&asked).expect("it answers");
    });
    rows.push(row(
        format!("injection, step, {MEMORIES} memories, over the socket"),
        step.both(),
        "< 2 ms",
        "",
    ));
    Ok(rows)
}

/// Events of several programs at once, until all of them are journalled.
fn throughput(daemon: &Daemon<'_>) -> anyhow::Result<Row> {
    let began = Instant::now();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let client = |n: usize| -> anyhow::Result<()> {
            let (mut line, own) = (daemon.line()?, session(1_000 + n));
            line.send(&begin(&daemon.desk.project, &own))?;
            for n in 0..EVENTS {
                line.send(&event(&own, n))?;
            }
            line.ask(&json!({ "id": 1, "request": "ping" })).map(|_| ())
        };
        let all: Vec<_> = (0..CLIENTS).map(|n| scope.spawn(move || client(n))).collect();
        all.into_iter().try_for_each(|it| it.join().expect("a client does not panic"))
    })?;
    let rate = (CLIENTS * EVENTS) as f64 / began.elapsed().as_secs_f64();
    Ok(row(
        format!("events journalled, {CLIENTS} programs at once"),
        format!("{rate:.0} / s"),
        "",
        "",
    ))
}

/// What is left when nobody asks, and how quickly it ends.
fn at_rest(desk: &Desk, busy: Daemon<'_>) -> anyhow::Result<Vec<Row>> {
    busy.settle()?;
    let after_work = busy.resident()?;
    let ended = busy.end()?;
    let daemon = desk.start()?;
    desk.hook(&desk.message("r1", "PostToolUse"));
    daemon.line()?.ask(
        &json!({ "id": 1, "request": "impact", "project": desk.project, "target": "function7" }),
    )?;
    daemon.settle()?;
    let resident = daemon.resident()?;
    desk.hook(&desk.message("r2", "UserPromptSubmit"));
    let with_model = daemon.resident()?;
    daemon.end()?;
    Ok(vec![
        row(
            format!("daemon at rest, {FILES} files and {MEMORIES} memories, model not loaded"),
            format!("{resident:.0} MB resident"),
            "< 60 MB",
            format!(
                "with the model: {with_model:.0} MB; after all of the above: {after_work:.0} MB"
            ),
        ),
        row("daemon, from SIGTERM to its end", show(ended), "< 1 s", ""),
    ])
}

/// A million events of one session, each followed by a question that is answered when it is journalled.
pub(crate) fn run_soak() -> anyhow::Result<Vec<Row>> {
    let desk = Desk::new()?;
    let daemon = desk.start()?;
    let (mut line, own) = (daemon.line()?, session(1));
    line.send(&begin(&desk.project, &own))?;
    let ping = json!({ "id": 1, "request": "ping" }).to_string();
    let mut send = |n: usize| -> anyhow::Result<Duration> {
        let both = format!("{}\n{ping}", event(&own, n));
        let began = Instant::now();
        line.send(&both)?;
        let mut answer = String::new();
        line.reader.read_line(&mut answer)?;
        anyhow::ensure!(answer.starts_with("{\"id\":1,\"ok\""), "{answer}");
        Ok(began.elapsed())
    };
    for n in 0..1_000 {
        send(n)?;
    }
    let (before, open) = (daemon.resident()?, daemon.n_open()?);
    let mut all = Vec::with_capacity(SOAK);
    let mut most = before;
    for n in 1_000..SOAK {
        all.push(send(n)?);
        if n.is_multiple_of(50_000) {
            most = most.max(daemon.resident()?);
        }
    }
    let total: Duration = all.iter().sum();
    all.sort_unstable();
    let at = |per_mille: usize| show(all[all.len() * per_mille / 1000]);
    let (open_after, resident) = (daemon.n_open()?, daemon.resident()?);
    let status = daemon.status()?;
    let pid = daemon.child.id();
    let ended = daemon.end()?;
    anyhow::ensure!(!Path::new(&format!("/proc/{pid}")).exists(), "nothing is left of it");
    let times = format!("{} p50, {} p99, {} p99.9", at(500), at(990), at(999));
    Ok(vec![
        row(
            format!("soak: {SOAK} events of one session, each journalled and answered"),
            times,
            "p99 < 2 ms",
            format!("in {:.0} s; {} events counted", total.as_secs_f64(), status["events"]),
        ),
        row(
            "soak: memory",
            format!("{:+.0} MB, at most {:+.0} MB", resident - before, most - before),
            "≤ 50 MB more",
            format!("{before:.0} MB before"),
        ),
        row("soak: open files", format!("{open} before, {open_after} after"), "no more", ""),
        row("soak: end", show(ended), "< 1 s, no process left", ""),
    ])
}
