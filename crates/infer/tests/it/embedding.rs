//! Vectors from providers that behave: what is asked of them, and what becomes of their answers.

use expect_test::expect;
use serde_json::{Value, json};
use waylore_infer::{
    BuiltInEmbedder, DIMS, EmbeddingApi, EmbeddingModel, Error, MODEL_ID, ResponseFlaw,
};

use crate::kit::{KEY, LONG, data, embeddings, endpoint, fine, flaw, open};
use crate::server::{Reply, Seen, Server};

/// An Ollama server with one model, whose vectors have `native` numbers unless fewer are asked for.
fn ollama(native: usize) -> Server {
    Server::start(move |seen, _| match seen.line.as_str() {
        "GET /api/tags" => Reply::json(json!({ "models": [
            { "name": "all-minilm:latest", "digest": "ffffffffffffffff", "size": 1 },
            { "name": "qwen3-embedding:0.6b", "digest": "sha256:0123456789abcdef", "size": 639_000_000 },
        ] })),
        "POST /api/show" => Reply::json(json!({
            "capabilities": ["embedding"], "model_info": { "qwen3.embedding_length": native, "qwen3.block_count": 28 },
        })),
        "POST /api/embed" => {
            let length = seen.body["dimensions"].as_u64().and_then(|it| usize::try_from(it).ok());
            let n_texts = seen.body["input"].as_array().unwrap().len();
            Reply::json(
                json!({ "model": "m", "embeddings": vec![vec![2.0; length.unwrap_or(native).min(native)]; n_texts], "total_duration": 1 }),
            )
        }
        _ => Reply::json(json!({})),
    })
}

fn bodies(server: &Server, line: &str) -> Vec<Value> {
    server.seen().into_iter().filter(|it| it.line == line).map(|it| it.body).collect()
}

#[test]
fn ollama_is_asked_as_its_model_wants_to_be_asked() {
    let server = ollama(1024);
    let embeddings = open(&server, EmbeddingApi::Ollama, "qwen3-embedding:0.6b", Some(4)).unwrap();
    assert_eq!(
        (embeddings.id(), embeddings.dims()),
        ("ollama/qwen3-embedding:0.6b@0123456789ab/4/p1", 4)
    );
    assert_eq!(embeddings.embed_documents(&["a", ""]).unwrap(), [vec![0.5; 4], vec![0.5; 4]]);
    assert_eq!(embeddings.embed_query("why", LONG).unwrap(), [0.5; 4]);
    let bodies: Vec<String> =
        bodies(&server, "POST /api/embed").iter().map(Value::to_string).collect();
    expect![[r#"
        {"dimensions":4,"input":["a","(empty)"],"keep_alive":"5m","model":"qwen3-embedding:0.6b","truncate":true}
        {"dimensions":4,"input":["Instruct: Given a question about a software project, find the notes and code that answer it\nQuery:why"],"keep_alive":"5m","model":"qwen3-embedding:0.6b","truncate":true}"#]]
    .assert_eq(&bodies.join("\n"));
}

#[test]
fn ollama_says_how_long_its_vectors_are() {
    let server = ollama(6);
    let embeddings = open(&server, EmbeddingApi::Ollama, "all-minilm", None).unwrap();
    assert_eq!(
        (embeddings.id(), embeddings.dims()),
        ("ollama/all-minilm:latest@ffffffffffff/6/p1", 6)
    );
    assert!(bodies(&server, "POST /api/embed").is_empty());
    let error = open(&server, EmbeddingApi::Ollama, "all-minilm", Some(1024)).err().unwrap();
    assert_eq!(flaw(error), ResponseFlaw::Dims { wanted: 1024, found: 6 });
    let error = open(&server, EmbeddingApi::Ollama, "all-minilm", Some(4)).err().unwrap();
    assert_eq!(flaw(error), ResponseFlaw::Dims { wanted: 4, found: 6 }, "not a model to be cut");
    let error = open(&server, EmbeddingApi::Ollama, "absent", None).err().unwrap();
    assert!(
        matches!(&error, Error::Missing { said, .. } if said.contains("ollama pull absent")),
        "{error}"
    );
}

#[test]
fn an_old_ollama_that_knows_no_dimensions_is_cut_here() {
    let server = Server::start(|seen, _| match seen.line.as_str() {
        "GET /api/tags" => Reply::json(
            json!({ "models": [{ "name": "qwen3-embedding:4b", "digest": "0123456789abcdef" }] }),
        ),
        "POST /api/show" => Reply::json(json!({})),
        _ => Reply::json(json!({ "embeddings": [[3.0, 4.0, 12.0]] })),
    });
    let embeddings = open(&server, EmbeddingApi::Ollama, "qwen3-embedding:4b", Some(2)).unwrap();
    assert_eq!(embeddings.embed_documents(&["a"]).unwrap(), [[0.6, 0.8]]);
}

#[test]
fn a_model_that_cannot_embed_is_not_opened() {
    let server = Server::start(|_, _| Reply::json(json!({ "capabilities": ["completion"] })));
    let error = open(&server, EmbeddingApi::Ollama, "llama3", None).err().unwrap();
    assert_eq!(flaw(error), ResponseFlaw::Shape("`llama3` is not an embedding model".to_owned()));
}

#[test]
fn openai_answers_in_any_order_and_gets_the_key() {
    let server = Server::start(|seen, _| {
        let Reply::Whole(status, headers, body) = fine(seen) else { unreachable!() };
        let mut answer: Value = serde_json::from_slice(&body).unwrap();
        answer["data"][1]["embedding"] = json!([2, 0]);
        answer["data"].as_array_mut().unwrap().reverse();
        Reply::Whole(status, headers, answer.to_string().into_bytes())
    });
    let embeddings =
        open(&server, EmbeddingApi::OpenAi, "text-embedding-3-small", Some(2)).unwrap();
    assert!(server.seen().is_empty(), "all is known already");
    assert_eq!(
        embeddings.id(),
        format!("{}/text-embedding-3-small/2/p1", &server.url()["http://".len()..])
    );
    assert_eq!(embeddings.embed_documents(&["a", "b"]).unwrap(), [[0.6, 0.8], [1.0, 0.0]]);
    let seen: Seen = server.seen().pop().unwrap();
    assert_eq!(seen.line, "POST /v1/embeddings");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("application/json"));
    assert!(seen.header("user-agent").unwrap().starts_with("waylore/"));
    let body = json!({ "model": "text-embedding-3-small", "input": ["a", "b"], "dimensions": 2, "encoding_format": "float" });
    assert_eq!(seen.body, body);
}

#[test]
fn voyage_has_other_names_for_two_fields() {
    let server = Server::start(|seen, _| fine(seen));
    let embeddings = open(&server, EmbeddingApi::Voyage, "voyage-code-3", Some(2)).unwrap();
    embeddings.embed_documents(&["a"]).unwrap();
    embeddings.embed_query("b", LONG).unwrap();
    let body = |text: &str, kind: &str| json!({ "model": "voyage-code-3", "input": [text], "output_dimension": 2, "input_type": kind, "truncation": true });
    assert_eq!(bodies(&server, "POST /v1/embeddings"), [body("a", "document"), body("b", "query")]);
}

#[test]
fn a_length_nobody_says_is_measured_once() {
    let server = Server::start(|seen, _| fine(seen));
    let embeddings = open(&server, EmbeddingApi::Compatible, "all-MiniLM-L6-v2", None).unwrap();
    assert_eq!(embeddings.dims(), 2);
    assert_eq!(server.seen().len(), 1);
    assert_eq!(server.seen()[0].body.get("dimensions"), None);
}

#[test]
fn many_texts_are_several_requests_and_one_answer() {
    let server = Server::start(|seen, _| {
        let number =
            |it: &Value| it.as_str().unwrap().split(' ').next().unwrap().parse::<f32>().unwrap();
        let vectors: Vec<Vec<f32>> =
            seen.body["input"].as_array().unwrap().iter().map(|it| vec![number(it), 1.0]).collect();
        Reply::json(data(&vectors))
    });
    let texts: Vec<String> = (0..70).map(|it| format!("{it} {}", "é".repeat(10_000))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embeddings(&server).embed_documents(&texts).unwrap();
    assert_eq!(vectors.len(), 70);
    for (i, vector) in (0_u16..).zip(&vectors) {
        assert!(
            (vector[0] / vector[1] - f32::from(i)).abs() < 0.01,
            "vectors keep the order of their texts"
        );
    }
    for seen in server.seen() {
        let texts = seen.body["input"].as_array().unwrap().clone();
        let lengths: Vec<usize> = texts.iter().map(|it| it.as_str().unwrap().len()).collect();
        assert!(lengths.len() <= 32 && lengths.iter().all(|it| *it <= 16_000));
        assert!(lengths.iter().sum::<usize>() <= 32_000);
    }
    assert!(embeddings(&server).embed_documents(&[]).unwrap().is_empty());
}

#[test]
fn the_built_in_model_is_behind_the_same_door() {
    let embeddings = EmbeddingModel::BuiltIn(BuiltInEmbedder::new());
    assert_eq!((embeddings.id(), embeddings.dims()), (MODEL_ID, DIMS));
    assert_eq!(
        embeddings.embed_documents(&["a"]).unwrap()[0],
        embeddings.embed_query("a", LONG).unwrap()
    );
    let probe = embeddings.probe().unwrap();
    assert!(probe.is_sane() && probe.related > 600 && probe.id == MODEL_ID, "{probe:?}");
}

#[test]
fn a_probe_finds_a_model_that_knows_nothing_and_one_that_was_replaced() {
    let server = Server::start(|seen, _| fine(seen));
    let probe = embeddings(&server).probe().unwrap();
    assert_eq!(
        (probe.related, probe.unrelated, probe.is_sane(), probe.dims),
        (1000, 1000, false, 2)
    );

    let server = Server::start(|seen, number| match seen.line.as_str() {
        "GET /api/tags" => Reply::json(
            json!({ "models": [{ "name": "m:latest", "digest": format!("{number:012}") }] }),
        ),
        _ => Reply::json(json!({ "model_info": { "bert.embedding_length": 2 } })),
    });
    let config = waylore_infer::EmbeddingConfig {
        api: EmbeddingApi::Ollama,
        endpoint: endpoint(&server),
        model: "m".to_owned(),
        dims: None,
    };
    let embeddings = EmbeddingModel::open(&config).unwrap();
    assert!(matches!(embeddings.probe(), Err(Error::Changed { .. })));
}
