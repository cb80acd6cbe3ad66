//! Whatever a client sends, nobody panics, and whoever asks is answered.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use model::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use waylore_mcp::{Config, OpenFuture, serve_lines};

/// What was written, readable from outside.
#[derive(Clone, Default)]
struct Sheet(Arc<Mutex<Vec<u8>>>);

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// There is no project: what matters here comes before the engine.
fn nowhere(_: PathBuf) -> OpenFuture {
    Box::pin(async { Err("there is no project; say where it is".to_owned()) })
}

/// What the server writes when it reads these bytes, message by message.
fn answers(input: Vec<u8>) -> Vec<Value> {
    let config = Config {
        open: Arc::new(nowhere),
        now: || Timestamp(1_700_000_000_000),
        random: || [7; 10],
        folder: None,
        current_dir: PathBuf::from("/"),
        host_session: None,
    };
    let sheet = Sheet::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = serve_lines(config, Box::new(Cursor::new(input)), Box::new(sheet.clone()));
    runtime.block_on(served).unwrap();
    let text = String::from_utf8(sheet.0.lock().unwrap().clone()).unwrap();
    text.lines().map(|it| serde_json::from_str(it).expect("every line is JSON")).collect()
}

fn lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().map(|it| format!("{it}\n")).collect::<Vec<_>>().concat().into_bytes()
}

fn request(id: usize, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn handshake(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    request(0, "initialize", &params)
}

fn to(answers: &[Value], id: usize) -> &Value {
    answers.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id}: {answers:?}"))
}

#[test]
fn every_revision_is_spoken() {
    for version in ["2025-06-18", "2025-11-25"] {
        let said = answers(lines(&[handshake(version), request(1, "tools/list", &json!({}))]));
        assert_eq!(to(&said, 0)["result"]["protocolVersion"], version);
        assert_eq!(to(&said, 1)["result"]["tools"][0]["name"], "search_memory");
    }
    let meta = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let said =
        answers(lines(&[request(1, "server/discover", &meta), request(2, "tools/list", &meta)]));
    let versions = &to(&said, 1)["result"]["supportedVersions"];
    assert!(versions.to_string().contains("2026-07-28"), "{said:?}");
    assert_eq!(to(&said, 2)["result"]["tools"][0]["name"], "search_memory", "{said:?}");
}

#[test]
fn what_goes_wrong_is_said_with_what_to_do() {
    let call = |id, name: &str, arguments: Value| {
        request(id, "tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    let said = answers(lines(&[
        handshake("2025-11-25"),
        call(1, "search_memory", json!({ "query": "x" })),
        call(2, "remember_it", json!({})),
        request(3, "prompts/get", &json!({ "name": "none" })),
        request(4, "no/such/method", &json!({})),
        request(5, "resources/templates/list", &json!({})),
    ]));
    let text = |id: usize| to(&said, id).to_string();
    assert!(text(1).contains("say where it is") && text(1).contains("\"isError\":true"));
    assert!(text(2).contains("there is no tool `remember_it`; there are: search_memory"));
    assert!(text(3).contains("there are: remember, review"));
    assert!(text(4).contains("-32601"), "{}", text(4));
    assert!(text(5).contains("memory://memory/{id}"), "{}", text(5));
}

#[test]
fn lines_that_are_no_messages_are_answered_and_the_next_is_read() {
    let deep = "[".repeat(100_000);
    let huge = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":\"{}\"}}", "x".repeat(9 << 20));
    let odd = [
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
    for line in odd {
        let mut input = format!("{line}\n").into_bytes();
        input.extend(lines(&[handshake("2025-11-25")]));
        input.extend(format!("{line}\n").into_bytes());
        input.extend(lines(&[request(1, "ping", &json!({}))]));
        let said = answers(input);
        let n_errors = said.iter().filter(|it| it["error"].is_object()).count();
        let cut: String = line.chars().take(40).collect();
        assert_eq!(n_errors, if line.is_empty() { 0 } else { 2 }, "{cut}: {said:?}");
        assert!(to(&said, 1)["result"].is_object(), "{cut}");
    }
}

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

/// Cancelling takes an answer away, and what is sent before the handshake may be refused.
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

#[derive(Clone, Debug)]
enum Sent {
    Bytes(Vec<u8>),
    Json(Value),
    Deep(usize),
    Request(usize, Value),
    Call(usize, Value),
    Notice(String, Value),
}

fn sent() -> impl Strategy<Value = Sent> {
    prop_oneof![
        prop::collection::vec(any::<u8>().prop_filter("one line", |it| *it != b'\n'), 0..60)
            .prop_map(Sent::Bytes),
        any_json().prop_map(Sent::Json),
        (0_usize..400).prop_map(Sent::Deep),
        (0..METHODS.len(), any_json()).prop_map(|(method, params)| Sent::Request(method, params)),
        (0..waylore_mcp::tool_rows().len(), any_json()).prop_map(|(tool, it)| Sent::Call(tool, it)),
        ("[a-z/]{0,12}", any_json()).prop_map(|(method, params)| Sent::Notice(method, params)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whoever_asks_is_answered_once(all in prop::collection::vec(sent(), 0..12)) {
        let mut input = lines(&[handshake("2025-11-25")]);
        let mut asked = BTreeSet::from([0]);
        for (nth, it) in all.iter().enumerate() {
            let id = nth + 1;
            let message = match it {
                Sent::Bytes(bytes) => {
                    input.extend_from_slice(bytes);
                    input.push(b'\n');
                    continue;
                }
                Sent::Json(value) => value.clone(),
                Sent::Deep(depth) => {
                    input.extend(format!("{}{}\n", "[".repeat(*depth), "]".repeat(*depth)).bytes());
                    continue;
                }
                Sent::Request(method, params) => {
                    asked.insert(id);
                    request(id, METHODS[*method], params)
                }
                Sent::Call(tool, arguments) => {
                    asked.insert(id);
                    let name = waylore_mcp::tool_rows()[*tool].name;
                    request(id, "tools/call", &json!({ "name": name, "arguments": arguments }))
                }
                Sent::Notice(method, params) => {
                    json!({ "jsonrpc": "2.0", "method": method, "params": params })
                }
            };
            input.extend(lines(&[message]));
        }
        let said = answers(input);
        for id in asked {
            let n_answers = said.iter().filter(|it| it["id"] == id).count();
            prop_assert_eq!(n_answers, 1, "{}: {:?}", id, all.get(id.wrapping_sub(1)));
        }
    }
}

#[path = "../../../../fuzz/targets/mutate.rs"]
mod mutate;
#[path = "../../../../fuzz/targets/mcp.rs"]
mod target;

#[test]
fn whatever_a_client_sends_is_answered_in_json() {
    mutate::replay("mcp", 300, target::run);
}
