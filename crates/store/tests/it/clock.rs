//! Order and age do not depend on what the wall clock says.

use model::{DAY, Hlc, ProjectId, Timestamp, current_confidence};
use waylore_store::{Action, Batch, Change, Store};

use crate::kit::{Bench, NOW, batch, everything, memory};

/// A clock that jumps back four hundred days, ahead thirty years, and home again.
const JUMPS: [i64; 6] = [0, -400 * DAY, 30 * 365 * DAY, DAY, -400 * DAY, 2 * DAY];

#[test]
fn order_is_that_of_writing_whatever_the_clock_says() {
    let bench = Bench::new();
    let store = bench.open();
    for (n, jump) in (0..).zip(JUMPS) {
        let now = NOW.plus(jump);
        let mut memory = memory(n, "told at some time");
        (memory.created_at, memory.updated_at) = (now, now);
        let changes = vec![Change::Insert(Box::new(memory))];
        bench.wait(store.apply(Batch { now, ..batch(Action::Remember, changes) })).unwrap();
    }
    let mut listed = bench.wait(store.list(everything())).unwrap();
    listed.reverse();
    assert!(listed.is_sorted_by_key(|it| it.content.len()) && listed.len() == JUMPS.len());
    assert!(listed.windows(2).all(|it| it[0].hlc < it[1].hlc), "the hybrid clock only grows");
    let told: Vec<Timestamp> = listed.iter().map(|it| it.created_at).collect();
    assert_eq!(told, JUMPS.map(|it| NOW.plus(it)));
    let batches: Vec<i64> =
        bench.wait(store.recent(10)).unwrap().iter().rev().map(|it| it.batch).collect();
    assert_eq!(batches, (1..=6).collect::<Vec<i64>>());
}

#[test]
fn a_batch_comes_after_what_it_is_told_of() {
    let bench = Bench::new();
    let store = bench.open();
    let other = Store::project(bench.data().project(ProjectId::new(NOW, [2; 10])), None, NOW);
    let mut last = Hlc::default();
    for (n, jump) in (0..).zip(JUMPS) {
        let (now, stores) = (NOW.plus(jump), [&store, &other]);
        let (here, there) = (stores[n % 2], stores[(n + 1) % 2]);
        let after = bench.wait(there.clock()).unwrap();
        // One that changes no memory takes its place in the order, too.
        let (action, changes) = match n % 3 {
            0 => (Action::Settings, vec![]),
            _ => (Action::Remember, vec![insert(n), insert(n + 100)]),
        };
        bench.wait(here.apply(Batch { now, after, ..batch(action, changes) })).unwrap();
        let entry = bench.wait(here.recent(1)).unwrap().remove(0);
        assert!(last < entry.hlc && entry.at == now, "{entry:?} after {last:?}");
        last = bench.wait(here.clock()).unwrap();
        assert!(entry.hlc <= last);
    }
}

fn insert(n: usize) -> Change {
    Change::Insert(Box::new(memory(u32::try_from(n).unwrap(), "told at some time")))
}

#[test]
fn a_jump_ages_no_memory_by_more_than_a_month() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "learned before the jumps");
    for jump in JUMPS {
        let now = NOW.plus(jump);
        bench.wait(store.apply(Batch { now, ..batch(Action::Settings, vec![]) })).unwrap();
        let quiet = bench.wait(store.quiet()).unwrap().spans;
        let memory = bench.wait(store.get(id)).unwrap().unwrap();
        let worth = current_confidence(&memory, &[], now, &quiet);
        // A gotcha halves in sixty days: a month costs less than a third.
        assert!(worth.get() > 600 && worth <= memory.confidence, "{worth} after {jump}");
    }
    let quiet = bench.wait(store.quiet()).unwrap().spans;
    assert!(quiet.iter().all(|it| it.from < it.to && it.to <= NOW.plus(2 * DAY)), "{quiet:?}");
}

#[test]
fn after_a_jump_ahead_time_counts_again() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "learned before the jump");
    let days = [30 * 365, 1].into_iter().chain((2..=120).step_by(7));
    for day in days {
        let now = NOW.plus(day * DAY);
        bench.wait(store.apply(Batch { now, ..batch(Action::Settings, vec![]) })).unwrap();
    }
    let quiet = bench.wait(store.quiet()).unwrap().spans;
    let memory = bench.wait(store.get(id)).unwrap().unwrap();
    let worth = current_confidence(&memory, &[], NOW.plus(120 * DAY), &quiet);
    assert_eq!(worth.get(), 225, "two half-lives of a gotcha");
}

#[test]
fn quiet_spans_are_those_nobody_lived_through() {
    let bench = Bench::new();
    let store = bench.open();
    for days in [0, 10, 30, 200] {
        let now = NOW.plus(days * DAY);
        bench.wait(store.apply(Batch { now, ..batch(Action::Settings, vec![]) })).unwrap();
    }
    let spans: Vec<(i64, i64)> = bench
        .wait(store.quiet())
        .unwrap()
        .spans
        .iter()
        .map(|it| (it.from.since(NOW) / DAY, it.to.since(NOW) / DAY))
        .collect();
    assert_eq!(spans, vec![(60, 200)]);
}
