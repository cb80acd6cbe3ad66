//! A small HTTP server on this machine that replies as a test wants, well or badly, and records the
//! requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct StubRequest {
    /// Method and path.
    pub(crate) line: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// The JSON body; null without one.
    pub(crate) body: Value,
}

pub(crate) enum StubReply {
    /// A complete response with this status, these header lines and this body.
    Whole(u16, String, Vec<u8>),
    /// These bytes, valid HTTP or not, then the end of the connection.
    Raw(Vec<u8>),
    /// The first bytes, then the second ones again and again until the client disconnects.
    Flood(Vec<u8>, Vec<u8>),
    /// The first bytes, then a single byte every 10 ms until the client disconnects.
    Drip(Vec<u8>),
    /// Nothing until the client disconnects.
    Silence,
}

pub(crate) struct StubProvider {
    port: u16,
    /// All requests so far, of all connections.
    seen: Arc<Mutex<Vec<StubRequest>>>,
}

impl StubRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

impl StubReply {
    pub(crate) fn json(body: Value) -> Self {
        Self::text(200, "application/json", &body.to_string())
    }

    pub(crate) fn text(status: u16, kind: &str, body: &str) -> Self {
        Self::Whole(status, format!("content-type: {kind}\r\n"), body.as_bytes().to_vec())
    }
}

impl StubProvider {
    /// Starts a server. `answer` gets each request and its number, counted from zero.
    pub(crate) fn start(
        answer: impl Fn(&StubRequest, usize) -> StubReply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (list, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (list, answer) = (Arc::clone(&list), Arc::clone(&answer));
                thread::spawn(move || serve_connection(stream, &list, &*answer));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<StubRequest> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve_connection(
    mut stream: TcpStream,
    list: &Mutex<Vec<StubRequest>>,
    answer: &dyn Fn(&StubRequest, usize) -> StubReply,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader) {
        let number = {
            let mut list = list.lock().unwrap();
            list.push(request.clone());
            list.len() - 1
        };
        // A client may disconnect in the middle of a reply; that is no failure of the test.
        if !send_reply(&mut stream, answer(&request, number)).unwrap_or(false) {
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<StubRequest> {
    let mut line = || {
        let mut acc = String::new();
        let n_bytes = reader.read_line(&mut acc).ok()?;
        (n_bytes > 0).then(|| acc.trim_end().to_owned())
    };
    let first = line()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = Vec::new();
    loop {
        let text = line()?;
        let Some((name, value)) = text.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = StubRequest { line: first, headers, body: Value::Null };
    if let Some(length) = request.header("content-length") {
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).ok()?;
        request.body = serde_json::from_slice(&body).unwrap();
    }
    Some(request)
}

/// Sends a reply. Returns true if the connection stays open for another request.
fn send_reply(stream: &mut TcpStream, reply: StubReply) -> std::io::Result<bool> {
    match reply {
        StubReply::Whole(status, headers, body) => {
            let head =
                format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len());
            stream.write_all(&[head.into_bytes(), body].concat())?;
            return Ok(true);
        }
        StubReply::Raw(bytes) => stream.write_all(&bytes)?,
        StubReply::Flood(head, bytes) => {
            stream.write_all(&head)?;
            loop {
                stream.write_all(&bytes)?;
            }
        }
        StubReply::Drip(head) => {
            stream.write_all(&head)?;
            stream.set_read_timeout(Some(Duration::from_millis(10)))?;
            // The client sends nothing, so the read is the pause: an error is its timeout, and the drip
            // goes on. It ends with a read of 0 bytes, when the client has disconnected.
            while stream.read(&mut [0]).map_or(true, |it| it > 0) {
                stream.write_all(b" ")?;
            }
        }
        StubReply::Silence => {
            let _ = stream.read(&mut [0])?;
        }
    }
    Ok(false)
}
