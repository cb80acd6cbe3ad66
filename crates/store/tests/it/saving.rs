//! Memories read back as they were saved, and changes keep the earlier versions.

use model::Memory;
use waylore_store::{AuditAction, Error, MemoryFilter, StoreChange};

use crate::kit::{NOW, StoreContents, TestBench, batch, full_memory, memory};

#[test]
fn a_memory_comes_back_as_it_was_saved() {
    let bench = TestBench::new();
    for saved in
        [memory(1, "verifyJwt must run before the rate limiter"), full_memory(2, "naïve😀")]
    {
        let id = bench.insert(&bench.open(), saved.clone());
        let found = bench.block_on(bench.open().memories().get(id)).unwrap().unwrap();
        assert!(found.hlc > saved.hlc);
        assert_eq!(found, Memory { version: 1, hlc: found.hlc, ..saved });
    }
}

#[test]
fn a_short_id_can_be_abbreviated() {
    let bench = TestBench::new();
    let store = bench.open();
    let (one, _) = (bench.add(&store, 0x00ab_cdef, "one"), bench.add(&store, 0x00ff_0000, "two"));
    let found = |prefix: &str| {
        let found = bench.block_on(store.memories().find_by_short_id(prefix.to_owned())).unwrap();
        found.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(found("00abc"), vec![one]);
    assert_eq!(found("00").len(), 2);
    assert!(found("ff").is_empty() && found("'").is_empty() && found("~").is_empty());
    assert_eq!(store.findings(), vec![]);
}

#[test]
fn an_existing_memory_is_not_inserted_again() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "first");
    let again = vec![StoreChange::Insert(Box::new(memory(1, "second")))];
    let result = bench.apply(&store, AuditAction::Remember, again);
    assert!(matches!(result, Err(Error::InvalidInput { .. })), "{result:?}");
    assert_eq!(bench.state(&store).memories[0].content, "first");
}

#[test]
fn counts_grow_without_making_a_version() {
    let bench = TestBench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "counted");
    let used = StoreChange::CountUse { id };
    bench.apply(&store, AuditAction::Flag, vec![used.clone(), used]).unwrap();
    let found = bench.block_on(store.memories().get(id)).unwrap().unwrap();
    assert_eq!(found.counters.used_count, 2);
    assert_eq!((found.counters.last_used_at, found.version), (Some(NOW), 1));
    bench.edit(&store, id, |it| it.counters.used_count = 99);
    let found = bench.block_on(store.memories().get(id)).unwrap().unwrap();
    assert_eq!(found.counters.used_count, 2, "counts belong to the store");
}

#[test]
fn a_batch_is_saved_whole_or_not_at_all() {
    let bench = TestBench::new();
    let store = bench.open();
    let changes = vec![
        StoreChange::Insert(Box::new(memory(1, "good"))),
        StoreChange::Replace(Box::new(memory(2, "not there"))),
    ];
    let result = bench.apply(&store, AuditAction::Import, changes);
    assert!(matches!(result, Err(Error::MemoryNotFound { .. })), "{result:?}");
    assert_eq!(bench.state(&store), StoreContents::default());
    assert_eq!(bench.block_on(store.history().recent_entries(9)).unwrap(), vec![]);
}

#[test]
fn a_batch_can_be_traced_and_taken_back() {
    let bench = TestBench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "retry limit is 3");
    bench.edit(&store, id, |it| it.content = "retry limit is 5".to_owned());
    let last = bench.block_on(store.history().last_undoable_entry(Some(id))).unwrap().unwrap();
    let steps = bench.block_on(store.history().undo_steps(last.batch)).unwrap();
    assert_eq!((steps.len(), steps[0].version), (1, 2));
    let before = steps[0].before.clone().unwrap();
    assert_eq!(before.content, "retry limit is 3");
    let back = vec![
        StoreChange::Replace(Box::new(Memory { version: 2, ..before })),
        StoreChange::MarkUndone(last.batch),
    ];
    let undo = bench.apply(&store, AuditAction::Undo, back).unwrap();
    let entries = bench.block_on(store.history().recent_entries(9)).unwrap();
    let entry = entries.iter().find(|it| it.batch == last.batch).unwrap();
    assert_eq!(entry.undone_by, Some(undo.batch));
    let next = bench.block_on(store.history().last_undoable_entry(None)).unwrap().unwrap();
    assert_eq!(next.action, AuditAction::Remember);
    assert_eq!(bench.block_on(store.history().audit_entries_of(id)).unwrap().len(), 3);
}

#[test]
fn words_find_identifiers_by_their_parts() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "verifyJwt must run before the rate limiter");
    bench.add(&store, 2, "tabs, not spaces");
    let hits = bench
        .block_on(store.memories().search("\"jwt\"".into(), MemoryFilter::active(10)))
        .unwrap();
    assert_eq!(hits.len(), 1);
    assert!(hits[0].score > 0.0);
}

#[test]
fn a_change_keeps_the_earlier_version() {
    let bench = TestBench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "retry limit is 3");
    let mut changed = bench.block_on(store.memories().get(id)).unwrap().unwrap();
    changed.content = "retry limit is 5".to_owned();
    bench
        .apply(&store, AuditAction::Edit, vec![StoreChange::Replace(Box::new(changed.clone()))])
        .unwrap();
    let versions = bench.block_on(store.history().list_versions(id)).unwrap();
    assert_eq!(versions.len(), 1);
    assert_eq!(versions[0].content, "retry limit is 3");
    let stale =
        bench.apply(&store, AuditAction::Edit, vec![StoreChange::Replace(Box::new(changed))]);
    assert!(matches!(stale, Err(Error::VersionConflict { expected: 1, found: 2 })), "{stale:?}");
}

#[test]
fn a_repeated_batch_changes_nothing() {
    let bench = TestBench::new();
    let store = bench.open();
    let mut first =
        batch(AuditAction::Remember, vec![StoreChange::Insert(Box::new(memory(1, "once")))]);
    first.key = Some("k1".to_owned());
    let one = bench.block_on(store.apply(first.clone())).unwrap();
    let two = bench.block_on(store.apply(first)).unwrap();
    assert!(!one.is_repeat && two.is_repeat);
    assert_eq!(one.ids, two.ids);
    assert_eq!(bench.block_on(store.memories().list(MemoryFilter::active(10))).unwrap().len(), 1);
}
