//! Servers that mean harm, or might as well: they learn nothing, cost little and cannot speak through us.

use waylore_infer::{
    ApiKey, EmbeddingApi, EmbeddingConfig, EmbeddingModel, Error, ProviderEndpoint, ResponseFlaw,
    TextApi, TextConfig, TextGenerator, TextPrompt,
};

use crate::kit::{KEY, LONG, SHORT, embeddings, endpoint, fine, flaw};
use crate::server::{Reply, Server};

#[test]
fn a_redirect_leads_nowhere() {
    for status in [301, 302, 303, 307, 308] {
        let other = Server::start(|seen, _| fine(seen));
        let to = format!("{}/v1/embeddings", other.url());
        let location = format!("location: {to}\r\n");
        let server = Server::start(move |_, _| Reply::Whole(status, location.clone(), Vec::new()));
        let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
        assert!(matches!(&error, Error::Redirected { to: found, .. } if *found == to), "{error}");
        assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
    }
}

#[test]
fn ten_gigabytes_are_not_read() {
    let limit = 32 << 20;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let announced = format!("{head}content-length: 10737418240\r\n\r\n").into_bytes();
    let unannounced = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    let to_the_end = format!("{head}connection: close\r\n\r\n").into_bytes();
    let blanks = vec![b' '; 1 << 20];
    let chunk = [b"100000\r\n", &blanks[..], b"\r\n"].concat();
    let head = announced.clone();
    let server = Server::start(move |_, _| Reply::Drip(head.clone()));
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
    assert_eq!(flaw(error), ResponseFlaw::TooLarge { limit }, "what is announced is enough");
    for (head, bytes) in [(announced, blanks.clone()), (unannounced, chunk), (to_the_end, blanks)] {
        let server = Server::start(move |_, _| Reply::Flood(head.clone(), bytes.clone()));
        let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
        assert_eq!(flaw(error), ResponseFlaw::TooLarge { limit });
    }
}

#[test]
fn headers_without_end_are_not_read() {
    let server = Server::start(|_, _| {
        Reply::Flood(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x: yyyyyyyyyyyyyyyy\r\n".repeat(100))
    });
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
    assert!(matches!(flaw(error), ResponseFlaw::NotHttp(_)));
}

#[test]
fn a_refusal_without_end_is_a_refusal() {
    let head = b"HTTP/1.1 400 No\r\nconnection: close\r\n\r\n".to_vec();
    let server = Server::start(move |_, _| Reply::Flood(head.clone(), b"no ".repeat(1000)));
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
    assert!(matches!(&error, Error::Refused { said, .. } if said.chars().count() < 210), "{error}");
}

#[test]
fn nesting_without_end_does_no_harm() {
    let deep = "[".repeat(1_000_000);
    let bodies = [
        deep.clone(),
        format!(r#"{{"data":{deep}"#),
        format!(r#"{{"data":[{{"index":0,"embedding":[{deep}"#),
        format!(r#"{{"more":{deep}"#),
        format!(r#"{{"more":{deep}{},"data":[]}}"#, "]".repeat(1_000_000)),
        r#"{"a":"#.repeat(1_000_000),
    ];
    for body in bodies {
        let server = Server::start(move |_, _| Reply::text(200, "application/json", &body));
        flaw(embeddings(&server).embed_query("why", LONG).unwrap_err());
    }
    let body = deep.clone();
    let server = Server::start(move |_, _| Reply::text(400, "application/json", &body));
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
}

#[test]
fn the_key_does_not_come_back() {
    let echo = |status: u16| {
        move |body: String| {
            let headers = format!(
                "location: https://evil.example/?key={KEY}\r\ncontent-type: text/{KEY}\r\n"
            );
            Reply::Whole(status, headers, body.into_bytes())
        }
    };
    for status in [200, 302, 400, 401, 404, 429, 500] {
        for body in [
            format!("your key is {KEY}"),
            format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#),
            format!(r#"{{"error":"Bearer {KEY}"}}"#),
            format!("{}{KEY}", "x".repeat(190)),
        ] {
            let reply = echo(status);
            let server = Server::start(move |_, _| reply(body.clone()));
            let embeddings = embeddings(&server);
            let error = embeddings.embed_query("why", SHORT).unwrap_err();
            let shown = format!("{error} {error:?} {:?}", endpoint(&server));
            assert!(
                !shown.contains(&KEY[..8]) && !shown.contains(&KEY[KEY.len() - 8..]),
                "{shown}"
            );
        }
    }
    let body = format!(r#"{{"data":"{KEY}"}}"#);
    let server = Server::start(move |_, _| Reply::text(200, "application/json", &body));
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
}

#[test]
fn what_a_server_says_is_one_short_plain_line() {
    let said = "first\r\nsecond \u{1b}]0;title\u{7}\u{202e}".to_owned() + &"long ".repeat(1000);
    let server = Server::start(move |_, _| Reply::text(400, "text/plain", &said));
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err().to_string();
    assert!(error.contains("first second ]0;titlelong long") && error.len() < 300, "{error}");
    assert!(!error.contains(|it: char| it.is_control() || it == '\u{202e}'));
}

#[test]
fn a_key_with_a_line_break_is_refused_before_anything_is_sent() {
    for key in ["sk-1\r\nx-evil: 1", "sk-1\n", "sk-1\0", " sk-1"] {
        assert!(matches!(ApiKey::new(key), Err(Error::Config { .. })));
    }
}

#[test]
fn a_model_or_an_address_cannot_change_the_request() {
    let server = Server::start(|seen, _| fine(seen));
    let config = |url: String, model: &str| EmbeddingConfig {
        api: EmbeddingApi::Compatible,
        endpoint: ProviderEndpoint { url, key: None, allow_plain_http: false },
        model: model.to_owned(),
        dims: Some(2),
    };
    for (suffix, model) in [
        ("", "a\r\nb"),
        ("", ""),
        ("/ HTTP/1.1\r\nx: y", "m"),
        ("@evil.example", "m"),
        ("?a=b", "m"),
    ] {
        let res = EmbeddingModel::open(&config(server.url() + suffix, model));
        assert!(matches!(res.err(), Some(Error::Config { .. })), "{suffix} {model}");
    }
    let plain = EmbeddingModel::open(&config("http://192.0.2.1:8080".to_owned(), "m"));
    assert!(
        matches!(plain.err(), Some(Error::Config { .. })),
        "not encrypted, and not this machine"
    );
    assert!(server.seen().is_empty());
}

#[test]
fn connections_are_not_shared_between_hosts_or_keys() {
    let server =
        Server::start(|_, _| Reply::json(serde_json::json!({ "message": { "content": "yes" } })));
    let endpoint = |key: Option<&str>| ProviderEndpoint {
        url: server.url(),
        key: key.map(|it| ApiKey::new(it).unwrap()),
        allow_plain_http: false,
    };
    for key in [Some("first"), None, Some("second")] {
        let config =
            TextConfig { api: TextApi::Ollama, endpoint: endpoint(key), model: "m".to_owned() };
        let prompt = TextPrompt { system: "", user: "why", max_tokens: 1 };
        TextGenerator::new(&config).unwrap().complete(&prompt, LONG).unwrap();
    }
    let keys: Vec<Option<String>> =
        server.seen().iter().map(|it| it.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, [Some("Bearer first".to_owned()), None, Some("Bearer second".to_owned())]);
}
