//! `waylore mcp` as a relay to the daemon: an agent notices neither the daemon nor its end.
//!
//! The tests of the server itself are in `mcp.rs`; the first test here runs their messages both ways.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::daemon::{RunningDaemon, socket};
use crate::mcp::{answer_text, initialize_request, rpc_request, run_server, tool_call};
use crate::sandbox::{Sandbox, wait_until};

const FACT: &str = "The payment webhook arrives twice, so charges need an idempotency key";

fn sandbox_for_relay() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.remember(FACT);
    sandbox.uses_daemon = true;
    sandbox
}

fn search(id: usize) -> Value {
    tool_call(id, "search_memory", json!({ "query": "payment webhook idempotency" }))
}

fn record(id: usize, content: &str) -> Value {
    tool_call(id, "record_memory", json!({ "content": content, "type": "decision" }))
}

/// A running `waylore mcp` with its pipes.
struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl McpClient {
    /// Starts the process and completes the handshake.
    fn start(sandbox: &Sandbox) -> Self {
        Self::start_command(sandbox.command(&["mcp"]))
    }

    fn start_command(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut client = Self { child, input, output: BufReader::new(output) };
        let answer = client.request(&initialize_request());
        assert_eq!(answer["result"]["serverInfo"]["name"], "waylore", "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|it| panic!("{it}: {line:?}"))
    }

    fn request(&mut self, message: &Value) -> Value {
        self.send(message);
        let answer = self.read();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    /// Closes the input, and asserts that nothing more comes and that the process succeeds.
    fn finish(mut self) {
        drop(self.input.take());
        let mut rest = String::new();
        assert_eq!(self.output.read_line(&mut rest).unwrap(), 0, "{rest}");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Memory of a process without its program file, in KiB.
#[cfg(target_os = "linux")]
fn anonymous_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Number of connections of the daemon, without this one.
fn n_connections(sandbox: &Sandbox) -> u64 {
    sandbox.json(&["serve", "--status"])["connections"].as_u64().unwrap() - 1
}

#[test]
fn the_daemon_answers_an_agent_as_a_server_of_its_own_does() {
    let mut sandbox = sandbox_for_relay();
    fs::write(sandbox.project.join("a.rs"), "fn a() {}\nfn b() { a(); }\n").unwrap();
    sandbox.run(&["index"]).expect_code(0, "index");
    let messages = [
        search(1),
        tool_call(2, "search_memory", json!({ "query": "how do I bake sourdough bread" })),
        tool_call(3, "search_memory", json!({ "quary": "x" })),
        tool_call(4, "analyze_impact", json!({ "target": "a.rs:a" })),
        tool_call(5, "get_module_map", json!({})),
        rpc_request(6, "tools/list", json!({})),
        rpc_request(7, "resources/read", json!({ "uri": "memory://memory/ffffffff" })),
        rpc_request(8, "prompts/list", json!({})),
        rpc_request(9, "no/such/method", json!({})),
    ];
    sandbox.uses_daemon = false;
    let alone = run_server(&sandbox, &["mcp"], &messages);
    sandbox.uses_daemon = true;
    let _daemon = RunningDaemon::start(&sandbox);
    let relayed = run_server(&sandbox, &["mcp"], &messages);
    assert_eq!(relayed.len(), messages.len() + 1);
    for (relayed, alone) in relayed.iter().zip(&alone) {
        assert_eq!(relayed, alone);
    }
    let projects = sandbox.json(&["serve", "--status"])["projects"].clone();
    assert_eq!(projects.as_array().unwrap().len(), 1, "the daemon opened it: {projects}");

    // A note of the agent waits for learning, as without a daemon.
    let note = "The ledger is append-only because auditors replay it";
    let answers = run_server(&sandbox, &["mcp"], &[record(1, note)]);
    assert!(answer_text(&answers[1]).contains("scratchpad"), "{}", answers[1]);
    sandbox.run(&["learn"]).expect_code(0, "learn");
    let listed = sandbox.json(&["list", "--all"])["memories"].clone();
    assert!(listed.to_string().contains("append-only"), "{listed}");
}

#[test]
fn wrong_lines_get_the_same_errors_through_the_relay() {
    let mut sandbox = sandbox_for_relay();
    let input = format!("{{\n[]\n{{\"id\":5}}\n\n{}\n{{\"a\":\n", initialize_request());
    sandbox.uses_daemon = false;
    let alone = sandbox.run_with_input(&["mcp"], input.as_bytes());
    sandbox.uses_daemon = true;
    let _daemon = RunningDaemon::start(&sandbox);
    let relayed = sandbox.run_with_input(&["mcp"], input.as_bytes());
    assert_eq!((relayed.code, relayed.out, relayed.err), (alone.code, alone.out, alone.err));
}

#[test]
fn the_project_of_an_agent_is_found_through_the_relay() {
    let sandbox = sandbox_for_relay();
    let other = sandbox.root.join("elsewhere");
    fs::create_dir(&other).unwrap();
    let _daemon = RunningDaemon::start(&sandbox);

    // By the variable of the host.
    let mut command = sandbox.command(&["mcp"]);
    command.env("CLAUDE_PROJECT_DIR", &sandbox.project).current_dir(&other);
    let mut client = McpClient::start_command(command);
    assert!(answer_text(&client.request(&search(1))).contains("idempotency key"));
    client.finish();

    // By the roots of the client, which the server asks for once.
    let mut command = sandbox.command(&["mcp"]);
    command.current_dir(&other).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
    let mut client = McpClient { child, input, output: BufReader::new(output) };
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": {} }, "clientInfo": info });
    client.request(&rpc_request(0, "initialize", params));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&search(1));
    let question = client.read();
    assert_eq!(question["method"], "roots/list", "{question}");
    let uri = format!("file://{}", sandbox.project.display());
    let roots = json!({ "roots": [{ "uri": uri, "name": "project" }] });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots }));
    assert!(answer_text(&client.read()).contains("idempotency key"));
    assert!(answer_text(&client.request(&search(2))).contains("idempotency key"));
    client.finish();
}

#[test]
fn an_agent_does_not_notice_that_the_daemon_was_replaced() {
    let sandbox = sandbox_for_relay();
    let daemon = RunningDaemon::start(&sandbox);
    let mut client = McpClient::start(&sandbox);
    assert!(answer_text(&client.request(&search(1))).contains("idempotency key"));

    // Stopped and started again: the next call repeats the handshake.
    drop(daemon);
    let daemon = RunningDaemon::start(&sandbox);
    assert!(answer_text(&client.request(&search(2))).contains("idempotency key"));
    assert_eq!(n_connections(&sandbox), 1);

    // Without any daemon, this process is the server from then on.
    drop(daemon);
    assert!(answer_text(&client.request(&search(3))).contains("idempotency key"));
    let note = record(4, "Invoices are numbered without gaps");
    assert!(answer_text(&client.request(&note)).contains("scratchpad"));
    let _daemon = RunningDaemon::start(&sandbox);
    assert!(answer_text(&client.request(&search(5))).contains("idempotency key"));
    assert_eq!(n_connections(&sandbox), 0);
    client.finish();
}

#[test]
fn a_call_that_writes_is_not_repeated_when_the_daemon_dies() {
    let sandbox = sandbox_for_relay();
    // A daemon that accepts the client and reads two calls, but answers the handshake only.
    let path = socket(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    let fake_path = path.clone();
    let fake = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let read_line = |reader: &mut BufReader<UnixStream>| {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            line
        };
        assert!(read_line(&mut reader).contains("\"request\":\"mcp\""));
        reader.get_mut().write_all(b"{\"id\":1,\"ok\":{\"ready\":true}}\n").unwrap();
        assert!(read_line(&mut reader).contains("initialize"));
        let result = json!({ "serverInfo": { "name": "waylore", "version": "1" } });
        let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": result });
        reader.get_mut().write_all(format!("{answer}\n").as_bytes()).unwrap();
        assert!(read_line(&mut reader).contains("initialized"));
        assert!(read_line(&mut reader).contains("record_memory"));
        assert!(read_line(&mut reader).contains("search_memory"));
        fs::remove_file(fake_path).unwrap();
    });
    let mut client = McpClient::start(&sandbox);
    client.send(&record(1, "Invoices are numbered without gaps"));
    client.send(&search(2));
    let recorded = client.read();
    assert_eq!((&recorded["id"], &recorded["result"]["isError"]), (&json!(1), &json!(true)));
    assert!(answer_text(&recorded).contains("call again if it is missing"), "{recorded}");
    let found = client.read();
    assert!(answer_text(&found).contains("idempotency key"), "{found}");
    fake.join().unwrap();
    client.finish();
}

#[test]
fn a_relay_starts_the_daemon_and_serves_alone_if_it_may_not() {
    let sandbox = sandbox_for_relay();
    // The sandbox forbids to start one.
    let mut client = McpClient::start(&sandbox);
    assert!(answer_text(&client.request(&search(1))).contains("idempotency key"));
    client.finish();
    assert_eq!(sandbox.run(&["serve", "--status"]).code, 1, "no daemon was started");

    let mut command = sandbox.command(&["mcp"]);
    command.env("WAYLORE_SERVE_START", "true");
    let mut client = McpClient::start_command(command);
    assert!(answer_text(&client.request(&search(1))).contains("idempotency key"));
    assert_eq!(n_connections(&sandbox), 1);
    #[cfg(target_os = "linux")]
    {
        let kib = anonymous_kib(client.child.id());
        assert!(kib < 6 << 10, "{kib} KiB: no engine in the relay");
    }

    // The daemon stops while the agent is idle, and is started again by the next call.
    sandbox.run(&["serve", "--stop"]).expect_code(0, "stop");
    assert!(answer_text(&client.request(&search(2))).contains("idempotency key"));
    assert_eq!(n_connections(&sandbox), 1);
    client.finish();
    wait_until("the connection is closed", || n_connections(&sandbox) == 0);
    sandbox.run(&["serve", "--stop"]).expect_code(0, "stop");
}

#[test]
fn a_daemon_of_another_version_does_not_serve_an_agent() {
    let sandbox = sandbox_for_relay();
    let mut command = sandbox.command(&["serve"]);
    command.env("WAYLORE_PRETEND_VERSION", "9.0.0");
    let _daemon = RunningDaemon::spawn(&sandbox, command);
    let mut client = McpClient::start(&sandbox);
    assert!(answer_text(&client.request(&search(1))).contains("idempotency key"));
    assert_eq!(n_connections(&sandbox), 0);
    client.finish();
}
