//! The injection log: rows are stored and counted once, bounded, judged and erased.

use model::{DAY_MS, InjectionMoment, InjectionTier, NoteSubject, ProjectId, Timestamp};
use waylore_store::{InjectionFilter, InjectionRow, MAX_INJECTION_DAYS, Store};

use crate::kit::{NOW, TestBench, id};

pub(crate) fn project() -> ProjectId {
    ProjectId::new(NOW, [9; 10])
}

/// A note about memory `n`.
pub(crate) fn row(n: u32, session: &str, position: u32, at: Timestamp) -> InjectionRow {
    InjectionRow {
        at,
        project: project(),
        session: session.to_owned(),
        host: "claude-code".to_owned(),
        moment: InjectionMoment::File,
        tier: Some(InjectionTier::ToolResult),
        subject: NoteSubject::Memory,
        memory: Some(id(n)),
        tokens: 30,
        followed: None,
        position,
    }
}

fn list(bench: &TestBench, store: &Store) -> Vec<InjectionRow> {
    let filter = InjectionFilter { limit: 100, ..InjectionFilter::default() };
    bench.block_on(store.injections().list(filter)).unwrap()
}

#[test]
fn a_note_is_stored_and_counted_once() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "counted");
    let rows = vec![row(1, "s1", 0, NOW), row(1, "s2", 0, NOW)];
    assert_eq!(bench.block_on(store.put_injections(rows.clone(), NOW)).unwrap(), 2);
    assert_eq!(bench.block_on(store.put_injections(rows, NOW)).unwrap(), 0, "the same rows again");
    let found = bench.block_on(store.memories().get(id(1))).unwrap().unwrap();
    assert_eq!((found.counters.access_count, found.counters.last_accessed_at), (2, Some(NOW)));
    assert_eq!(found.version, 1);
    assert_eq!(list(&bench, &store).len(), 2);
}

#[test]
fn old_rows_are_removed_and_counters_keep_them() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "counted");
    let rows = vec![row(1, "s1", 0, NOW)];
    bench.block_on(store.put_injections(rows, NOW)).unwrap();
    let later = NOW.plus_millis((MAX_INJECTION_DAYS + 1) * DAY_MS);
    bench.block_on(store.put_injections(vec![row(1, "s2", 0, later)], later)).unwrap();
    let sessions: Vec<String> = list(&bench, &store).into_iter().map(|it| it.session).collect();
    assert_eq!(sessions, ["s2"]);
    let found = bench.block_on(store.memories().get(id(1))).unwrap().unwrap();
    assert_eq!(found.counters.access_count, 2);
}

#[test]
fn the_judgement_of_a_session_fills_the_totals() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=2 {
        bench.add(&store, n, "judged");
    }
    let rows = vec![row(1, "s1", 0, NOW), row(2, "s1", 1, NOW), row(1, "s2", 0, NOW)];
    bench.block_on(store.put_injections(rows, NOW)).unwrap();
    bench.block_on(store.judge_injections(project(), "s1".to_owned(), vec![id(1)])).unwrap();
    let totals = bench.block_on(store.injections().totals_by_tier(project())).unwrap();
    let [tools] = totals.as_slice() else { panic!("{totals:?}") };
    assert_eq!((tools.tier, tools.notes, tools.tokens), (Some(InjectionTier::ToolResult), 3, 90));
    assert_eq!((tools.judged, tools.followed), (2, 1));
}

#[test]
fn an_erased_memory_leaves_the_log() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=2 {
        bench.add(&store, n, "erased or not");
    }
    let rows = vec![row(1, "s1", 0, NOW), row(2, "s1", 1, NOW)];
    bench.block_on(store.put_injections(rows, NOW)).unwrap();
    bench.block_on(store.backup(NOW)).unwrap();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    let left: Vec<_> = list(&bench, &store).into_iter().map(|it| it.memory).collect();
    assert_eq!(left, [Some(id(2))]);
    assert!(!bench.block_on(store.has_traces_of(vec![id(1)])).unwrap());
}
