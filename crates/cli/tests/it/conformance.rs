//! The official test suites of the Model Context Protocol and its inspector, run against the real
//! MCP server. They are Node.js programs installed by `scripts/setup`; without them the tests are
//! skipped.
//!
//! `McpHttpServer` is used by other test files, too.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::mcp::both_ways;
use crate::sandbox::{Sandbox, skip, workspace};

/// The token that clients of the HTTP server must send.
pub(crate) const ACCESS_TOKEN: &str = "a-token-of-no-consequence-for-tests-only";
/// A suite that runs longer than this is considered hung.
const SUITE_TIMEOUT: Duration = Duration::from_mins(2);
/// Fewer passed checks than this mean that the suite did not run properly.
const MIN_PASSED_CHECKS: usize = 10;

/// `waylore mcp --http` on a free port, killed at the end of the test.
pub(crate) struct McpHttpServer {
    child: Child,
    pub(crate) port: u16,
}

impl McpHttpServer {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["mcp", "--http", "127.0.0.1:0"]);
        command.env("WAYLORE_MCP_TOKEN", ACCESS_TOKEN);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The first line contains the address, such as `http://127.0.0.1:1234/mcp`.
        let mut first_line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut first_line).unwrap();
        let port = first_line.rsplit(':').next().and_then(|it| it.split('/').next());
        let port = port.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{first_line}"));
        Self { child, port }
    }
}

impl Drop for McpHttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_server_passes_the_official_suite() {
    assert_suite_passes("mcp-suite", "2025-11-25.yml", &[]);
}

#[test]
fn the_server_passes_the_suite_of_the_newest_revision() {
    assert_suite_passes("mcp-suite-next", "2026-07-28.yml", &["--requirements", "2026-07-28"]);
}

#[test]
fn the_inspector_reports_no_warning() {
    both_ways(|sandbox| {
        let Some(mut command) = suite_command("mcp-inspector", "mcp-inspector") else {
            return skip_suite();
        };
        sandbox.set_environment(&mut command);
        let program = env!("CARGO_BIN_EXE_waylore");
        command.args(["--cli", program, "mcp", "--method", "tools/list", "--strict"]);
        let output = run_suite(command);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !stderr.contains("warn"), "{stderr}");
        let tools: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(tools["tools"][0]["name"], "search_memory", "{tools}");
    });
}

/// Runs a conformance suite. The baseline lists the scenarios that fail, because Waylore does not offer
/// the feature; the suite reports any other failure, and a listed scenario that passes.
fn assert_suite_passes(folder: &str, baseline: &str, extra_args: &[&str]) {
    let Some(mut command) = suite_command(folder, "conformance") else { return skip_suite() };

    // The suite talks to the server through a proxy, because it cannot send the token.
    let sandbox = Sandbox::new();
    let server = McpHttpServer::start(&sandbox);
    let url = format!("http://127.0.0.1:{}/mcp", start_token_proxy(server.port));
    let baseline = workspace().join("crates/cli/tests/conformance").join(baseline);
    let results = sandbox.root.join("results");
    command.current_dir(&sandbox.root).args(["server", "--url", &url]).args(extra_args);
    command.arg("--expected-failures").arg(baseline).arg("-o").arg(&results);
    let output = run_suite(command);

    // The failures are at the end of the output; printed last line first.
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let last_lines: Vec<&str> = stdout.lines().rev().take(80).collect();
    assert!(output.status.success(), "{last_lines:#?}");
    // An exit code of 0 alone could also mean that nothing was checked.
    let checks = read_checks(&results);
    let n_passed = checks.iter().filter(|it| it["status"] == "SUCCESS").count();
    assert!(n_passed >= MIN_PASSED_CHECKS, "{n_passed} checks passed");
}

/// Node.js with the script of a suite; `None` if either is not installed.
fn suite_command(folder: &str, script: &str) -> Option<Command> {
    let tools = workspace().join(".tools");
    let node = tools.join("mcp-node/current/bin/node").canonicalize().ok()?;
    let script = tools.join(folder).join("node_modules/.bin").join(script).canonicalize().ok()?;
    let mut res = Command::new(node);
    res.arg(script);
    Some(res)
}

fn skip_suite() {
    let reason = "they are not installed; `scripts/setup hosts` installs them";
    skip("the official suites of MCP", reason);
}

/// Runs a program until it exits; kills it and panics if that takes too long.
fn run_suite(mut command: Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let id = child.id();
    // A thread waits for the program, so that this one can stop waiting.
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(SUITE_TIMEOUT) else {
        let _ = Command::new("kill").arg(id.to_string()).status();
        panic!("the suite did not exit within {SUITE_TIMEOUT:?}: {command:?}");
    };
    output.unwrap()
}

/// All checks of a run. The suite writes a folder per scenario, some without checks.
fn read_checks(results: &Path) -> Vec<Value> {
    let scenarios = fs::read_dir(results).unwrap().map(|it| it.unwrap().path());
    let read = |it: PathBuf| fs::read_to_string(it.join("checks.json")).ok();
    let parse = |it: String| serde_json::from_str::<Vec<Value>>(&it).unwrap();
    scenarios.filter_map(read).flat_map(parse).collect()
}

/// Starts a proxy that adds the access token to every request, because the suites cannot send one.
/// Returns its port.
fn start_token_proxy(server_port: u16) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let proxy_port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || forward_connection(client, server_port, proxy_port));
        }
    });
    proxy_port
}

/// Forwards one connection: replies as raw bytes, requests one by one with the token added. `None` when
/// either side has closed the connection.
fn forward_connection(client: TcpStream, server_port: u16, proxy_port: u16) -> Option<()> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port)).ok()?;
    let (mut from_server, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let mut reader = BufReader::new(client);
    // One request per round: its head up to the empty line, then its body.
    loop {
        let (mut headers, mut body_length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                let _ = server.shutdown(Shutdown::Both);
                return None;
            }
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                body_length = value.trim().parse().ok()?;
            }
            // `Host` and `Origin` must name the port of the server, which checks them.
            headers += &line.replace(&format!(":{proxy_port}\r"), &format!(":{server_port}\r"));
        }
        let mut body = vec![0; body_length];
        reader.read_exact(&mut body).ok()?;
        let head = format!("{headers}Authorization: Bearer {ACCESS_TOKEN}\r\n\r\n");
        server.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}
