//! Many at once: what was acknowledged is stored, nobody is told to come back, nobody starves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use waylore_store::{Action, Change, Store};

use crate::kit::{Bench, NOW, batch, id, memory};

const WRITERS: u32 = 8;
/// How many writes the crowd makes together after everyone is at the door.
const WRITES: usize = 640;

/// Writes one memory after another until the crowd is done; returns the batches it was given.
fn write_along(bench: &Bench, store: &Store, writer: u32, done: &AtomicUsize) -> Vec<i64> {
    let mut res = Vec::new();
    for n in 1.. {
        if done.fetch_add(1, Ordering::Relaxed) >= WRITES {
            break;
        }
        let memory = memory(writer * 10_000 + n, "one voice of many");
        let changes = vec![Change::Insert(Box::new(memory))];
        res.push(bench.apply(store, Action::Remember, changes).unwrap().batch);
    }
    res
}

#[test]
fn eight_handles_on_one_file_all_get_their_turn() {
    let home = Bench::new();
    let (door, done) = (Arc::new(Barrier::new(WRITERS as usize)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (home, door, done) = (home.home(), Arc::clone(&door), Arc::clone(&done));
            std::thread::spawn(move || {
                let (bench, store) = (Bench::new(), Store::user(home, None, NOW));
                let first = vec![Change::Insert(Box::new(memory(writer * 10_000, "the first")))];
                let mut res = vec![bench.apply(&store, Action::Remember, first).unwrap().batch];
                door.wait();
                res.extend(write_along(&bench, &store, writer, &done));
                res
            })
        })
        .collect();
    let given: Vec<Vec<i64>> = threads.into_iter().map(|it| it.join().unwrap()).collect();

    let mut counts: Vec<usize> = given.iter().map(|it| it.len() - 1).collect();
    counts.sort_unstable();
    assert!(counts[0] * 4 >= counts[counts.len() / 2], "somebody starved: {counts:?}");
    let mut numbers: Vec<i64> = given.concat();
    numbers.sort_unstable();
    let n_writes = i64::try_from(WRITES).unwrap() + i64::from(WRITERS);
    assert_eq!(numbers, (1..=n_writes).collect::<Vec<i64>>(), "numbers are dense");
    let store = home.open();
    assert_eq!(home.state(&store).memories.len(), numbers.len());
    assert_eq!(home.wait(store.examine()).unwrap(), vec![]);
    assert_eq!(store.findings(), vec![]);
}

#[test]
fn many_writes_through_one_handle_are_all_kept() {
    let bench = Bench::new();
    let store = bench.open();
    let numbers = bench.wait(async {
        let write = |n: u32| {
            let changes = vec![Change::Insert(Box::new(memory(n, "one of many")))];
            let store = store.clone();
            tokio::spawn(async move { store.apply(batch(Action::Remember, changes)).await })
        };
        let mut res = Vec::new();
        for task in (0..300).map(write).collect::<Vec<_>>() {
            res.push(task.await.unwrap().unwrap().batch);
        }
        res
    });
    assert_eq!(numbers, (1..=300).collect::<Vec<i64>>());
    assert_eq!(bench.state(&store).memories.len(), 300);
}

#[test]
fn readers_beside_a_writer_see_whole_batches_only() {
    let bench = Bench::new();
    let store = bench.open();
    bench.wait(async {
        let writer = store.clone();
        let writing = tokio::spawn(async move {
            for n in 0..60 {
                let pair =
                    [2 * n, 2 * n + 1].map(|it| Change::Insert(Box::new(memory(it, "a pair"))));
                writer.apply(batch(Action::Remember, pair.to_vec())).await.unwrap();
            }
        });
        let mut seen = 0;
        while !writing.is_finished() {
            let reads: Vec<_> = (0..4)
                .map(|_| {
                    let store = store.clone();
                    tokio::spawn(async move { store.tally().await.unwrap() })
                })
                .collect();
            for read in reads {
                let count: u64 = read.await.unwrap().iter().map(|it| it.count).sum();
                assert!(count.is_multiple_of(2), "half a batch: {count}");
                // Two readers answer these, each with a view of its own; only the latest counts.
                seen = count.max(seen);
            }
            assert!(store.get(id(90_000)).await.unwrap().is_none());
            let count: u64 = store.tally().await.unwrap().iter().map(|it| it.count).sum();
            assert!(count >= seen, "{count} after {seen}");
        }
        writing.await.unwrap();
    });
    assert_eq!(bench.state(&store).memories.len(), 120);
    assert_eq!(store.findings(), vec![]);
}

#[test]
fn a_restore_meets_nobody_half_way() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 0, "backed up");
    let backup = bench.wait(store.backup(NOW)).unwrap();
    let (home, done) = (bench.home(), Arc::new(AtomicUsize::new(0)));
    let restoring = std::thread::spawn({
        let (home, done) = (home.clone(), Arc::clone(&done));
        move || {
            for _ in 0..25 {
                Store::user(home.clone(), None, NOW).restore(&backup, NOW).unwrap();
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let reading = std::thread::spawn({
        let (bench, done) = (Bench::new(), Arc::clone(&done));
        move || {
            while done.load(Ordering::Relaxed) < 25 {
                // A handle of its own each time: opening is the delicate part.
                let store = Store::user(home.clone(), None, NOW);
                let found = bench.wait(store.get(id(0))).unwrap();
                assert_eq!(found.map(|it| it.content).as_deref(), Some("backed up"));
                assert_eq!(store.findings(), vec![]);
            }
        }
    });
    let mut n = 0;
    while done.load(Ordering::Relaxed) < 25 {
        n += 1;
        bench.add(&store, n, "kept until the next restore");
        assert!(bench.wait(store.get(id(0))).unwrap().is_some());
    }
    restoring.join().unwrap();
    reading.join().unwrap();
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}
