//! Eight processes write to one database at the same time while two read: every acknowledged write is
//! stored, every writer completes, and no process reports that the database is busy.
//!
//! A write is *acknowledged* if the command succeeded and printed the id of the memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::sandbox::{Sandbox, string};

const N_WRITERS: usize = 8;
const WRITES_PER_WRITER: usize = 25;
const N_READERS: usize = 2;

#[test]
fn every_acknowledged_write_is_stored() {
    let sandbox = Sandbox::in_memory();
    sandbox.remember("the first thing");
    let acknowledged = run_writers_and_readers(&sandbox, |writer, n| {
        let text = format!("fact {n} of writer {writer}");
        // Every fifth write goes to the user's notebook, which is a second database.
        let target: &[&str] = if n % 5 == 4 { &["--user"] } else { &[] };
        let args = [&["remember", "--new"], target, &[&text]].concat();
        args.into_iter().map(str::to_owned).collect()
    });
    assert_eq!(acknowledged.len(), N_WRITERS * WRITES_PER_WRITER);
    let n_stored = assert_all_stored(&sandbox, &acknowledged);
    assert_eq!(n_stored, acknowledged.len() + 1, "nothing but these and the first thing");
    sandbox.assert_healthy("after all writers have finished");
}

#[test]
fn processes_that_start_together_create_one_project() {
    // A race at the first start; several rounds make it likely to show.
    for _ in 0..4 {
        let sandbox = Sandbox::in_memory();
        let sandbox = &sandbox;
        let ids: Vec<String> = thread::scope(|scope| {
            let writers: Vec<_> = (0..N_WRITERS)
                .map(|writer| scope.spawn(move || sandbox.remember(&format!("fact of {writer}"))))
                .collect();
            writers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_all_stored(sandbox, &ids);
        // Asserts that there is only one project folder.
        sandbox.project_data_dir();
    }
}

#[test]
fn writers_with_the_same_idempotency_key_store_one_memory() {
    let sandbox = Sandbox::in_memory();
    sandbox.remember("the first thing");
    // Write number `n` has the same key and text in all writers: one of them stores the memory, and the
    // others get its id.
    let ids = run_writers_and_readers(&sandbox, |_, n| {
        let (key, text) = (format!("key-{n}"), format!("fact {n}"));
        ["remember", "--new", "--key", &key, &text].map(str::to_owned).to_vec()
    });
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(
        (ids.len(), unique.len()),
        (N_WRITERS * WRITES_PER_WRITER, WRITES_PER_WRITER),
        "all writers with a key get the same id"
    );
    assert_eq!(sandbox.contents().len(), WRITES_PER_WRITER + 1);
}

/// Asserts that all these ids are stored, and returns the number of stored memories.
fn assert_all_stored(sandbox: &Sandbox, ids: &[String]) -> usize {
    let stored = sandbox.contents();
    for id in ids {
        assert!(stored.iter().any(|it| it.0 == *id), "{id} was acknowledged and is lost");
    }
    stored.len()
}

/// Runs all writers to their end while readers list the memories. `command` gives the arguments of the
/// n-th write of a writer. Returns the ids of the acknowledged memories.
fn run_writers_and_readers(
    sandbox: &Sandbox,
    command: impl Fn(usize, usize) -> Vec<String> + Sync,
) -> Vec<String> {
    let is_writing = AtomicBool::new(true);
    let (command, is_writing) = (&command, &is_writing);
    let write = move |writer: usize| {
        let mut ids = Vec::new();
        for n in 0..WRITES_PER_WRITER {
            let args = command(writer, n);
            let args: Vec<&str> =
                ["--json"].into_iter().chain(args.iter().map(String::as_str)).collect();
            let output = sandbox.run(&args).expect_code(0, &format!("{args:?}"));
            assert_eq!(output.err, "", "no warning, such as that the database is busy");
            ids.push(string(&output.json()["memory"]["id"]));
        }
        ids
    };
    let read = move || {
        let mut n_before = 0;
        while is_writing.load(Ordering::Relaxed) {
            let output =
                sandbox.run(&["list", "-n", "100000", "--json"]).expect_code(0, "a reader");
            let n_memories = output.json()["memories"].as_array().unwrap().len();
            assert!(
                n_memories >= n_before,
                "a reader saw {n_before} memories, and then {n_memories}"
            );
            n_before = n_memories;
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..N_READERS).map(|_| scope.spawn(read)).collect();
        let writers: Vec<_> =
            (0..N_WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        // Failures of writers are raised only after the flag has stopped the readers; otherwise the scope
        // would wait for the readers for ever.
        let results: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_writing.store(false, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
        results.into_iter().flat_map(Result::unwrap).collect()
    })
}
