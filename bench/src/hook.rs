//! Hooks from spawn to exit, with and without a daemon; and the daemon itself: latency, throughput,
//! memory and shutdown.
//!
//! A hook is a short process that a host, the program that runs an agent, starts at each event of a
//! session. It passes the event to the daemon and prints the notes that the daemon selects for it, which
//! are then *injected* into the agent's conversation.

use std::fs;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::bench_project::{
    BenchProject, DaemonConnection, RunningDaemon, event_line, session_id, session_start_line,
};
use crate::table::{BenchRow, row};
use crate::timing::{SampleTimes, format_duration, time_rounds};

const SEEDED_MEMORIES: usize = 10_000;
const SEEDED_FILES: usize = 2_000;
const CONCURRENT_CLIENTS: usize = 8;
const EVENTS_PER_CLIENT: usize = 20_000;
const INJECTION_ROUNDS: usize = 300;
/// Rules in `CLAUDE.md`, which the host reads itself; a note that repeats one is not injected.
const RULE_LINES: usize = 60;
/// Memories about no file, which are injected at the start of a session.
const GENERAL_MEMORIES: usize = 40;

/// Stores ten thousand memories. Most of them warn about a function in a file, so that each is
/// checked for staleness before it is injected.
fn seed_memories(fixture: &BenchProject) -> anyhow::Result<()> {
    fs::create_dir(fixture.root.join("src"))?;
    // The same function in every file, so that one anchor hash fits all.
    let check = "pub fn check(token: u64) -> bool {\n    token > 7\n}\n";
    for n in 0..SEEDED_FILES {
        let part = |at: usize| {
            format!("fn part{n}_{at}() {{\n    function{}();\n}}\n", (n + at) % SEEDED_FILES)
        };
        let parts: String = (1..40).map(part).collect();
        let text = format!("pub fn function{n}() {{\n    part{n}_1();\n}}\n{check}{parts}");
        fs::write(fixture.root.join(format!("src/file{n}.rs")), text)?;
    }

    let rule = |n: usize| format!("- Never call part{n} without a token of its own\n");
    fs::write(fixture.root.join("CLAUDE.md"), (0..RULE_LINES).map(rule).collect::<String>())?;

    // An anchor ties a memory to a function by the hash of its code. The first memory is stored by the
    // program itself, to get that hash for the others.
    let first = ["--json", "remember", "--file", "src/file0.rs:check", "check wants seconds"];
    let hash = fixture.run_json(&first)?["memory"]["anchors"][0]["hash"].take();
    anyhow::ensure!(hash.is_string(), "the memory has no anchor to its function");
    let record = |n: usize| {
        let mut record = json!({
            "id": format!("018f1111-0000-7000-8000-{n:012x}"), "type": "gotcha", "confidence": 0.9, "created_at": 1_763_000_000_000_i64,
            "content": format!("The limiter of module {} counts in window {n}; the token of part{} expires first", n % 97, n % 53),
            "user_verified": true,
        });
        // The newest ones, so that they are candidates at the start of a session.
        if n >= SEEDED_MEMORIES - GENERAL_MEMORIES {
            record["type"] = json!("decision");
            record["content"] =
                json!(format!("Dates of report {n} are kept in column{} as UTC", n * 7));
        } else {
            let file = format!("src/file{}.rs", n % SEEDED_FILES);
            record["anchors"] = json!([{ "file": file, "symbol": "check", "hash": hash }]);
            record["files"] = json!([file]);
        }
        record
    };
    let all: Vec<String> = (0..SEEDED_MEMORIES).map(|n| record(n).to_string()).collect();
    let path = fixture.home.with_file_name("memories.jsonl");
    fs::write(&path, all.join("\n"))?;
    fixture.run(&["import", "--trust", &path.display().to_string()])?;
    // Below this trust level nothing is injected between steps.
    fixture.run(&["config", "set", "trust.level", "confident", "--for-project"])?;
    fixture.run(&["embed"])?;
    fixture.run(&["index"])
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let fixture = BenchProject::new()?;
    seed_memories(&fixture)?;
    let mut rows = Vec::new();
    // Baseline: starting a process at all.
    let nothing = time_rounds(300, |_| {
        Command::new("true").status().expect("`true` runs");
    });
    let mut n_sessions = 0;
    let mut hooks = |rounds: usize, event: &str| -> SampleTimes {
        time_rounds(rounds, |_| {
            // A new session each time: notes are not shown twice in one.
            n_sessions += 1;
            fixture.run_hook(&fixture.hook_message(&format!("s{n_sessions}"), event));
        })
    };
    // Name in the table, event, rounds with a daemon, goal. A plain event only passes through, so it
    // takes many rounds to see its 99th percentile.
    let hook_events = [
        ("plain", "Stop", 1_000, "p50 < 5 ms, p99 < 20 ms"),
        ("file", "PostToolUse", 200, "< 100 ms"),
        ("start", "SessionStart", 200, "< 500 ms"),
        ("prompt", "UserPromptSubmit", 200, "< 2 s"),
    ];
    let without_daemon = hook_events.map(|(_, event, _, _)| hooks(60, event));
    let daemon = fixture.start_daemon()?;
    // Loads the model and the vectors, which a daemon does once.
    hooks(5, "UserPromptSubmit");
    daemon.wait_until_idle()?;
    for ((name, event, rounds, goal), alone) in hook_events.into_iter().zip(&without_daemon) {
        let with_daemon = hooks(rounds, event);
        let baseline = format!(
            "`true`: {}; without a daemon: {}",
            with_daemon.format_against(&nothing),
            alone.format_p50_p99()
        );
        rows.push(row(
            format!("hook, {name}, {SEEDED_MEMORIES} memories, spawn to exit"),
            with_daemon.format_p50_p99(),
            goal,
            baseline,
        ));
    }
    rows.extend(measure_injections(&daemon)?);
    rows.push(measure_throughput(&daemon)?);
    rows.extend(measure_idle(&fixture, daemon)?);
    rows.extend(measure_busy_shutdown(&fixture)?);
    Ok(rows)
}

/// Latency of an injection over the socket, without the process of the hook. Every request must be
/// answered with a note, because an empty answer is faster.
fn measure_injections(daemon: &RunningDaemon<'_>) -> anyhow::Result<Vec<BenchRow>> {
    let mut connection = daemon.connect()?;
    let fixture = daemon.fixture;
    let mut rows = Vec::new();
    let mut add = |name: &str, goal: &'static str, measured: SampleTimes| {
        let what = format!("injection, {name}, {SEEDED_MEMORIES} memories, over the socket");
        rows.push(row(what, measured.format_p50_p99(), goal, ""));
    };
    for (name, event, goal) in [
        ("start", "SessionStart", "< 50 ms"),
        ("first file of a session", "PostToolUse", "< 2 ms"),
        ("prompt", "UserPromptSubmit", ""),
    ] {
        let measured = time_rounds(INJECTION_ROUNDS, |n| {
            request_injection(
                &mut connection,
                &hook_request(fixture.hook_message(&format!("{event} {n}"), event)),
            );
        });
        add(name, goal, measured);
    }
    let measured = time_rounds(INJECTION_ROUNDS, |n| {
        let mut message = fixture.hook_message("one session", "PostToolUse");
        message["tool_input"]["file_path"] =
            json!(fixture.root.join(format!("src/file{}.rs", n + 10)));
        // A repeated call id would count as the same event.
        message["tool_use_id"] = json!(format!("call {n}"));
        request_injection(&mut connection, &hook_request(message));
    });
    add("file after file of one session", "< 2 ms", measured);
    let measured = time_rounds(INJECTION_ROUNDS, |n| {
        let session = session_id(2_000 + n);
        connection
            .send_line(&session_start_line(&fixture.root, &session))
            .expect("the daemon reads");
        let files = [format!("src/file{}.rs", n + 10)];
        let request = json!({ "id": n, "request": "step_context", "session_id": session, "step": 9, "files": files });
        request_injection(&mut connection, &request);
    });
    add("step", "< 2 ms", measured);
    Ok(rows)
}

fn hook_request(message: Value) -> Value {
    json!({ "id": 1, "request": "hook", "host": "claude-code", "message": message })
}

/// Sends a request and checks that a note is injected.
fn request_injection(connection: &mut DaemonConnection, request: &Value) {
    let answer = connection.request(request).expect("the daemon answers");
    let text = answer["ok"]["text"].as_str().unwrap_or_default();
    assert!(!text.is_empty(), "nothing is injected for {request}: {answer}");
}

/// Sends events from several clients at once, until all of them are journalled.
fn measure_throughput(daemon: &RunningDaemon<'_>) -> anyhow::Result<BenchRow> {
    let started = Instant::now();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let client = |n: usize| -> anyhow::Result<()> {
            let (mut connection, session) = (daemon.connect()?, session_id(1_000 + n));
            connection.send_line(&session_start_line(&daemon.fixture.root, &session))?;
            for n in 0..EVENTS_PER_CLIENT {
                connection.send_line(&event_line(&session, n))?;
            }
            // The answer comes after all events of the connection were journalled.
            connection.request(&json!({ "id": 1, "request": "ping" })).map(|_| ())
        };
        let threads: Vec<_> =
            (0..CONCURRENT_CLIENTS).map(|n| scope.spawn(move || client(n))).collect();
        threads.into_iter().try_for_each(|it| it.join().expect("a client does not panic"))
    })?;
    let rate = (CONCURRENT_CLIENTS * EVENTS_PER_CLIENT) as f64 / started.elapsed().as_secs_f64();
    Ok(row(
        format!("events journalled, {CONCURRENT_CLIENTS} clients at once"),
        format!("{rate:.0} / s"),
        "",
        "",
    ))
}

/// Memory of an idle daemon, and time of its shutdown.
fn measure_idle(fixture: &BenchProject, busy: RunningDaemon<'_>) -> anyhow::Result<Vec<BenchRow>> {
    busy.wait_until_idle()?;
    // Memory after all measurements, before a fresh daemon is measured.
    let after_work = busy.resident_mb()?;
    let ended = busy.terminate()?;
    let daemon = fixture.start_daemon()?;
    // Opens the project, as in a daemon that was used.
    fixture.run_hook(&fixture.hook_message("r1", "PostToolUse"));
    daemon.connect()?.request(
        &json!({ "id": 1, "request": "impact", "project": fixture.root, "target": "function7" }),
    )?;
    daemon.wait_until_idle()?;
    let resident = daemon.resident_mb()?;
    fixture.run_hook(&fixture.hook_message("r2", "UserPromptSubmit"));
    let with_model = daemon.resident_mb()?;
    daemon.terminate()?;
    Ok(vec![
        row(
            format!(
                "idle daemon, {SEEDED_FILES} files and {SEEDED_MEMORIES} memories, model not loaded"
            ),
            format!("{resident:.0} MB resident"),
            "< 60 MB",
            format!(
                "with the model: {with_model:.0} MB; after all of the above: {after_work:.0} MB"
            ),
        ),
        row("daemon, from SIGTERM to exit", format_duration(ended), "< 1 s", ""),
    ])
}

/// Time of the shutdown while a background job runs.
fn measure_busy_shutdown(fixture: &BenchProject) -> anyhow::Result<Vec<BenchRow>> {
    let mut rows = Vec::new();
    let mut add = |job: &str, daemon: RunningDaemon<'_>| -> anyhow::Result<()> {
        let ended = daemon.terminate()?;
        rows.push(row(
            format!("daemon, from SIGTERM to exit, {job}"),
            format_duration(ended),
            "< 1 s",
            "",
        ));
        Ok(())
    };
    let record = |n: usize| {
        json!({
            "id": format!("018f2222-0000-7000-8000-{n:012x}"), "type": "gotcha", "confidence": 0.9, "created_at": 1_763_000_000_000_i64,
            "content": format!("Queue {n} of part{} drops what is late", n % 53),
        })
    };
    let all: Vec<String> = (0..SEEDED_MEMORIES / 5).map(|n| record(n).to_string()).collect();
    let path = fixture.home.with_file_name("more.jsonl");
    fs::write(&path, all.join("\n"))?;
    fixture.run(&["import", "--trust", &path.display().to_string()])?;
    // The new memories have no vectors yet: opening the project starts a job that embeds them.
    let daemon = fixture.start_daemon()?;
    fixture.run_hook(&fixture.hook_message("w1", "PostToolUse"));
    daemon.wait_for_job("embed")?;
    add("while memories are embedded", daemon)?;

    // All files change, and the end of a session starts a job that indexes them.
    for n in 0..SEEDED_FILES {
        let path = fixture.root.join(format!("src/file{n}.rs"));
        let text = fs::read_to_string(&path)?;
        fs::write(&path, format!("{text}fn late{n}() {{}}\n"))?;
    }
    // No embedding is left that would run before it.
    fixture.run(&["embed"])?;
    let daemon = fixture.start_daemon()?;
    let (mut connection, session) = (daemon.connect()?, session_id(9));
    connection.send_line(&session_start_line(&fixture.root, &session))?;
    connection.request(&json!({ "id": 1, "request": "finish", "session_id": session }))?;
    daemon.wait_for_job("index")?;
    add("while code is indexed", daemon)?;
    Ok(rows)
}
