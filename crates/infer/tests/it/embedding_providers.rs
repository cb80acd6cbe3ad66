//! Embedding providers that work correctly: the requests that are sent, and the vectors that are
//! returned.

use expect_test::expect;
use serde_json::{Value, json};
use waylore_infer::{
    BuiltInEmbedder, DIMS, EmbeddingApi, EmbeddingModel, Error, MODEL_ID, ResponseFlaw,
};

use crate::providers::{
    GENEROUS_DEADLINE, KEY, endpoint, open_model, openai_body, reply_with_vectors, response_flaw,
    two_dim_model,
};
use crate::server::{StubProvider, StubReply, StubRequest};

/// An Ollama server whose vectors have `native` numbers unless fewer are requested.
fn ollama(native: usize) -> StubProvider {
    StubProvider::start(move |seen, _| match seen.line.as_str() {
        "GET /api/tags" => StubReply::json(json!({ "models": [
            { "name": "all-minilm:latest", "digest": "ffffffffffffffff", "size": 1 },
            { "name": "qwen3-embedding:0.6b", "digest": "sha256:0123456789abcdef", "size": 639_000_000 },
        ] })),
        "POST /api/show" => StubReply::json(json!({
            "capabilities": ["embedding"], "model_info": { "qwen3.embedding_length": native, "qwen3.block_count": 28 },
        })),
        "POST /api/embed" => {
            let length = seen.body["dimensions"].as_u64().and_then(|it| usize::try_from(it).ok());
            let n_texts = seen.body["input"].as_array().unwrap().len();
            StubReply::json(
                json!({ "model": "m", "embeddings": vec![vec![2.0; length.unwrap_or(native).min(native)]; n_texts], "total_duration": 1 }),
            )
        }
        _ => StubReply::json(json!({})),
    })
}

/// The bodies of all requests with this method and path.
fn bodies(server: &StubProvider, line: &str) -> Vec<Value> {
    server.requests().into_iter().filter(|it| it.line == line).map(|it| it.body).collect()
}

#[test]
fn ollama_gets_the_prefixes_of_the_model_and_the_requested_dimensions() {
    let server = ollama(1024);
    let embeddings =
        open_model(&server, EmbeddingApi::Ollama, "qwen3-embedding:0.6b", Some(4)).unwrap();
    assert_eq!(
        (embeddings.id(), embeddings.dims()),
        ("ollama/qwen3-embedding:0.6b@0123456789ab/4/p1", 4)
    );
    assert_eq!(embeddings.embed_documents(&["a", ""]).unwrap(), [vec![0.5; 4], vec![0.5; 4]]);
    assert_eq!(embeddings.embed_query("why", GENEROUS_DEADLINE).unwrap(), [0.5; 4]);
    let bodies: Vec<String> =
        bodies(&server, "POST /api/embed").iter().map(Value::to_string).collect();
    expect![[r#"
        {"dimensions":4,"input":["a","(empty)"],"keep_alive":"5m","model":"qwen3-embedding:0.6b","truncate":true}
        {"dimensions":4,"input":["Instruct: Given a question about a software project, find the notes and code that answer it\nQuery:why"],"keep_alive":"5m","model":"qwen3-embedding:0.6b","truncate":true}"#]]
    .assert_eq(&bodies.join("\n"));
}

#[test]
fn the_dimensions_of_an_ollama_model_are_known_without_embedding() {
    let server = ollama(6);
    let embeddings = open_model(&server, EmbeddingApi::Ollama, "all-minilm", None).unwrap();
    assert_eq!(
        (embeddings.id(), embeddings.dims()),
        ("ollama/all-minilm:latest@ffffffffffff/6/p1", 6)
    );
    assert!(bodies(&server, "POST /api/embed").is_empty());

    // Neither longer vectors nor shorter ones: those of this model cannot be truncated.
    let error = open_model(&server, EmbeddingApi::Ollama, "all-minilm", Some(1024)).err().unwrap();
    assert_eq!(response_flaw(error), ResponseFlaw::Dims { wanted: 1024, found: 6 });
    let error = open_model(&server, EmbeddingApi::Ollama, "all-minilm", Some(4)).err().unwrap();
    assert_eq!(response_flaw(error), ResponseFlaw::Dims { wanted: 4, found: 6 });

    // A model that the server does not have.
    let error = open_model(&server, EmbeddingApi::Ollama, "absent", None).err().unwrap();
    assert!(
        matches!(&error, Error::Missing { message, .. } if message.contains("ollama pull absent")),
        "{error}"
    );
}

#[test]
fn vectors_of_an_old_ollama_that_ignores_dimensions_are_truncated_here() {
    let server = StubProvider::start(|seen, _| match seen.line.as_str() {
        "GET /api/tags" => StubReply::json(
            json!({ "models": [{ "name": "qwen3-embedding:4b", "digest": "0123456789abcdef" }] }),
        ),
        "POST /api/show" => StubReply::json(json!({})),
        _ => StubReply::json(json!({ "embeddings": [[3.0, 4.0, 12.0]] })),
    });
    let embeddings =
        open_model(&server, EmbeddingApi::Ollama, "qwen3-embedding:4b", Some(2)).unwrap();
    assert_eq!(embeddings.embed_documents(&["a"]).unwrap(), [[0.6, 0.8]]);
}

#[test]
fn a_model_that_cannot_embed_is_not_opened() {
    let server =
        StubProvider::start(|_, _| StubReply::json(json!({ "capabilities": ["completion"] })));
    let error = open_model(&server, EmbeddingApi::Ollama, "llama3", None).err().unwrap();
    assert_eq!(
        response_flaw(error),
        ResponseFlaw::Shape("`llama3` is not an embedding model".to_owned())
    );
}

#[test]
fn openai_gets_the_key_and_may_return_vectors_in_any_order() {
    // The ordinary reply with another second vector, in reverse order.
    let server = StubProvider::start(|seen, _| {
        let StubReply::Whole(status, headers, body) = reply_with_vectors(seen) else {
            unreachable!()
        };
        let mut answer: Value = serde_json::from_slice(&body).unwrap();
        answer["data"][1]["embedding"] = json!([2, 0]);
        answer["data"].as_array_mut().unwrap().reverse();
        StubReply::Whole(status, headers, answer.to_string().into_bytes())
    });
    let embeddings =
        open_model(&server, EmbeddingApi::OpenAi, "text-embedding-3-small", Some(2)).unwrap();
    assert!(server.requests().is_empty(), "opening sends nothing if the dimensions are given");
    assert_eq!(
        embeddings.id(),
        format!("{}/text-embedding-3-small/2/p1", &server.url()["http://".len()..])
    );
    assert_eq!(embeddings.embed_documents(&["a", "b"]).unwrap(), [[0.6, 0.8], [1.0, 0.0]]);

    // The request.
    let seen: StubRequest = server.requests().pop().unwrap();
    assert_eq!(seen.line, "POST /v1/embeddings");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("application/json"));
    assert!(seen.header("user-agent").unwrap().starts_with("waylore/"));
    let body = json!({ "model": "text-embedding-3-small", "input": ["a", "b"], "dimensions": 2, "encoding_format": "float" });
    assert_eq!(seen.body, body);
}

#[test]
fn voyage_gets_its_own_names_of_two_fields() {
    let server = StubProvider::start(|seen, _| reply_with_vectors(seen));
    let embeddings = open_model(&server, EmbeddingApi::Voyage, "voyage-code-3", Some(2)).unwrap();
    embeddings.embed_documents(&["a"]).unwrap();
    embeddings.embed_query("b", GENEROUS_DEADLINE).unwrap();
    let body = |text: &str, kind: &str| json!({ "model": "voyage-code-3", "input": [text], "output_dimension": 2, "input_type": kind, "truncation": true });
    assert_eq!(bodies(&server, "POST /v1/embeddings"), [body("a", "document"), body("b", "query")]);
}

#[test]
fn unknown_dimensions_are_measured_once() {
    let server = StubProvider::start(|seen, _| reply_with_vectors(seen));
    let embeddings =
        open_model(&server, EmbeddingApi::Compatible, "all-MiniLM-L6-v2", None).unwrap();
    assert_eq!(embeddings.dims(), 2);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].body.get("dimensions"), None);
}

#[test]
fn many_texts_are_split_into_requests_within_the_limits() {
    // The vector of a text holds the number that the text begins with.
    let server = StubProvider::start(|seen, _| {
        let number =
            |it: &Value| it.as_str().unwrap().split(' ').next().unwrap().parse::<f32>().unwrap();
        let vectors: Vec<Vec<f32>> =
            seen.body["input"].as_array().unwrap().iter().map(|it| vec![number(it), 1.0]).collect();
        StubReply::json(openai_body(&vectors))
    });
    let texts: Vec<String> = (0..70).map(|it| format!("{it} {}", "é".repeat(10_000))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = two_dim_model(&server).embed_documents(&texts).unwrap();
    assert_eq!(vectors.len(), 70);
    for (i, vector) in (0_u16..).zip(&vectors) {
        assert!(
            (vector[0] / vector[1] - f32::from(i)).abs() < 0.01,
            "vectors keep the order of their texts"
        );
    }

    // The limits of this API: 32 texts and 32,000 bytes per request, 16,000 bytes per text.
    for seen in server.requests() {
        let texts = seen.body["input"].as_array().unwrap().clone();
        let lengths: Vec<usize> = texts.iter().map(|it| it.as_str().unwrap().len()).collect();
        assert!(lengths.len() <= 32 && lengths.iter().all(|it| *it <= 16_000));
        assert!(lengths.iter().sum::<usize>() <= 32_000);
    }
    assert!(two_dim_model(&server).embed_documents(&[]).unwrap().is_empty());
}

#[test]
fn the_built_in_model_has_the_same_interface() {
    let embeddings = EmbeddingModel::BuiltIn(BuiltInEmbedder::new());
    assert_eq!((embeddings.id(), embeddings.dims()), (MODEL_ID, DIMS));
    assert_eq!(
        embeddings.embed_documents(&["a"]).unwrap()[0],
        embeddings.embed_query("a", GENEROUS_DEADLINE).unwrap()
    );
    let probe = embeddings.probe().unwrap();
    assert!(probe.is_sane() && probe.related > 600 && probe.id == MODEL_ID, "{probe:?}");
}

#[test]
fn a_probe_detects_a_useless_model_and_a_replaced_one() {
    let server = StubProvider::start(|seen, _| reply_with_vectors(seen));
    // All vectors are equal, so related texts are no closer than others.
    let probe = two_dim_model(&server).probe().unwrap();
    assert_eq!(
        (probe.related, probe.unrelated, probe.is_sane(), probe.dims),
        (1000, 1000, false, 2)
    );

    // The digest is the number of the request, so the model seems to be another one every time.
    let server = StubProvider::start(|seen, number| match seen.line.as_str() {
        "GET /api/tags" => StubReply::json(
            json!({ "models": [{ "name": "m:latest", "digest": format!("{number:012}") }] }),
        ),
        _ => StubReply::json(json!({ "model_info": { "bert.embedding_length": 2 } })),
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
