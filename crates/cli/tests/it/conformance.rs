//! The protocol's own suites, run against the server as it is shipped.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::kit::{Desk, skip, workspace};

/// What clients show.
pub(crate) const TOKEN: &str = "a-token-of-no-consequence-for-tests-only";
/// No suite takes so long.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server over HTTP that ends with the test.
pub(crate) struct Http {
    child: Child,
    pub(crate) port: u16,
}

impl Http {
    pub(crate) fn start(desk: &Desk) -> Self {
        let mut command = desk.command(&["mcp", "--http", "127.0.0.1:0"]);
        command.env("WAYLORE_MCP_TOKEN", TOKEN).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
        let port = first.rsplit(':').next().and_then(|it| it.split('/').next());
        let port = port.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{first}"));
        Self { child, port }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The suites know no tokens: what they send goes through here and gets one. Otherwise nothing changes,
/// but for the port.
fn doorman(port: u16) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || pass(client, port, own));
        }
    });
    own
}

/// Passes requests on one by one, and answers as they come.
fn pass(client: TcpStream, port: u16, own: u16) -> Option<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let (mut back, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
    thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut to_client);
        let _ = to_client.shutdown(std::net::Shutdown::Both);
    });
    let (mut reader, mut server) = (BufReader::new(client), server);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                let _ = server.shutdown(std::net::Shutdown::Both);
                return None;
            }
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
            head += &line.replace(&format!(":{own}\r"), &format!(":{port}\r"));
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let head = format!("{head}Authorization: Bearer {TOKEN}\r\n\r\n");
        server.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

/// Node and a script of a suite, if they could be had.
fn suite(folder: &str, script: &str) -> Option<Command> {
    let tools = workspace().join(".tools");
    let node = tools.join("mcp-node/current/bin/node").canonicalize().ok()?;
    let script = tools.join(folder).join("node_modules/.bin").join(script).canonicalize().ok()?;
    let mut res = Command::new(node);
    res.arg(script);
    Some(res)
}

fn finished(mut command: Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, (sender, receiver)) = (child.id(), mpsc::channel());
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").arg(id.to_string()).status();
        panic!("it did not end: {command:?}");
    };
    output.unwrap()
}

fn unavailable() {
    skip("the official suites of MCP", "they are not here; `scripts/setup hosts` installs them");
}

/// Runs a suite; the baseline names every scenario that may fail, and a scenario that no longer does is
/// an error as well.
fn conforms(folder: &str, baseline: &str, more: &[&str]) {
    let Some(mut command) = suite(folder, "conformance") else { return unavailable() };
    let desk = Desk::new();
    let server = Http::start(&desk);
    let url = format!("http://127.0.0.1:{}/mcp", doorman(server.port));
    let baseline = workspace().join("crates/cli/tests/conformance").join(baseline);
    let results = desk.root.join("results");
    command.current_dir(&desk.root).args(["server", "--url", &url]).args(more);
    command.arg("--expected-failures").arg(baseline).arg("-o").arg(&results);
    let output = finished(command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let end: Vec<&str> = said.lines().rev().take(80).collect();
    assert!(output.status.success(), "{end:#?}");
    let checks = checks(&results);
    let n_passed = checks.iter().filter(|it| it["status"] == "SUCCESS").count();
    assert!(n_passed >= 10, "{n_passed} checks passed");
}

/// Every check of a run.
fn checks(results: &PathBuf) -> Vec<Value> {
    let folders = fs::read_dir(results).unwrap().map(|it| it.unwrap().path());
    let read = |it: PathBuf| fs::read_to_string(it.join("checks.json")).ok();
    let parse = |it: String| serde_json::from_str::<Vec<Value>>(&it).unwrap();
    folders.filter_map(read).flat_map(parse).collect()
}

#[test]
fn the_official_suite_finds_only_what_is_not_offered() {
    conforms("mcp-suite", "2025-11-25.yml", &[]);
}

#[test]
fn the_newest_revision_is_spoken_as_its_suite_wants() {
    conforms("mcp-suite-next", "2026-07-28.yml", &["--requirements", "2026-07-28"]);
}

#[test]
fn the_inspector_has_no_complaint() {
    let Some(mut command) = suite("mcp-inspector", "mcp-inspector") else { return unavailable() };
    let desk = Desk::new();
    desk.surround(&mut command);
    let program = env!("CARGO_BIN_EXE_waylore");
    command.args(["--cli", program, "mcp", "--method", "tools/list", "--strict"]);
    let output = finished(command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("warn"), "{said}");
    let tools: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(tools["tools"][0]["name"], "search_memory", "{tools}");
}
