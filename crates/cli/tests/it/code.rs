//! The code graph by the real binary: index, ask, change, ask again.

use std::fs;

use crate::kit::{Desk, Said};

fn write(desk: &Desk, path: &str, text: &str) {
    let path = desk.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn repository() -> Desk {
    let desk = Desk::new();
    write(&desk, "src/auth.ts", "export function verify(t: string) { return t }\n");
    write(
        &desk,
        "src/login.ts",
        "import { verify } from './auth'\nexport const login = () => verify('a')\n",
    );
    write(
        &desk,
        "test/login.test.ts",
        "import { login } from '../src/login'\nit('logs in', () => { login() })\n",
    );
    write(&desk, "node_modules/x/index.ts", "export function verify() {}\n");
    desk
}

fn names(said: &Said) -> Vec<String> {
    let reached = said.json()["reached"].as_array().unwrap().clone();
    let name = |it: &serde_json::Value| {
        format!(
            "{}:{}",
            it["symbol"]["path"].as_str().unwrap(),
            it["symbol"]["name"].as_str().unwrap()
        )
    };
    reached.iter().map(name).collect()
}

#[test]
fn a_repository_is_indexed_and_says_who_would_notice() {
    let desk = repository();
    let refused = desk.run(&["impact", "verify"]).ends(2, "before it was indexed");
    assert!(refused.err.contains("not indexed yet"), "{refused:?}");
    let indexed = desk.json(&["index"]);
    assert_eq!(
        (indexed["files"].as_u64(), indexed["complete"].as_bool()),
        (Some(3), Some(true)),
        "{indexed}"
    );
    let impact =
        desk.run(&["--json", "impact", "src/auth.ts:verify", "--depth", "3"]).ends(0, "impact");
    assert_eq!(names(&impact), ["src/login.ts:login", "test/login.test.ts:logs in"]);
    assert_eq!(impact.json()["reached"][1]["symbol"]["test"], true, "{impact:?}");
    assert_eq!(impact.json()["freshness"]["complete"], true);
    let by_line = desk.run(&["--json", "impact", "src/auth.ts:1"]).ends(0, "a line");
    assert_eq!(by_line.json()["targets"][0]["name"], "verify");
    let deps = desk.run(&["--json", "deps", "login"]).ends(0, "deps");
    assert_eq!(names(&deps), ["src/auth.ts:verify"]);
    let path = desk.json(&["path", "logs in", "verify"]);
    assert_eq!(path["steps"].as_array().unwrap().len(), 3, "{path}");
    let near = desk.json(&["neighbours", "src/login.ts"]);
    assert_eq!(near["files"].as_array().unwrap().len(), 2, "{near}");
    let symbols = desk.run(&["symbols", "auth.ts"]).ends(0, "symbols");
    assert!(symbols.out.contains("verify"), "{symbols:?}");
    let chunks = desk.json(&["chunks", "src/auth.ts"]);
    assert_eq!(chunks["chunks"][0]["title"], "File: src/auth.ts | function: verify | Lines: 1–1");
}

#[test]
fn what_changed_is_said_and_then_read_again() {
    let desk = repository();
    desk.json(&["index"]);
    write(
        &desk,
        "src/login.ts",
        "import { verify } from './auth'\nexport const enter = () => { verify('b') }\n",
    );
    let stale = desk.run(&["--json", "impact", "verify"]).ends(0, "stale");
    assert_eq!(stale.json()["freshness"]["changed"][0], "src/login.ts", "{stale:?}");
    let again = desk.json(&["index"]);
    assert_eq!(again["read"], 1, "{again}");
    let fresh = desk.run(&["--json", "impact", "verify", "-d", "3"]).ends(0, "fresh");
    assert_eq!(names(&fresh), ["src/login.ts:enter"], "{fresh:?}");
    fs::remove_file(desk.project.join("src/login.ts")).unwrap();
    write(&desk, "src/twin.ts", "export function verify() {}\n");
    assert_eq!(desk.json(&["index"])["gone"], 1);
    let ambiguous = desk.run(&["impact", "verify"]).ends(2, "two of a name");
    assert!(ambiguous.err.contains("src/auth.ts:verify, src/twin.ts:verify"), "{ambiguous:?}");
    desk.run(&["impact", "src/auth.ts:verify"]).ends(1, "nobody is left");
    assert_eq!(desk.json(&["index"])["read"], 0);
}

#[test]
fn memories_of_a_file_come_with_its_impact() {
    let desk = repository();
    desk.json(&[
        "remember",
        "--new",
        "--file",
        "src/auth.ts",
        "--",
        "Tokens are verified twice on purpose",
    ]);
    desk.json(&["index"]);
    let impact = desk.run(&["--json", "impact", "src/auth.ts:verify"]).ends(0, "impact").json();
    assert_eq!(
        impact["memories"][0]["content"], "Tokens are verified twice on purpose",
        "{impact}"
    );
}

#[test]
fn a_memory_of_a_symbol_is_doubted_when_its_code_changes() {
    let desk = repository();
    let text = "Tokens are verified twice on purpose";
    let kept = desk.json(&["remember", "--new", "--at", "src/auth.ts:verify", "--", text]);
    let id = kept["memory"]["id"].as_str().unwrap().to_owned();
    assert_eq!(kept["memory"]["anchors"][0]["symbol"], "verify", "{kept}");
    write(&desk, "src/auth.ts", "// Twice.\nexport function verify(t: string) {\n  return t\n}\n");
    let shown = desk.json(&["show", &id]);
    assert_eq!(shown["caveats"].as_array().unwrap().len(), 0, "{shown}");
    let before = shown["memory"]["current_confidence"].as_f64().unwrap();
    write(&desk, "src/auth.ts", "export function verify(t: string) { return t + t }\n");
    let shown = desk.json(&["show", &id]);
    assert_eq!(shown["caveats"][0], "`verify` in `src/auth.ts` changed since", "{shown}");
    assert!(shown["memory"]["current_confidence"].as_f64().unwrap() < before, "{shown}");
    let by_two = ["remember", "--file", "src/auth.ts", "--symbol", "verify", "--new", "--", text];
    assert_eq!(desk.json(&by_two)["memory"]["anchors"][0]["file"], "src/auth.ts");
    desk.run(&["remember", "--at", "src/auth.ts:nothing", "--", text]).ends(2, "no such symbol");
}

#[test]
fn hostile_files_do_not_stop_the_index() {
    let desk = repository();
    write(&desk, "src/deep.ts", &"(\n".repeat(100_000));
    fs::write(desk.project.join("src/odd.py"), b"\xff\xfe def f(): pass\n").unwrap();
    fs::File::create(desk.project.join("src/huge.js")).unwrap().set_len(50 << 20).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&desk.project, desk.project.join("src/loop")).unwrap();
        // Whoever opened it would wait for a writer for ever.
        let pipe =
            std::process::Command::new("mkfifo").arg(desk.project.join("src/pipe.ts")).status();
        assert!(pipe.unwrap().success());
    }
    let indexed = desk.json(&["index"]);
    assert_eq!(indexed["files"], 5, "{indexed}");
    assert_eq!(indexed["skipped"][0]["why"], "larger than 2 MB", "{indexed}");
}

#[test]
fn an_index_of_no_use_is_made_anew() {
    let desk = repository();
    desk.json(&["index"]);
    let path = desk.notebook().join("graph.db");
    assert!(path.exists());
    fs::write(&path, "this is no database, however long one looks at it").unwrap();
    let _ = fs::remove_file(path.with_extension("db-wal"));
    let again = desk.json(&["index"]);
    assert_eq!((again["read"].as_u64(), again["files"].as_u64()), (Some(3), Some(3)), "{again}");
    desk.run(&["impact", "src/auth.ts:verify"]).ends(0, "it answers again");
}

#[test]
fn purging_a_project_takes_its_index_along() {
    let desk = repository();
    desk.json(&["index"]);
    let folder = desk.notebook();
    desk.run(&["purge", "--this-project", "--yes"]).ends(0, "purge");
    assert!(!folder.exists(), "nothing is left of it");
}
