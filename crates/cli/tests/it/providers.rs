//! Tests of external model providers: embeddings, reranking and text generation over HTTP.
//!
//! Only the user can choose a provider, never a project. Vectors of different models are never
//! compared. When a provider fails or answers nonsense, searches continue with keywords. API keys
//! and secrets go to no one else and are never printed.
//!
//! Terms. A *provider* serves one or more *roles*: `embeddings` (text to vector), `rerank` (order
//! search results) and `text` (generate text); each has the settings `ROLE.provider`, `ROLE.url` and
//! `ROLE.model`. The provider `compatible` is any server with the HTTP interface of `OpenAI`; `built-in`
//! is the embedding model inside the binary. A memory is embedded, that is given a vector, when it is
//! stored or by `waylore embed`.
//!
//! The providers are `TestServer`s on the loopback address. `TestServer::start_provider` serves all
//! roles; its model `topics` gives a text the unit vector (8 numbers) of its topic: texts with
//! "token" or "sign" have the same vector, and texts with "build" another one.
//!
//! Exit codes: 0 success, 1 nothing found or a problem was found, 2 wrong usage or settings, 3 a
//! failure outside the program, here of a provider.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use serde_json::Value;

use crate::http_server::{
    ReceivedRequest, ServerReply, TestServer, embeddings_reply, provider_reply, topic_vector,
};
use crate::sandbox::{
    CommandOutput, Sandbox, files, files_containing, has_program, id_of, record, run_command, skip,
    string,
};

const API_KEY: &str = "wl-live-0123456789abcdef";
/// An address on which nothing listens.
const UNREACHABLE_URL: &str = "http://127.0.0.1:1";

const TOKEN_MEMORY: &str = "Access tokens expire after an hour and nobody renews them";
const BUILD_MEMORY: &str = "The build takes eight minutes because its cache key holds the date";

/// How often `a_memory_with_a_damaged_vector_is_still_found` repeats the 8 numbers of a topic vector.
const VECTOR_REPEATS: u8 = 96;

type ProviderReply = fn(&ReceivedRequest) -> ServerReply;

/// Configures a provider for a role: `embeddings`, `rerank` or `text`.
fn use_provider(sandbox: &Sandbox, role: &str, url: &str) {
    sandbox.json(&["config", "set", &format!("{role}.provider"), "compatible"]);
    sandbox.json(&["config", "set", &format!("{role}.url"), url]);
    sandbox.json(&["config", "set", &format!("{role}.model"), "topics"]);
}

/// Runs a command with more environment variables, given as name and value.
fn run_with_variables(
    sandbox: &Sandbox,
    variables: &[(&str, &str)],
    args: &[&str],
) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.envs(variables.iter().copied());
    run_command(command)
}

/// Searches with JSON output: `{"hits": [{"memory": {"content": …}, "because": {"paths": …}}, …]}`.
fn run_search(sandbox: &Sandbox, query: &str) -> CommandOutput {
    sandbox.run(&["--json", "search", query])
}

/// Returns whether any hit of a search was found by its vector. A hit lists the search paths that
/// found it; the path of vectors is called `dense`.
fn used_vectors(output: &CommandOutput) -> bool {
    for hit in output.json()["hits"].as_array().unwrap() {
        let paths = hit["because"]["paths"].as_array().unwrap();
        if paths.iter().any(|it| it["path"] == "dense") {
            return true;
        }
    }
    false
}

/// Number of memories without a vector of the current model.
fn n_without_vector(sandbox: &Sandbox) -> Value {
    sandbox.json(&["stats"])["vectors"]["without"].clone()
}

#[test]
fn vectors_of_two_models_are_never_mixed() {
    let (sandbox, server) = (Sandbox::new(), TestServer::start_provider());
    for text in [TOKEN_MEMORY, BUILD_MEMORY] {
        sandbox.remember(text);
    }
    // The built-in model, a Granite model of IBM, has embedded both memories.
    let built_in = sandbox.json(&["stats"])["vectors"].clone();
    assert!(string(&built_in["model"]).contains("granite"), "{built_in}");
    assert_eq!(built_in["without"], 0, "{built_in}");

    // With another model, the built-in vectors are not used; a warning names the remedy.
    use_provider(&sandbox, "embeddings", &server.url());
    let output = run_search(&sandbox, "when do access tokens expire").expect_code(0, "by keywords");
    assert!(!used_vectors(&output), "{output:?}");
    assert!(output.err.contains("2 memories have no vector yet"), "{output:?}");
    assert!(sandbox.run(&["doctor"]).expect_code(0, "doctor").out.contains("waylore embed"));

    // `embed` replaces the vectors.
    let embedded = sandbox.json(&["embed"]);
    assert_eq!(embedded["done"], 2, "new vectors: {embedded}");
    assert_eq!(embedded["left"], 0, "memories without a vector: {embedded}");
    assert_eq!(embedded["dropped"], 2, "vectors of the built-in model: {embedded}");
    // A model id ends with the model, its dimensions, and the version of the prefixes before texts.
    assert!(string(&embedded["model"]).ends_with("/topics/8/p1"), "{embedded}");

    // Searches use them: the query has no word of the memory, but its topic. New memories get one, too.
    let output = run_search(&sandbox, "cannot sign in").expect_code(0, "by meaning");
    assert!(used_vectors(&output) && !output.err.contains("no vector"), "{output:?}");
    assert_eq!(output.json()["hits"][0]["memory"]["content"], TOKEN_MEMORY);
    sandbox.remember("Nobody may sign in twice");
    assert_eq!(n_without_vector(&sandbox), 0, "a new memory is embedded when it is stored");

    // Back to the built-in model, the provider gets no more requests.
    sandbox.json(&["config", "unset", "embeddings.provider"]);
    let n_requests = server.requests().len();
    let output = run_search(&sandbox, "when do access tokens expire").expect_code(0, "built-in");
    assert!(used_vectors(&output), "{output:?}");
    sandbox.json(&["embed"]);
    assert_eq!(sandbox.json(&["embed"])["dropped"], 0, "the first `embed` replaced all vectors");
    assert_eq!(server.requests().len(), n_requests);
}

#[test]
fn a_failing_provider_falls_back_to_bm25() {
    let sandbox = Sandbox::new();
    sandbox.remember(TOKEN_MEMORY);
    for role in ["embeddings", "rerank", "text"] {
        use_provider(&sandbox, role, UNREACHABLE_URL);
    }

    // With a configured number of dimensions, and without, where the provider is asked for it.
    for dimensions in ["8", ""] {
        sandbox.json(&["config", "set", "embeddings.dimensions", dimensions]);
        let output = run_search(&sandbox, "when do access tokens expire").expect_code(0, "search");
        assert!(output.err.contains("only words are searched"), "{output:?}");
        assert_eq!(output.json()["hits"][0]["memory"]["content"], TOKEN_MEMORY);
    }

    // Writing and listing work, with a warning where the provider would have been used.
    let output = sandbox.run(&["remember", "--new", BUILD_MEMORY]).expect_code(0, "remember");
    assert!(output.err.contains("warning: ") && output.err.contains("waylore embed"), "{output:?}");
    sandbox.run(&["list"]).expect_code(0, "list");
    assert!(sandbox.run(&["stats"]).expect_code(0, "stats").err.contains("cannot be reached"));
    assert!(sandbox.run(&["doctor"]).expect_code(0, "doctor").out.contains("test-provider"));

    // `embed`, which needs the provider, fails with a hint.
    let output = sandbox.run(&["embed"]).expect_code(3, "embed");
    assert!(output.err.contains("test-provider"), "{output:?}");
}

#[test]
fn invalid_vectors_are_rejected() {
    // Each row: a part of the expected message, and the reply.
    let invalid_replies: [(&str, ProviderReply); 4] = [
        // Too few dimensions.
        ("instead of 8", |request| embeddings_reply(vec![vec![0.6, 0.8]; n_input_texts(request)])),
        // A zero vector, which has no direction.
        ("all zeros", |request| embeddings_reply(vec![vec![0.0; 8]; n_input_texts(request)])),
        // Fewer vectors than texts.
        ("results for", |_| embeddings_reply(Vec::new())),
        // A value that is not a number, and so no JSON; any message is right.
        ("", |_| {
            ServerReply::Raw(
                200,
                r#"{"data":[{"index":0,"embedding":[NaN,0,0,0,0,0,0,0]}]}"#.to_owned(),
            )
        }),
    ];
    for (message, reply) in invalid_replies {
        let (sandbox, server) = (Sandbox::new(), TestServer::start(reply));
        sandbox.remember(TOKEN_MEMORY);
        use_provider(&sandbox, "embeddings", &server.url());
        sandbox.json(&["config", "set", "embeddings.dimensions", "8"]);

        // A search falls back to keywords; `embed` and `test-provider` fail; no vector is stored.
        let output = run_search(&sandbox, "when do access tokens expire").expect_code(0, "search");
        assert!(output.err.contains(message) && !used_vectors(&output), "{message}: {output:?}");
        let output = sandbox.run(&["embed"]).expect_code(3, message);
        assert!(output.err.contains(message), "{output:?}");
        assert_eq!(n_without_vector(&sandbox), 1, "{message}");
        sandbox.run(&["config", "test-provider"]).expect_code(3, message);
    }
}

#[test]
fn a_memory_with_a_damaged_vector_is_still_found() {
    // A search first compares short codes (the first dimensions, rounded), then the full vectors.
    // These vectors have more dimensions than the codes hold, so that the full ones are read at all.
    let reply_with_long_vectors = |request: &ReceivedRequest| {
        let mut vectors = Vec::new();
        for text in input_texts(request) {
            vectors.push(topic_vector(text).repeat(usize::from(VECTOR_REPEATS)));
        }
        embeddings_reply(vectors)
    };
    let (sandbox, server) = (Sandbox::new(), TestServer::start(reply_with_long_vectors));
    for text in [TOKEN_MEMORY, BUILD_MEMORY] {
        sandbox.remember(text);
    }
    use_provider(&sandbox, "embeddings", &server.url());
    assert_eq!(sandbox.json(&["embed"])["done"], 2);
    let query = "when do access tokens expire";
    let output = sandbox.run(&["search", query]).expect_code(0, "before the damage");
    assert!(!output.err.contains("damaged"), "{output:?}");

    // Damage: find the start of the stored vector in the database, and make its first number NaN.
    let mut stored_start = Vec::new();
    for number in topic_vector(TOKEN_MEMORY) {
        stored_start.extend(as_stored(number).to_le_bytes());
    }
    let not_a_number = f32::NAN.to_le_bytes();
    for file in files(&sandbox.root).iter().filter(|it| it.ends_with("memory.db")) {
        let mut bytes = fs::read(file).unwrap();
        let found = bytes.windows(stored_start.len()).position(|it| it == stored_start);
        if let Some(offset) = found {
            bytes[offset..offset + not_a_number.len()].copy_from_slice(&not_a_number);
            fs::write(file, bytes).unwrap();
        }
    }

    // The codes and the keywords still find the memory.
    let output = sandbox.run(&["search", query]).expect_code(0, "after the damage");
    assert!(output.err.contains("is damaged: it is ranked without"), "{output:?}");
    assert!(
        output.out.contains("Access tokens") && used_vectors(&run_search(&sandbox, query)),
        "{output:?}"
    );
    let output = sandbox.run(&["context", "start", "--task", query]).expect_code(0, "context");
    assert!(output.out.contains("Access tokens"), "{output:?}");
}

/// A number of a topic vector as it is stored: vectors are normalised to length 1.
#[expect(clippy::cast_possible_truncation, reason = "vectors are stored in single precision")]
fn as_stored(value: f64) -> f32 {
    (value / f64::from(VECTOR_REPEATS).sqrt()) as f32
}

/// The texts that a request asks to embed.
fn input_texts(request: &ReceivedRequest) -> impl Iterator<Item = &str> {
    request.body["input"].as_array().unwrap().iter().map(|it| it.as_str().unwrap())
}

fn n_input_texts(request: &ReceivedRequest) -> usize {
    input_texts(request).count()
}

#[test]
fn a_key_is_sent_to_its_provider_only_and_never_printed() {
    let sandbox = Sandbox::new();
    // One provider that works, and one that rejects every key and repeats it in the error.
    let (working, rejecting) = (
        TestServer::start_provider(),
        TestServer::start(|request| {
            let error = format!(r#"{{"error":"no such key: {}"}}"#, request.authorization);
            ServerReply::Raw(401, error)
        }),
    );
    sandbox.remember(TOKEN_MEMORY);

    // Every command that might use or print the key runs with each of the two. The provider must get
    // Waylore's own key, not one that the user has set for other programs.
    let variables = [
        ("WAYLORE_EMBEDDINGS_KEY", API_KEY),
        ("OPENAI_API_KEY", "sk-someone-elses"),
        ("VOYAGE_API_KEY", "sk-someone-elses"),
    ];
    let mut outputs = Vec::new();
    for server in [&rejecting, &working] {
        use_provider(&sandbox, "embeddings", &server.url());
        for args in [
            &["config", "test-provider"][..],
            &["--json", "config", "test-provider"],
            &["embed"],
            &["search", "tokens"],
            &["remember", "--new", BUILD_MEMORY],
            &["doctor"],
            &["stats"],
            &["config"],
            &["export"],
        ] {
            let output = run_with_variables(&sandbox, &variables, args);
            outputs.push(output.expect_no_panic("with a key"));
        }
        assert!(server.requests().iter().all(|it| it.authorization == format!("Bearer {API_KEY}")));
    }
    // The first output is that of `test-provider` with the rejecting provider.
    let rejected = &outputs[0];
    assert!(rejected.code == 3 && rejected.out.contains("does not accept the key"), "{rejected:?}");

    // No command printed the key or wrote it to a file.
    for output in &outputs {
        assert!(!output.out_and_err().contains(key_digits()), "{output:?}");
    }
    assert!(files_containing(&sandbox.root, key_digits()).is_empty());

    // OpenAI's key is sent to OpenAI's own address only, not to another one configured for it.
    sandbox.json(&["config", "set", "embeddings.provider", "openai"]);
    let keys_of_other_programs = &variables[1..];
    let output = run_with_variables(&sandbox, keys_of_other_programs, &["config", "test-provider"]);
    assert_eq!(output.code, 0, "{output:?}");
    let last = working.requests().pop().unwrap();
    assert_eq!(last.authorization, "", "the address is that of the test server");
    sandbox.json(&["config", "unset", "embeddings.url"]);
    let output = sandbox.run(&["config", "test-provider"]).expect_code(3, "without a key");
    assert!(output.out.contains("OPENAI_API_KEY"), "{output:?}");

    // A URL with a password or key is refused, and not repeated.
    for url in ["https://me:hunter2@example.org", "https://example.org/?key=hunter2"] {
        let output =
            sandbox.run(&["config", "set", "text.url", url]).expect_code(2, "a secret in the URL");
        assert!(!output.out_and_err().contains("hunter2"), "{output:?}");
    }
}

#[test]
fn a_key_can_be_stored_in_the_keychain() {
    let sandbox = Sandbox::new();
    let tools = sandbox.root.join("tools");
    fs::create_dir(&tools).unwrap();

    // A fake `secret-tool`, the command for the keychain of Linux desktops: one file per entry, named
    // after the last argument.
    let tool = tools.join("secret-tool");
    let script = "#!/bin/sh\nfor it; do last=$it; done\nfile=\"$0.$(echo \"$last\" | tr -c 'a-z\\n' _)\"\n\
                  case $1 in store) cat > \"$file\";; lookup) cat \"$file\";; clear) rm \"$file\";; esac\n";
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());

    // Runs `config key` with the API key on standard input.
    let config_key = |args: &[&str], path: &str| {
        let mut command = sandbox.command(&[&["config", "key"], args].concat());
        command.env("PATH", path).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses early closes the pipe; the write then fails.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), API_KEY.as_bytes());
        CommandOutput::from(child.wait_with_output().unwrap())
    };

    // A key belongs to a provider, which must be chosen first.
    config_key(&["embeddings"], &path).expect_code(2, "without a provider");
    sandbox.json(&["config", "set", "embeddings.provider", "openai"]);
    if !cfg!(target_os = "linux") {
        return skip("the keychain", "this system has no secret-tool");
    }

    // The key is stored in the keychain only, under its role and the provider's address.
    let output = config_key(&["embeddings"], &path).expect_code(0, "store");
    assert!(!output.out_and_err().contains(key_digits()), "{output:?}");
    assert_eq!(files_containing(&sandbox.root, key_digits()).len(), 1);
    let entry = tools.join("secret-tool.embeddings_https___api_openai_com");
    assert_eq!(fs::read_to_string(&entry).unwrap(), API_KEY);

    // It can be removed; without the tool there is no keychain.
    config_key(&["embeddings", "--remove"], &path).expect_code(0, "remove");
    assert!(!entry.exists());
    config_key(&["embeddings"], "/nowhere").expect_code(3, "without a keychain");
}

/// The secret part of the key, which must not appear in any output; a prefix may.
fn key_digits() -> &'static str {
    API_KEY.trim_start_matches("wl-live-")
}

#[test]
fn a_project_cannot_choose_a_provider() {
    let (sandbox, server) = (Sandbox::new(), TestServer::start_provider());
    sandbox.remember(TOKEN_MEMORY);

    // `config set` refuses these settings for a project.
    for (key, value) in [("embeddings.provider", "compatible"), ("text.url", UNREACHABLE_URL)] {
        sandbox.run(&["config", "set", key, value, "--for-project"]).expect_code(2, key);
    }
    if !has_program("sqlite3") {
        return skip("a provider in a project's file", "sqlite3 is absent");
    }

    // Whoever passes on a project's database could have written settings into it. They are ignored.
    let url = server.url();
    let rows: Vec<String> = [
        ("embeddings.provider", "compatible"),
        ("embeddings.url", url.as_str()),
        ("embeddings.model", "topics"),
        ("providers.allow_plain_http", "true"),
    ]
    .map(|(key, value)| format!("('{key}', '{value}')"))
    .to_vec();
    let sql = format!("INSERT INTO settings (key, value) VALUES {}", rows.join(", "));
    let file = sandbox.project_data_dir().join("memory.db");
    assert!(Command::new("sqlite3").arg(&file).arg(&sql).status().unwrap().success());
    assert_eq!(sandbox.json(&["config", "get", "embeddings.provider"])["value"], "built-in");

    // No command sends anything to the server.
    run_search(&sandbox, "when do access tokens expire").expect_code(0, "search");
    sandbox.remember(BUILD_MEMORY);
    sandbox.json(&["embed"]);
    assert!(server.requests().is_empty());
}

#[test]
fn a_query_with_a_secret_is_not_sent() {
    let (sandbox, server) = (Sandbox::new(), TestServer::start_provider());
    sandbox.remember(TOKEN_MEMORY);
    for role in ["embeddings", "rerank", "text"] {
        use_provider(&sandbox, role, &server.url());
    }
    sandbox.json(&["embed"]);

    // In two parts, so that secret scanners do not report this file.
    let secret_part = ["16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let output =
        run_search(&sandbox, &format!("why are the tokens like ghp_{secret_part} refused"))
            .expect_code(0, "search");
    assert!(output.err.contains("was not sent"), "{output:?}");

    // Each role got the query with the secret replaced by `[REDACTED…]`.
    let all_requests = server.requests();
    for path in ["/v1/embeddings", "/v1/rerank", "/v1/chat/completions"] {
        let requests: Vec<&ReceivedRequest> =
            all_requests.iter().filter(|it| it.line.ends_with(path)).collect();
        let body_contains = |it: &ReceivedRequest, text: &str| it.body.to_string().contains(text);
        assert!(requests.iter().any(|it| body_contains(it, "[REDACTED")), "{path}: {requests:?}");
        assert!(!requests.iter().any(|it| body_contains(it, &secret_part)), "{path}: {requests:?}");
    }
}

/// A vector of which the beginning is misleading. By the first two numbers, a query is closest to
/// `BUILD_MEMORY`; by the whole vector, it is closest to `TOKEN_MEMORY`.
fn misleading_vector(text: &str) -> Vec<f64> {
    // More dimensions than the codes hold with which a search compares vectors first.
    let mut res = vec![0.0; 600];
    // The first two numbers, and the position of a 1 in the rest.
    let (head, tail_index) = match text {
        // `TOKEN_MEMORY`
        it if it.contains("renews") => ([0.9, 0.4], 400),
        // `BUILD_MEMORY`
        it if it.contains("cache") => ([1.0, 0.0], 500),
        _query => ([1.0, 0.0], 400),
    };
    res[..2].copy_from_slice(&head);
    res[tail_index] = 1.0;
    res
}

#[test]
fn the_full_vector_decides_where_its_prefix_misleads() {
    let sandbox = Sandbox::new();
    for text in [TOKEN_MEMORY, BUILD_MEMORY] {
        sandbox.remember(text);
    }
    let server = TestServer::start(|request| {
        embeddings_reply(input_texts(request).map(misleading_vector).collect())
    });
    use_provider(&sandbox, "embeddings", &server.url());
    sandbox.json(&["embed"]);
    let output = run_search(&sandbox, "cannot log on").expect_code(0, "by meaning");
    assert!(used_vectors(&output), "{output:?}");
    assert_eq!(output.json()["hits"][0]["memory"]["content"], TOKEN_MEMORY);
}

/// A model for which texts are similar if they share words: the sum of one pseudo-random ±1 vector
/// per word, plus a small constant. Two words, `logon` and `tokens`, have the same vector.
fn bag_of_words_vector(text: &str) -> Vec<f64> {
    let mut res = vec![0.1; 64];
    for word in text.to_lowercase().split(|it: char| !it.is_alphanumeric()) {
        let word = if word == "logon" { "tokens" } else { word };
        // The word's hash (FNV-1a) seeds a linear congruential generator, whose top bit is the sign.
        let mut state = 0xcbf2_9ce4_8422_2325_u64;
        for byte in word.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        for component in &mut res {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            *component += if state >> 63 == 1 { 1.0 } else { -1.0 };
        }
    }
    res
}

#[test]
fn an_irrelevant_query_finds_nothing_with_any_model() {
    let sandbox = Sandbox::in_memory();

    // Many memories, so that the similarities of a query have a distribution to stand out from, and
    // one that the last query is about.
    let n_others = 120;
    let mut records = Vec::new();
    for n in 0..n_others {
        let text = format!("widget{n} of gadget{} breaks in module{}", n * 7, n % 9);
        records.push(record(&id_of(9, n), &text));
    }
    records.push(record(&id_of(9, n_others), "Tokens"));
    sandbox
        .run_with_input(&["import", "--trust", "-"], &serde_json::to_vec(&records).unwrap())
        .expect_code(0, "import");
    let server = TestServer::start(|request| {
        embeddings_reply(input_texts(request).map(bag_of_words_vector).collect())
    });
    use_provider(&sandbox, "embeddings", &server.url());
    sandbox.json(&["embed"]);

    // The nearest vector is not near enough for these; the last query has the vector of "Tokens".
    for query in ["when is dinner", "which song won", "how tall are penguins"] {
        let output = run_search(&sandbox, query).expect_code(1, query);
        assert_eq!(output.json()["hits"], serde_json::json!([]), "{query}");
    }
    let output = run_search(&sandbox, "logon").expect_code(0, "a word that no memory contains");
    assert_eq!(output.json()["hits"][0]["memory"]["content"], "Tokens", "{output:?}");
}

#[test]
fn an_interrupted_embed_resumes() {
    const MEMORIES: u64 = 150;
    let sandbox = Sandbox::in_memory();
    let records: Vec<Value> =
        (0..MEMORIES).map(|it| record(&id_of(7, it), &format!("thing number {it}"))).collect();
    sandbox
        .run_with_input(&["import", "--trust", "-"], &serde_json::to_vec(&records).unwrap())
        .expect_code(0, "import");

    // The server answers two requests and hangs at the third, until `is_available` is set.
    let (hang_sender, hang_receiver) = mpsc::channel();
    let (n_requests, is_available) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let server_is_available = Arc::clone(&is_available);
    let server = TestServer::start(move |request| {
        if server_is_available.load(Ordering::Relaxed)
            || n_requests.fetch_add(1, Ordering::Relaxed) < 2
        {
            return provider_reply(request);
        }
        hang_sender.send(()).unwrap();
        ServerReply::NoAnswer
    });
    use_provider(&sandbox, "embeddings", &server.url());
    sandbox.json(&["config", "set", "embeddings.dimensions", "8"]);

    // Kill `embed` while it waits for the third answer. The first vectors are stored.
    let mut command = sandbox.command(&["embed"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    hang_receiver.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let n_remaining = n_without_vector(&sandbox).as_u64().unwrap();
    assert!(0 < n_remaining && n_remaining < MEMORIES, "{n_remaining} without a vector");

    // The second run embeds the remaining memories only.
    is_available.store(true, Ordering::Relaxed);
    let n_before = server.embedded_texts().len();
    let embedded = sandbox.json(&["embed"]);
    assert_eq!((&embedded["done"], &embedded["left"]), (&n_remaining.into(), &0.into()));
    assert_eq!(server.embedded_texts().len() - n_before, usize::try_from(n_remaining).unwrap());
}

#[test]
fn test_provider_checks_the_configuration() {
    let (sandbox, server) = (Sandbox::new(), TestServer::start_provider());

    // Without a configuration: the built-in model, and no reranker.
    let output = sandbox.json(&["config", "test-provider"]);
    let provider = &output["providers"][0];
    assert_eq!(provider["provider"], "built-in", "{output}");
    assert_eq!(provider["works"], true, "{output}");
    sandbox.run(&["config", "test-provider", "rerank"]).expect_code(2, "no reranker configured");

    // A working provider in every role.
    for role in ["embeddings", "rerank", "text"] {
        use_provider(&sandbox, role, &server.url());
        let output = sandbox.json(&["config", "test-provider", role]);
        let provider = &output["providers"][0];
        assert_eq!(provider["role"], role, "{output}");
        assert_eq!(provider["works"], true, "{output}");
    }

    // All roles at once. Of embeddings it reports the similarity of two related and of two unrelated
    // texts.
    let output = sandbox.json(&["config", "test-provider"]);
    assert_eq!(output["providers"].as_array().unwrap().len(), 3);
    let embeddings = &output["providers"][0];
    assert_eq!(embeddings["dimensions"], 8, "{output}");
    assert_eq!(embeddings["related"], 1.0, "{output}");
    assert_eq!(embeddings["unrelated"], 0.0, "{output}");
    let output = sandbox.run(&["config", "test-provider"]).expect_code(0, "without --json");
    assert!(
        output.out.contains("A small check.") && output.out.contains("8 dimensions"),
        "{output:?}"
    );

    // A model that gives all texts the same vector cannot tell related texts from unrelated ones.
    let useless = TestServer::start(|request| {
        embeddings_reply(vec![topic_vector("nothing"); n_input_texts(request)])
    });
    sandbox.json(&["config", "set", "embeddings.url", &useless.url()]);
    let output =
        sandbox.run(&["config", "test-provider", "embeddings"]).expect_code(1, "a useless model");
    assert!(output.out.contains("choose another model"), "{output:?}");

    // For a provider that cannot be reached, the hint names the setting.
    sandbox.json(&["config", "set", "rerank.url", UNREACHABLE_URL]);
    let output = sandbox
        .run(&["--json", "config", "test-provider"])
        .expect_code(3, "an unreachable provider");
    let reranker = &output.json()["providers"][1];
    assert!(string(&reranker["hint"]).contains("rerank.url"), "{reranker}");
}

#[test]
fn contradicting_settings_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.remember(TOKEN_MEMORY);
    // Settings that are incomplete or not allowed, and the setting that the message must name.
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("embeddings.provider", "compatible")], "embeddings.url"),
        (
            &[("embeddings.provider", "compatible"), ("embeddings.url", UNREACHABLE_URL)],
            "embeddings.model",
        ),
        (&[("text.provider", "anthropic")], "text.model"),
        (&[("rerank.provider", "tei")], "rerank.url"),
        (
            &[("rerank.provider", "tei"), ("rerank.url", "http://gpu.example:80")],
            "allow_plain_http",
        ),
    ];
    for (settings, named_setting) in cases {
        for (key, value) in settings {
            sandbox.json(&["config", "set", key, value]);
        }

        // Commands that need a provider fail; `doctor` reports the problem.
        for args in [&["search", "tokens"][..], &["config", "test-provider"]] {
            let output = sandbox.run(args).expect_code(2, named_setting);
            assert!(output.err.contains(named_setting), "{output:?}");
        }
        let output = sandbox.run(&["doctor"]).expect_code(1, "doctor");
        assert!(output.out.contains("other commands fail until then"), "{output:?}");

        for (key, _) in settings {
            sandbox.json(&["config", "unset", key]);
        }
    }
    sandbox
        .run(&["config", "set", "embeddings.provider", "nobody"])
        .expect_code(2, "an unknown provider");
    run_search(&sandbox, "when do access tokens expire")
        .expect_code(0, "with all settings removed");
}

#[test]
fn a_local_ollama_is_suggested() {
    // An Ollama server with a chat model and an embedding model.
    let ollama =
        TestServer::start(|request| match request.line.split(' ').nth(1).unwrap_or_default() {
            "/api/version" => ServerReply::Json(serde_json::json!({ "version": "0.99.1" })),
            "/api/tags" => ServerReply::Json(serde_json::json!({ "models": [
            { "name": "llama3:8b", "digest": "0".repeat(64) },
            { "name": "qwen3-embedding:0.6b", "digest": "1".repeat(64) },
        ] })),
            _ => ServerReply::Raw(404, "{}".to_owned()),
        });
    let (sandbox, host) = (Sandbox::new(), ollama.url());
    let local = [("OLLAMA_HOST", host.as_str())];
    let output = run_with_variables(&sandbox, &local, &["config", "test-provider"])
        .expect_code(0, "local Ollama");
    assert!(output.err.contains("Ollama 0.99.1"), "{output:?}");

    // An Ollama on another machine is never contacted without being configured.
    let remote = [("OLLAMA_HOST", "http://192.0.2.1:11434")];
    let output = run_with_variables(&sandbox, &remote, &["--json", "config", "test-provider"])
        .expect_code(0, "remote Ollama");
    assert!(output.json()["idle_ollama"].is_null(), "{output:?}");

    // Choosing Ollama also chooses its embedding model.
    run_with_variables(&sandbox, &local, &["config", "set", "embeddings.provider", "ollama"])
        .expect_code(0, "config set");
    let chosen = sandbox.json(&["config", "get", "embeddings.model"])["value"].clone();
    if chosen == "" {
        return skip("the choice of a model", "less than 2 GB of memory are free");
    }
    assert_eq!(chosen, "qwen3-embedding:0.6b");
}

#[test]
fn licences_are_printed() {
    let output = Sandbox::new().run(&["licenses"]).expect_code(0, "licences");
    assert!(output.out.contains("MIT OR Apache-2.0") && output.out.contains("IBM"), "{output:?}");
}
