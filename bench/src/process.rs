//! The whole program from spawn to exit: `waylore show`, `remember` and `mcp` (the server that a host,
//! the program that runs an agent, starts for its tools). The baseline is a program that does nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::table::{BenchRow, row};
use crate::timing::{collect_rounds, time_rounds};

/// The `waylore` binary beside this one, or the one in `WAYLORE_BIN`.
pub(crate) fn waylore_binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("WAYLORE_BIN") {
        return Ok(path.into());
    }
    let path = std::env::current_exe()?.with_file_name("waylore");
    anyhow::ensure!(
        path.exists(),
        "build it first: cargo build --release -p waylore --features encryption"
    );
    Ok(path)
}

/// A command with its own data folder that reads and prints nothing.
pub(crate) fn waylore_command(binary: &Path, home: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env("WAYLORE_HOME", home)
        .current_dir(home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .stdin(Stdio::null());
    command
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let binary = waylore_binary()?;
    let dir = tempfile::tempdir()?;
    let home = dir.path();
    let remembered = Command::new(&binary)
        .env("WAYLORE_HOME", home)
        .current_dir(home)
        .args(["--json", "remember", "the rate limiter runs before verifyJwt"])
        .output()?;
    let answer: serde_json::Value =
        serde_json::from_slice(&remembered.stdout).context("`remember` prints JSON")?;
    let id = answer["memory"]["id"].as_str().context("a memory has an id")?.to_owned();
    // Baseline: starting a process at all.
    let nothing = time_rounds(300, |_| {
        Command::new("true").status().expect("`true` runs");
    });
    let show = time_rounds(300, |_| {
        let status = waylore_command(&binary, home).args(["show", &id]).status();
        assert!(status.is_ok_and(|it| it.success()), "show succeeds");
    });
    let remember = time_rounds(100, |round| {
        let text = format!("fact number {round} about module{round}");
        let status = waylore_command(&binary, home).args(["remember", "--new", &text]).status();
        assert!(status.is_ok_and(|it| it.success()), "remember succeeds");
    });
    let tools = collect_rounds(100, |_| time_tools_list(&binary, home))?;
    let bytes = std::fs::metadata(&binary)?.len();
    Ok(vec![
        row(
            "`waylore mcp`, spawn to the answer to `tools/list`",
            tools.format_p50_p99(),
            "< 50 ms",
            format!("`true`: {}", tools.format_against(&nothing)),
        ),
        row(
            "`waylore show`, spawn to exit",
            show.format_p50_p99(),
            "< 15 ms",
            format!("`true`: {}", show.format_against(&nothing)),
        ),
        row(
            "`waylore remember`, spawn to exit, durable",
            remember.format_p50_p99(),
            "",
            format!("`true`: {}", remember.format_against(&nothing)),
        ),
        row("binary, stripped", format!("{:.1} MB", bytes as f64 / 1e6), "< 75 MB", ""),
    ])
}

/// Time until a host has the list of tools: it starts the server, initialises it, and asks.
fn time_tools_list(binary: &Path, home: &Path) -> anyhow::Result<Duration> {
    let request = |id: u32, method: &str, params: Value| {
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let started = Instant::now();
    let mut child = waylore_command(binary, home)
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("the pipe was requested")?;
    let mut lines = BufReader::new(child.stdout.take().context("the pipe was requested")?).lines();
    stdin.write_all(request(0, "initialize", initialize).as_bytes())?;
    lines.next().context("an answer to `initialize`")??;
    stdin
        .write_all(format!("{initialized}\n{}", request(1, "tools/list", json!({}))).as_bytes())?;
    let answer = lines.next().context("an answer to `tools/list`")??;
    let took = started.elapsed();
    anyhow::ensure!(answer.contains("search_memory"), "{answer}");
    drop(stdin);
    anyhow::ensure!(child.wait()?.success(), "the server exits when its input is closed");
    Ok(took)
}
