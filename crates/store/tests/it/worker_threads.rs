//! A failure in one call does not affect other calls, although they share a thread and a commit.

use std::sync::mpsc;

use rusqlite::Connection;
use waylore_store::recorder::{self, StatementRecorder};
use waylore_store::{AuditAction, Error, Store, StoreChange};

use crate::kit::{NOW, TestBench, batch, id, memory};

/// Queues `calls` while the writer is blocked, so that they share one commit.
async fn run_in_one_group<T: Send + 'static>(
    store: &Store,
    calls: Vec<impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    // An exclusive job keeps the writer busy until all calls are queued.
    let (release, held) = mpsc::channel::<()>();
    let holding = store.clone();
    let blocker = tokio::spawn(async move {
        recorder::inside_exclusive(&holding, move |_| {
            let _ = held.recv();
            Ok(())
        })
        .await
    });
    let tasks: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    tokio::task::yield_now().await;
    release.send(()).unwrap();
    blocker.await.unwrap().unwrap();
    let mut result = Vec::new();
    for task in tasks {
        result.push(task.await.unwrap());
    }
    result
}

/// One call of a mixed group.
enum Call {
    Add(u32),
    Run(fn(&Connection) -> rusqlite::Result<()>),
}

async fn run_call(store: Store, call: Call) -> Result<(), Error> {
    match call {
        Call::Add(n) => {
            let changes = vec![StoreChange::Insert(Box::new(memory(n, "a neighbour")))];
            store.apply(batch(AuditAction::Remember, changes)).await.map(|_| ())
        }
        Call::Run(job) => recorder::inside_write(&store, job).await,
    }
}

fn run_together(bench: &TestBench, store: &Store, calls: Vec<Call>) -> Vec<Result<(), Error>> {
    let calls = calls.into_iter().map(|it| run_call(store.clone(), it)).collect();
    bench.block_on(run_in_one_group(store, calls))
}

fn n_stored(bench: &TestBench, store: &Store) -> usize {
    bench.state(store).memories.len()
}

#[test]
fn a_panic_in_a_write_fails_only_that_write() {
    let bench = TestBench::new();
    let store = bench.open();
    let calls = vec![Call::Add(1), Call::Run(|_| panic!("a bug in a write")), Call::Add(2)];
    let result = run_together(&bench, &store, calls);
    assert!(result[0].is_ok() && result[2].is_ok());
    assert!(matches!(result[1], Err(Error::Internal { .. })), "{result:?}");
    assert_eq!(n_stored(&bench, &store), 2);
    bench.add(&store, 3, "goes on");
    assert_eq!(n_stored(&bench, &store), 3);
}

#[test]
fn a_panic_in_a_read_or_an_exclusive_job_is_an_error() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "before");
    for _ in 0..4 {
        let read = bench.block_on(recorder::inside_read(&store, |_| panic!("a bug in a read")));
        assert!(matches!(read, Err(Error::Internal { .. })), "{read:?}");
        let exclusive = bench.block_on(recorder::inside_exclusive(&store, |conn| {
            conn.execute_batch("BEGIN IMMEDIATE; DELETE FROM memories")?;
            panic!("a bug in an exclusive job")
        }));
        assert!(matches!(exclusive, Err(Error::Internal { .. })), "{exclusive:?}");
    }
    assert!(bench.block_on(store.memories().get(id(1))).unwrap().is_some());
    bench.add(&store, 2, "after");
    assert_eq!(n_stored(&bench, &store), 2);
}

#[test]
fn a_failed_write_rolls_back_only_its_own_changes() {
    let bench = TestBench::new();
    let store = bench.open();
    let fails_half_way =
        |conn: &Connection| conn.execute_batch("DELETE FROM meta; SELECT * FROM nowhere");
    let result =
        run_together(&bench, &store, vec![Call::Add(1), Call::Run(fails_half_way), Call::Add(2)]);
    assert!(result[0].is_ok() && result[1].is_err() && result[2].is_ok(), "{result:?}");
    assert_eq!(n_stored(&bench, &store), 2);
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}

#[test]
fn no_caller_gets_success_when_the_commit_fails() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "before");
    // The violation is noticed by the commit, after every write of the group has succeeded.
    let violates_foreign_key = |conn: &Connection| {
        conn.execute_batch(
            "PRAGMA defer_foreign_keys = ON; INSERT INTO memory_tags (tag, n) VALUES ('x', 999)",
        )
    };
    let result = run_together(
        &bench,
        &store,
        vec![Call::Add(2), Call::Run(violates_foreign_key), Call::Add(3)],
    );
    assert!(result.iter().all(Result::is_err), "{result:?}");
    assert_eq!(n_stored(&bench, &store), 1);
    assert!(
        run_together(&bench, &store, vec![Call::Add(2), Call::Add(3)]).iter().all(Result::is_ok)
    );
    assert_eq!(n_stored(&bench, &store), 3);
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}

#[test]
fn a_full_disk_is_reported_and_freed_space_is_used() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "before");
    // The connection refuses to grow; the one opened after the failure has no such limit.
    bench
        .block_on(recorder::inside_exclusive(&store, |conn| {
            conn.execute_batch("PRAGMA max_page_count = 1")
        }))
        .unwrap();
    let large = memory(2, &"a large memory ".repeat(3_000));
    let result = bench.apply(
        &store,
        AuditAction::Remember,
        vec![StoreChange::Insert(Box::new(large.clone()))],
    );
    assert!(matches!(result, Err(Error::DiskFull)), "{result:?}");
    assert!(bench.block_on(store.memories().get(id(1))).unwrap().is_some(), "reading goes on");
    // A failed job makes the writer open a new connection.
    bench
        .block_on(recorder::inside_exclusive(&store, |_| Err(rusqlite::Error::InvalidQuery)))
        .unwrap_err();
    bench.apply(&store, AuditAction::Remember, vec![StoreChange::Insert(Box::new(large))]).unwrap();
    assert_eq!(n_stored(&bench, &store), 2);
}

#[test]
fn writes_that_wait_together_share_one_commit() {
    let bench = TestBench::new();
    let recorder = StatementRecorder::default();
    let store = recorder::recorded_store(bench.user_paths(), NOW, recorder.clone());
    bench.add(&store, 0, "opens the store");
    let n_commits = || recorder.lines().iter().filter(|it| it.sql == "COMMIT").count();
    let before = n_commits();
    let result = run_together(&bench, &store, (1..=20).map(Call::Add).collect());
    assert!(result.iter().all(Result::is_ok));
    assert_eq!((n_commits() - before, n_stored(&bench, &store)), (1, 21));
}

#[test]
fn a_caller_that_gives_up_breaks_nothing() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.block_on(async {
        let adding = tokio::spawn(run_call(store.clone(), Call::Add(1)));
        tokio::task::yield_now().await;
        adding.abort();
        let _ = adding.await;
    });
    bench.add(&store, 2, "goes on");
    // The first write was not acknowledged, so it may be saved or not, but not in part.
    assert!(n_stored(&bench, &store) >= 1);
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}
