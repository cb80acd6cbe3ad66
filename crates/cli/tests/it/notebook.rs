//! The ordinary day: keep, look, change, doubt, forget, bring back, take back.

use serde_json::{Value, json};

use crate::kit::{Desk, string};

#[test]
fn a_memory_is_kept_found_and_shown() {
    let desk = Desk::new();
    let id = desk.remember("The parser reads verifyJwt tokens from the header");
    desk.remember("Something else entirely");
    let short = &id[id.len() - 8..];
    for asked in [id.as_str(), short, &short[..4], &format!("#{short}"), &short.to_uppercase()] {
        let shown = desk.run(&["show", asked]).ends(0, asked);
        assert!(shown.out.contains("verifyJwt tokens"), "{shown:?}");
        assert!(shown.out.contains(&id), "the whole id is named: {shown:?}");
    }
    for query in ["parser", "JWT", "the header", "reading tokens", "what does the parser read?"] {
        let found = desk.json(&["search", query]);
        assert_eq!(found["hits"][0]["memory"]["id"], id.as_str(), "{query}");
    }
    let listed = desk.run(&["list"]).ends(0, "list");
    assert_eq!(listed.out.lines().count(), 2, "{listed:?}");
    assert!(listed.out.lines().last().unwrap().contains(short), "newest first: {listed:?}");
}

#[test]
fn what_is_known_is_merged_and_what_contradicts_replaces() {
    let desk = Desk::new();
    let first = desk.json(&["remember", "The service listens on port 8080"]);
    let again = desk.json(&["remember", "the service listens on port 8080."]);
    assert_eq!(again["novelty"]["is"], "merged", "{again}");
    assert_eq!(again["memory"]["id"], first["memory"]["id"]);
    let other = desk.json(&["remember", "The service listens on port 9090"]);
    assert_eq!(other["novelty"]["is"], "supersedes", "{other}");
    assert_eq!(other["novelty"]["id"], first["memory"]["id"]);
    let both = desk.json(&["remember", "--new", "The service listens on port 8080"]);
    assert_eq!(both["novelty"]["is"], "new", "{both}");
    let standing: Vec<Value> = desk.json(&["list"])["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(standing, vec![both["memory"]["id"].clone(), other["memory"]["id"].clone()]);
}

#[test]
fn a_dry_run_keeps_nothing() {
    let desk = Desk::new();
    desk.json(&["remember", "--dry-run", "a thing"]);
    assert_eq!(desk.contents(), Vec::new());
}

#[test]
fn every_step_of_a_day_can_be_taken_back_to_its_morning() {
    let desk = Desk::new();
    let id = string(&desk.json(&["remember", "The service listens on port 8080"])["memory"]["id"]);
    let mut days = vec![states(&desk)];
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
        desk.run(step).ends(0, &format!("{step:?}"));
        days.push(states(&desk));
    }
    days.pop();
    while let Some(before) = days.pop() {
        desk.run(&["undo"]).ends(0, "undo");
        assert_eq!(states(&desk), before, "with {} steps left", days.len());
    }
    desk.run(&["undo"]).ends(0, "the first memory itself");
    desk.run(&["undo"]).ends(1, "there is nothing left");
    assert_eq!(desk.json(&["list"])["memories"], json!([]));
}

#[test]
fn the_last_change_of_one_memory_can_be_taken_back_alone() {
    let desk = Desk::new();
    let (one, two) = (desk.remember("the first thing"), desk.remember("the second thing"));
    desk.json(&["edit", &one, "--text", "the first thing, changed"]);
    desk.json(&["edit", &two, "--text", "the second thing, changed"]);
    desk.json(&["undo", &one]);
    let says = |id: &str| string(&desk.json(&["show", id])["memory"]["content"]);
    assert_eq!(
        (says(&one).as_str(), says(&two).as_str()),
        ("the first thing", "the second thing, changed")
    );
}

#[test]
fn a_history_tells_every_version() {
    let desk = Desk::new();
    let id = desk.remember("as it was first");
    desk.json(&["edit", &id, "--text", "as it was then", "--type", "decision"]);
    desk.json(&["pin", &id]);
    desk.json(&["undo"]);
    let history = desk.json(&["history", &id]);
    let steps = history["steps"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> =
        steps.iter().map(|it| (&it["action"], &it["undone"])).collect();
    let expected = [("remember", false), ("edit", false), ("pin", true), ("undo", false)];
    assert_eq!(told.len(), expected.len(), "{history}");
    for ((action, undone), (word, was)) in told.iter().zip(expected) {
        assert_eq!((**action == word, **undone == was), (true, true), "{history}");
    }
    let text = desk.run(&["history", &id]).ends(0, "history").out;
    assert!(text.contains("as it was first") && text.contains("as it was then"), "{text}");
    desk.json(&["restore", &id, "--version", "1"]);
    let shown = &desk.json(&["show", &id])["memory"];
    assert_eq!((&shown["content"], &shown["version"]), (&json!("as it was first"), &json!(5)));
    desk.run(&["restore", &id, "--version", "99"]).ends(2, "no such version");
}

#[test]
fn there_are_five_things_to_say_about_a_memory() {
    let desk = Desk::new();
    let right = desk.remember("right thing");
    let flagged = &desk.json(&["flag", &right, "ok"])["memory"];
    assert_eq!((&flagged["user_verified"], &flagged["confidence"]), (&json!(true), &json!(1.0)));
    let old = desk.remember("old thing");
    assert_eq!(desk.json(&["flag", &old, "outdated"])["memory"]["status"], "deprecated");
    let older = desk.remember("older thing");
    let res = desk.json(&["flag", &older, "outdated", "--text", "newer thing"]);
    assert_eq!(res["replacement"]["relations"][0]["memory"], older.as_str(), "{res}");
    let partly = desk.remember("half true thing");
    let res = desk.json(&["flag", &partly, "partly-wrong", "--text", "wholly true thing"]);
    assert_eq!(
        (&res["memory"]["content"], &res["memory"]["version"]),
        (&json!("wholly true thing"), &json!(2))
    );
    let wrong = desk.remember("wrong thing");
    desk.run(&["flag", &wrong, "incorrect"]).ends(2, "what is right must be said");
    assert_eq!(
        desk.json(&["flag", &wrong, "incorrect", "--text", "a right one"])["memory"]["status"],
        "deprecated"
    );
    let broad = desk.remember("broad thing");
    desk.run(&["flag", &broad, "not-here"]).ends(2, "where it applies must be said");
    let res = desk.json(&["flag", &broad, "not-here", "--module", "parser"]);
    assert_eq!(
        (&res["memory"]["modules"], &res["memory"]["scope"]),
        (&json!(["parser"]), &json!("module"))
    );
    let mine = string(&desk.json(&["remember", "--user", "--new", "my own thing"])["memory"]["id"]);
    assert_eq!(desk.json(&["flag", &mine, "not-here"])["excluded"], true);
    let standing = desk.json(&["list"]).to_string();
    for (word, stands) in [
        ("old thing", false),
        ("newer thing", true),
        ("wrong thing", false),
        ("my own thing", false),
    ] {
        assert_eq!(standing.contains(&format!("\"{word}\"")), stands, "{word}");
    }
}

#[test]
fn forgotten_is_out_of_sight_and_comes_back() {
    let desk = Desk::new();
    let id = desk.remember("a thing to forget");
    desk.json(&["forget", &id]);
    assert_eq!(desk.json(&["list"])["memories"], json!([]));
    desk.run(&["search", "forget"]).ends(1, "nothing is found");
    desk.run(&["forget", &id]).ends(2, "it is forgotten already");
    assert!(desk.run(&["list", "--all"]).out.contains("[forgotten]"));
    desk.json(&["restore", &id]);
    desk.run(&["restore", &id]).ends(2, "it stands already");
    assert_eq!(desk.json(&["search", "forget"])["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn filters_say_which_memories() {
    let desk = Desk::new();
    let parser = desk.json(&[
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
    desk.remember("two");
    let id = &parser["memory"]["id"];
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
        let listed = desk.json(&[&["list"], filter].concat());
        let ids: Vec<&Value> =
            listed["memories"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, vec![id], "{filter:?}");
    }
    for wrong in [
        ["--type", "nonsense"],
        ["--status", "nonsense"],
        ["--scope", "nonsense"],
        ["--file", "../x"],
        ["-n", "-1"],
    ] {
        desk.run(&[&["list"], &wrong[..]].concat()).ends(2, &format!("{wrong:?}"));
    }
}

#[test]
fn numbers_and_health_follow_what_was_done() {
    let desk = Desk::new();
    let id = desk.remember("one");
    desk.remember("two");
    desk.json(&["forget", &id]);
    desk.json(&["backup"]);
    let stats = desk.json(&["stats"]);
    let tally = stats["notebooks"][0]["tally"].to_string();
    assert!(tally.contains("\"live\"") && tally.contains("\"deleted\""), "{stats}");
    let health = desk.json(&["doctor"]);
    assert_ne!(health["health"], "bad", "{health}");
    assert_eq!(desk.json(&["doctor", "--fix"])["repaired"], json!([]), "there is nothing to mend");
    assert_eq!(desk.json(&["maintain", "--dry-run"])["dry_run"], true);
}

/// Every memory by what a person would say it is; forgotten ones that never were before do not count.
fn states(desk: &Desk) -> Vec<(String, String)> {
    let mut res: Vec<(String, String)> = Vec::new();
    for it in desk.memories().iter().filter(|it| it["status"] != "deleted") {
        let fields = ["content", "status", "pinned", "tags", "confidence", "user_verified", "type"];
        let state = fields.map(|name| it[name].to_string()).join(" ");
        res.push((string(&it["id"]), state));
    }
    res.sort();
    res
}
