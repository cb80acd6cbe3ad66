//! A backup restores exactly what was backed up, except memories erased since.

use std::fs;

use model::{DAY_MS, MemoryId, MemoryStatus};
use waylore_store::{
    AuditAction, CompactMode, Error, MAX_BACKUPS, ProjectLocation, Store, StoreChange,
};

use crate::kit::{NOW, SeededRandom, TestBench, files_under, full_memory, id, is_scratch, memory};

/// Applies a random change, as a user would over time. `next` counts the memories made so far, so
/// that each gets another number.
fn apply_random_change(
    bench: &TestBench,
    store: &Store,
    random: &mut SeededRandom,
    next: &mut u32,
) {
    let known: Vec<MemoryId> = bench.state(store).memories.iter().map(|it| it.id).collect();
    let any_known = known.get(random.below(known.len().max(1))).copied();
    match (random.below(9), any_known) {
        (0, Some(id)) => bench.edit(store, id, |it| it.content.push_str(", edited")),
        (1, Some(id)) => bench.edit(store, id, |it| it.states.deleted_at = Some(NOW)),
        (2, Some(id)) => {
            let values = vec![0.25; 1 + random.below(6)];
            bench.embed(store, id, values, vec![-3; 2]);
        }
        (3, Some(id)) => bench.block_on(store.remove_forgotten(vec![id])).unwrap(),
        (4, Some(id)) => {
            bench.apply(store, AuditAction::Flag, vec![StoreChange::CountUse { id }]).unwrap();
        }
        (5, _) => {
            let value = (random.below(2) == 0).then(|| format!("value {next}"));
            let setting = StoreChange::Setting { key: format!("key{}", random.below(3)), value };
            bench.apply(store, AuditAction::Settings, vec![setting]).unwrap();
        }
        // Three of nine, or as long as there is no memory to change: insert one.
        _ => {
            *next += 1;
            let memory = if next.is_multiple_of(3) {
                full_memory(*next, "jay")
            } else {
                memory(*next, "a jay")
            };
            bench.insert(store, memory);
        }
    }
}

#[test]
fn twenty_random_histories_restore_to_their_backup() {
    for seed in 0..20 {
        let (bench, mut random, mut next) = (TestBench::new(), SeededRandom(seed), 0);
        let store = bench.open();
        for _ in 0..6 + random.below(20) {
            apply_random_change(&bench, &store, &mut random, &mut next);
        }
        let backup = bench.block_on(store.backup(NOW)).unwrap();
        let backed_up = bench.state(&store);

        // More changes, which the restore takes back.
        for _ in 0..=random.below(10) {
            apply_random_change(&bench, &store, &mut random, &mut next);
        }
        let last = bench.apply(&store, AuditAction::Settings, vec![]).unwrap().batch;

        let contents = store.clone().restore(&backup, NOW).unwrap();
        assert_eq!(
            contents.memories,
            i64::try_from(backed_up.memories.len()).unwrap(),
            "seed {seed}"
        );
        // The handle that stayed open continues with the restored database.
        assert_eq!(bench.state(&store), backed_up, "seed {seed}");
        // Numbers of batches are never used twice.
        let after = bench.apply(&store, AuditAction::Settings, vec![]).unwrap().batch;
        assert!(after > last, "seed {seed}: {after} after {last}");
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![], "seed {seed}");
        drop(store);
        assert_eq!(bench.state(&bench.open()), backed_up, "seed {seed}");
    }
}

#[test]
fn memories_erased_since_the_backup_stay_erased() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "kept");
    bench.add(&store, 2, "erased later");
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    // A copy of the backup from before the erasure, as if from another disk.
    let copies: Vec<_> = files_under(&bench.user_paths().backups_folder())
        .iter()
        .map(|it| (it.clone(), fs::read(it).unwrap()))
        .collect();
    bench.block_on(store.erase(vec![id(2)], NOW)).unwrap();
    for (path, bytes) in copies {
        fs::write(path, bytes).unwrap();
    }
    store.restore(&backup, NOW).unwrap();
    let store = bench.open();
    let left: Vec<_> = bench.state(&store).memories.into_iter().map(|it| it.content).collect();
    assert_eq!(left, vec!["kept"]);
    let again = vec![StoreChange::Insert(Box::new(memory(2, "erased later")))];
    let result = bench.apply(&store, AuditAction::Import, again);
    assert!(matches!(result, Err(Error::MemoryErased { .. })), "{result:?}");
    assert!(bench.block_on(store.memories().is_erased(id(2))).unwrap());
    assert!(!bench.block_on(store.memories().is_erased(id(1))).unwrap());
}

#[test]
fn sequence_numbers_continue_after_a_restore_without_a_mark() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "first");
    let first = bench.block_on(store.backup(NOW)).unwrap();
    for n in 2..9 {
        bench.add(&store, n, "later");
    }
    bench.block_on(store.backup(NOW)).unwrap();
    fs::remove_file(bench.dir.path().join("data/user.mark")).unwrap();
    store.restore(&first, NOW).unwrap();
    let store = bench.open();
    bench.add(&store, 20, "after the restore");
    let newest = bench.block_on(store.backup(NOW)).unwrap();
    assert_eq!(store.backups()[0], newest, "a new backup is never taken for an old one");
}

#[test]
fn three_backups_are_kept_and_the_newest_comes_first() {
    let bench = TestBench::new();
    let store = bench.open();
    let mut made = Vec::new();
    for n in 0..5 {
        bench.add(&store, n, "one more");
        // A clock that runs backwards does not make a backup older.
        made.push(bench.block_on(store.backup(NOW.plus_millis(-DAY_MS * i64::from(n)))).unwrap());
    }
    made.reverse();
    assert_eq!(store.backups(), made[..MAX_BACKUPS]);
    let moments: Vec<_> = made.iter().rev().map(|it| it.created_at.unwrap()).collect();
    let expected: Vec<_> = (0..5).map(|n| NOW.plus_millis(-DAY_MS * n)).collect();
    assert_eq!(moments, expected, "the time of the clock is kept, too");
    let counts: Vec<_> =
        store.backups().iter().map(|it| store.verify_backup(it).unwrap().memories).collect();
    assert_eq!(counts, vec![5, 4, 3]);
    let left = files_under(&bench.user_paths().backups_folder());
    assert_eq!(left.len(), 2 * MAX_BACKUPS, "a file and its seal each: {left:?}");
}

#[test]
fn a_backup_of_another_kind_of_store_is_refused() {
    let bench = TestBench::new();
    let user = bench.open();
    bench.add(&user, 1, "of the user");
    let backup = bench.block_on(user.backup(NOW)).unwrap();
    let paths = bench.data_dir().project_paths(model::ProjectId::new(NOW, [1; 10]));
    let project = Store::project(paths, None, NOW);
    bench.add(&project, 2, "of the project");
    let result = project.restore(&backup, NOW);
    assert!(matches!(result, Err(Error::NewerSchema { .. } | Error::Damaged { .. })), "{result:?}");
}

#[test]
fn another_open_handle_writes_to_the_restored_database() {
    let bench = TestBench::new();
    let (one, other) = (bench.open(), bench.open());
    bench.add(&one, 1, "backed up");
    let backup = bench.block_on(one.backup(NOW)).unwrap();
    bench.add(&other, 2, "not backed up");
    one.restore(&backup, NOW).unwrap();
    bench.add(&other, 3, "written by a handle from before");
    let contents: Vec<_> =
        bench.state(&bench.open()).memories.into_iter().map(|it| it.content).collect();
    assert_eq!(contents, vec!["backed up", "written by a handle from before"]);
    assert_eq!(bench.block_on(other.check_database()).unwrap(), vec![]);
}

#[test]
fn no_leftover_files_remain() {
    // Every operation that uses scratch files.
    let bench = TestBench::new();
    let store = bench.open();
    let location = ProjectLocation {
        project: model::ProjectId::new(NOW, [1; 10]),
        name: "p".to_owned(),
        root_commit: None,
        remote: None,
        key_dir: "/p".to_owned(),
        dir_key: None,
        last_seen: NOW,
    };
    bench.block_on(store.put_location(location)).unwrap();
    bench.add(&store, 1, "one");
    bench.add(&store, 2, "two");
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    bench.block_on(store.compact(CompactMode::Always)).unwrap();
    store.restore(&backup, NOW).unwrap();
    let store = bench.open();
    assert_eq!(bench.state(&store).memories[0].status(), MemoryStatus::Live);
    bench.add(&store, 3, "three");
    drop(store);
    let left: Vec<_> =
        files_under(bench.dir.path()).into_iter().filter(|it| is_scratch(it)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!bench.user_paths().database().with_extension("db-wal").exists());
}
