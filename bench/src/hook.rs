//! Hooks from spawn to exit, with a daemon and without; the daemon itself: how much it takes, how quickly
//! it answers, how little it keeps.

use std::fs;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::clock::{Times, show, times};
use crate::desk::{Daemon, Desk, Line, begin, event, session};
use crate::table::{Row, row};

const MEMORIES: usize = 10_000;
const FILES: usize = 2_000;
const CLIENTS: usize = 8;
const EVENTS: usize = 20_000;
const INJECTIONS: usize = 300;
/// Rules in a file that the host reads by itself: no note repeats one of them.
const RULES: usize = 60;
/// Memories that concern any work, and are told at the beginning.
const GENERAL: usize = 40;

/// Ten thousand memories, most of them warnings about a file and a function in it, so that each is
/// checked before it is said.
fn teach(desk: &Desk) -> anyhow::Result<()> {
    fs::create_dir(desk.project.join("src"))?;
    let check = "pub fn check(token: u64) -> bool {\n    token > 7\n}\n";
    for n in 0..FILES {
        let own =
            |at: usize| format!("fn part{n}_{at}() {{\n    function{}();\n}}\n", (n + at) % FILES);
        let parts: String = (1..40).map(own).collect();
        let text = format!("pub fn function{n}() {{\n    part{n}_1();\n}}\n{check}{parts}");
        fs::write(desk.project.join(format!("src/file{n}.rs")), text)?;
    }
    let rule = |n: usize| format!("- Never call part{n} without a token of its own\n");
    fs::write(desk.project.join("CLAUDE.md"), (0..RULES).map(rule).collect::<String>())?;
    let first = ["--json", "remember", "--file", "src/file0.rs:check", "check wants seconds"];
    let hash = desk.answer(&first)?["memory"]["anchors"][0]["hash"].take();
    anyhow::ensure!(hash.is_string(), "a memory is bound to the function it names");
    let record = |n: usize| {
        let mut res = json!({
            "id": format!("018f1111-0000-7000-8000-{n:012x}"), "type": "gotcha", "confidence": 0.9, "created_at": 1_763_000_000_000_i64,
            "content": format!("The limiter of module {} counts in window {n}; the token of part{} expires first", n % 97, n % 53),
            "user_verified": true,
        });
        // The newest, so that they are among what is weighed when nothing was asked.
        if n >= MEMORIES - GENERAL {
            res["type"] = json!("decision");
            res["content"] =
                json!(format!("Dates of report {n} are kept in column{} as UTC", n * 7));
        } else {
            let file = format!("src/file{}.rs", n % FILES);
            res["anchors"] = json!([{ "file": file, "symbol": "check", "hash": hash }]);
            res["files"] = json!([file]);
        }
        res
    };
    let all: Vec<String> = (0..MEMORIES).map(|n| record(n).to_string()).collect();
    let path = desk.home.with_file_name("memories.jsonl");
    fs::write(&path, all.join("\n"))?;
    desk.run(&["import", "--trust", &path.display().to_string()])?;
    // Below it, nothing is said between steps.
    desk.run(&["config", "set", "trust.level", "confident", "--for-project"])?;
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
    rows.extend(at_work(&desk)?);
    Ok(rows)
}

/// What a hook waits for, without its own process. Something is said every time: silence is quicker.
fn injections(daemon: &Daemon<'_>) -> anyhow::Result<Vec<Row>> {
    let mut line = daemon.line()?;
    let desk = daemon.desk;
    let mut rows = Vec::new();
    let mut add = |name: &str, goal: &'static str, measured: Times| {
        let what = format!("injection, {name}, {MEMORIES} memories, over the socket");
        rows.push(row(what, measured.both(), goal, ""));
    };
    for (name, event, goal) in [
        ("start", "SessionStart", "< 50 ms"),
        ("first file of a session", "PostToolUse", "< 2 ms"),
        ("prompt", "UserPromptSubmit", ""),
    ] {
        let measured = times(INJECTIONS, |n| {
            told(&mut line, &hook(desk.message(&format!("{event} {n}"), event)));
        });
        add(name, goal, measured);
    }
    let measured = times(INJECTIONS, |n| {
        let mut message = desk.message("one session", "PostToolUse");
        message["tool_input"]["file_path"] =
            json!(desk.project.join(format!("src/file{}.rs", n + 10)));
        message["tool_use_id"] = json!(format!("call {n}"));
        told(&mut line, &hook(message));
    });
    add("file after file of one session", "< 2 ms", measured);
    let measured = times(INJECTIONS, |n| {
        let own = session(2_000 + n);
        line.send(&begin(&desk.project, &own)).expect("it listens");
        let files = [format!("src/file{}.rs", n + 10)];
        let asked = json!({ "id": n, "request": "step_context", "session_id": own, "step": 9, "files": files });
        told(&mut line, &asked);
    });
    add("step", "< 2 ms", measured);
    Ok(rows)
}

fn hook(message: Value) -> Value {
    json!({ "id": 1, "request": "hook", "host": "claude-code", "message": message })
}

/// Asks, and insists on being told something.
fn told(line: &mut Line, request: &Value) {
    let answer = line.ask(request).expect("it answers");
    let text = answer["ok"]["text"].as_str().unwrap_or_default();
    assert!(!text.is_empty(), "nothing is said to {request}: {answer}");
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

/// How quickly it ends while something is done in the background.
fn at_work(desk: &Desk) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |what: &str, daemon: Daemon<'_>| -> anyhow::Result<()> {
        let ended = daemon.end()?;
        rows.push(row(
            format!("daemon, from SIGTERM to its end, {what}"),
            show(ended),
            "< 1 s",
            "",
        ));
        Ok(())
    };
    let fresh = |n: usize| {
        json!({
            "id": format!("018f2222-0000-7000-8000-{n:012x}"), "type": "gotcha", "confidence": 0.9, "created_at": 1_763_000_000_000_i64,
            "content": format!("Queue {n} of part{} drops what is late", n % 53),
        })
    };
    let all: Vec<String> = (0..MEMORIES / 5).map(|n| fresh(n).to_string()).collect();
    let path = desk.home.with_file_name("more.jsonl");
    fs::write(&path, all.join("\n"))?;
    desk.run(&["import", "--trust", &path.display().to_string()])?;
    let daemon = desk.start()?;
    desk.hook(&desk.message("w1", "PostToolUse"));
    daemon.await_job("embed")?;
    add("while vectors are made", daemon)?;
    for n in 0..FILES {
        let path = desk.project.join(format!("src/file{n}.rs"));
        let text = fs::read_to_string(&path)?;
        fs::write(&path, format!("{text}fn late{n}() {{}}\n"))?;
    }
    desk.run(&["embed"])?;
    let daemon = desk.start()?;
    let (mut line, own) = (daemon.line()?, session(9));
    line.send(&begin(&desk.project, &own))?;
    line.ask(&json!({ "id": 1, "request": "finish", "session_id": own }))?;
    daemon.await_job("index")?;
    add("while code is indexed", daemon)?;
    Ok(rows)
}
