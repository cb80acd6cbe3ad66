//! The snapshot of a search index: it comes back as it was written, never from another database, and
//! never with an erased memory.

use std::fs;
use std::path::PathBuf;

use waylore_store::{IndexPosition, Store};

use crate::kit::{MODEL, NOW, TestBench, files_containing, files_under, id};

/// Content that names memory 1, like the one that an index writes.
fn content() -> Vec<u8> {
    [b"facets of ".as_slice(), id(1).0.as_bytes(), b" and others"].concat()
}

/// A store with two memories and their vectors.
fn fill(bench: &TestBench) -> Store {
    let store = bench.open();
    for n in 1..=2 {
        bench.add(&store, n, "a wren");
        bench.embed(&store, id(n), vec![1.0, 0.0], vec![64, 0]);
    }
    store
}

fn position(bench: &TestBench, store: &Store) -> IndexPosition {
    let delta = bench.block_on(store.memories().index_delta(MODEL.to_owned(), None));
    delta.unwrap().unwrap().position
}

fn write_at(bench: &TestBench, store: &Store, at: IndexPosition) -> bool {
    bench.block_on(store.put_index_snapshot(at, MODEL.to_owned(), content())).unwrap()
}

fn write(bench: &TestBench, store: &Store) {
    assert!(write_at(bench, store, position(bench, store)));
}

/// The content and position that a new process reads.
fn read(bench: &TestBench, store: &Store, model: &str) -> Option<(IndexPosition, Vec<u8>)> {
    let read = bench.block_on(store.memories().index_snapshot(model.to_owned())).unwrap();
    read.map(|it| (it.position.clone(), it.content().to_vec()))
}

fn snapshot_path(bench: &TestBench) -> PathBuf {
    bench.user_paths().database().with_extension("index")
}

#[test]
fn a_snapshot_comes_back_with_its_position() {
    let bench = TestBench::new();
    let store = fill(&bench);
    assert_eq!(read(&bench, &store, MODEL), None);
    let at = position(&bench, &store);
    write(&bench, &store);
    assert_eq!(read(&bench, &bench.open(), MODEL), Some((at.clone(), content())));
    assert_eq!(read(&bench, &store, "another model"), None);

    // Later changes are the delta since its position.
    bench.add(&store, 3, "a robin");
    let (read_at, _) = read(&bench, &store, MODEL).unwrap();
    assert_eq!(read_at, at);
    let delta = bench.block_on(store.memories().index_delta(MODEL.to_owned(), Some(read_at)));
    let delta = delta.unwrap().unwrap();
    assert!(!delta.is_full);
    assert_eq!(delta.outlines.iter().map(|it| it.id).collect::<Vec<_>>(), [id(3)]);
    let names: Vec<String> =
        files_under(bench.dir.path()).iter().map(|it| it.display().to_string()).collect();
    assert!(!names.iter().any(|it| it.ends_with("indexing")), "{names:?}");
}

#[test]
fn a_snapshot_with_any_changed_or_missing_byte_is_not_read() {
    let bench = TestBench::new();
    let store = fill(&bench);
    write(&bench, &store);
    let bytes = fs::read(snapshot_path(&bench)).unwrap();
    for position in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[position] ^= 1;
        fs::write(snapshot_path(&bench), flipped).unwrap();
        assert_eq!(read(&bench, &store, MODEL), None, "byte {position}");
        fs::write(snapshot_path(&bench), &bytes[..position]).unwrap();
        assert_eq!(read(&bench, &store, MODEL), None, "cut at {position}");
    }
    fs::write(snapshot_path(&bench), &bytes).unwrap();
    assert!(read(&bench, &store, MODEL).is_some());
}

#[test]
fn a_snapshot_of_another_database_is_not_read() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    bench.add(&store, 3, "a robin");
    write(&bench, &store);
    drop(store);
    // The older database is written over the newer one by hand, into the same file, and goes on from
    // there to the same sequence number.
    let bytes = fs::read(&backup.path).unwrap();
    fs::write(bench.user_paths().database(), bytes).unwrap();
    for extension in ["mark", "db-wal", "db-shm"] {
        let _ = fs::remove_file(bench.user_paths().database().with_extension(extension));
    }
    let store = bench.open();
    assert_eq!(read(&bench, &store, MODEL), None, "it is ahead of the database");
    for n in 4..9 {
        bench.add(&store, n, "an owl");
    }
    assert_eq!(read(&bench, &store, MODEL), None, "its last batch is another one");
}

#[test]
fn an_erasure_removes_the_snapshot_and_one_that_is_being_written() {
    let bench = TestBench::new();
    let store = fill(&bench);
    write(&bench, &store);
    let scratch = snapshot_path(&bench).with_extension("indexing");
    fs::write(&scratch, content()).unwrap();
    assert!(bench.block_on(store.has_traces_of(vec![id(1)])).unwrap());
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert!(!bench.block_on(store.has_traces_of(vec![id(1)])).unwrap());
    let found = files_containing(bench.dir.path(), id(1).0.as_bytes());
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn an_index_that_was_read_before_an_erasure_cannot_bring_the_memory_back() {
    type Erasure = fn(&TestBench, &Store);
    let erasures: [(&str, Erasure); 4] = [
        ("erase", |bench, store| bench.block_on(store.erase(vec![id(1)], NOW)).unwrap()),
        ("remove", |bench, store| bench.block_on(store.remove_forgotten(vec![id(1)])).unwrap()),
        ("erase text", |bench, store| {
            let clean = |text: &str| text.contains("wren").then(|| text.replace("wren", "-"));
            bench.block_on(store.erase_text(clean)).unwrap();
        }),
        ("repair", |bench, store| drop(bench.block_on(store.repair(NOW)).unwrap())),
    ];
    for (name, erasure) in erasures {
        let bench = TestBench::new();
        let store = fill(&bench);
        let before = position(&bench, &store);
        write(&bench, &store);
        let bytes = fs::read(snapshot_path(&bench)).unwrap();
        erasure(&bench, &store);
        assert!(!snapshot_path(&bench).exists(), "{name}");
        assert!(!write_at(&bench, &store, before.clone()), "{name}");
        assert!(!snapshot_path(&bench).exists(), "{name}");
        // Nor does the file of that time, copied back.
        fs::write(snapshot_path(&bench), bytes).unwrap();
        assert_eq!(read(&bench, &store, MODEL), None, "{name}");
        let delta = bench.block_on(store.memories().index_delta(MODEL.to_owned(), Some(before)));
        assert!(delta.unwrap().unwrap().is_full, "{name}");
    }
}

#[test]
fn a_restored_database_has_no_snapshot() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    bench.add(&store, 3, "a robin");
    write(&bench, &store);
    store.restore(&backup, NOW).unwrap();
    assert!(!snapshot_path(&bench).exists());
    assert_eq!(read(&bench, &bench.open(), MODEL), None);
}

#[cfg(feature = "encryption")]
#[test]
fn a_snapshot_of_an_encrypted_database_opens_with_its_key_only() {
    let bench = TestBench::new();
    let (right, wrong) = (crate::kit::key("correct horse"), crate::kit::key("battery staple"));
    write(&bench, &fill(&bench));
    bench.open().change_key(Some(right.clone())).unwrap();
    assert!(!snapshot_path(&bench).exists(), "a plain file stayed");

    let store = bench.open_with(Some(&right));
    write(&bench, &store);
    let sealed = fs::read(snapshot_path(&bench)).unwrap();
    assert!(!sealed.windows(16).any(|it| it == id(1).0.as_bytes()));
    assert_eq!(read(&bench, &store, MODEL).unwrap().1, content());
    for position in [0, 8, 30, sealed.len() - 1] {
        let mut flipped = sealed.clone();
        flipped[position] ^= 1;
        fs::write(snapshot_path(&bench), flipped).unwrap();
        assert_eq!(read(&bench, &store, MODEL), None, "byte {position}");
    }
    fs::write(snapshot_path(&bench), &sealed).unwrap();
    store.change_key(Some(wrong.clone())).unwrap();
    fs::write(snapshot_path(&bench), &sealed).unwrap();
    assert_eq!(read(&bench, &bench.open_with(Some(&wrong)), MODEL), None);
}
