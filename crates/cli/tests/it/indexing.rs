//! Indexing by several processes at once, and ended in the middle: nothing is lost, nothing is mixed.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::kit::{Desk, Seeded, holding, skip};
use crate::watching::signal;

/// Files that call their neighbours, large enough that reading all of them takes a while.
fn repository(n: usize) -> Desk {
    let desk = Desk::new();
    fs::create_dir_all(desk.project.join("src")).unwrap();
    for i in 0..n {
        let next = (i + 1) % n;
        let lines = (0..20)
            .map(|it| format!("export function f{it}(a: number) {{ return near{it}(a + {it}) }}"));
        let body = lines.collect::<Vec<String>>().join("\n");
        let names: Vec<String> = (0..20).map(|it| format!("f{it} as near{it}")).collect();
        let text = format!("import {{ {} }} from './a{next}'\n{body}\n", names.join(", "));
        fs::write(desk.project.join(format!("src/a{i}.ts")), text).unwrap();
    }
    desk
}

fn counts(it: &Value) -> Vec<Value> {
    ["files", "symbols", "edges", "unresolved_calls", "complete"]
        .map(|what| it[what].clone())
        .into()
}

fn start(desk: &Desk, args: &[&str]) -> Child {
    let mut command = desk.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn answer(mut child: Child) -> (i32, String) {
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), out)
}

#[test]
fn several_at_once_read_everything_once() {
    let desk = repository(600);
    let children: Vec<Child> = (0..4).map(|_| start(&desk, &["--json", "index"])).collect();
    let mut n_read = 0;
    for child in children {
        let (code, out) = answer(child);
        assert_eq!(code, 0, "{out}");
        let done: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(counts(&done)[..3], [600, 12_000, 24_600].map(Value::from), "{done}");
        n_read += done["read"].as_u64().unwrap();
    }
    assert_eq!(n_read, 600, "whoever waited found the work done");
}

#[test]
fn who_waits_for_another_says_so_and_can_be_stopped() {
    let desk = repository(3);
    desk.json(&["index"]);
    let lock = File::options().write(true).open(desk.notebook().join("graph.lock")).unwrap();
    lock.lock().unwrap();
    let waits = |child: &mut Child| {
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("waiting for it"), "{line}");
    };
    let mut stopped = start(&desk, &["index"]);
    waits(&mut stopped);
    signal("INT", stopped.id());
    assert_eq!(answer(stopped).0, 1);
    let mut patient = start(&desk, &["index"]);
    waits(&mut patient);
    lock.unlock().unwrap();
    assert_eq!(answer(patient).0, 0);
}

#[test]
fn what_was_interrupted_goes_on_where_it_was() {
    let desk = repository(3000);
    let child = start(&desk, &["--json", "index"]);
    // The first part was kept: its bytes are in the log.
    let log = || crate::kit::files(&desk.home).into_iter().find(|it| it.ends_with("graph.db-wal"));
    while !log().is_some_and(|it| fs::metadata(it).is_ok_and(|it| it.len() > 100_000)) {}
    signal("INT", child.id());
    let (code, out) = answer(child);
    let stopped: Value = serde_json::from_str(&out).unwrap();
    let n_read = stopped["read"].as_u64().unwrap();
    assert_eq!((code, &stopped["complete"]), (1, &false.into()), "{stopped}");
    assert!((1..3000).contains(&n_read), "{stopped}");
    let partly = desk.run(&["--json", "deps", "src/a0.ts"]).sound("a partial index answers");
    assert_eq!(partly.json()["freshness"]["complete"], false, "{partly:?}");
    let rest = desk.json(&["index"]);
    assert_eq!(rest["read"].as_u64().unwrap(), 3000 - n_read, "{rest}");
    fs::remove_dir_all(&desk.home).unwrap();
    assert_eq!(counts(&rest), counts(&desk.json(&["index"])));
}

#[test]
fn a_repository_that_changes_while_it_is_read_is_read_in_the_end() {
    let desk = repository(400);
    let src = desk.project.join("src");
    let mut seeded = Seeded::new(31);
    for round in 0..4 {
        let mut child = start(&desk, &["--json", "index"]);
        // As long as it reads, files change, often within one tick of the clock, come, go and move.
        while child.try_wait().unwrap().is_none() {
            let path = src.join(format!("a{}.ts", seeded.at(400)));
            match seeded.below(5) {
                0 => _ = fs::remove_file(&path),
                1 => _ = fs::rename(&path, src.join(format!("a{}.ts", seeded.at(400)))),
                n => {
                    let text =
                        format!("export function g{n}() {{ return {} }}\n", seeded.below(10));
                    fs::write(&path, text).unwrap();
                }
            }
        }
        let (code, out) = answer(child);
        assert_eq!(code, 0, "round {round}: {out}");
    }
    let last = desk.json(&["index"]);
    assert_eq!(desk.json(&["index"])["read"], 0, "by now it stands still");
    let symbols = |desk: &Desk| -> Vec<String> {
        let names = (0..400).map(|it| format!("src/a{it}.ts"));
        let there = names.filter(|it| desk.project.join(it).exists()).step_by(8);
        there.map(|it| desk.run(&["--json", "symbols", &it]).out).collect()
    };
    let followed = symbols(&desk);
    fs::remove_dir_all(&desk.home).unwrap();
    assert_eq!(counts(&last), counts(&desk.json(&["index"])));
    assert_eq!(followed, symbols(&desk));
}

#[test]
fn the_index_of_an_encrypted_project_is_encrypted() {
    let desk = Desk::new();
    fs::write(desk.project.join("a.ts"), "export function zebrawombat() {}\n").unwrap();
    desk.json(&["index"]);
    if desk.run(&["doctor"]).out.contains("cannot encrypt") {
        return skip("the code graph encrypted", "this build cannot encrypt");
    }
    let database = desk.notebook().join("graph.db");
    assert!(holding(&desk.home, "zebrawombat").contains(&database), "it was plain");
    desk.json(&["config", "encryption", "on"]);
    assert!(holding(&desk.home, "zebrawombat").is_empty(), "what was plain is gone");
    desk.json(&["index"]);
    assert!(database.exists());
    assert!(holding(&desk.home, "zebrawombat").is_empty());
    let symbols = desk.run(&["symbols", "a.ts"]).ends(0, "it can be asked");
    assert!(symbols.out.contains("zebrawombat"), "{symbols:?}");
    desk.json(&["config", "encryption", "off"]);
    desk.json(&["index"]);
    desk.run(&["symbols", "a.ts"]).ends(0, "plain again");
}
