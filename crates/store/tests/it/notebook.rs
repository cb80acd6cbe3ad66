//! Saved is saved: memories come back as they were put in, and changes keep their past.

use model::Memory;
use waylore_store::{Action, Change, Error, Filter};

use crate::kit::{Bench, NOW, State, batch, full, memory};

#[test]
fn a_memory_comes_back_as_it_was_saved() {
    let bench = Bench::new();
    for saved in [memory(1, "verifyJwt must run before the rate limiter"), full(2, "naïve😀")] {
        let id = bench.insert(&bench.open(), saved.clone());
        let found = bench.wait(bench.open().get(id)).unwrap().unwrap();
        assert!(found.hlc > saved.hlc);
        assert_eq!(found, Memory { version: 1, hlc: found.hlc, ..saved });
    }
}

#[test]
fn a_name_can_be_begun() {
    let bench = Bench::new();
    let store = bench.open();
    let (one, _) = (bench.add(&store, 0x00ab_cdef, "one"), bench.add(&store, 0x00ff_0000, "two"));
    let found = |prefix: &str| {
        let found = bench.wait(store.by_short(prefix.to_owned())).unwrap();
        found.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(found("00abc"), vec![one]);
    assert_eq!(found("00").len(), 2);
    assert!(found("ff").is_empty() && found("'").is_empty() && found("~").is_empty());
    assert_eq!(store.findings(), vec![]);
}

#[test]
fn what_exists_is_not_inserted_again() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "first");
    let again = vec![Change::Insert(Box::new(memory(1, "second")))];
    let res = bench.apply(&store, Action::Remember, again);
    assert!(matches!(res, Err(Error::Invalid { .. })), "{res:?}");
    assert_eq!(bench.state(&store).memories[0].content, "first");
}

#[test]
fn counts_grow_without_making_a_version() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "counted");
    let count = |used| Change::Count { id, used };
    bench.apply(&store, Action::Flag, vec![count(true), count(false), count(true)]).unwrap();
    let found = bench.wait(store.get(id)).unwrap().unwrap();
    assert_eq!((found.counters.used_count, found.counters.access_count), (2, 1));
    assert_eq!((found.counters.last_used_at, found.version), (Some(NOW), 1));
    bench.edit(&store, id, |it| it.counters.used_count = 99);
    let found = bench.wait(store.get(id)).unwrap().unwrap();
    assert_eq!(found.counters.used_count, 2, "counts belong to the store");
}

#[test]
fn a_batch_is_saved_whole_or_not_at_all() {
    let bench = Bench::new();
    let store = bench.open();
    let changes = vec![
        Change::Insert(Box::new(memory(1, "good"))),
        Change::Replace(Box::new(memory(2, "not there"))),
    ];
    let res = bench.apply(&store, Action::Import, changes);
    assert!(matches!(res, Err(Error::Missing { .. })), "{res:?}");
    assert_eq!(bench.state(&store), State::default());
    assert_eq!(bench.wait(store.recent(9)).unwrap(), vec![]);
}

#[test]
fn a_batch_can_be_traced_and_taken_back() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "retry limit is 3");
    bench.edit(&store, id, |it| it.content = "retry limit is 5".to_owned());
    let last = bench.wait(store.last_undoable(Some(id))).unwrap().unwrap();
    let steps = bench.wait(store.steps(last.batch)).unwrap();
    assert_eq!((steps.len(), steps[0].version), (1, 2));
    let before = steps[0].before.clone().unwrap();
    assert_eq!(before.content, "retry limit is 3");
    let back = vec![
        Change::Replace(Box::new(Memory { version: 2, ..before })),
        Change::Undoes(last.batch),
    ];
    let undo = bench.apply(&store, Action::Undo, back).unwrap();
    let entries = bench.wait(store.recent(9)).unwrap();
    let entry = entries.iter().find(|it| it.batch == last.batch).unwrap();
    assert_eq!(entry.undone_by, Some(undo.batch));
    let next = bench.wait(store.last_undoable(None)).unwrap().unwrap();
    assert_eq!(next.action, Action::Remember);
    assert_eq!(bench.wait(store.entries_of(id)).unwrap().len(), 3);
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
