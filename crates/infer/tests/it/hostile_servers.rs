//! Malicious or broken servers: they get no key of another host, cost bounded time and memory, and
//! cannot put text of their choice into our messages.

use waylore_infer::{
    ApiKey, EmbeddingApi, EmbeddingConfig, EmbeddingModel, Error, ProviderEndpoint, ResponseFlaw,
    TextApi, TextConfig, TextGenerator, TextPrompt,
};

use crate::providers::{
    GENEROUS_DEADLINE, KEY, SHORT_DEADLINE, endpoint, reply_with_vectors, response_flaw,
    two_dim_model,
};
use crate::server::{StubProvider, StubReply};

#[test]
fn a_redirect_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let other = StubProvider::start(|seen, _| reply_with_vectors(seen));
        let to = format!("{}/v1/embeddings", other.url());
        let location = format!("location: {to}\r\n");
        let server =
            StubProvider::start(move |_, _| StubReply::Whole(status, location.clone(), Vec::new()));
        let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
        assert!(matches!(&error, Error::Redirected { to: found, .. } if *found == to), "{error}");
        assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
    }
}

#[test]
fn an_answer_above_the_size_limit_is_not_read() {
    // The three ways to delimit a body: announced length, chunks, end of the connection.
    let limit = 32 << 20;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let announced = format!("{head}content-length: 10737418240\r\n\r\n").into_bytes();
    let unannounced = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    let to_the_end = format!("{head}connection: close\r\n\r\n").into_bytes();
    let blanks = vec![b' '; 1 << 20];
    // 0x100000 bytes are the 1 MB of `blanks`.
    let chunk = [b"100000\r\n", &blanks[..], b"\r\n"].concat();

    // The announced length is enough: nothing of the body is awaited.
    let head = announced.clone();
    let server = StubProvider::start(move |_, _| StubReply::Drip(head.clone()));
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert_eq!(response_flaw(error), ResponseFlaw::TooLarge { limit });

    // An endless body is given up at the limit.
    for (head, bytes) in [(announced, blanks.clone()), (unannounced, chunk), (to_the_end, blanks)] {
        let server = StubProvider::start(move |_, _| StubReply::Flood(head.clone(), bytes.clone()));
        let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
        assert_eq!(response_flaw(error), ResponseFlaw::TooLarge { limit });
    }
}

#[test]
fn endless_headers_are_not_read() {
    let server = StubProvider::start(|_, _| {
        StubReply::Flood(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x: yyyyyyyyyyyyyyyy\r\n".repeat(100))
    });
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert!(matches!(response_flaw(error), ResponseFlaw::NotHttp(_)));
}

#[test]
fn an_endless_error_response_is_cut() {
    let head = b"HTTP/1.1 400 No\r\nconnection: close\r\n\r\n".to_vec();
    let server =
        StubProvider::start(move |_, _| StubReply::Flood(head.clone(), b"no ".repeat(1000)));
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert!(
        matches!(&error, Error::Refused { message, .. } if message.chars().count() < 210),
        "{error}"
    );
}

#[test]
fn deeply_nested_json_is_an_error() {
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
        let server =
            StubProvider::start(move |_, _| StubReply::text(200, "application/json", &body));
        // Any flaw will do, as long as the parser does not overflow the stack.
        response_flaw(two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err());
    }

    // The same in an error response.
    let body = deep.clone();
    let server = StubProvider::start(move |_, _| StubReply::text(400, "application/json", &body));
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
}

#[test]
fn a_key_that_the_server_repeats_is_masked() {
    // Repeats the key in headers and body.
    let echo = |status: u16| {
        move |body: String| {
            let headers = format!(
                "location: https://evil.example/?key={KEY}\r\ncontent-type: text/{KEY}\r\n"
            );
            StubReply::Whole(status, headers, body.into_bytes())
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
            let server = StubProvider::start(move |_, _| reply(body.clone()));
            let embeddings = two_dim_model(&server);
            let error = embeddings.embed_query("why", SHORT_DEADLINE).unwrap_err();
            let shown = format!("{error} {error:?} {:?}", endpoint(&server));
            assert!(
                !shown.contains(&KEY[..8]) && !shown.contains(&KEY[KEY.len() - 8..]),
                "{shown}"
            );
        }
    }

    // A message of the JSON parser quotes the value that it did not expect.
    let body = format!(r#"{{"data":"{KEY}"}}"#);
    let server = StubProvider::start(move |_, _| StubReply::text(200, "application/json", &body));
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
}

#[test]
fn the_message_of_a_server_is_shown_as_one_short_plain_line() {
    let message = "first\r\nsecond \u{1b}]0;title\u{7}\u{202e}".to_owned() + &"long ".repeat(1000);
    let server = StubProvider::start(move |_, _| StubReply::text(400, "text/plain", &message));
    let error =
        two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err().to_string();
    assert!(error.contains("first second ]0;titlelong long") && error.len() < 300, "{error}");
    assert!(!error.contains(|it: char| it.is_control() || it == '\u{202e}'));
}

#[test]
fn a_key_with_characters_that_are_invalid_in_a_header_is_rejected() {
    for key in ["sk-1\r\nx-evil: 1", "sk-1\n", "sk-1\0", " sk-1"] {
        assert!(matches!(ApiKey::new(key), Err(Error::Config { .. })));
    }
}

#[test]
fn a_model_or_an_address_cannot_change_the_request() {
    let server = StubProvider::start(|seen, _| reply_with_vectors(seen));
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

    // Not encrypted, and not this machine.
    let plain = EmbeddingModel::open(&config("http://192.0.2.1:8080".to_owned(), "m"));
    assert!(matches!(plain.err(), Some(Error::Config { .. })));
    assert!(server.requests().is_empty());
}

#[test]
fn connections_are_not_shared_between_hosts_or_keys() {
    let server = StubProvider::start(|_, _| {
        StubReply::json(serde_json::json!({ "message": { "content": "yes" } }))
    });
    let endpoint = |key: Option<&str>| ProviderEndpoint {
        url: server.url(),
        key: key.map(|it| ApiKey::new(it).unwrap()),
        allow_plain_http: false,
    };
    for key in [Some("first"), None, Some("second")] {
        let config =
            TextConfig { api: TextApi::Ollama, endpoint: endpoint(key), model: "m".to_owned() };
        let prompt = TextPrompt { system: "", user: "why", max_tokens: 1 };
        TextGenerator::new(&config).unwrap().complete(&prompt, GENEROUS_DEADLINE).unwrap();
    }
    let keys: Vec<Option<String>> =
        server.requests().iter().map(|it| it.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, [Some("Bearer first".to_owned()), None, Some("Bearer second".to_owned())]);
}
