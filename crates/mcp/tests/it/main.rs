//! The MCP server over its line transport, without a project: every protocol revision, errors with a
//! hint, malformed lines, and random input. No input causes a panic, and every request gets exactly
//! one response.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use model::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use waylore_mcp::{Config, OpenFuture, serve_lines};

// Most tests write all input at once: the lines of one client, from the handshake to the end of the
// input. `serve_input` then returns every message that the server wrote.

/// A writer whose bytes the test can read afterwards.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Opens no project: these tests cover the layers above the engine.
fn open_nothing(_: PathBuf) -> OpenFuture {
    Box::pin(async { Err("there is no project; say where it is".to_owned()) })
}

/// Serves these input bytes and returns all messages that the server wrote.
fn serve_input(input: Vec<u8>) -> Vec<Value> {
    let config = Config {
        open: Arc::new(open_nothing),
        now: || Timestamp(1_700_000_000_000),
        random: || [7; 10],
        folder: None,
        current_dir: PathBuf::from("/"),
        host_session: None,
    };
    let output = SharedBuffer::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = serve_lines(config, Box::new(Cursor::new(input)), Box::new(output.clone()));
    runtime.block_on(served).unwrap();
    let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    text.lines().map(|it| serde_json::from_str(it).expect("every line is JSON")).collect()
}

/// The messages as input bytes, one per line.
fn to_lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().map(|it| format!("{it}\n")).collect::<Vec<_>>().concat().into_bytes()
}

/// A JSON-RPC request.
fn request(id: usize, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The `initialize` request of a protocol revision, with id 0.
fn handshake(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    request(0, "initialize", &params)
}

/// The response to the request with this id.
fn response_to(responses: &[Value], id: usize) -> &Value {
    responses.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id}: {responses:?}"))
}

#[test]
fn every_protocol_revision_is_supported() {
    for version in ["2025-06-18", "2025-11-25"] {
        let responses =
            serve_input(to_lines(&[handshake(version), request(1, "tools/list", &json!({}))]));
        assert_eq!(response_to(&responses, 0)["result"]["protocolVersion"], version);
        assert_eq!(response_to(&responses, 1)["result"]["tools"][0]["name"], "search_memory");
    }
    // The newest revision has no handshake: every request carries its version.
    let meta = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let responses = serve_input(to_lines(&[
        request(1, "server/discover", &meta),
        request(2, "tools/list", &meta),
    ]));
    let versions = &response_to(&responses, 1)["result"]["supportedVersions"];
    assert!(versions.to_string().contains("2026-07-28"), "{responses:?}");
    let first_tool = &response_to(&responses, 2)["result"]["tools"][0];
    assert_eq!(first_tool["name"], "search_memory", "{responses:?}");
}

#[test]
fn an_error_response_names_what_would_work() {
    let call = |id, name: &str, arguments: Value| {
        request(id, "tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    let responses = serve_input(to_lines(&[
        handshake("2025-11-25"),
        call(1, "search_memory", json!({ "query": "x" })),
        call(2, "remember_it", json!({})),
        request(3, "prompts/get", &json!({ "name": "none" })),
        request(4, "no/such/method", &json!({})),
        request(5, "resources/templates/list", &json!({})),
    ]));
    let text = |id: usize| response_to(&responses, id).to_string();
    // The message of `open_nothing`, as a tool result that the model sees.
    assert!(text(1).contains("say where it is"));
    assert!(text(1).contains("\"isError\":true"));
    // Unknown names: the response lists the known ones.
    assert!(text(2).contains("there is no tool `remember_it`; there are: search_memory"));
    assert!(text(3).contains("there are: remember, review"));
    // The JSON-RPC code for an unknown method.
    assert!(text(4).contains("-32601"), "{}", text(4));
    // The templates name the URIs that work.
    assert!(text(5).contains("memory://memory/{id}"), "{}", text(5));
}

#[test]
fn a_malformed_line_gets_an_error_and_the_next_line_is_served() {
    let deep = "[".repeat(100_000);
    let huge = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":\"{}\"}}", "x".repeat(9 << 20));
    let malformed_lines = [
        "",
        "{",
        "\u{0}",
        "[]",
        "null",
        "{\"id\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":{}}",
        &deep,
        &huge,
    ];
    for line in malformed_lines {
        // Once before the handshake and once after it.
        let mut input = format!("{line}\n").into_bytes();
        input.extend(to_lines(&[handshake("2025-11-25")]));
        input.extend(format!("{line}\n").into_bytes());
        input.extend(to_lines(&[request(1, "ping", &json!({}))]));
        let responses = serve_input(input);

        let n_errors = responses.iter().filter(|it| it["error"].is_object()).count();
        let line_start: String = line.chars().take(40).collect();
        // An empty line is ignored.
        let n_expected = if line.is_empty() { 0 } else { 2 };
        assert_eq!(n_errors, n_expected, "{line_start}: {responses:?}");
        assert!(response_to(&responses, 1)["result"].is_object(), "{line_start}");
    }
}

/// Arbitrary JSON, with keys that requests use among the random ones.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(
                "[a-zA-Z_/]{0,12}|name|arguments|_meta|cursor",
                inner,
                0..5
            )
            .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

/// Methods of random requests. Cancelling is not among them, because a cancelled request gets no
/// response.
const METHODS: &[&str] = &[
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "resources/subscribe",
    "server/discover",
    "tasks/get",
    "initialize",
    "",
    "no/such/method",
];

/// A line of random input.
#[derive(Clone, Debug)]
enum ClientInput {
    Bytes(Vec<u8>),
    Json(Value),
    /// So many nested arrays.
    DeepJson(usize),
    /// The index of a method, and its parameters.
    Request(usize, Value),
    /// The index of a tool, and its arguments.
    ToolCall(usize, Value),
    Notification(String, Value),
}

fn any_client_input() -> impl Strategy<Value = ClientInput> {
    prop_oneof![
        prop::collection::vec(any::<u8>().prop_filter("one line", |it| *it != b'\n'), 0..60)
            .prop_map(ClientInput::Bytes),
        any_json().prop_map(ClientInput::Json),
        (0_usize..400).prop_map(ClientInput::DeepJson),
        (0..METHODS.len(), any_json())
            .prop_map(|(method, params)| ClientInput::Request(method, params)),
        (0..waylore_mcp::tool_rows().len(), any_json())
            .prop_map(|(tool, arguments)| ClientInput::ToolCall(tool, arguments)),
        ("[a-z/]{0,12}", any_json())
            .prop_map(|(method, params)| ClientInput::Notification(method, params)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_gets_exactly_one_response(
        inputs in prop::collection::vec(any_client_input(), 0..12)
    ) {
        // Turns the random inputs into lines; only requests get an id and expect a response.
        let mut input = to_lines(&[handshake("2025-11-25")]);
        let mut request_ids = BTreeSet::from([0]);
        for (index, client_input) in inputs.iter().enumerate() {
            // 0 is the handshake.
            let id = index + 1;
            let message = match client_input {
                // Written as they are, because they may be no JSON.
                ClientInput::Bytes(bytes) => {
                    input.extend_from_slice(bytes);
                    input.push(b'\n');
                    continue;
                }
                ClientInput::Json(value) => value.clone(),
                ClientInput::DeepJson(depth) => {
                    input.extend(format!("{}{}\n", "[".repeat(*depth), "]".repeat(*depth)).bytes());
                    continue;
                }
                ClientInput::Request(method, params) => {
                    request_ids.insert(id);
                    request(id, METHODS[*method], params)
                }
                ClientInput::ToolCall(tool, arguments) => {
                    request_ids.insert(id);
                    let name = waylore_mcp::tool_rows()[*tool].name;
                    request(id, "tools/call", &json!({ "name": name, "arguments": arguments }))
                }
                ClientInput::Notification(method, params) => {
                    json!({ "jsonrpc": "2.0", "method": method, "params": params })
                }
            };
            input.extend(to_lines(&[message]));
        }

        let responses = serve_input(input);
        for id in request_ids {
            let n_responses = responses.iter().filter(|it| it["id"] == id).count();
            // Names the input in the message. The handshake, id 0, is not one of them: `wrapping_sub`
            // gives an index for which `get` returns `None`.
            prop_assert_eq!(n_responses, 1, "{}: {:?}", id, inputs.get(id.wrapping_sub(1)));
        }
    }
}

// The fuzz target of `make fuzz`, run here over its seeds and 300 mutations of them.
#[path = "../../../../fuzz/targets/mutate.rs"]
mod mutate;
#[path = "../../../../fuzz/targets/mcp.rs"]
mod target;

#[test]
fn mutated_input_gets_json_responses() {
    mutate::replay("mcp", 300, target::run);
}
