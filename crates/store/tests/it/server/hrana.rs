//! A minimal client of Hrana, the protocol of libSQL servers: JSON over HTTP, here with one stream
//! and one statement per request.
//!
//! A request for `SELECT ?1` with the parameter 7, and the relevant part of its response:
//!
//! ```text
//! {"baton":null,"requests":[{"type":"execute","stmt":{"sql":"SELECT ?1","args":[{"type":"integer","value":"7"}]}}]}
//! {"baton":"b1","results":[{"type":"ok","response":{"result":{"rows":[[{"type":"integer","value":"7"}]]}}}]}
//! ```
//!
//! The baton of a response goes into the next request, which then runs in the same transaction.

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
        let mut rows = Vec::new();
        for row in result["rows"].as_array().unwrap() {
            rows.push(row.as_array().unwrap().iter().map(from_json).collect());
        }
        let n_changed = result["affected_row_count"].as_u64().unwrap();
        (rows, usize::try_from(n_changed).unwrap())
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

/// Encodes without padding, which the server does not need.
fn encode_base64(bytes: &[u8]) -> String {
    let mut result = String::new();
    for chunk in bytes.chunks(3) {
        // Three bytes are the lower 24 bits of a number, from which four digits of 6 bits are
        // taken, the highest first. Missing bytes are 0.
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        // One digit more than bytes: 1 byte needs 2 digits, 3 bytes need 4.
        for position in 0..=chunk.len() {
            let digit = (bits >> (18 - 6 * position)) & 63;
            result.push(char::from(DIGITS[digit as usize]));
        }
    }
    result
}

fn decode_base64(text: &str) -> Vec<u8> {
    let mut digits: Vec<u32> = Vec::new();
    for byte in text.bytes() {
        // The padding `=` is no digit and is left out.
        if let Some(digit) = DIGITS.iter().position(|it| *it == byte) {
            digits.push(u32::try_from(digit).unwrap());
        }
    }
    let mut result = Vec::new();
    for chunk in digits.chunks(4) {
        let mut bits = 0;
        for digit in chunk {
            bits = bits << 6 | digit;
        }
        // Missing digits are 0.
        bits <<= 6 * (4 - chunk.len());
        // The lower 24 bits, with one byte less than digits.
        result.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    result
}
