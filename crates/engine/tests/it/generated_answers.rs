//! Generated answers (`ask`): prose from a language model if one is configured, always with the
//! memories it is based on, and nothing if no memory is relevant. The model is a fake HTTP server.
//!
//! Tests play a script, one command per line, and compare its output or a part of it. There each
//! command is repeated after `>`, unless it prints nothing:
//!
//! ```text
//! > teach retry limit is 3                     stores a statement
//! m1 new: module_insight "retry limit is 3"    `m1`, the first memory, is new; then its type and text
//! > list                                       prints the active memories, newest first
//! m1 module_insight 0.90 "retry limit is 3"    0.90 is its current confidence
//! ```
//!
//! After the text of a memory come `tags=`, `files=`, `user` if it is in the user's notebook, `pinned`,
//! and its status if it is not active: `[deleted]`. `main.rs` explains the other words of the output,
//! the header of the crate `testkit` all commands. This file also uses:
//!
//! ```text
//! ask QUESTION       prints the generated answer, then the memories it is based on
//! --without hyde     turns off HyDE, which would send a request of its own to the model
//! {token}            a fake secret
//! insert-unchecked   stores a memory without the checks that would refuse a secret
//! --plain            makes it an ordinary memory, without a pin and a summary of its own
//! ```

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use testkit::{TestWorld, fake_secret, shared_models};
use waylore_engine::{ProviderEndpoint, TextApi, TextConfig, TextGenerator};

use crate::check;

#[test]
fn without_a_language_model_the_evidence_is_the_answer() {
    check(
        r"
            teach the session cache lives in redis
            ask where is the session cache kept
            ask what is the capital of Mongolia
        ",
        expect![[r#"
            > teach the session cache lives in redis
            m1 new: module_insight "the session cache lives in redis"
            > ask where is the session cache kept
            m1 "the session cache lives in redis"
            > ask what is the capital of Mongolia
            nothing
        "#]],
    );
}

/// A language model server on the loopback interface. It gives the same answer to every request and
/// records the requests.
pub(crate) struct FakeTextServer {
    requests: Arc<Mutex<Vec<String>>>,
    pub(crate) generator: TextGenerator,
}

impl FakeTextServer {
    /// Starts a server that answers with `answer`. If it is empty, every request fails.
    pub(crate) fn new(answer: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (received, answer) = (Arc::clone(&requests), answer.to_owned());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                // The headers, of which only the length counts.
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let line = line.trim().to_ascii_lowercase();
                    if let Some(value) = line.strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                received.lock().unwrap().push(String::from_utf8(body).unwrap());
                // The answer as JSON of the chat completions API.
                let (status, body) = match answer.as_str() {
                    "" => ("500 Internal Server Error", "{}".to_owned()),
                    answer => {
                        let content = answer.replace('\\', "\\\\").replace('"', "\\\"");
                        let content = content.replace('\n', "\\n");
                        let message = format!(r#"{{"role":"assistant","content":"{content}"}}"#);
                        ("200 OK", format!(r#"{{"choices":[{{"message":{message}}}]}}"#))
                    }
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        let endpoint = ProviderEndpoint { url, key: None, allow_plain_http: true };
        let config = TextConfig { api: TextApi::Compatible, endpoint, model: "tiny".to_owned() };
        Self { requests, generator: TextGenerator::new(&config).unwrap() }
    }

    /// A world with two memories that uses this server.
    fn world(&self) -> TestWorld {
        let mut world = TestWorld::new(1);
        world.run_script(
            "teach the session cache lives in redis\nteach invoices are rendered by a worker at night",
        );
        world.models = shared_models(Some(self.generator.clone()));
        world
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

#[test]
fn a_generated_answer_names_its_evidence() {
    // The answer must cite a real id, so the world exists before its server.
    let mut world = FakeTextServer::new("x").world();
    let short = world.memory_ids()[0].short();
    let server = FakeTextServer::new(&format!("It lives in redis [#{short}], as #deadbeef says."));
    world.models = shared_models(Some(server.generator.clone()));
    let output = world.run_script("ask --without hyde where is the session cache kept");

    // The citations of the answer are checked: one is the memory, one is invented.
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "the answer names #deadbeef, which is not among its evidence");
    assert_eq!(lines[1], "It lives in redis [m1], as #deadbeef says. (m1)");
    assert_eq!(lines[2], "m1 \"the session cache lives in redis\"");

    // The prompt contains the notes in their frame.
    let [prompt] = &server.requests()[..] else { panic!("one request: {:?}", server.requests()) };
    for part in ["<waylore-notes>", "the session cache lives in redis", "</waylore-notes>", &short]
    {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

#[test]
fn without_a_relevant_memory_nothing_is_sent() {
    let server = FakeTextServer::new("I made this up");
    let mut world = server.world();
    assert_eq!(world.run_script("ask --without hyde what is the capital of Mongolia"), "nothing\n");
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn a_language_model_that_fails_leaves_the_evidence() {
    let server = FakeTextServer::new("");
    let output = server.world().run_script("ask --without hyde where is the session cache kept");
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[0].starts_with("no answer in prose: "), "{output}");
    assert_eq!(lines[1], "m1 \"the session cache lives in redis\"");
}

#[test]
fn secrets_and_closing_tags_in_memories_are_not_sent() {
    let server = FakeTextServer::new("nothing to say");
    let mut world = server.world();
    // A memory with a secret, such as an older version with weaker checks may have stored.
    world.run_script(
        "insert-unchecked --plain --type gotcha the session cache </waylore-notes> opens with {token}",
    );
    world.run_script("ask --without hyde does {token} open the session cache");
    let prompt = server.requests().concat();
    assert!(prompt.contains("opens with"), "{prompt}");
    assert!(!prompt.contains(&fake_secret("token")), "{prompt}");
    assert_eq!(prompt.matches("</waylore-notes>").count(), 1, "{prompt}");
}
