//! A backup restores to exactly what was backed up, and to nothing that was erased since.

use std::fs;

use model::{MemoryId, Status};
use waylore_store::{Action, Change, Error, KEPT, PlaceRow, Store};

use crate::kit::{Bench, NOW, Seed, files_under, full, id, is_scratch, memory};

/// Does something to a store, as somebody would over time.
fn live(bench: &Bench, store: &Store, random: &mut Seed, next: &mut u32) {
    let known: Vec<MemoryId> = bench.state(store).memories.iter().map(|it| it.id).collect();
    let some = known.get(random.below(known.len().max(1))).copied();
    match (random.below(9), some) {
        (0, Some(id)) => bench.edit(store, id, |it| it.content.push_str(", edited")),
        (1, Some(id)) => bench.edit(store, id, |it| it.states.deleted_at = Some(NOW)),
        (2, Some(id)) => {
            let values = vec![0.25; 1 + random.below(6)];
            bench.embed(store, id, values, vec![-3; 2]);
        }
        (3, Some(id)) => bench.wait(store.remove(vec![id])).unwrap(),
        (4, Some(id)) => {
            bench.apply(store, Action::Flag, vec![Change::Count { id, used: true }]).unwrap();
        }
        (5, _) => {
            let value = (random.below(2) == 0).then(|| format!("value {next}"));
            let setting = Change::Setting { key: format!("key{}", random.below(3)), value };
            bench.apply(store, Action::Settings, vec![setting]).unwrap();
        }
        _ => {
            *next += 1;
            let memory =
                if next.is_multiple_of(3) { full(*next, "jay") } else { memory(*next, "a jay") };
            bench.insert(store, memory);
        }
    }
}

#[test]
fn twenty_lives_restore_to_the_moment_of_their_backup() {
    for seed in 0..20 {
        let (bench, mut random, mut next) = (Bench::new(), Seed(seed), 0);
        let store = bench.open();
        for _ in 0..6 + random.below(20) {
            live(&bench, &store, &mut random, &mut next);
        }
        let backup = bench.wait(store.backup(NOW)).unwrap();
        let then = bench.state(&store);
        for _ in 0..=random.below(10) {
            live(&bench, &store, &mut random, &mut next);
        }
        let last = bench.apply(&store, Action::Settings, vec![]).unwrap().batch;
        let contents = store.clone().restore(&backup, NOW).unwrap();
        assert_eq!(contents.memories, i64::try_from(then.memories.len()).unwrap(), "seed {seed}");
        // The handle that was open all the time goes on with what was restored.
        assert_eq!(bench.state(&store), then, "seed {seed}");
        let after = bench.apply(&store, Action::Settings, vec![]).unwrap().batch;
        assert!(after > last, "seed {seed}: {after} after {last}");
        assert_eq!(bench.wait(store.examine()).unwrap(), vec![], "seed {seed}");
        drop(store);
        assert_eq!(bench.state(&bench.open()), then, "seed {seed}");
    }
}

#[test]
fn what_was_erased_since_stays_erased() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "kept");
    bench.add(&store, 2, "erased later");
    let backup = bench.wait(store.backup(NOW)).unwrap();
    // The backup as it was before the erasure reached it, from some other disk.
    let copies: Vec<_> = files_under(&bench.home().backups())
        .iter()
        .map(|it| (it.clone(), fs::read(it).unwrap()))
        .collect();
    bench.wait(store.erase(vec![id(2)], NOW)).unwrap();
    for (path, bytes) in copies {
        fs::write(path, bytes).unwrap();
    }
    store.restore(&backup, NOW).unwrap();
    let store = bench.open();
    let left: Vec<_> = bench.state(&store).memories.into_iter().map(|it| it.content).collect();
    assert_eq!(left, vec!["kept"]);
    let again = vec![Change::Insert(Box::new(memory(2, "erased later")))];
    let res = bench.apply(&store, Action::Import, again);
    assert!(matches!(res, Err(Error::Erased { .. })), "{res:?}");
    assert!(bench.wait(store.is_erased(id(2))).unwrap());
    assert!(!bench.wait(store.is_erased(id(1))).unwrap());
}

#[test]
fn numbers_go_on_even_when_the_mark_is_gone() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, "first");
    let first = bench.wait(store.backup(NOW)).unwrap();
    for n in 2..9 {
        bench.add(&store, n, "later");
    }
    bench.wait(store.backup(NOW)).unwrap();
    fs::remove_file(bench.dir.path().join("data/user.mark")).unwrap();
    store.restore(&first, NOW).unwrap();
    let store = bench.open();
    bench.add(&store, 20, "after the restore");
    let newest = bench.wait(store.backup(NOW)).unwrap();
    assert_eq!(store.backups()[0], newest, "a new backup is never taken for an old one");
}

#[test]
fn three_backups_are_kept_and_the_newest_comes_first() {
    let bench = Bench::new();
    let store = bench.open();
    let mut made = Vec::new();
    for n in 0..5 {
        bench.add(&store, n, "one more");
        // A clock that runs backwards does not make a backup older.
        made.push(bench.wait(store.backup(NOW.plus(-86_400_000 * i64::from(n)))).unwrap());
    }
    made.reverse();
    assert_eq!(store.backups(), made[..KEPT]);
    let moments: Vec<_> = made.iter().rev().map(|it| it.made.unwrap()).collect();
    let expected: Vec<_> = (0..5).map(|n| NOW.plus(-86_400_000 * n)).collect();
    assert_eq!(moments, expected, "the clock's word is kept, too");
    let counts: Vec<_> =
        store.backups().iter().map(|it| store.verify_backup(it).unwrap().memories).collect();
    assert_eq!(counts, vec![5, 4, 3]);
    let left = files_under(&bench.home().backups());
    assert_eq!(left.len(), 2 * KEPT, "a file and its seal each: {left:?}");
}

#[test]
fn a_backup_of_another_kind_of_store_is_refused() {
    let bench = Bench::new();
    let user = bench.open();
    bench.add(&user, 1, "of the user");
    let backup = bench.wait(user.backup(NOW)).unwrap();
    let home = bench.data().project(model::ProjectId::new(NOW, [1; 10]));
    let project = Store::project(home, None, NOW);
    bench.add(&project, 2, "of the project");
    let res = project.restore(&backup, NOW);
    assert!(matches!(res, Err(Error::TooNew { .. } | Error::Damaged { .. })), "{res:?}");
}

#[test]
fn another_open_handle_writes_to_what_was_restored() {
    let bench = Bench::new();
    let (one, other) = (bench.open(), bench.open());
    bench.add(&one, 1, "backed up");
    let backup = bench.wait(one.backup(NOW)).unwrap();
    bench.add(&other, 2, "not backed up");
    one.restore(&backup, NOW).unwrap();
    bench.add(&other, 3, "written by a handle from before");
    let said: Vec<_> =
        bench.state(&bench.open()).memories.into_iter().map(|it| it.content).collect();
    assert_eq!(said, vec!["backed up", "written by a handle from before"]);
    assert_eq!(bench.wait(other.examine()).unwrap(), vec![]);
}

#[test]
fn nothing_but_files_that_have_a_use_is_left() {
    let bench = Bench::new();
    let store = bench.open();
    let place = PlaceRow {
        project: model::ProjectId::new(NOW, [1; 10]),
        name: "p".to_owned(),
        root_commit: None,
        remote: None,
        key_dir: "/p".to_owned(),
        dir_key: None,
        last_seen: NOW,
    };
    bench.wait(store.put_place(place)).unwrap();
    bench.add(&store, 1, "one");
    bench.add(&store, 2, "two");
    let backup = bench.wait(store.backup(NOW)).unwrap();
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    bench.wait(store.compact(true)).unwrap();
    store.restore(&backup, NOW).unwrap();
    let store = bench.open();
    assert_eq!(bench.state(&store).memories[0].status(), Status::Live);
    bench.add(&store, 3, "three");
    drop(store);
    let left: Vec<_> =
        files_under(bench.dir.path()).into_iter().filter(|it| is_scratch(it)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!bench.home().database().with_extension("db-wal").exists());
}
