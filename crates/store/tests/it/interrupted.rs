//! The next opening of the store finishes or undoes interrupted operations.

use std::fs;
use std::path::Path;

use waylore_store::{AuditAction, DataDir, Store, StoreChange};

use crate::kit::{
    NOW, StoreContents, TestBench, copy_folder, files_containing, files_under, id, is_scratch,
    memory,
};

/// A folder with changes in its log, beside the file that a restore of its backup would put in
/// place.
struct Scene {
    bench: TestBench,
    backed_up: StoreContents,
}

impl Scene {
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

    /// A copy of the folder before the restore; `arrange` brings it into the middle of one.
    fn case(&self, arrange: impl FnOnce(&Path, &Path)) -> DataDir {
        let root = self.bench.dir.path().join("case");
        let _ = fs::remove_dir_all(&root);
        copy_folder(&self.bench.dir.path().join("before"), &root);
        arrange(&root, &self.bench.dir.path().join("after/user.db"));
        DataDir::new(root)
    }

    fn opens_as_restored(&self, data: &DataDir, read_first: bool) {
        let store = Store::user(data.user_paths(), None, NOW);
        if !read_first {
            self.bench.apply(&store, AuditAction::Settings, vec![]).unwrap();
        }
        assert_eq!(self.bench.state(&store), self.backed_up);
        assert_eq!(self.bench.block_on(store.check_database()).unwrap(), vec![]);
        drop(store);
        let left: Vec<_> =
            files_under(&data.root).into_iter().filter(|it| is_scratch(it)).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn set_aside(root: &Path, name: &str) {
    fs::create_dir_all(root.join("replaced")).unwrap();
    fs::rename(root.join(name), root.join("replaced").join(name)).unwrap();
}

#[test]
fn a_restore_is_finished_from_every_step() {
    let scene = Scene::new();
    for read_first in [true, false] {
        let steps: [fn(&Path); 3] = [
            |_| {},
            |root| set_aside(root, "user.db"),
            |root| {
                set_aside(root, "user.db");
                set_aside(root, "user.db-wal");
            },
        ];
        for step in steps {
            let data = scene.case(|root, restored| {
                fs::copy(restored, root.join("user.restored")).unwrap();
                step(root);
            });
            scene.opens_as_restored(&data, read_first);
        }
    }
}

#[test]
fn a_restore_that_was_not_committed_changes_nothing() {
    let scene = Scene::new();
    let data = scene.case(|root, restored| {
        let half = fs::read(restored).unwrap();
        fs::write(root.join("user.restoring"), &half[..half.len() / 2]).unwrap();
        fs::write(root.join("user.restoring-journal"), b"half").unwrap();
    });
    let store = Store::user(data.user_paths(), None, NOW);
    scene.bench.add(&store, 3, "goes on");
    assert_eq!(scene.bench.state(&store).memories.len(), 3);
    assert!(!data.root.join("user.restoring").exists());
    assert!(!data.root.join("user.restoring-journal").exists());
}

#[test]
fn an_erasure_is_resumed_by_the_next_reader_or_writer() {
    for read_first in [true, false] {
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
        // The ledger is written first, so this is what a crash right after it leaves.
        let root = bench.dir.path().join("crashed");
        copy_folder(&before, &root);
        fs::copy(bench.data_dir().root.join("user.ledger"), root.join("user.ledger")).unwrap();
        fs::write(root.join("user.erasing"), b"").unwrap();
        fs::write(root.join("backups/000000000002-x.rewriting"), b"zebrafinch").unwrap();
        let store = Store::user(DataDir::new(&root).user_paths(), None, NOW);
        if !read_first {
            bench.apply(&store, AuditAction::Settings, vec![]).unwrap();
        }
        assert_eq!(bench.block_on(store.memories().get(id(1))).unwrap(), None);
        assert!(bench.block_on(store.memories().get(id(2))).unwrap().is_some());
        assert_eq!(files_containing(&root, b"zebrafinch"), Vec::<String>::new());
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
        assert!(!root.join("user.erasing").exists());
    }
}

#[test]
fn a_ledger_entry_cut_short_does_not_spoil_the_next() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.add(&store, n, "one");
    }
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
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
    let seal = backup.path.with_extension("blake3");
    let (old, old_seal) = (fs::read(&backup.path).unwrap(), fs::read_to_string(&seal).unwrap());
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    let new_seal = fs::read_to_string(&seal).unwrap();
    assert_ne!(old_seal, new_seal);
    // Between the two renames the seal accepts both files.
    fs::write(&seal, format!("{old_seal}{new_seal}")).unwrap();
    assert_eq!(store.verify_backup(&backup).unwrap().memories, 1);
    fs::write(&backup.path, old).unwrap();
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
