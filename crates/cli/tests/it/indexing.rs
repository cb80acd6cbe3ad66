//! Tests of `waylore index` with several processes at once, interrupted in the middle, on files that
//! change meanwhile, and on an encrypted project.
//!
//! The criterion is always the same: the result equals a fresh index of the same files, and no file
//! is parsed twice. Watching a folder is tested in `watch.rs`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::sandbox::{Sandbox, SeededRandom, files_containing, skip};
use crate::watch::signal;

/// Functions in each file of `repository_with_files`.
const FUNCTIONS_PER_FILE: usize = 20;

/// A project of `n` files in a ring: every function calls one of the next file. Large enough that
/// reading all files takes a while.
fn repository_with_files(n: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project.join("src")).unwrap();
    for i in 0..n {
        let next = (i + 1) % n;
        let lines = (0..FUNCTIONS_PER_FILE)
            .map(|it| format!("export function f{it}(a: number) {{ return near{it}(a + {it}) }}"));
        let body = lines.collect::<Vec<String>>().join("\n");
        let imports: Vec<String> =
            (0..FUNCTIONS_PER_FILE).map(|it| format!("f{it} as near{it}")).collect();
        let text = format!("import {{ {} }} from './a{next}'\n{body}\n", imports.join(", "));
        fs::write(sandbox.project.join(format!("src/a{i}.ts")), text).unwrap();
    }
    sandbox
}

/// The totals in the JSON output of `index`: files, symbols, edges, unresolved calls, completeness.
fn totals(index_output: &Value) -> Vec<Value> {
    ["files", "symbols", "edges", "unresolved_calls", "complete"]
        .map(|field| index_output[field].clone())
        .into()
}

fn start_command(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of a process and returns its exit code and standard output.
fn wait_for_output(mut child: Child) -> (i32, String) {
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), out)
}

#[test]
fn concurrent_indexers_parse_each_file_once() {
    const FILES: usize = 600;
    const SYMBOLS: usize = FILES * FUNCTIONS_PER_FILE;
    // Every file has an edge for each call, one for each imported name, and one for the imported file.
    const EDGES: usize = FILES * (2 * FUNCTIONS_PER_FILE + 1);
    let sandbox = repository_with_files(FILES);
    let children: Vec<Child> =
        (0..4).map(|_| start_command(&sandbox, &["--json", "index"])).collect();
    let mut n_read = 0;
    for child in children {
        let (code, out) = wait_for_output(child);
        assert_eq!(code, 0, "{out}");
        let index: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(totals(&index)[..3], [FILES, SYMBOLS, EDGES].map(Value::from), "{index}");
        n_read += index["read"].as_u64().unwrap();
    }
    assert_eq!(n_read, FILES as u64, "files read by all four processes together");
}

#[test]
fn a_waiting_indexer_reports_it_and_can_be_interrupted() {
    let sandbox = repository_with_files(3);
    sandbox.json(&["index"]);
    // The test holds the lock of the index, as another indexer would.
    let lock =
        File::options().write(true).open(sandbox.project_data_dir().join("graph.lock")).unwrap();
    lock.lock().unwrap();
    let assert_waits = |child: &mut Child| {
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("waiting for it"), "{line}");
    };

    // Ctrl-C ends the waiting.
    let mut interrupted = start_command(&sandbox, &["index"]);
    assert_waits(&mut interrupted);
    signal("INT", interrupted.id());
    assert_eq!(wait_for_output(interrupted).0, 1);

    // A released lock lets it go on.
    let mut waiting = start_command(&sandbox, &["index"]);
    assert_waits(&mut waiting);
    lock.unlock().unwrap();
    assert_eq!(wait_for_output(waiting).0, 0);
}

#[test]
fn an_interrupted_index_resumes() {
    let sandbox = repository_with_files(3000);
    let child = start_command(&sandbox, &["--json", "index"]);
    // Interrupt it once the write-ahead log shows that a first part was committed.
    let wal =
        || crate::sandbox::files(&sandbox.home).into_iter().find(|it| it.ends_with("graph.db-wal"));
    while !wal().is_some_and(|it| fs::metadata(it).is_ok_and(|it| it.len() > 100_000)) {}
    signal("INT", child.id());
    let (code, out) = wait_for_output(child);
    let interrupted: Value = serde_json::from_str(&out).unwrap();
    let n_read = interrupted["read"].as_u64().unwrap();
    assert_eq!(code, 1, "{interrupted}");
    assert_eq!(interrupted["complete"], false, "{interrupted}");
    assert!((1..3000).contains(&n_read), "{interrupted}");

    // Queries on the partial index work and report that it is incomplete.
    let query = sandbox.run(&["--json", "deps", "src/a0.ts"]).expect_no_panic("a partial index");
    assert_eq!(query.json()["freshness"]["complete"], false, "{query:?}");

    // The second run reads the remaining files only; the result equals a fresh index.
    let rest = sandbox.json(&["index"]);
    assert_eq!(rest["read"].as_u64().unwrap(), 3000 - n_read, "{rest}");
    fs::remove_dir_all(&sandbox.home).unwrap();
    assert_eq!(totals(&rest), totals(&sandbox.json(&["index"])));
}

#[test]
fn files_that_change_during_indexing_are_read_in_the_end() {
    let sandbox = repository_with_files(400);
    let src = sandbox.project.join("src");
    let mut seeded = SeededRandom::new(31);
    for round in 0..4 {
        let mut child = start_command(&sandbox, &["--json", "index"]);
        // While it reads, change, delete and move files, often several times within one tick of the
        // clock for file times, so that the time of a file alone does not show the change.
        while child.try_wait().unwrap().is_none() {
            let path = src.join(format!("a{}.ts", seeded.index(400)));
            match seeded.below(5) {
                // The file may be missing already.
                0 => _ = fs::remove_file(&path),
                1 => _ = fs::rename(&path, src.join(format!("a{}.ts", seeded.index(400)))),
                n => {
                    let text =
                        format!("export function g{n}() {{ return {} }}\n", seeded.below(10));
                    fs::write(&path, text).unwrap();
                }
            }
        }
        let (code, out) = wait_for_output(child);
        assert_eq!(code, 0, "round {round}: {out}");
    }
    let last = sandbox.json(&["index"]);
    assert_eq!(sandbox.json(&["index"])["read"], 0, "nothing has changed since");

    // Compare totals, and the symbols of every eighth file, with a fresh index.
    let symbols = |sandbox: &Sandbox| -> Vec<String> {
        let names = (0..400).map(|it| format!("src/a{it}.ts"));
        let existing = names.filter(|it| sandbox.project.join(it).exists()).step_by(8);
        existing.map(|it| sandbox.run(&["--json", "symbols", &it]).out).collect()
    };
    let incremental = symbols(&sandbox);
    fs::remove_dir_all(&sandbox.home).unwrap();
    assert_eq!(totals(&last), totals(&sandbox.json(&["index"])));
    assert_eq!(incremental, symbols(&sandbox));
}

#[test]
fn the_index_of_an_encrypted_project_is_encrypted() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("a.ts"), "export function zebrawombat() {}\n").unwrap();
    sandbox.json(&["index"]);
    if sandbox.run(&["doctor"]).out.contains("cannot encrypt") {
        return skip("encryption of the code graph", "this build cannot encrypt");
    }
    let database = sandbox.project_data_dir().join("graph.db");
    assert!(files_containing(&sandbox.home, "zebrawombat").contains(&database));

    // Encryption removes the plain index; the new one is encrypted.
    sandbox.json(&["config", "encryption", "on"]);
    assert!(files_containing(&sandbox.home, "zebrawombat").is_empty());
    sandbox.json(&["index"]);
    assert!(database.exists());
    assert!(files_containing(&sandbox.home, "zebrawombat").is_empty());
    let symbols = sandbox.run(&["symbols", "a.ts"]).expect_code(0, "symbols, encrypted");
    assert!(symbols.out.contains("zebrawombat"), "{symbols:?}");

    sandbox.json(&["config", "encryption", "off"]);
    sandbox.json(&["index"]);
    sandbox.run(&["symbols", "a.ts"]).expect_code(0, "symbols, decrypted");
}
