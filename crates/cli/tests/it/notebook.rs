//! Tests of the everyday commands on memories: `remember`, `show`, `search`, `list`, `edit`, `flag`,
//! `forget`, `restore`, `history` and `undo`.
//!
//! `remember` compares a new text with the stored memories and reports its *novelty*: `new`, `merged`
//! (into the memory that says the same) or `supersedes` (a memory that it contradicts). With `flag` the
//! user judges a memory: `ok`, `outdated`, `partly-wrong` and others. Each change of a memory is a
//! version, which `history` lists and `undo` reverts.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, string};

#[test]
fn a_memory_is_stored_found_and_shown() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("The parser reads verifyJwt tokens from the header");
    sandbox.remember("Something else entirely");

    // An id may be given in full or by the start of its last eight digits, in several notations.
    let short = &id[id.len() - 8..];
    for notation in [id.as_str(), short, &short[..4], &format!("#{short}"), &short.to_uppercase()] {
        let shown = sandbox.run(&["show", notation]).expect_code(0, notation);
        assert!(shown.out.contains("verifyJwt tokens"), "{shown:?}");
        assert!(shown.out.contains(&id), "the full id is missing: {shown:?}");
    }

    for query in ["parser", "JWT", "the header", "reading tokens", "what does the parser read?"] {
        let found = sandbox.json(&["search", query]);
        assert_eq!(found["hits"][0]["memory"]["id"], id.as_str(), "{query}");
    }

    // The list has the newest memory first.
    let listed = sandbox.run(&["list"]).expect_code(0, "list");
    assert_eq!(listed.out.lines().count(), 2, "{listed:?}");
    assert!(listed.out.lines().last().unwrap().contains(short), "{listed:?}");
}

#[test]
fn duplicates_merge_and_contradictions_supersede() {
    let sandbox = Sandbox::new();
    let first = sandbox.json(&["remember", "The service listens on port 8080"]);
    let duplicate = sandbox.json(&["remember", "the service listens on port 8080."]);
    assert_eq!(duplicate["novelty"]["is"], "merged", "{duplicate}");
    assert_eq!(duplicate["memory"]["id"], first["memory"]["id"]);

    let contradiction = sandbox.json(&["remember", "The service listens on port 9090"]);
    assert_eq!(contradiction["novelty"]["is"], "supersedes", "{contradiction}");
    assert_eq!(contradiction["novelty"]["id"], first["memory"]["id"]);

    // `--new` stores the text without comparing it with others.
    let forced = sandbox.json(&["remember", "--new", "The service listens on port 8080"]);
    assert_eq!(forced["novelty"]["is"], "new", "{forced}");

    // Superseded memories are not listed.
    let listed = sandbox.json(&["list"]);
    let memories = listed["memories"].as_array().unwrap();
    let active_ids: Vec<Value> = memories.iter().map(|it| it["id"].clone()).collect();
    let expected = [&forced, &contradiction].map(|it| it["memory"]["id"].clone());
    assert_eq!(active_ids, expected);
}

#[test]
fn a_dry_run_stores_nothing() {
    let sandbox = Sandbox::new();
    sandbox.json(&["remember", "--dry-run", "a thing"]);
    assert_eq!(sandbox.contents(), Vec::new());
}

#[test]
fn undo_reverts_every_change_back_to_the_start() {
    let sandbox = Sandbox::new();
    let id =
        string(&sandbox.json(&["remember", "The service listens on port 8080"])["memory"]["id"]);
    // Every kind of change, with the state before each.
    let mut states = vec![memory_states(&sandbox)];
    let steps: [&[&str]; 9] = [
        &["remember", "The service listens on port 8080, on every host"],
        &["edit", &id, "--text", "The service listens on port 8081", "--tag", "network"],
        &["pin", &id],
        &["remember", "The service listens on port 9090"],
        &["restore", &id],
        &["flag", &id, "ok"],
        &["flag", &id, "partly-wrong", "--text", "The service listens on port 8082"],
        &["forget", &id],
        &["remember", "--user", "--new", "I like short sentences"],
    ];
    for step in steps {
        sandbox.run(step).expect_code(0, &format!("{step:?}"));
        states.push(memory_states(&sandbox));
    }

    // The last state is the current one; every `undo` must lead to the one before.
    states.pop();
    while let Some(before) = states.pop() {
        sandbox.run(&["undo"]).expect_code(0, "undo");
        assert_eq!(memory_states(&sandbox), before, "with {} steps left", states.len());
    }
    sandbox.run(&["undo"]).expect_code(0, "undo of the first memory itself");
    sandbox.run(&["undo"]).expect_code(1, "nothing left to undo");
    assert_eq!(sandbox.json(&["list"])["memories"], json!([]));
}

#[test]
fn undo_of_one_memory_leaves_the_others() {
    let sandbox = Sandbox::new();
    let (one, two) = (sandbox.remember("the first thing"), sandbox.remember("the second thing"));
    sandbox.json(&["edit", &one, "--text", "the first thing, changed"]);
    sandbox.json(&["edit", &two, "--text", "the second thing, changed"]);
    sandbox.json(&["undo", &one]);
    let content = |id: &str| string(&sandbox.json(&["show", id])["memory"]["content"]);
    assert_eq!(content(&one), "the first thing");
    assert_eq!(content(&two), "the second thing, changed");
}

#[test]
fn history_lists_every_version() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("the first text");
    sandbox.json(&["edit", &id, "--text", "the second text", "--type", "decision"]);
    sandbox.json(&["pin", &id]);
    sandbox.json(&["undo"]);

    // The steps, each with whether it was undone later.
    let history = sandbox.json(&["history", &id]);
    let mut actions = Vec::new();
    for step in history["steps"].as_array().unwrap() {
        actions.push((step["action"].as_str().unwrap(), step["undone"].as_bool().unwrap()));
    }
    let expected = [("remember", false), ("edit", false), ("pin", true), ("undo", false)];
    assert_eq!(actions, expected, "{history}");
    let text = sandbox.run(&["history", &id]).expect_code(0, "history").out;
    assert!(text.contains("the first text") && text.contains("the second text"), "{text}");

    // An old version can be restored, which makes a new version, the fifth.
    sandbox.json(&["restore", &id, "--version", "1"]);
    let shown = &sandbox.json(&["show", &id])["memory"];
    assert_eq!((&shown["content"], &shown["version"]), (&json!("the first text"), &json!(5)));
    sandbox
        .run(&["restore", &id, "--version", "99"])
        .expect_code(2, "a version that does not exist");
}

#[test]
fn all_five_flags_have_their_effect() {
    let sandbox = Sandbox::new();
    // ok: verified by the user, with full confidence.
    let right = sandbox.remember("right thing");
    let flagged = &sandbox.json(&["flag", &right, "ok"])["memory"];
    assert_eq!((&flagged["user_verified"], &flagged["confidence"]), (&json!(true), &json!(1.0)));

    // outdated: deprecated, optionally with a replacement.
    let old = sandbox.remember("old thing");
    assert_eq!(sandbox.json(&["flag", &old, "outdated"])["memory"]["status"], "deprecated");
    let older = sandbox.remember("older thing");
    let res = sandbox.json(&["flag", &older, "outdated", "--text", "newer thing"]);
    assert_eq!(res["replacement"]["relations"][0]["memory"], older.as_str(), "{res}");

    // partly-wrong: the same memory with a corrected text.
    let partly = sandbox.remember("half true thing");
    let res = sandbox.json(&["flag", &partly, "partly-wrong", "--text", "wholly true thing"]);
    assert_eq!(
        (&res["memory"]["content"], &res["memory"]["version"]),
        (&json!("wholly true thing"), &json!(2))
    );

    // incorrect: deprecated, and the right text is required.
    let wrong = sandbox.remember("wrong thing");
    sandbox.run(&["flag", &wrong, "incorrect"]).expect_code(2, "incorrect without --text");
    assert_eq!(
        sandbox.json(&["flag", &wrong, "incorrect", "--text", "a right one"])["memory"]["status"],
        "deprecated"
    );

    // not-here: limited to the given module; a memory of the user is excluded from this project.
    let broad = sandbox.remember("broad thing");
    sandbox.run(&["flag", &broad, "not-here"]).expect_code(2, "not-here without a place");
    let res = sandbox.json(&["flag", &broad, "not-here", "--module", "parser"]);
    assert_eq!(
        (&res["memory"]["modules"], &res["memory"]["scope"]),
        (&json!(["parser"]), &json!("module"))
    );
    let user_memory =
        string(&sandbox.json(&["remember", "--user", "--new", "my own thing"])["memory"]["id"]);
    assert_eq!(sandbox.json(&["flag", &user_memory, "not-here"])["excluded"], true);

    let listed = sandbox.json(&["list"]).to_string();
    for (text, is_active) in [
        ("old thing", false),
        ("newer thing", true),
        ("wrong thing", false),
        ("my own thing", false),
    ] {
        assert_eq!(listed.contains(&format!("\"{text}\"")), is_active, "{text}");
    }
}

#[test]
fn a_forgotten_memory_is_hidden_and_can_be_restored() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("a thing to forget");
    sandbox.json(&["forget", &id]);
    assert_eq!(sandbox.json(&["list"])["memories"], json!([]));
    sandbox.run(&["search", "forget"]).expect_code(1, "search for a forgotten memory");
    sandbox.run(&["forget", &id]).expect_code(2, "forget twice");
    assert!(sandbox.run(&["list", "--all"]).out.contains("[forgotten]"));
    sandbox.json(&["restore", &id]);
    sandbox.run(&["restore", &id]).expect_code(2, "restore twice");
    assert_eq!(sandbox.json(&["search", "forget"])["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn list_filters_select_memories() {
    let sandbox = Sandbox::new();
    // One memory that every filter below selects, and one that none does.
    let selected = sandbox.json(&[
        "remember",
        "--new",
        "one",
        "--file",
        "src/parser.rs",
        "--tag",
        "Deep",
        "--module",
        "core",
        "--pin",
        "--type",
        "decision",
    ]);
    sandbox.remember("two");
    let id = &selected["memory"]["id"];
    let filters: [&[&str]; 8] = [
        &["--file", "src/parser.rs"],
        &["--tag", "Deep"],
        &["--module", "core"],
        &["--pinned"],
        &["--type", "decision"],
        &["--scope", "module"],
        &["-n", "1", "--offset", "1"],
        &["--status", "live", "--source", "user_taught", "--pinned"],
    ];
    for filter in filters {
        let listed = sandbox.json(&[&["list"], filter].concat());
        let ids: Vec<&Value> =
            listed["memories"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, vec![id], "{filter:?}");
    }
    for invalid in [
        ["--type", "nonsense"],
        ["--status", "nonsense"],
        ["--scope", "nonsense"],
        ["--file", "../x"],
        ["-n", "-1"],
    ] {
        sandbox.run(&[&["list"], &invalid[..]].concat()).expect_code(2, &format!("{invalid:?}"));
    }
}

#[test]
fn stats_and_doctor_follow_changes() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("one");
    sandbox.remember("two");
    sandbox.json(&["forget", &id]);
    sandbox.json(&["backup"]);
    let stats = sandbox.json(&["stats"]);
    let tally = stats["notebooks"][0]["tally"].to_string();
    assert!(tally.contains("\"live\"") && tally.contains("\"deleted\""), "{stats}");
    let health = sandbox.json(&["doctor"]);
    assert_ne!(health["health"], "bad", "{health}");
    assert_eq!(sandbox.json(&["doctor", "--fix"])["repaired"], json!([]));
    assert_eq!(sandbox.json(&["maintain", "--dry-run"])["dry_run"], true);
}

/// Id and user-visible fields of every memory, sorted by id. Forgotten memories are left out: undoing
/// `remember` leaves a forgotten memory behind, which did not exist before.
fn memory_states(sandbox: &Sandbox) -> Vec<(String, String)> {
    let mut res: Vec<(String, String)> = Vec::new();
    for memory in sandbox.memories().iter().filter(|it| it["status"] != "deleted") {
        let fields = ["content", "status", "pinned", "tags", "confidence", "user_verified", "type"];
        let state = fields.map(|name| memory[name].to_string()).join(" ");
        res.push((string(&memory["id"]), state));
    }
    res.sort();
    res
}
