//! Many handles at once: acknowledged writes are stored, no call fails as busy, no writer starves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use waylore_store::{AuditAction, Store, StoreChange};

use crate::kit::{NOW, TestBench, batch, id, memory};

const WRITERS: u32 = 8;
/// Writes that all writers make together after the common start.
const WRITES: usize = 640;

/// Restores that one thread makes while others read and write.
const RESTORES: usize = 25;

/// Writes memories until all writers together are done; returns the numbers of its batches.
fn write_until_done(bench: &TestBench, store: &Store, writer: u32, done: &AtomicUsize) -> Vec<i64> {
    let mut result = Vec::new();
    for n in 1.. {
        if done.fetch_add(1, Ordering::Relaxed) >= WRITES {
            break;
        }
        let memory = memory(writer * 10_000 + n, "one voice of many");
        let changes = vec![StoreChange::Insert(Box::new(memory))];
        result.push(bench.apply(store, AuditAction::Remember, changes).unwrap().batch);
    }
    result
}

#[test]
fn eight_handles_on_one_file_all_make_progress() {
    let home = TestBench::new();
    let (start, done) = (Arc::new(Barrier::new(WRITERS as usize)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (paths, start, done) = (home.user_paths(), Arc::clone(&start), Arc::clone(&done));
            std::thread::spawn(move || {
                let (bench, store) = (TestBench::new(), Store::user(paths, None, NOW));
                let first =
                    vec![StoreChange::Insert(Box::new(memory(writer * 10_000, "the first")))];
                let mut result =
                    vec![bench.apply(&store, AuditAction::Remember, first).unwrap().batch];
                start.wait();
                result.extend(write_until_done(&bench, &store, writer, &done));
                result
            })
        })
        .collect();
    let batches: Vec<Vec<i64>> = threads.into_iter().map(|it| it.join().unwrap()).collect();

    // Fair: the slowest writer made at least a quarter of the median.
    let mut counts: Vec<usize> = batches.iter().map(|it| it.len() - 1).collect();
    counts.sort_unstable();
    assert!(counts[0] * 4 >= counts[counts.len() / 2], "a writer starved: {counts:?}");
    let mut numbers: Vec<i64> = batches.concat();
    numbers.sort_unstable();
    let n_writes = i64::try_from(WRITES).unwrap() + i64::from(WRITERS);
    assert_eq!(numbers, (1..=n_writes).collect::<Vec<i64>>(), "numbers are dense");
    let store = home.open();
    assert_eq!(home.state(&store).memories.len(), numbers.len());
    assert_eq!(home.block_on(store.check_database()).unwrap(), vec![]);
    assert_eq!(store.findings(), vec![]);
}

#[test]
fn many_writes_through_one_handle_are_all_stored() {
    let bench = TestBench::new();
    let store = bench.open();
    let numbers = bench.block_on(async {
        let write = |n: u32| {
            let changes = vec![StoreChange::Insert(Box::new(memory(n, "one of many")))];
            let store = store.clone();
            tokio::spawn(async move { store.apply(batch(AuditAction::Remember, changes)).await })
        };
        let mut result = Vec::new();
        for task in (0..300).map(write).collect::<Vec<_>>() {
            result.push(task.await.unwrap().unwrap().batch);
        }
        result
    });
    assert_eq!(numbers, (1..=300).collect::<Vec<i64>>());
    assert_eq!(bench.state(&store).memories.len(), 300);
}

#[test]
fn readers_beside_a_writer_see_whole_batches_only() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.block_on(async {
        let writer = store.clone();
        let writing = tokio::spawn(async move {
            for n in 0..60 {
                let pair = [2 * n, 2 * n + 1]
                    .map(|it| StoreChange::Insert(Box::new(memory(it, "a pair"))));
                writer.apply(batch(AuditAction::Remember, pair.to_vec())).await.unwrap();
            }
        });
        let mut seen = 0;
        while !writing.is_finished() {
            let reads: Vec<_> = (0..4)
                .map(|_| {
                    let store = store.clone();
                    tokio::spawn(async move { store.memories().count_by_status().await.unwrap() })
                })
                .collect();
            for read in reads {
                let count: u64 = read.await.unwrap().iter().map(|it| it.count).sum();
                assert!(count.is_multiple_of(2), "half a batch: {count}");
                // Two reader threads answer these, each with its own snapshot; only the latest
                // counts.
                seen = count.max(seen);
            }
            assert!(store.memories().get(id(90_000)).await.unwrap().is_none());
            let count: u64 =
                store.memories().count_by_status().await.unwrap().iter().map(|it| it.count).sum();
            assert!(count >= seen, "{count} after {seen}");
        }
        writing.await.unwrap();
    });
    assert_eq!(bench.state(&store).memories.len(), 120);
    assert_eq!(store.findings(), vec![]);
}

#[test]
fn readers_never_see_a_restore_half_way() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 0, "backed up");
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    let (paths, done) = (bench.user_paths(), Arc::new(AtomicUsize::new(0)));
    let restoring = std::thread::spawn({
        let (paths, done) = (paths.clone(), Arc::clone(&done));
        move || {
            for _ in 0..RESTORES {
                Store::user(paths.clone(), None, NOW).restore(&backup, NOW).unwrap();
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let reading = std::thread::spawn({
        let (bench, done) = (TestBench::new(), Arc::clone(&done));
        move || {
            while done.load(Ordering::Relaxed) < RESTORES {
                // A new handle each time: opening is the delicate part.
                let store = Store::user(paths.clone(), None, NOW);
                let found = bench.block_on(store.memories().get(id(0))).unwrap();
                assert_eq!(found.map(|it| it.content).as_deref(), Some("backed up"));
                assert_eq!(store.findings(), vec![]);
            }
        }
    });
    // A handle from before the first restore writes all the time.
    let mut n = 0;
    while done.load(Ordering::Relaxed) < RESTORES {
        n += 1;
        bench.add(&store, n, "kept until the next restore");
        assert!(bench.block_on(store.memories().get(id(0))).unwrap().is_some());
    }
    restoring.join().unwrap();
    reading.join().unwrap();
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}
