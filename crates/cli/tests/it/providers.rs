//! Other models: chosen by the person alone, tried before they are trusted, never mixed with one
//! another, and never in the way when they fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use serde_json::Value;

use crate::kit::{Desk, Said, files, finish, has, holding, id_of, record, skip, string};
use crate::server::{Reply, Seen, Server, fine, topic, vectors};

const KEY: &str = "wl-live-0123456789abcdef";
/// A port that nobody listens on.
const NOBODY: &str = "http://127.0.0.1:1";

const TOKENS: &str = "Access tokens expire after an hour and nobody renews them";
const BUILDS: &str = "The build takes eight minutes because its cache key holds the date";

type Answer = fn(&Seen) -> Reply;

fn use_provider(desk: &Desk, role: &str, url: &str) {
    desk.json(&["config", "set", &format!("{role}.provider"), "compatible"]);
    desk.json(&["config", "set", &format!("{role}.url"), url]);
    desk.json(&["config", "set", &format!("{role}.model"), "topics"]);
}

fn with(desk: &Desk, variables: &[(&str, &str)], args: &[&str]) -> Said {
    let mut command = desk.command(args);
    command.envs(variables.iter().copied());
    finish(command)
}

fn search(desk: &Desk, words: &str) -> Said {
    desk.run(&["--json", "search", words])
}

/// Whether a hit was found by its meaning.
fn by_meaning(said: &Said) -> bool {
    let hits = said.json()["hits"].as_array().unwrap().clone();
    let paths = |it: &Value| it["because"]["paths"].as_array().unwrap().clone();
    hits.iter().flat_map(paths).any(|it| it["path"] == "dense")
}

fn without_vector(desk: &Desk) -> Value {
    desk.json(&["stats"])["vectors"]["without"].clone()
}

#[test]
fn vectors_of_two_models_are_never_mixed() {
    let (desk, server) = (Desk::new(), Server::fine());
    for text in [TOKENS, BUILDS] {
        desk.remember(text);
    }
    let own = desk.json(&["stats"])["vectors"].clone();
    assert!(string(&own["model"]).contains("granite") && own["without"] == 0, "{own}");
    use_provider(&desk, "embeddings", &server.url());
    let said = search(&desk, "when do access tokens expire").ends(0, "words carry on");
    assert!(!by_meaning(&said), "nothing is compared with the built-in vectors: {said:?}");
    assert!(said.err.contains("2 memories have no vector yet"), "{said:?}");
    assert!(desk.run(&["doctor"]).ends(0, "doubtful").out.contains("waylore embed"));
    let done = desk.json(&["embed"]);
    assert_eq!((&done["done"], &done["left"], &done["dropped"]), (&2.into(), &0.into(), &2.into()));
    assert!(string(&done["model"]).ends_with("/topics/8/p1"), "{done}");
    let said = search(&desk, "cannot sign in").ends(0, "by meaning");
    assert!(by_meaning(&said) && !said.err.contains("no vector"), "{said:?}");
    assert_eq!(said.json()["hits"][0]["memory"]["content"], TOKENS);
    desk.remember("Nobody may sign in twice");
    assert_eq!(without_vector(&desk), 0, "a new memory has its vector at once");
    desk.json(&["config", "unset", "embeddings.provider"]);
    let n_asked = server.seen().len();
    let said = search(&desk, "when do access tokens expire").ends(0, "back again");
    assert!(by_meaning(&said), "{said:?}");
    desk.json(&["embed"]);
    assert_eq!(desk.json(&["embed"])["dropped"], 0);
    assert_eq!(server.seen().len(), n_asked, "nobody asks a provider that is not configured");
}

#[test]
fn a_provider_that_is_down_leaves_the_words() {
    let desk = Desk::new();
    desk.remember(TOKENS);
    for role in ["embeddings", "rerank", "text"] {
        use_provider(&desk, role, NOBODY);
    }
    for dims in ["8", ""] {
        desk.json(&["config", "set", "embeddings.dimensions", dims]);
        let said = search(&desk, "when do access tokens expire").ends(0, "words");
        assert!(said.err.contains("only words are searched"), "{said:?}");
        assert_eq!(said.json()["hits"][0]["memory"]["content"], TOKENS);
    }
    let said = desk.run(&["remember", "--new", BUILDS]).ends(0, "kept");
    assert!(said.err.contains("warning: ") && said.err.contains("waylore embed"), "{said:?}");
    desk.run(&["list"]).ends(0, "no model is needed");
    assert!(desk.run(&["stats"]).ends(0, "counts").err.contains("cannot be reached"));
    assert!(desk.run(&["doctor"]).ends(0, "no damage").out.contains("test-provider"));
    let said = desk.run(&["embed"]).ends(3, "nobody makes vectors");
    assert!(said.err.contains("test-provider"), "{said:?}");
}

#[test]
fn vectors_that_cannot_be_used_are_refused() {
    let bad: [(&str, Answer); 4] = [
        ("instead of 8", |seen| vectors(vec![vec![0.6, 0.8]; n_texts(seen)])),
        ("all zeros", |seen| vectors(vec![vec![0.0; 8]; n_texts(seen)])),
        ("results for", |_| vectors(Vec::new())),
        ("", |_| {
            Reply::Raw(200, r#"{"data":[{"index":0,"embedding":[NaN,0,0,0,0,0,0,0]}]}"#.to_owned())
        }),
    ];
    for (why, answer) in bad {
        let (desk, server) = (Desk::new(), Server::start(answer));
        desk.remember(TOKENS);
        use_provider(&desk, "embeddings", &server.url());
        desk.json(&["config", "set", "embeddings.dimensions", "8"]);
        let said = search(&desk, "when do access tokens expire").ends(0, "words");
        assert!(said.err.contains(why) && !by_meaning(&said), "{why}: {said:?}");
        let said = desk.run(&["embed"]).ends(3, why);
        assert!(said.err.contains(why), "{said:?}");
        assert_eq!(without_vector(&desk), 1, "{why}");
        desk.run(&["config", "test-provider"]).ends(3, why);
    }
}

#[test]
fn a_damaged_vector_costs_its_memory_the_exact_order_and_nothing_else() {
    // More numbers than a code holds, so that the whole vectors decide.
    let long = |seen: &Seen| {
        let spread = |it: &Value| topic(it.as_str().unwrap_or_default()).repeat(96);
        vectors(seen.body["input"].as_array().into_iter().flatten().map(spread).collect())
    };
    let (desk, server) = (Desk::new(), Server::start(long));
    for text in [TOKENS, BUILDS] {
        desk.remember(text);
    }
    use_provider(&desk, "embeddings", &server.url());
    assert_eq!(desk.json(&["embed"])["done"], 2);
    let asked = ["search", "when do access tokens expire"];
    assert!(!desk.run(&asked).ends(0, "sound").err.contains("damaged"));
    let start: Vec<u8> = topic(TOKENS).iter().flat_map(|it| unit(*it).to_le_bytes()).collect();
    let hurt = [&f32::NAN.to_le_bytes()[..], &start[4..]].concat();
    for file in files(&desk.root).iter().filter(|it| it.ends_with("memory.db")) {
        let bytes = fs::read(file).unwrap();
        if let Some(at) = bytes.windows(start.len()).position(|it| it == start) {
            fs::write(file, [&bytes[..at], &hurt, &bytes[at + hurt.len()..]].concat()).unwrap();
        }
    }
    let said = desk.run(&asked).ends(0, "the codes and the words are left");
    assert!(said.err.contains("is damaged: it is ranked without"), "{said:?}");
    assert!(said.out.contains("Access tokens") && by_meaning(&search(&desk, asked[1])), "{said:?}");
    let said = desk.run(&["context", "start", "--task", asked[1]]).ends(0, "contexts, too");
    assert!(said.out.contains("Access tokens"), "{said:?}");
}

/// One of the numbers above as it is kept: every vector has the length one.
#[expect(clippy::cast_possible_truncation, reason = "vectors are kept in single precision")]
fn unit(value: f64) -> f32 {
    (value / 96_f64.sqrt()) as f32
}

fn n_texts(seen: &Seen) -> usize {
    seen.body["input"].as_array().unwrap().len()
}

#[test]
fn a_key_goes_to_its_provider_and_is_never_shown() {
    let desk = Desk::new();
    let (good, bad) = (
        Server::fine(),
        Server::start(|seen| {
            let said = format!(r#"{{"error":"no such key: {}"}}"#, seen.authorization);
            Reply::Raw(401, said)
        }),
    );
    desk.remember(TOKENS);
    let variables = [
        ("WAYLORE_EMBEDDINGS_KEY", KEY),
        ("OPENAI_API_KEY", "sk-someone-elses"),
        ("VOYAGE_API_KEY", "sk-someone-elses"),
    ];
    let mut said = Vec::new();
    for server in [&bad, &good] {
        use_provider(&desk, "embeddings", &server.url());
        for args in [
            &["config", "test-provider"][..],
            &["--json", "config", "test-provider"],
            &["embed"],
            &["search", "tokens"],
            &["remember", "--new", BUILDS],
            &["doctor"],
            &["stats"],
            &["config"],
            &["export"],
        ] {
            said.push(with(&desk, &variables, args).sound("with a key"));
        }
        assert!(server.seen().iter().all(|it| it.authorization == format!("Bearer {KEY}")));
    }
    assert!(said[0].code == 3 && said[0].out.contains("does not accept the key"), "{:?}", said[0]);
    for said in &said {
        assert!(!said.all().contains(&KEY[8..]), "{said:?}");
    }
    assert!(holding(&desk.root, &KEY[8..]).is_empty(), "nor is it written anywhere");
    desk.json(&["config", "set", "embeddings.provider", "openai"]);
    let said = with(&desk, &variables[1..], &["config", "test-provider"]);
    assert_eq!(said.code, 0, "{said:?}");
    let last = good.seen().pop().unwrap();
    assert_eq!(last.authorization, "", "OpenAI's key is for OpenAI's address alone");
    desk.json(&["config", "unset", "embeddings.url"]);
    let said = desk.run(&["config", "test-provider"]).ends(3, "no key, so nothing is sent");
    assert!(said.out.contains("OPENAI_API_KEY"), "{said:?}");
    for url in ["https://me:hunter2@example.org", "https://example.org/?key=hunter2"] {
        let said = desk.run(&["config", "set", "text.url", url]).ends(2, "no place for a key");
        assert!(!said.all().contains("hunter2"), "{said:?}");
    }
}

#[test]
fn a_key_can_be_kept_in_the_keychain() {
    let desk = Desk::new();
    let tools = desk.root.join("tools");
    fs::create_dir(&tools).unwrap();
    let tool = tools.join("secret-tool");
    // The last argument names the entry.
    let script = "#!/bin/sh\nfor it; do last=$it; done\nfile=\"$0.$(echo \"$last\" | tr -c 'a-z\\n' _)\"\n\
                  case $1 in store) cat > \"$file\";; lookup) cat \"$file\";; clear) rm \"$file\";; esac\n";
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let key = |args: &[&str], path: &str| {
        let mut command = desk.command(&[&["config", "key"], args].concat());
        command.env("PATH", path).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses early closes its end.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), KEY.as_bytes());
        Said::from(child.wait_with_output().unwrap())
    };
    key(&["embeddings"], &path).ends(2, "for whom?");
    desk.json(&["config", "set", "embeddings.provider", "openai"]);
    if !cfg!(target_os = "linux") {
        return skip("the keychain", "its tool is another here");
    }
    let said = key(&["embeddings"], &path).ends(0, "kept");
    assert!(!said.all().contains(&KEY[8..]), "{said:?}");
    assert_eq!(holding(&desk.root, &KEY[8..]).len(), 1, "in the keychain alone");
    let kept = tools.join("secret-tool.embeddings_https___api_openai_com");
    assert_eq!(fs::read_to_string(&kept).unwrap(), KEY, "for this address");
    key(&["embeddings", "--remove"], &path).ends(0, "out");
    assert!(!kept.exists());
    key(&["embeddings"], "/nowhere").ends(3, "no keychain");
}

#[test]
fn a_project_cannot_choose_a_provider() {
    let (desk, server) = (Desk::new(), Server::fine());
    desk.remember(TOKENS);
    for (key, value) in [("embeddings.provider", "compatible"), ("text.url", NOBODY)] {
        desk.run(&["config", "set", key, value, "--for-project"]).ends(2, key);
    }
    if !has("sqlite3") {
        return skip("a provider in a project's file", "sqlite3 is absent");
    }
    // Whoever hands a project on could write it into its file.
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
    let file = desk.notebook().join("memory.db");
    assert!(Command::new("sqlite3").arg(&file).arg(&sql).status().unwrap().success());
    assert_eq!(desk.json(&["config", "get", "embeddings.provider"])["value"], "built-in");
    search(&desk, "when do access tokens expire").ends(0, "by the built-in model");
    desk.remember(BUILDS);
    desk.json(&["embed"]);
    assert!(server.seen().is_empty());
}

#[test]
fn a_secret_in_a_question_stays_here() {
    let (desk, server) = (Desk::new(), Server::fine());
    desk.remember(TOKENS);
    for role in ["embeddings", "rerank", "text"] {
        use_provider(&desk, role, &server.url());
    }
    desk.json(&["embed"]);
    let tail = ["16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let said =
        search(&desk, &format!("why are the tokens like ghp_{tail} refused")).ends(0, "hits");
    assert!(said.err.contains("was not sent"), "{said:?}");
    let seen = server.seen();
    for path in ["/v1/embeddings", "/v1/rerank", "/v1/chat/completions"] {
        let asked: Vec<&Seen> = seen.iter().filter(|it| it.line.ends_with(path)).collect();
        let redacted = |it: &&Seen| it.body.to_string().contains("[REDACTED");
        assert!(asked.iter().any(redacted), "{path}: {asked:?}");
        assert!(asked.iter().all(|it| !it.body.to_string().contains(&tail)), "{path}: {asked:?}");
    }
}

/// A vector whose beginning says one thing and whose whole says another.
fn long(text: &str) -> Vec<f64> {
    let mut res = vec![0.0; 600];
    let (head, tail) = match text {
        it if it.contains("renews") => ([0.9, 0.4], 400),
        it if it.contains("cache") => ([1.0, 0.0], 500),
        _ => ([1.0, 0.0], 400),
    };
    res[..2].copy_from_slice(&head);
    res[tail] = 1.0;
    res
}

#[test]
fn where_the_beginning_of_a_vector_misleads_the_whole_decides() {
    let desk = Desk::new();
    for text in [TOKENS, BUILDS] {
        desk.remember(text);
    }
    let server = Server::start(|seen| {
        let texts = seen.body["input"].as_array().unwrap();
        vectors(texts.iter().map(|it| long(it.as_str().unwrap())).collect())
    });
    use_provider(&desk, "embeddings", &server.url());
    desk.json(&["embed"]);
    let said = search(&desk, "cannot log on").ends(0, "by meaning");
    assert!(by_meaning(&said), "{said:?}");
    assert_eq!(said.json()["hits"][0]["memory"]["content"], TOKENS);
}

/// A sum of what each word stands for, some direction or other; two words mean the same.
fn bag(text: &str) -> Vec<f64> {
    let mut res = vec![0.1; 64];
    for word in text.to_lowercase().split(|it: char| !it.is_alphanumeric()) {
        let word = if word == "logon" { "tokens" } else { word };
        let mut state = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |acc, it| {
            (acc ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3)
        });
        for it in &mut res {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            *it += if state >> 63 == 1 { 1.0 } else { -1.0 };
        }
    }
    res
}

#[test]
fn with_any_model_nothing_is_said_where_there_is_nothing() {
    let desk = Desk::in_memory();
    let text = |it: u64| format!("widget{it} of gadget{} breaks in module{}", it * 7, it % 9);
    let texts = (0..120).map(text).chain(["Tokens".to_owned()]).zip(0_u64..);
    let records: Vec<Value> = texts.map(|(text, it)| record(&id_of(9, it), &text)).collect();
    desk.feed(&["import", "--trust", "-"], &serde_json::to_vec(&records).unwrap()).ends(0, "in");
    let server = Server::start(|seen| {
        let texts = seen.body["input"].as_array().unwrap();
        vectors(texts.iter().map(|it| bag(it.as_str().unwrap())).collect())
    });
    use_provider(&desk, "embeddings", &server.url());
    desk.json(&["embed"]);
    for question in ["when is dinner", "which song won", "how tall are penguins"] {
        let said = search(&desk, question).ends(1, question);
        assert_eq!(said.json()["hits"], serde_json::json!([]), "{question}");
    }
    let said = search(&desk, "logon").ends(0, "by meaning alone");
    assert_eq!(said.json()["hits"][0]["memory"]["content"], "Tokens", "{said:?}");
}

#[test]
fn an_interrupted_embed_goes_on() {
    const MEMORIES: u64 = 150;
    let desk = Desk::in_memory();
    let records: Vec<Value> =
        (0..MEMORIES).map(|it| record(&id_of(7, it), &format!("thing number {it}"))).collect();
    desk.feed(&["import", "--trust", "-"], &serde_json::to_vec(&records).unwrap()).ends(0, "in");
    let (said, heard) = mpsc::channel();
    let (n_asked, patient) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let is_patient = Arc::clone(&patient);
    let server = Server::start(move |seen| {
        if is_patient.load(Ordering::Relaxed) || n_asked.fetch_add(1, Ordering::Relaxed) < 2 {
            return fine(seen);
        }
        said.send(()).unwrap();
        Reply::Silence
    });
    use_provider(&desk, "embeddings", &server.url());
    desk.json(&["config", "set", "embeddings.dimensions", "8"]);
    let mut command = desk.command(&["embed"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    heard.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let left = without_vector(&desk).as_u64().unwrap();
    assert!(0 < left && left < MEMORIES, "{left} are left");
    patient.store(true, Ordering::Relaxed);
    let before = server.texts().len();
    let done = desk.json(&["embed"]);
    assert_eq!((&done["done"], &done["left"]), (&left.into(), &0.into()));
    assert_eq!(server.texts().len() - before, usize::try_from(left).unwrap(), "only what is left");
}

#[test]
fn what_is_configured_can_be_tried() {
    let (desk, server) = (Desk::new(), Server::fine());
    let said = desk.json(&["config", "test-provider"]);
    assert_eq!(
        (&said["providers"][0]["provider"], &said["providers"][0]["works"]),
        (&"built-in".into(), &true.into())
    );
    desk.run(&["config", "test-provider", "rerank"]).ends(2, "there is none");
    for role in ["embeddings", "rerank", "text"] {
        use_provider(&desk, role, &server.url());
        let said = desk.json(&["config", "test-provider", role]);
        let found = &said["providers"][0];
        assert_eq!((&found["role"], &found["works"]), (&role.into(), &true.into()), "{said}");
    }
    let said = desk.json(&["config", "test-provider"]);
    assert_eq!(said["providers"].as_array().unwrap().len(), 3);
    let found = &said["providers"][0];
    assert_eq!(
        (&found["dimensions"], &found["related"], &found["unrelated"]),
        (&8.into(), &1.0.into(), &0.0.into())
    );
    let said = desk.run(&["config", "test-provider"]).ends(0, "in words");
    assert!(said.out.contains("A small check.") && said.out.contains("8 dimensions"), "{said:?}");
    let blind = Server::start(|seen| vectors(vec![topic("nothing"); n_texts(seen)]));
    desk.json(&["config", "set", "embeddings.url", &blind.url()]);
    let said = desk.run(&["config", "test-provider", "embeddings"]).ends(1, "all the same");
    assert!(said.out.contains("choose another model"), "{said:?}");
    desk.json(&["config", "set", "rerank.url", NOBODY]);
    let said = desk.run(&["--json", "config", "test-provider"]).ends(3, "nobody there");
    let found = &said.json()["providers"][1];
    assert!(string(&found["hint"]).contains("rerank.url"), "{found}");
}

#[test]
fn settings_that_do_not_fit_together_are_named() {
    let desk = Desk::new();
    desk.remember(TOKENS);
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("embeddings.provider", "compatible")], "embeddings.url"),
        (&[("embeddings.provider", "compatible"), ("embeddings.url", NOBODY)], "embeddings.model"),
        (&[("text.provider", "anthropic")], "text.model"),
        (&[("rerank.provider", "tei")], "rerank.url"),
        (
            &[("rerank.provider", "tei"), ("rerank.url", "http://gpu.example:80")],
            "allow_plain_http",
        ),
    ];
    for (settings, wanted) in cases {
        for (key, value) in settings {
            desk.json(&["config", "set", key, value]);
        }
        for args in [&["search", "tokens"][..], &["config", "test-provider"]] {
            let said = desk.run(args).ends(2, wanted);
            assert!(said.err.contains(wanted), "{said:?}");
        }
        assert!(
            desk.run(&["doctor"])
                .ends(1, "a problem")
                .out
                .contains("other commands fail until then")
        );
        for (key, _) in settings {
            desk.json(&["config", "unset", key]);
        }
    }
    desk.run(&["config", "set", "embeddings.provider", "nobody"]).ends(2, "unknown");
    search(&desk, "when do access tokens expire").ends(0, "all is well again");
}

#[test]
fn ollama_on_this_machine_is_pointed_out_and_its_model_is_chosen_once() {
    let ollama = Server::start(|seen| match seen.line.split(' ').nth(1).unwrap_or_default() {
        "/api/version" => Reply::Json(serde_json::json!({ "version": "0.99.1" })),
        "/api/tags" => Reply::Json(serde_json::json!({ "models": [
            { "name": "llama3:8b", "digest": "0".repeat(64) },
            { "name": "qwen3-embedding:0.6b", "digest": "1".repeat(64) },
        ] })),
        _ => Reply::Raw(404, "{}".to_owned()),
    });
    let (desk, host) = (Desk::new(), ollama.url());
    let here = [("OLLAMA_HOST", host.as_str())];
    let said = with(&desk, &here, &["config", "test-provider"]).ends(0, "built-in");
    assert!(said.err.contains("Ollama 0.99.1"), "{said:?}");
    let away = [("OLLAMA_HOST", "http://192.0.2.1:11434")];
    let said = with(&desk, &away, &["--json", "config", "test-provider"]).ends(0, "built-in");
    assert!(said.json()["idle_ollama"].is_null(), "nobody is asked elsewhere: {said:?}");
    with(&desk, &here, &["config", "set", "embeddings.provider", "ollama"]).ends(0, "set");
    let chosen = desk.json(&["config", "get", "embeddings.model"])["value"].clone();
    if chosen == "" {
        return skip("the choice of a model", "less than 2 GB of memory are free");
    }
    assert_eq!(chosen, "qwen3-embedding:0.6b");
}

#[test]
fn licences_are_shown() {
    let said = Desk::new().run(&["licenses"]).ends(0, "licences");
    assert!(said.out.contains("MIT OR Apache-2.0") && said.out.contains("IBM"), "{said:?}");
}
