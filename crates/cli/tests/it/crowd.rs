//! Eight processes at once on one database: whatever is acknowledged is stored, everyone gets
//! their share done, and nobody hears that the database is busy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::kit::{Desk, string};

const WRITERS: usize = 8;
const SHARE: usize = 25;
const READERS: usize = 2;

#[test]
fn everyone_gets_their_share_done() {
    let desk = Desk::in_memory();
    desk.remember("the first thing");
    let acknowledged = crowd(&desk, |writer, it| {
        let text = format!("fact {it} of writer {writer}");
        match it % 5 {
            // Nothing else is known that would be merged with it, so it is kept as it is.
            4 => vec!["remember".to_owned(), "--user".to_owned(), "--new".to_owned(), text],
            _ => vec!["remember".to_owned(), "--new".to_owned(), text],
        }
    });
    assert_eq!(acknowledged.len(), WRITERS * SHARE);
    let kept = desk.contents();
    for id in &acknowledged {
        assert!(kept.iter().any(|it| it.0 == *id), "{id} was acknowledged and is lost");
    }
    assert_eq!(kept.len(), acknowledged.len() + 1, "nothing else was kept");
    desk.is_healthy("after the crowd");
}

#[test]
fn a_crowd_that_begins_together_begins_one_project() {
    for round in 0..4 {
        let desk = Desk::in_memory();
        let begin = |writer: usize| {
            let text = format!("first word of {writer}");
            string(&desk.json(&["remember", "--new", &text])["memory"]["id"])
        };
        let ids: Vec<String> = thread::scope(|scope| {
            let all: Vec<_> = (0..WRITERS).map(|it| scope.spawn(move || begin(it))).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let kept = desk.contents();
        for id in &ids {
            assert!(
                kept.iter().any(|it| it.0 == *id),
                "round {round}: {id} was acknowledged and is lost"
            );
        }
        desk.notebook();
    }
}

#[test]
fn a_key_that_everyone_uses_keeps_one_memory() {
    let desk = Desk::in_memory();
    desk.remember("the first thing");
    let ids = crowd(&desk, |_, it| {
        vec![
            "remember".to_owned(),
            "--new".to_owned(),
            "--key".to_owned(),
            format!("key-{it}"),
            format!("fact {it}"),
        ]
    });
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!((ids.len(), unique.len()), (WRITERS * SHARE, SHARE), "everyone is told the same id");
    assert_eq!(desk.contents().len(), SHARE + 1);
}

/// Lets all writers do their share while readers read; the ids they were told.
fn crowd(desk: &Desk, command: impl Fn(usize, usize) -> Vec<String> + Sync) -> Vec<String> {
    let writing = AtomicBool::new(true);
    let (command, writing) = (&command, &writing);
    let write = move |writer: usize| {
        let mut res = Vec::new();
        for it in 0..SHARE {
            let args = command(writer, it);
            let args: Vec<&str> =
                ["--json"].into_iter().chain(args.iter().map(String::as_str)).collect();
            let said = desk.run(&args).ends(0, &format!("{args:?}"));
            assert_eq!(said.err, "", "nobody has a reason to complain");
            res.push(string(&said.json()["memory"]["id"]));
        }
        res
    };
    let read = move || {
        let mut before = 0;
        while writing.load(Ordering::Relaxed) {
            let said = desk.run(&["list", "-n", "100000", "--json"]).ends(0, "a reader");
            let n = said.json()["memories"].as_array().unwrap().len();
            assert!(n >= before, "a reader saw {before} memories, and then {n}");
            before = n;
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        let writers: Vec<_> = (0..WRITERS).map(|it| scope.spawn(move || write(it))).collect();
        let res: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        writing.store(false, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
        res.into_iter().flat_map(Result::unwrap).collect()
    })
}
