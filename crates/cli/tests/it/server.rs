//! A small provider on this machine: it answers as a test wants and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Method and path.
    pub(crate) line: String,
    /// The header that carries a key; empty without one.
    pub(crate) authorization: String,
    /// Null where there was none.
    pub(crate) body: Value,
}

pub(crate) enum Reply {
    Json(Value),
    /// A stream of events, all at once.
    Events(String),
    /// A status and a body of any kind, said to be JSON.
    Raw(u16, String),
    /// Nothing, until nobody listens.
    Silence,
}

pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (list, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (list, answer) = (Arc::clone(&list), Arc::clone(&answer));
                thread::spawn(move || attend(stream, &list, &*answer));
            }
        });
        Self { port, seen }
    }

    /// One that knows topics, ranks and writes.
    pub(crate) fn fine() -> Self {
        Self::start(fine)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The texts that were sent to be embedded.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = |it: Seen| it.body["input"].as_array().cloned().unwrap_or_default();
        let string = |it: Value| it.as_str().unwrap_or_default().to_owned();
        self.seen().into_iter().flat_map(texts).map(string).collect()
    }
}

/// What a good provider answers.
pub(crate) fn fine(seen: &Seen) -> Reply {
    let path = seen.line.split(' ').nth(1).unwrap_or_default();
    match path {
        "/v1/embeddings" => {
            let texts = seen.body["input"].as_array().cloned().unwrap_or_default();
            vectors(texts.iter().map(|it| topic(it.as_str().unwrap_or_default())).collect())
        }
        "/v1/rerank" => {
            let texts = seen.body["documents"].as_array().cloned().unwrap_or_default();
            let score = |it: &Value| if it.to_string().contains("oken") { 0.9 } else { 0.1 };
            let row =
                |(i, it): (usize, &Value)| json!({ "index": i, "relevance_score": score(it) });
            Reply::Json(json!({ "results": texts.iter().enumerate().map(row).collect::<Vec<_>>() }))
        }
        "/v1/chat/completions" => {
            Reply::Json(json!({ "choices": [{ "message": { "content": "A small check." } }] }))
        }
        _ => Reply::Raw(404, "{}".to_owned()),
    }
}

/// An answer with these vectors, in order.
pub(crate) fn vectors(vectors: Vec<Vec<f64>>) -> Reply {
    let row = |(i, it): (usize, Vec<f64>)| json!({ "index": i, "embedding": it });
    Reply::Json(json!({ "data": vectors.into_iter().enumerate().map(row).collect::<Vec<_>>() }))
}

/// Eight numbers by what a text is about: a model that knows four topics and nothing else.
pub(crate) fn topic(text: &str) -> Vec<f64> {
    const TOPICS: [&[&str]; 3] =
        [&["login", "token", "sign"], &["build", "compil"], &["thread", "lock", "deadlock"]];
    let text = text.to_lowercase();
    let at = TOPICS.iter().position(|it| it.iter().any(|it| text.contains(it)));
    let mut res = vec![0.0; 8];
    res[at.unwrap_or(7)] = 1.0;
    res
}

fn attend(mut stream: TcpStream, list: &Mutex<Vec<Seen>>, answer: &dyn Fn(&Seen) -> Reply) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(seen) = read(&mut reader) {
        list.lock().unwrap().push(seen.clone());
        let mut kind = "application/json";
        let (status, body) = match answer(&seen) {
            Reply::Json(body) => (200, body.to_string()),
            Reply::Events(body) => {
                kind = "text/event-stream";
                (200, body)
            }
            Reply::Raw(status, body) => (status, body),
            Reply::Silence => {
                let _ = stream.read(&mut [0]);
                return;
            }
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
        );
        // Whoever hangs up in the middle of an answer has heard enough.
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut line = || {
        let mut acc = String::new();
        let n_bytes = reader.read_line(&mut acc).ok()?;
        (n_bytes > 0).then(|| acc.trim_end().to_owned())
    };
    let first = line()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut res = Seen { line: first, authorization: String::new(), body: Value::Null };
    let mut length = 0;
    loop {
        let text = line()?;
        let Some((name, value)) = text.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" | "x-api-key" => value.trim().clone_into(&mut res.authorization),
            "content-length" => length = value.trim().parse().unwrap(),
            _ => {}
        }
    }
    if length > 0 {
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        res.body = serde_json::from_slice(&body).unwrap();
    }
    Some(res)
}
