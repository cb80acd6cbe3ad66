//! What goes wrong in one call stays with that call.

use std::sync::mpsc;

use rusqlite::Connection;
use waylore_store::tape::Tape;
use waylore_store::{Action, Change, Error, Store};

use crate::kit::{Bench, NOW, batch, id, memory};

/// Queues `calls` while the writer is held up, so that they share one commit.
async fn together<T: Send + 'static>(
    store: &Store,
    calls: Vec<impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let (release, held) = mpsc::channel::<()>();
    let holding = store.clone();
    let lone = tokio::spawn(async move {
        holding
            .inside_alone(move |_| {
                let _ = held.recv();
                Ok(())
            })
            .await
    });
    let tasks: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    tokio::task::yield_now().await;
    release.send(()).unwrap();
    lone.await.unwrap().unwrap();
    let mut res = Vec::new();
    for task in tasks {
        res.push(task.await.unwrap());
    }
    res
}

/// One call of a mixed group.
enum Call {
    Add(u32),
    Run(fn(&Connection) -> rusqlite::Result<()>),
}

async fn call(store: Store, call: Call) -> Result<(), Error> {
    match call {
        Call::Add(n) => {
            let changes = vec![Change::Insert(Box::new(memory(n, "a neighbour")))];
            store.apply(batch(Action::Remember, changes)).await.map(|_| ())
        }
        Call::Run(job) => store.inside_write(job).await,
    }
}

fn run_together(bench: &Bench, store: &Store, calls: Vec<Call>) -> Vec<Result<(), Error>> {
    let calls = calls.into_iter().map(|it| call(store.clone(), it)).collect();
    bench.wait(together(store, calls))
}

fn n_stored(bench: &Bench, store: &Store) -> usize {
    bench.state(store).memories.len()
}

#[test]
fn a_panic_in_a_write_costs_only_that_write() {
    let bench = Bench::new();
    let store = bench.open();
    let calls = vec![Call::Add(1), Call::Run(|_| panic!("a bug in a write")), Call::Add(2)];
    let res = run_together(&bench, &store, calls);
    assert!(res[0].is_ok() && res[2].is_ok());
    assert!(matches!(res[1], Err(Error::Engine { .. })), "{res:?}");
    assert_eq!(n_stored(&bench, &store), 2);
    bench.add(&store, 3, "goes on");
    assert_eq!(n_stored(&bench, &store), 3);
}

#[test]
fn a_panic_in_a_read_or_in_lone_work_is_an_error_and_no_more() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "before");
    for _ in 0..4 {
        let read = bench.wait(store.inside_read(|_| panic!("a bug in a read")));
        assert!(matches!(read, Err(Error::Engine { .. })), "{read:?}");
        let lone = bench.wait(store.inside_alone(|conn| {
            conn.execute_batch("BEGIN IMMEDIATE; DELETE FROM memories")?;
            panic!("a bug in lone work")
        }));
        assert!(matches!(lone, Err(Error::Engine { .. })), "{lone:?}");
    }
    assert!(bench.wait(store.get(id(1))).unwrap().is_some());
    bench.add(&store, 2, "after");
    assert_eq!(n_stored(&bench, &store), 2);
}

#[test]
fn a_write_that_fails_takes_back_only_its_own_work() {
    let bench = Bench::new();
    let store = bench.open();
    let half = |conn: &Connection| conn.execute_batch("DELETE FROM meta; SELECT * FROM nowhere");
    let res = run_together(&bench, &store, vec![Call::Add(1), Call::Run(half), Call::Add(2)]);
    assert!(res[0].is_ok() && res[1].is_err() && res[2].is_ok(), "{res:?}");
    assert_eq!(n_stored(&bench, &store), 2);
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

#[test]
fn when_the_commit_fails_nobody_is_told_it_was_saved() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "before");
    // The debt is only noticed by the commit, when every write of the group has long succeeded.
    let owing = |conn: &Connection| {
        conn.execute_batch(
            "PRAGMA defer_foreign_keys = ON; INSERT INTO memory_tags (tag, n) VALUES ('x', 999)",
        )
    };
    let res = run_together(&bench, &store, vec![Call::Add(2), Call::Run(owing), Call::Add(3)]);
    assert!(res.iter().all(Result::is_err), "{res:?}");
    assert_eq!(n_stored(&bench, &store), 1);
    assert!(
        run_together(&bench, &store, vec![Call::Add(2), Call::Add(3)]).iter().all(Result::is_ok)
    );
    assert_eq!(n_stored(&bench, &store), 3);
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

#[test]
fn a_full_disk_is_said_to_be_full_and_space_that_returns_is_used() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "before");
    // The connection refuses to grow; the one opened after the failure knows no such limit.
    bench.wait(store.inside_alone(|conn| conn.execute_batch("PRAGMA max_page_count = 1"))).unwrap();
    let large = memory(2, &"a large memory ".repeat(3_000));
    let res = bench.apply(&store, Action::Remember, vec![Change::Insert(Box::new(large.clone()))]);
    assert!(matches!(res, Err(Error::Full)), "{res:?}");
    assert!(bench.wait(store.get(id(1))).unwrap().is_some(), "reading goes on");
    bench.wait(store.inside_alone(|_| Err(rusqlite::Error::InvalidQuery))).unwrap_err();
    bench.apply(&store, Action::Remember, vec![Change::Insert(Box::new(large))]).unwrap();
    assert_eq!(n_stored(&bench, &store), 2);
}

#[test]
fn writes_that_wait_together_share_one_commit() {
    let bench = Bench::new();
    let tape = Tape::default();
    let store = Store::taped(bench.home(), NOW, tape.clone());
    bench.add(&store, 0, "opens the store");
    let commits = || tape.lines().iter().filter(|it| it.sql == "COMMIT").count();
    let before = commits();
    let res = run_together(&bench, &store, (1..=20).map(Call::Add).collect());
    assert!(res.iter().all(Result::is_ok));
    assert_eq!((commits() - before, n_stored(&bench, &store)), (1, 21));
}

#[test]
fn a_caller_that_gives_up_does_no_harm() {
    let bench = Bench::new();
    let store = bench.open();
    bench.wait(async {
        let adding = tokio::spawn(call(store.clone(), Call::Add(1)));
        tokio::task::yield_now().await;
        adding.abort();
        let _ = adding.await;
    });
    bench.add(&store, 2, "goes on");
    // Whether the first was saved is open: it was never acknowledged. That it is whole is not.
    assert!(n_stored(&bench, &store) >= 1);
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}
