//! Notebooks that are large enough for shortcuts: the snapshot of the search index, and a doctor that
//! examines a sample.

use std::fs;
use std::path::PathBuf;

use crate::sandbox::{Sandbox, files, id_of, record};

/// More memories than a notebook has without a snapshot.
const SNAPSHOT_MEMORIES: u64 = 520;

/// Imports memories, each with some words of its own.
fn import(sandbox: &Sandbox, n: u64, content: impl Fn(u64) -> String) {
    let records = (0..n).map(|it| record(&id_of(1, it), &content(it)).to_string());
    let path = sandbox.home.with_file_name("memories.jsonl");
    fs::write(&path, records.collect::<Vec<_>>().join("\n")).unwrap();
    let imported = sandbox.json(&["import", "--trust", path.to_str().unwrap()]);
    assert_eq!(imported["added"], n, "{imported}");
}

fn note(n: u64) -> String {
    format!("Queue {n} of the importer is drained by worker{} at hour {}", n * 7, n % 24)
}

fn snapshot(sandbox: &Sandbox) -> PathBuf {
    sandbox.project_data_dir().join("memory.index")
}

/// The hits of some questions: ids, and how each path found and scored them. The whole score depends on
/// the time as well.
fn search_all(sandbox: &Sandbox) -> Vec<String> {
    let questions = ["who drains queue 41", "worker77", "hour 5 importer", "something else"];
    let mut found = Vec::new();
    for question in questions {
        let answer = sandbox.run(&["--json", "search", question]).json();
        for hit in answer["hits"].as_array().unwrap() {
            found.push(format!("{question}: {} {}", hit["memory"]["id"], hit["because"]["paths"]));
        }
    }
    found
}

#[test]
fn a_search_finds_the_same_with_a_snapshot_without_one_and_with_a_damaged_one() {
    let sandbox = Sandbox::new();
    import(&sandbox, SNAPSHOT_MEMORIES, note);
    sandbox.run(&["embed"]).expect_code(0, "embed");
    fs::remove_file(snapshot(&sandbox)).unwrap();
    let without = search_all(&sandbox);
    assert!(without.iter().any(|it| it.starts_with("worker77")), "{without:?}");
    let bytes = fs::read(snapshot(&sandbox)).expect("the first search left a snapshot");

    assert_eq!(search_all(&sandbox), without, "with it");
    fs::write(snapshot(&sandbox), &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(search_all(&sandbox), without, "with half of it");
    assert_eq!(fs::read(snapshot(&sandbox)).unwrap().len(), bytes.len(), "it was made again");

    // What was written after the snapshot is found, and what was forgotten is not.
    let id = sandbox.remember("Zebrafinches are fed by worker3 at noon");
    sandbox.run(&["forget", &id_of(1, 41)]).expect_code(0, "forget");
    let changed = search_all(&sandbox);
    let fed = sandbox.json(&["search", "who feeds the zebrafinches"]);
    assert_eq!(fed["hits"][0]["memory"]["id"], id.as_str(), "{fed}");
    fs::remove_file(snapshot(&sandbox)).unwrap();
    assert_eq!(search_all(&sandbox), changed, "without it again");
}

#[test]
fn a_purged_memory_is_not_in_a_snapshot() {
    let sandbox = Sandbox::new();
    import(&sandbox, SNAPSHOT_MEMORIES, note);
    sandbox.run(&["search", "queue 41"]).expect_no_panic("search");
    let id = id_of(1, 41);
    let id_bytes: Vec<u8> = id.replace('-', "").into_bytes();
    let id_bytes: Vec<u8> = id_bytes
        .chunks(2)
        .map(|it| u8::from_str_radix(std::str::from_utf8(it).unwrap(), 16).unwrap())
        .collect();
    let files_with_id = || {
        let holds_id = |path: &PathBuf| {
            let bytes = fs::read(path).unwrap();
            bytes.windows(id_bytes.len()).any(|it| it == id_bytes)
        };
        files(&sandbox.home).into_iter().filter(holds_id).collect::<Vec<_>>()
    };
    assert!(files_with_id().contains(&snapshot(&sandbox)));
    sandbox.run(&["purge", "--yes", &id]).expect_code(0, "purge");
    assert_eq!(files_with_id(), Vec::<PathBuf>::new());
    // The next snapshot is made of what is left.
    sandbox.run(&["search", "queue 41"]).expect_no_panic("search");
    assert!(snapshot(&sandbox).exists());
    assert_eq!(files_with_id(), Vec::<PathBuf>::new());
}

#[test]
fn doctor_says_whether_it_examined_a_sample_or_everything() {
    let sandbox = Sandbox::new();
    sandbox.remember("a small notebook");
    let small = sandbox.run(&["doctor"]).expect_code(0, "a small notebook").out;
    assert!(small.contains("every row matches its hash"), "{small}");

    // Sixteen megabytes of texts; the words of each are stored several times.
    import(&sandbox, 3_600, |n| format!("{} {}", note(n), "word ".repeat(380)));
    let large = sandbox.run(&["doctor"]).expect_code(0, "a large notebook").out;
    assert!(large.contains("a sample of the rows matches its hash"), "{large}");
    assert!(large.contains("doctor --full"), "{large}");
    let full = sandbox.run(&["doctor", "--full"]).expect_code(0, "everything").out;
    assert!(full.contains("every row matches its hash"), "{full}");

    // The sample has the newest rows; damage there is reported like before.
    let database = sandbox.project_data_dir().join("memory.db");
    let mut bytes = fs::read(&database).unwrap();
    let newest = b"Queue 3599 of the importer";
    let places: Vec<usize> =
        (0..bytes.len() - newest.len()).filter(|at| bytes[*at..].starts_with(newest)).collect();
    for at in places {
        bytes[at] = b'q';
    }
    fs::write(&database, bytes).unwrap();
    let damaged = sandbox.run(&["doctor"]);
    assert!(damaged.code != 0 && damaged.out.contains("damaged"), "{damaged:?}");
}
