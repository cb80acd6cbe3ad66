//! A minimal client of the Hrana protocol: one stream, one statement per request.

use std::io::{Read, Write};
use std::net::TcpStream;

use rusqlite::types::Value;
use serde_json::{Value as Json, json};

/// The alphabet of Base64.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) struct Client {
    address: String,
    /// Token that ties a request to the stream, and so to its transaction.
    baton: Option<String>,
}

impl Client {
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), baton: None }
    }

    /// Runs several statements without results.
    pub(crate) fn sequence(&mut self, sql: &str) {
        self.ask(&json!({ "type": "sequence", "sql": sql }), sql);
    }

    /// Runs one statement, and returns its rows and how many rows it changed.
    pub(crate) fn execute(&mut self, sql: &str, params: &[Value]) -> (Vec<Vec<Value>>, usize) {
        let args: Vec<Json> = params.iter().map(to_json).collect();
        let statement = json!({ "sql": sql, "args": args, "want_rows": true });
        let answer = self.ask(&json!({ "type": "execute", "stmt": statement }), sql);
        let result = &answer["result"];
        let row = |it: &Json| it.as_array().unwrap().iter().map(from_json).collect();
        let rows = result["rows"].as_array().unwrap().iter().map(row).collect();
        (rows, usize::try_from(result["affected_row_count"].as_u64().unwrap()).unwrap())
    }

    /// Sends one request on the stream and returns its response.
    fn ask(&mut self, request: &Json, sql: &str) -> Json {
        let body = json!({ "baton": self.baton, "requests": [request] });
        let mut answer = post(&self.address, &body.to_string());
        self.baton = answer["baton"].as_str().map(str::to_owned);
        let first = answer["results"][0].take();
        assert_eq!(first["type"], "ok", "{sql}: {first}");
        first["response"].clone()
    }
}

fn post(address: &str, body: &str) -> Json {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST /v2/pipeline HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    serde_json::from_str(body).unwrap()
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => json!({ "type": "null" }),
        Value::Integer(it) => json!({ "type": "integer", "value": it.to_string() }),
        Value::Real(it) => json!({ "type": "float", "value": it }),
        Value::Text(it) => json!({ "type": "text", "value": it }),
        Value::Blob(it) => json!({ "type": "blob", "base64": encode_base64(it) }),
    }
}

fn from_json(json: &Json) -> Value {
    let text = |name: &str| json[name].as_str().unwrap();
    match text("type") {
        "null" => Value::Null,
        "integer" => Value::Integer(text("value").parse().unwrap()),
        "float" => Value::Real(json["value"].as_f64().unwrap()),
        "text" => Value::Text(text("value").to_owned()),
        _ => Value::Blob(decode_base64(text("base64"))),
    }
}

fn encode_base64(bytes: &[u8]) -> String {
    let mut result = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        for at in 0..=chunk.len() {
            result.push(char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]));
        }
    }
    result
}

fn decode_base64(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .bytes()
        .filter_map(|it| DIGITS.iter().position(|digit| *digit == it))
        .map(|it| u32::try_from(it).unwrap())
        .collect();
    let mut result = Vec::new();
    for chunk in digits.chunks(4) {
        let bits = chunk.iter().fold(0, |acc, it| acc << 6 | it) << (6 * (4 - chunk.len()));
        result.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    result
}
