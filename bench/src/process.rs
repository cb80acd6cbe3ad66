//! The whole program, from spawn to exit, beside a program that does nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::clock::{said, times};
use crate::table::{Row, row};

/// The release binary beside this one; `WAYLORE_BIN` puts another in its place.
pub(crate) fn binary() -> anyhow::Result<PathBuf> {
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

pub(crate) fn command(binary: &Path, home: &Path) -> Command {
    let mut res = Command::new(binary);
    res.env("WAYLORE_HOME", home)
        .current_dir(home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .stdin(Stdio::null());
    res
}

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let binary = binary()?;
    let dir = tempfile::tempdir()?;
    let home = dir.path();
    let taught = Command::new(&binary)
        .env("WAYLORE_HOME", home)
        .current_dir(home)
        .args(["--json", "remember", "the rate limiter runs before verifyJwt"])
        .output()?;
    let answer: serde_json::Value =
        serde_json::from_slice(&taught.stdout).context("remember answers in JSON")?;
    let id = answer["memory"]["id"].as_str().context("a memory has an id")?.to_owned();
    let nothing = times(300, |_| {
        Command::new("true").status().expect("`true` runs");
    });
    let show = times(300, |_| {
        let status = command(&binary, home).args(["show", &id]).status();
        assert!(status.is_ok_and(|it| it.success()), "show succeeds");
    });
    let remember = times(100, |round| {
        let text = format!("fact number {round} about module{round}");
        let status = command(&binary, home).args(["remember", "--new", &text]).status();
        assert!(status.is_ok_and(|it| it.success()), "remember succeeds");
    });
    let tools = said(100, |_| list_tools(&binary, home))?;
    let bytes = std::fs::metadata(&binary)?.len();
    Ok(vec![
        row(
            "`waylore mcp`, spawn to the answer to `tools/list`",
            tools.both(),
            "< 50 ms",
            format!("`true`: {}", tools.against(&nothing)),
        ),
        row(
            "`waylore show`, spawn to exit",
            show.both(),
            "< 15 ms",
            format!("`true`: {}", show.against(&nothing)),
        ),
        row(
            "`waylore remember`, spawn to exit, durable",
            remember.both(),
            "",
            format!("`true`: {}", remember.against(&nothing)),
        ),
        row("binary, stripped", format!("{:.1} MB", bytes as f64 / 1e6), "< 75 MB", ""),
    ])
}

/// What a host does first: it starts us, says hello, and asks for the tools.
fn list_tools(binary: &Path, home: &Path) -> anyhow::Result<Duration> {
    let request = |id: u32, method: &str, params: Value| {
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let began = Instant::now();
    let mut child =
        command(binary, home).arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("it was asked for")?;
    let mut lines = BufReader::new(child.stdout.take().context("it was asked for")?).lines();
    stdin.write_all(request(0, "initialize", hello).as_bytes())?;
    lines.next().context("it says hello")??;
    stdin.write_all(format!("{done}\n{}", request(1, "tools/list", json!({}))).as_bytes())?;
    let answer = lines.next().context("it lists its tools")??;
    let took = began.elapsed();
    anyhow::ensure!(answer.contains("search_memory"), "{answer}");
    drop(stdin);
    anyhow::ensure!(child.wait()?.success(), "it ends when nobody speaks any more");
    Ok(took)
}
