//! Candidates at the command line: claims of a session that are not sure are shown with their words and their
//! outcome by `review`, `explain` and `learn --explain`, counted apart by `stats`, and hidden everywhere else.

use std::fs;

use serde_json::{Value, json};

use crate::learning::write_transcript;
use crate::sandbox::{Sandbox, string};

/// A person states what the project requires; the agent follows it, and the tests pass.
const SESSION: &str = "\
user make the upload retry when the server is busy
read src/upload.ts
edit src/upload.ts
say I retry the upload until it succeeds.
user no, the upload queue in src/upload.ts must retry at most 5 times, because the server bans clients that retry forever
edit src/upload.ts
run npm test
run git commit -m retry
";

/// Learns the session, and returns its candidates.
fn learn_candidates(sandbox: &Sandbox) -> Vec<Value> {
    fs::create_dir_all(sandbox.project.join("src")).unwrap();
    fs::write(sandbox.project.join("src/upload.ts"), "export const retry = 5\n").unwrap();
    write_transcript(sandbox, 1, 3, SESSION);
    let learned = sandbox.json(&["learn"]);
    let memories = learned["memories"].as_array().unwrap();
    let memories = memories.iter().map(|it| it["memory"].clone());
    memories.filter(|it| it["status"] == "candidate").collect()
}

/// A record for `import`: a candidate with a text.
fn candidate(nth: u8, text: &str, confidence: f64) -> Value {
    json!({
        "id": format!("019a0000-0000-7000-8000-0000000000{nth:02}"), "type": "module_insight", "content": text,
        "source": "observer_inferred", "confidence": confidence, "created_at": 1_767_000_000_000_i64, "candidate": true,
    })
}

/// Imports records as the user's own.
fn import(sandbox: &Sandbox, records: &[Value]) {
    let file = sandbox.root.join("records.json");
    fs::write(&file, serde_json::to_vec(records).unwrap()).unwrap();
    sandbox.run(&["import", "--trust", file.to_str().unwrap()]).expect_code(0, "import");
}

#[test]
fn review_shows_a_claim_with_its_words_and_its_outcome() {
    let sandbox = Sandbox::new();
    let candidates = learn_candidates(&sandbox);
    assert!(!candidates.is_empty(), "the session states something");

    let waiting = sandbox.json(&["review"])["waiting"].clone();
    let claim = &waiting[0]["claims"][0];
    assert_eq!(claim["source"], "person", "{waiting}");
    assert!(string(&claim["quote"]).contains("at most 5 times"), "{waiting}");
    assert!(string(&waiting[0]["why"]).contains("stated in 1 session"), "{waiting}");

    let output = sandbox.run_with_input(&["review"], b"q").expect_code(0, "review");
    for part in ["said", "at most 5 times", "a person", "then", "src/upload.ts", "waits"] {
        assert!(output.err.contains(part), "{part}: {output:?}");
    }
    // One key keeps it: from then on it is a memory like any other.
    sandbox.run_with_input(&["review", "-n", "1"], b"y").expect_code(0, "review");
    let listed = sandbox.json(&["list"]);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn candidates_are_hidden_from_lists_searches_and_contexts() {
    let sandbox = Sandbox::new();
    import(&sandbox, &[candidate(1, "the upload queue retries five times", 0.7)]);
    assert_eq!(sandbox.json(&["list"])["memories"], json!([]));
    let output = sandbox.run(&["search", "upload queue retries"]).expect_code(1, "no hit");
    assert!(!output.out_and_err().contains("five times"), "{output:?}");
    let context = sandbox.run(&["context", "start", "--task", "the upload queue retries"]);
    assert!(!context.out_and_err().contains("five times"), "{context:?}");
    for args in [&["list", "--status", "candidate"][..], &["list", "--all"]] {
        assert_eq!(sandbox.json(args)["memories"][0]["candidate"], true, "{args:?}");
    }
    let found = sandbox.json(&["search", "--status", "candidate", "upload queue retries"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    // An export has them, and an import brings them back as they were.
    let export = sandbox.root.join("export.json");
    fs::write(&export, sandbox.run(&["export"]).expect_code(0, "export").out).unwrap();
    let other = Sandbox::new();
    other.run(&["import", "--trust", export.to_str().unwrap()]).expect_code(0, "import");
    assert_eq!(other.json(&["list", "--status", "candidate"])["memories"][0]["candidate"], true);
}

#[test]
fn review_goes_through_twenty_at_a_time_the_best_candidates_first() {
    let sandbox = Sandbox::new();
    let texts = [
        "alpha", "bravo", "carbon", "delta", "ember", "falcon", "garnet", "harbor", "indigo",
        "jasper", "kelvin", "lantern", "meadow", "nickel", "orchid", "pepper", "quartz", "raven",
        "saffron", "timber", "umber", "violet", "walnut",
    ];
    let record = |(nth, word): (u8, &&str)| {
        candidate(
            nth,
            &format!("the {word} service listens on its own port"),
            0.4 + f64::from(nth) / 100.0,
        )
    };
    let records: Vec<Value> = (1..).zip(&texts).map(record).collect();
    import(&sandbox, &records);
    let waiting = sandbox.json(&["review"])["waiting"].clone();
    assert_eq!(waiting.as_array().unwrap().len(), 23);
    assert!(string(&waiting[0]["content"]).contains("walnut"), "{}", waiting[0]);

    let output = sandbox.run_with_input(&["review"], &[b's'; 30]).expect_code(0, "review");
    assert!(output.err.contains("20 of 23") && !output.err.contains("21 of 23"), "{output:?}");
    assert!(output.err.contains("3 more wait; `waylore review --offset 20`"), "{output:?}");
    let output =
        sandbox.run_with_input(&["review", "--offset", "20"], b"xq").expect_code(0, "review");
    assert!(output.err.contains("21 of 23"), "{output:?}");
    assert!(output.out.contains("1 discarded"), "{output:?}");
}

#[test]
fn stats_counts_candidates_apart() {
    let sandbox = Sandbox::new();
    sandbox.run(&["remember", "the cache is per user"]).expect_code(0, "remember");
    import(&sandbox, &[candidate(1, "the upload queue retries five times", 0.7)]);
    let notebook = sandbox.json(&["stats"])["notebooks"][0].clone();
    assert_eq!(
        (&notebook["live"], &notebook["candidates"], &notebook["to_review"]),
        (&json!(1), &json!(1), &json!(0)),
        "{notebook}"
    );
    let output = sandbox.run(&["stats"]).expect_code(0, "stats").out;
    assert!(output.contains("1 active memory"), "{output}");
    assert!(output.contains("unsure   1 not told to agents"), "{output}");
}

#[test]
fn a_session_is_explained_by_its_words_and_noise_is_counted() {
    let sandbox = Sandbox::new();
    write_transcript(&sandbox, 1, 3, SESSION);
    // A dry run explains the same and writes nothing.
    let dry = sandbox.run(&["learn", "--dry-run", "--explain"]).expect_code(0, "learn").out;
    assert_eq!(sandbox.contents(), Vec::new());
    for part in ["make the upload retry", "candidates", "a person", "at most 5 times"] {
        assert!(dry.contains(part), "{part}: {dry}");
    }
    assert!(dry.lines().count() <= 20, "readable in a minute: {dry}");

    learn_candidates(&sandbox);
    let session = string(&sandbox.json(&["explain"])["sessions"][0]["id"]);
    let explained = sandbox.json(&["explain", &session]);
    let seen = explained["seen"].as_array().unwrap();
    assert!(seen.iter().any(|it| it["memory_status"] == "candidate"), "{explained}");
    let folded = sandbox.run(&["explain", &session]).expect_code(0, "explain").out;
    let all = sandbox.run(&["explain", &session, "--all"]).expect_code(0, "explain --all").out;
    assert!(folded.contains("--all lists them") && !all.contains("--all lists them"), "{folded}");
    assert!(all.lines().count() > folded.lines().count(), "{all}");
}
