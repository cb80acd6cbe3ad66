//! Saved is saved: memories come back as they were put in, and changes keep their past.

use waylore_store::{Action, Change, Error, Filter};

use crate::kit::{Bench, batch, memory};

#[test]
fn a_memory_comes_back_as_it_was_saved() {
    let bench = Bench::new();
    let id = bench.add(&bench.open(), 1, "verifyJwt must run before the rate limiter");
    let found = bench.wait(bench.open().get(id)).unwrap().unwrap();
    let expected = memory(1, "verifyJwt must run before the rate limiter");
    assert_eq!(found.content, expected.content);
    assert_eq!(found.files, expected.files);
    assert_eq!((found.version, found.status().slug()), (1, "live"));
}

#[test]
fn words_find_identifiers_by_their_parts() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "verifyJwt must run before the rate limiter");
    bench.add(&store, 2, "tabs, not spaces");
    let hits = bench.wait(store.search("\"jwt\"".into(), Filter::standing(10))).unwrap();
    assert_eq!(hits.len(), 1);
    assert!(hits[0].score > 0.0);
}

#[test]
fn a_change_keeps_what_was_before() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "retry limit is 3");
    let mut changed = bench.wait(store.get(id)).unwrap().unwrap();
    changed.content = "retry limit is 5".to_owned();
    bench.apply(&store, Action::Edit, vec![Change::Replace(Box::new(changed.clone()))]).unwrap();
    let versions = bench.wait(store.versions(id)).unwrap();
    assert_eq!(versions.len(), 1);
    assert_eq!(versions[0].content, "retry limit is 3");
    let stale = bench.apply(&store, Action::Edit, vec![Change::Replace(Box::new(changed))]);
    assert!(matches!(stale, Err(Error::Conflict { expected: 1, found: 2 })), "{stale:?}");
}

#[test]
fn a_repeated_batch_changes_nothing() {
    let bench = Bench::new();
    let store = bench.open();
    let mut first = batch(Action::Remember, vec![Change::Insert(Box::new(memory(1, "once")))]);
    first.key = Some("k1".to_owned());
    let one = bench.wait(store.apply(first.clone())).unwrap();
    let two = bench.wait(store.apply(first)).unwrap();
    assert!(!one.repeated && two.repeated);
    assert_eq!(one.ids, two.ids);
    assert_eq!(bench.wait(store.list(Filter::standing(10))).unwrap().len(), 1);
}

#[test]
fn what_is_erased_leaves_no_byte_and_does_not_return() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "zebrafinch canary sentence");
    bench.add(&store, 2, "something else");
    bench.wait(store.backup(crate::kit::NOW)).unwrap();
    bench.wait(store.erase(vec![id], crate::kit::NOW)).unwrap();
    assert_eq!(hits(bench.dir.path(), b"zebrafinch"), Vec::<String>::new());
    let again = bench.apply(
        &store,
        Action::Import,
        vec![Change::Insert(Box::new(memory(1, "zebrafinch")))],
    );
    assert!(matches!(again, Err(Error::Erased { .. })), "{again:?}");
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

fn hits(dir: &std::path::Path, needle: &[u8]) -> Vec<String> {
    let mut res = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            res.extend(hits(&path, needle));
        } else if std::fs::read(&path).unwrap().windows(needle.len()).any(|it| it == needle) {
            res.push(path.display().to_string());
        }
    }
    res
}
