//! Support code: a small HTTP server on this machine that stands in for a model provider.
//!
//! A test gives it a function from request to reply, points the program at its address, and later
//! inspects the requests it received. `provider_reply` is such a function for embeddings, reranking
//! and text generation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Method and path, such as `POST /v1/embeddings`.
    pub(crate) line: String,
    /// The header that carries the API key; empty without one.
    pub(crate) authorization: String,
    /// The JSON body; null without one.
    pub(crate) body: Value,
}

pub(crate) enum ServerReply {
    /// Status 200 with a JSON body.
    Json(Value),
    /// Status 200 with a body of server-sent events, sent at once.
    Events(String),
    /// A status and any body, labelled as JSON.
    Raw(u16, String),
    /// No reply: the connection stays open until the client closes it.
    NoAnswer,
}

/// A running server. Its threads end with the test process.
pub(crate) struct TestServer {
    port: u16,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl TestServer {
    /// Listens on a free port and answers every request with `answer`.
    pub(crate) fn start(
        answer: impl Fn(&ReceivedRequest) -> ServerReply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (request_log, answer) = (Arc::clone(&received), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (request_log, answer) = (Arc::clone(&request_log), Arc::clone(&answer));
                thread::spawn(move || serve_connection(stream, &request_log, &*answer));
            }
        });
        Self { port, received }
    }

    /// Starts a provider that embeds, reranks and generates text; see `provider_reply`.
    pub(crate) fn start_provider() -> Self {
        Self::start(provider_reply)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All requests so far, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap().clone()
    }

    /// The texts that were sent to be embedded.
    pub(crate) fn embedded_texts(&self) -> Vec<String> {
        let texts = |it: ReceivedRequest| it.body["input"].as_array().cloned().unwrap_or_default();
        let string = |it: Value| it.as_str().unwrap_or_default().to_owned();
        self.requests().into_iter().flat_map(texts).map(string).collect()
    }
}

/// The reply of a working provider: embeddings by topic, a reranker that prefers texts about tokens,
/// and one fixed generated text.
pub(crate) fn provider_reply(request: &ReceivedRequest) -> ServerReply {
    let path = request.line.split(' ').nth(1).unwrap_or_default();
    match path {
        "/v1/embeddings" => {
            let texts = request.body["input"].as_array().cloned().unwrap_or_default();
            embeddings_reply(
                texts.iter().map(|it| topic_vector(it.as_str().unwrap_or_default())).collect(),
            )
        }
        "/v1/rerank" => {
            let texts = request.body["documents"].as_array().cloned().unwrap_or_default();
            // Matches "token" and "Token".
            let score = |it: &Value| if it.to_string().contains("oken") { 0.9 } else { 0.1 };
            let row =
                |(i, it): (usize, &Value)| json!({ "index": i, "relevance_score": score(it) });
            ServerReply::Json(
                json!({ "results": texts.iter().enumerate().map(row).collect::<Vec<_>>() }),
            )
        }
        "/v1/chat/completions" => ServerReply::Json(
            json!({ "choices": [{ "message": { "content": "A small check." } }] }),
        ),
        _ => ServerReply::Raw(404, "{}".to_owned()),
    }
}

/// The reply of the embeddings API with these vectors, in order.
pub(crate) fn embeddings_reply(vectors: Vec<Vec<f64>>) -> ServerReply {
    let row = |(i, it): (usize, Vec<f64>)| json!({ "index": i, "embedding": it });
    ServerReply::Json(
        json!({ "data": vectors.into_iter().enumerate().map(row).collect::<Vec<_>>() }),
    )
}

/// The unit vector of a text's topic: texts on one topic are equal, texts on different ones orthogonal.
pub(crate) fn topic_vector(text: &str) -> Vec<f64> {
    const N_DIMENSIONS: usize = 8;
    const TOPIC_WORDS: [&[&str]; 3] =
        [&["login", "token", "sign"], &["build", "compil"], &["thread", "lock", "deadlock"]];
    /// Dimension of all texts on no known topic.
    const OTHER_TOPIC: usize = N_DIMENSIONS - 1;
    let text = text.to_lowercase();
    let topic = TOPIC_WORDS.iter().position(|words| words.iter().any(|it| text.contains(it)));
    let mut res = vec![0.0; N_DIMENSIONS];
    res[topic.unwrap_or(OTHER_TOPIC)] = 1.0;
    res
}

/// Reads requests from one connection, logs them, and answers until either side closes it.
fn serve_connection(
    mut stream: TcpStream,
    request_log: &Mutex<Vec<ReceivedRequest>>,
    answer: &dyn Fn(&ReceivedRequest) -> ServerReply,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader) {
        request_log.lock().unwrap().push(request.clone());
        let mut content_type = "application/json";
        let (status, body) = match answer(&request) {
            ServerReply::Json(body) => (200, body.to_string()),
            ServerReply::Events(body) => {
                content_type = "text/event-stream";
                (200, body)
            }
            ServerReply::Raw(status, body) => (status, body),
            ServerReply::NoAnswer => {
                // Blocks until the client closes the connection.
                let _ = stream.read(&mut [0]);
                return;
            }
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
        );
        // A client may close the connection before it has read the whole reply.
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads one request; `None` when the client has closed the connection.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut read_line = || {
        let mut acc = String::new();
        let n_bytes = reader.read_line(&mut acc).ok()?;
        (n_bytes > 0).then(|| acc.trim_end().to_owned())
    };
    let first = read_line()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut res = ReceivedRequest { line: first, authorization: String::new(), body: Value::Null };
    let mut length = 0;
    loop {
        let text = read_line()?;
        // The headers end with an empty line.
        let Some((name, value)) = text.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" | "x-api-key" => value.trim().clone_into(&mut res.authorization),
            "content-length" => length = value.trim().parse().unwrap(),
            _ => {} // no test looks at other headers
        }
    }
    if length > 0 {
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        res.body = serde_json::from_slice(&body).unwrap();
    }
    Some(res)
}
