//! Order and age do not depend on the wall clock, which a user may set to any time.
//!
//! Order comes from a hybrid clock: it follows the wall clock, but never goes back. Age is the time
//! in which the store was used: a gap of more than thirty days between two uses becomes a *quiet
//! span*, in which memories do not age. A batch records that the store is in use at its `now`; an
//! empty one does only that.

use model::{DAY_MS, HybridTimestamp, ProjectId, Timestamp, current_confidence};
use waylore_store::{AuditAction, Store, StoreChange, WriteBatch};

use crate::kit::{NOW, TestBench, batch, everything, memory};

/// A clock that jumps back four hundred days, ahead thirty years, and back to normal.
const JUMPS: [i64; 6] = [0, -400 * DAY_MS, 30 * 365 * DAY_MS, DAY_MS, -400 * DAY_MS, 2 * DAY_MS];

#[test]
fn order_is_that_of_writing_whatever_the_clock_says() {
    let bench = TestBench::new();
    let store = bench.open();
    for (n, jump) in (0..).zip(JUMPS) {
        let now = NOW.plus_millis(jump);
        let mut memory = memory(n, "written at some time");
        (memory.created_at, memory.updated_at) = (now, now);
        let changes = vec![StoreChange::Insert(Box::new(memory))];
        bench
            .block_on(store.apply(WriteBatch { now, ..batch(AuditAction::Remember, changes) }))
            .unwrap();
    }
    // The list is newest first.
    let mut listed = bench.block_on(store.memories().list(everything())).unwrap();
    listed.reverse();
    assert!(listed.windows(2).all(|it| it[0].hlc < it[1].hlc), "the hybrid clock only grows");
    let created: Vec<Timestamp> = listed.iter().map(|it| it.created_at).collect();
    assert_eq!(created, JUMPS.map(|it| NOW.plus_millis(it)));
    let batches: Vec<i64> = bench
        .block_on(store.history().recent_entries(10))
        .unwrap()
        .iter()
        .rev()
        .map(|it| it.batch)
        .collect();
    assert_eq!(batches, (1..=6).collect::<Vec<i64>>());
}

#[test]
fn a_batch_comes_after_the_given_clock() {
    let bench = TestBench::new();
    let store = bench.open();
    let other =
        Store::project(bench.data_dir().project_paths(ProjectId::new(NOW, [2; 10])), None, NOW);
    let mut last = HybridTimestamp::default();
    for (n, jump) in (0..).zip(JUMPS) {
        // The two stores take turns; each continues after the clock of the other.
        let now = NOW.plus_millis(jump);
        let (written, read) = if n % 2 == 0 { (&store, &other) } else { (&other, &store) };
        let after = bench.block_on(read.history().hybrid_clock()).unwrap();
        // A batch that changes no memory has a place in the order, too.
        let (action, changes) = match n % 3 {
            0 => (AuditAction::Settings, vec![]),
            _ => (AuditAction::Remember, vec![insert(n), insert(n + 100)]),
        };
        bench
            .block_on(written.apply(WriteBatch {
                now,
                after_clock: after,
                ..batch(action, changes)
            }))
            .unwrap();
        let entry = bench.block_on(written.history().recent_entries(1)).unwrap().remove(0);
        assert!(last < entry.hlc && entry.at == now, "{entry:?} after {last:?}");
        last = bench.block_on(written.history().hybrid_clock()).unwrap();
        assert!(entry.hlc <= last);
    }
}

fn insert(n: usize) -> StoreChange {
    StoreChange::Insert(Box::new(memory(u32::try_from(n).unwrap(), "written at some time")))
}

#[test]
fn a_jump_ages_no_memory_by_more_than_a_month() {
    let bench = TestBench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "learned before the jumps");
    for jump in JUMPS {
        let now = NOW.plus_millis(jump);
        bench
            .block_on(store.apply(WriteBatch { now, ..batch(AuditAction::Settings, vec![]) }))
            .unwrap();
        let quiet = bench.block_on(store.memories().quiet_periods()).unwrap().spans;
        let memory = bench.block_on(store.memories().get(id)).unwrap().unwrap();
        let confidence = current_confidence(&memory, &[], now, &quiet);
        // A gotcha halves in sixty days: a month costs less than a third.
        assert!(
            confidence.get() > 600 && confidence <= memory.confidence,
            "{confidence} after {jump}"
        );
    }
    let quiet = bench.block_on(store.memories().quiet_periods()).unwrap().spans;
    assert!(
        quiet.iter().all(|it| it.from < it.to && it.to <= NOW.plus_millis(2 * DAY_MS)),
        "{quiet:?}"
    );
}

#[test]
fn after_a_jump_ahead_time_counts_again() {
    let bench = TestBench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "learned before the jump");
    // Thirty years ahead, back to normal, then regular use for four months.
    let days = [30 * 365, 1].into_iter().chain((2..=120).step_by(7));
    for day in days {
        let now = NOW.plus_millis(day * DAY_MS);
        bench
            .block_on(store.apply(WriteBatch { now, ..batch(AuditAction::Settings, vec![]) }))
            .unwrap();
    }
    let quiet = bench.block_on(store.memories().quiet_periods()).unwrap().spans;
    let memory = bench.block_on(store.memories().get(id)).unwrap().unwrap();
    let confidence = current_confidence(&memory, &[], NOW.plus_millis(120 * DAY_MS), &quiet);
    assert_eq!(confidence.get(), 225, "two half-lives of a gotcha");
}

#[test]
fn quiet_spans_are_those_without_any_use() {
    let bench = TestBench::new();
    let store = bench.open();
    for days in [0, 10, 30, 200] {
        let now = NOW.plus_millis(days * DAY_MS);
        bench
            .block_on(store.apply(WriteBatch { now, ..batch(AuditAction::Settings, vec![]) }))
            .unwrap();
    }
    let spans: Vec<(i64, i64)> = bench
        .block_on(store.memories().quiet_periods())
        .unwrap()
        .spans
        .iter()
        .map(|it| (it.from.millis_since(NOW) / DAY_MS, it.to.millis_since(NOW) / DAY_MS))
        .collect();
    // The first thirty days after the last use still count as used.
    assert_eq!(spans, vec![(60, 200)]);
}
