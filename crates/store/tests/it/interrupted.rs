//! The next opening of the store finishes or undoes interrupted operations. A test arranges the
//! files as a crash in the middle of an operation leaves them, and opens the store.
//!
//! The files of a restore, beside `user.db` and its write-ahead log `user.db-wal`:
//! `user.restoring` is the new database while it is prepared, and is discarded after a crash.
//! Renaming it to `user.restored` commits the restore, which is then finished after a crash.
//! The folder `replaced` gets the old database and its log. The files of an erasure: `user.ledger`
//! has the hashes of erased ids, and `user.erasing` exists until all files are cleaned.

use std::fs;
use std::path::Path;

use waylore_store::{AuditAction, DataDir, Store, StoreChange};

use crate::kit::{
    NOW, StoreContents, TestBench, copy_folder, files_containing, files_under, id, is_scratch,
    memory,
};

/// Three data folders: `before` a restore, with a change that is only in the log; `after` the
/// restore; and `case`, in which each test arranges a crash between the two.
struct InterruptedRestore {
    bench: TestBench,
    /// Contents of the backup that is restored.
    backed_up: StoreContents,
}

/// The first thing that happens to a store after a crash. Readers and the writer open the file in
/// different ways, and each must finish what was interrupted.
#[derive(Clone, Copy)]
enum FirstAccess {
    Read,
    Write,
}

impl FirstAccess {
    const ALL: [Self; 2] = [Self::Read, Self::Write];

    /// Writes an empty batch if a write comes first. Otherwise the test's own reads come first.
    fn run(self, bench: &TestBench, store: &Store) {
        match self {
            Self::Read => {}
            Self::Write => {
                bench.apply(store, AuditAction::Settings, vec![]).unwrap();
            }
        }
    }
}

impl InterruptedRestore {
    fn new() -> Self {
        let bench = TestBench::new();
        let store = bench.open();
        bench.add(&store, 1, "backed up");
        bench.block_on(store.backup(NOW)).unwrap();
        let backed_up = bench.state(&store);
        bench.add(&store, 2, "only in the log");
        let (before, after) = (bench.dir.path().join("before"), bench.dir.path().join("after"));
        copy_folder(&bench.data_dir().root, &before);
        copy_folder(&bench.data_dir().root, &after);
        let other = Store::user(DataDir::new(&after).user_paths(), None, NOW);
        let backup = other.backups().remove(0);
        other.restore(&backup, NOW).unwrap();
        Self { bench, backed_up }
    }

    /// Makes `case` a copy of `before` and brings it into the middle of a restore. `arrange` gets
    /// its root and the path of the restored database.
    fn arrange_case(&self, arrange: impl FnOnce(&Path, &Path)) -> DataDir {
        let root = self.bench.dir.path().join("case");
        let _ = fs::remove_dir_all(&root);
        copy_folder(&self.bench.dir.path().join("before"), &root);
        arrange(&root, &self.bench.dir.path().join("after/user.db"));
        DataDir::new(root)
    }

    /// Asserts that the store opens with the contents of the backup and without scratch files.
    fn assert_restored(&self, data: &DataDir, first_access: FirstAccess) {
        let store = Store::user(data.user_paths(), None, NOW);
        first_access.run(&self.bench, &store);
        assert_eq!(self.bench.state(&store), self.backed_up);
        assert_eq!(self.bench.block_on(store.check_database()).unwrap(), vec![]);
        drop(store);
        let left: Vec<_> =
            files_under(&data.root).into_iter().filter(|it| is_scratch(it)).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Moves a file of the old database to `replaced`, as a restore does.
fn move_to_replaced(root: &Path, name: &str) {
    fs::create_dir_all(root.join("replaced")).unwrap();
    fs::rename(root.join(name), root.join("replaced").join(name)).unwrap();
}

#[test]
fn a_committed_restore_is_finished_from_every_step() {
    let restore = InterruptedRestore::new();
    for first_access in FirstAccess::ALL {
        // Nothing was moved yet, the database was, or its log as well.
        let steps: [fn(&Path); 3] = [
            |_| {},
            |root| move_to_replaced(root, "user.db"),
            |root| {
                move_to_replaced(root, "user.db");
                move_to_replaced(root, "user.db-wal");
            },
        ];
        for step in steps {
            let data = restore.arrange_case(|root, restored| {
                fs::copy(restored, root.join("user.restored")).unwrap();
                step(root);
            });
            restore.assert_restored(&data, first_access);
        }
    }
}

#[test]
fn a_restore_that_was_not_committed_changes_nothing() {
    let restore = InterruptedRestore::new();
    let data = restore.arrange_case(|root, restored| {
        let bytes = fs::read(restored).unwrap();
        fs::write(root.join("user.restoring"), &bytes[..bytes.len() / 2]).unwrap();
        fs::write(root.join("user.restoring-journal"), b"half").unwrap();
    });
    let store = Store::user(data.user_paths(), None, NOW);
    restore.bench.add(&store, 3, "goes on");
    // The memory in the backup, the one in the log and the new one.
    assert_eq!(restore.bench.state(&store).memories.len(), 3);
    assert!(!data.root.join("user.restoring").exists());
    assert!(!data.root.join("user.restoring-journal").exists());
}

#[test]
fn an_erasure_is_resumed_by_the_next_reader_or_writer() {
    for first_access in FirstAccess::ALL {
        let bench = TestBench::new();
        let store = bench.open();
        bench.add(&store, 1, "zebrafinch");
        bench.add(&store, 2, "something else");
        bench.block_on(store.backup(NOW)).unwrap();
        drop(store);
        let before = bench.dir.path().join("before");
        copy_folder(&bench.data_dir().root, &before);
        let store = bench.open();
        bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
        drop(store);
        // An erasure writes its ledger first, so a crash right after that leaves the new ledger
        // beside the old database. An older crash has left a half rewritten backup.
        let root = bench.dir.path().join("crashed");
        copy_folder(&before, &root);
        fs::copy(bench.data_dir().root.join("user.ledger"), root.join("user.ledger")).unwrap();
        fs::write(root.join("user.erasing"), b"").unwrap();
        fs::write(root.join("backups/000000000002-x.rewriting"), b"zebrafinch").unwrap();
        let store = Store::user(DataDir::new(&root).user_paths(), None, NOW);
        first_access.run(&bench, &store);
        assert_eq!(bench.block_on(store.memories().get(id(1))).unwrap(), None);
        assert!(bench.block_on(store.memories().get(id(2))).unwrap().is_some());
        assert_eq!(files_containing(&root, b"zebrafinch"), Vec::<String>::new());
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
        assert!(!root.join("user.erasing").exists());
    }
}

#[test]
fn an_incomplete_ledger_entry_does_not_corrupt_the_next() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.add(&store, n, "one");
    }
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    // As if a crash had cut the next entry short: an entry has 32 bytes.
    let ledger = bench.data_dir().root.join("user.ledger");
    let mut bytes = fs::read(&ledger).unwrap();
    bytes.extend([7; 11]);
    fs::write(&ledger, bytes).unwrap();
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    let copies: Vec<_> = files_under(&bench.user_paths().backups_folder())
        .iter()
        .map(|it| (it.clone(), fs::read(it).unwrap()))
        .collect();
    bench.block_on(store.erase(vec![id(2)], NOW)).unwrap();
    // The backup from before the second erasure returns, with memory 2 in it. Restoring it applies
    // the ledger, which must name both erased memories.
    for (path, bytes) in copies {
        fs::write(path, bytes).unwrap();
    }
    store.restore(&backup, NOW).unwrap();
    let left: Vec<_> = bench.state(&bench.open()).memories.iter().map(|it| it.id).collect();
    assert_eq!(left, vec![id(3)]);
}

#[test]
fn a_backup_that_was_about_to_be_replaced_is_still_valid() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, "zebrafinch");
    bench.add(&store, 2, "kept");
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    // The seal lists the checksums that the backup may have, one per line.
    let seal = backup.path.with_extension("blake3");
    let old_bytes = fs::read(&backup.path).unwrap();
    let old_seal = fs::read_to_string(&seal).unwrap();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    let new_seal = fs::read_to_string(&seal).unwrap();
    assert_ne!(old_seal, new_seal);
    // A rewritten backup takes the place of the old one in three steps: the seal lists both
    // checksums, the file is replaced, the seal lists the new one alone. After a crash in between,
    // either file must pass.
    fs::write(&seal, format!("{old_seal}{new_seal}")).unwrap();
    assert_eq!(store.verify_backup(&backup).unwrap().memories, 1);
    fs::write(&backup.path, old_bytes).unwrap();
    assert_eq!(store.verify_backup(&backup).unwrap().memories, 2);
}

#[test]
fn an_empty_new_file_is_a_fresh_start() {
    let bench = TestBench::new();
    fs::create_dir_all(&bench.data_dir().root).unwrap();
    fs::write(bench.user_paths().database(), b"").unwrap();
    let store = bench.open();
    assert_eq!(bench.state(&store), StoreContents::default());
    bench
        .apply(
            &store,
            AuditAction::Remember,
            vec![StoreChange::Insert(Box::new(memory(1, "first")))],
        )
        .unwrap();
    assert_eq!(bench.state(&store).memories.len(), 1);
}
