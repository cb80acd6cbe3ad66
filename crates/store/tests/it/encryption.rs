//! An encrypted database has no plain text in any file, and cannot be opened without its key.

use std::fs;

use waylore_store::{EncryptionKey, Error, Store};

use crate::kit::{
    NOW, TestBench, copy_folder, files_containing, files_under, full_memory, id, is_scratch, key,
    memory,
};

/// A word in every text of the store.
const WORD: &[u8] = b"zebrafinch";
/// First bytes of a plain database.
const HEADER: &[u8] = b"SQLite format 3";

/// A store with two memories, a vector, a backup and changes in its log.
fn fill(bench: &TestBench, key: Option<&EncryptionKey>) -> Store {
    let store = bench.open_with(key);
    bench.insert(&store, full_memory(1, "zebrafinch"));
    bench.insert(&store, memory(2, "another zebrafinch"));
    let values = vec![0.125, 0.25];
    bench.embed(&store, id(1), values, vec![1]);
    bench.block_on(store.backup(NOW)).unwrap();
    bench.edit(&store, id(1), |it| it.content.push_str(", edited"));
    store
}

/// Files with plain text or the header of a plain database.
fn plain_files(bench: &TestBench) -> Vec<String> {
    [files_containing(bench.dir.path(), WORD), files_containing(bench.dir.path(), HEADER)].concat()
}

#[test]
fn no_file_holds_plain_text() {
    let bench = TestBench::new();
    let store = fill(&bench, Some(&key("correct horse")));
    assert!(bench.user_paths().database().with_extension("db-wal").exists());
    assert_eq!(plain_files(&bench), Vec::<String>::new(), "while the log is in use");
    assert_eq!(bench.block_on(store.is_encrypted()).unwrap(), Some(true));
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
    drop(store);
    assert_eq!(plain_files(&bench), Vec::<String>::new(), "after it was closed");
}

#[test]
fn a_wrong_key_and_a_missing_key_are_different_errors() {
    let bench = TestBench::new();
    drop(fill(&bench, Some(&key("correct horse"))));
    let before: Vec<_> =
        files_under(bench.dir.path()).iter().map(|it| fs::read(it).unwrap()).collect();
    let wrong = bench.open_with(Some(&key("battery staple")));
    let (read, written) =
        (bench.block_on(wrong.memories().get(id(1))), bench.block_on(wrong.backup(NOW)));
    assert!(matches!(read, Err(Error::WrongKey { .. })), "{read:?}");
    assert!(matches!(written, Err(Error::WrongKey { .. })), "{written:?}");
    let none = bench.open();
    let (read, written) =
        (bench.block_on(none.memories().get(id(1))), bench.block_on(none.backup(NOW)));
    let hints_at_key = |it: &Error| matches!(it, Error::NotADatabase { .. });
    assert!(read.as_ref().is_err_and(hints_at_key), "{read:?}");
    assert!(written.as_ref().is_err_and(hints_at_key), "{written:?}");
    drop((wrong, none));
    let after: Vec<_> =
        files_under(bench.dir.path()).iter().map(|it| fs::read(it).unwrap()).collect();
    assert_eq!(before, after, "no file changed");
}

#[test]
fn a_key_may_contain_any_characters_but_nul() {
    let bench = TestBench::new();
    let odd = key("it's \"odd\"; -- 日本");
    let state = bench.state(&fill(&bench, Some(&odd)));
    assert_eq!(bench.state(&bench.open_with(Some(&odd))), state);
    assert!(EncryptionKey::new("short").is_err() && EncryptionKey::new("nul\0nul\0nul").is_err());
    assert_eq!(format!("{odd:?}"), "Key(…)");
}

#[test]
fn an_encrypted_backup_restores_and_erases() {
    let bench = TestBench::new();
    let key = key("correct horse");
    let store = fill(&bench, Some(&key));
    let backup = store.backups().remove(0);
    assert_eq!(store.verify_backup(&backup).unwrap().memories, 2);
    assert!(bench.open().verify_backup(&backup).is_err(), "not without the key");
    store.restore(&backup, NOW).unwrap();
    let store = bench.open_with(Some(&key));
    assert_eq!(bench.state(&store).memories[0].content, full_memory(1, "zebrafinch").content);
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(bench.state(&store).memories.len(), 1);
    assert_eq!(store.verify_backup(&store.backups()[0]).unwrap().memories, 1);
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
    let clean =
        |text: &str| text.contains("zebrafinch").then(|| text.replace("zebrafinch", "bird"));
    assert_eq!(bench.block_on(store.erase_text(clean)).unwrap(), vec![id(2)]);
    assert_eq!(bench.state(&store).memories[0].content, "another bird");
    assert_eq!(plain_files(&bench), Vec::<String>::new());
}

/// Every change from one form to another.
fn key_changes() -> Vec<(Option<EncryptionKey>, Option<EncryptionKey>)> {
    let (one, two) = (Some(key("correct horse")), Some(key("battery staple")));
    vec![(None, one.clone()), (one.clone(), None), (one, two)]
}

#[test]
fn a_database_can_be_encrypted_decrypted_and_rekeyed() {
    for (from, to) in key_changes() {
        let bench = TestBench::new();
        let store = fill(&bench, from.as_ref());
        let (before, n_backups) = (bench.state(&store), store.backups().len());

        store.change_key(to.clone()).unwrap();
        // The database has the same contents in the new form, and so have its backups.
        let store = bench.open_with(to.as_ref());
        assert_eq!(bench.block_on(store.is_encrypted()).unwrap(), Some(to.is_some()));
        assert_eq!(bench.state(&store), before);
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
        let after = store.backups();
        assert_eq!(after.len(), n_backups);
        assert_eq!(store.verify_backup(&after[0]).unwrap().memories, 2);
        assert_eq!(plain_files(&bench).is_empty(), to.is_some(), "{:?}", plain_files(&bench));
        bench.add(&store, 9, "written in the new form");
        assert_eq!(plain_files(&bench).is_empty(), to.is_some());
        drop(store);

        // The old key is of no use, and no copy in the old form is left.
        if from.is_some() && to.is_some() {
            let old = bench.block_on(bench.open_with(from.as_ref()).memories().get(id(1)));
            assert!(matches!(old, Err(Error::WrongKey { .. })), "{old:?}");
        }
        let left: Vec<_> =
            files_under(bench.dir.path()).into_iter().filter(|it| is_scratch(it)).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(!bench.data_dir().root.join("replaced").exists());
    }
}

#[test]
fn the_proof_of_an_erasure_opens_encrypted_copies() {
    let (bench, key) = (TestBench::new(), key("correct horse"));
    let store = fill(&bench, Some(&key));
    let backup = store.backups().remove(0);
    store.restore(&backup, NOW).unwrap();
    let store = bench.open_with(Some(&key));
    bench.block_on(store.remove_forgotten(vec![id(1)])).unwrap();
    assert!(bench.block_on(store.has_traces_of(vec![id(1)])).unwrap(), "it is still in the copies");
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert!(!bench.block_on(store.has_traces_of(vec![id(1)])).unwrap());
    assert_eq!(store.dropped_copies(), Vec::<std::path::PathBuf>::new());
    let replaced = store.replaced_database().remove(0);
    assert_eq!(store.verify_backup(&replaced).unwrap().memories, 1);
    assert_eq!(plain_files(&bench), Vec::<String>::new());
    fs::write(&backup.path, "rubbish").unwrap();
    assert!(
        bench.block_on(store.has_traces_of(vec![id(1)])).is_err(),
        "what cannot be opened proves nothing"
    );
}

#[test]
fn a_key_change_reports_the_copies_it_deleted() {
    let bench = TestBench::new();
    let store = fill(&bench, None);
    let backup = store.backups().remove(0);
    store.restore(&backup, NOW).unwrap();
    fs::write(&backup.path, "rubbish").unwrap();
    let dropped = bench.open().change_key(Some(key("correct horse"))).unwrap();
    assert_eq!(dropped, vec![bench.data_dir().root.join("replaced/user.db"), backup.path]);
    assert_eq!(plain_files(&bench), Vec::<String>::new());
}

#[test]
fn a_key_change_is_finished_from_every_step() {
    for (from, to) in key_changes() {
        let bench = TestBench::new();
        let store = fill(&bench, from.as_ref());
        let before = bench.state(&store);
        drop(store);
        let (old, new) = (bench.dir.path().join("old"), bench.dir.path().join("new"));
        copy_folder(&bench.data_dir().root, &old);
        bench.open_with(from.as_ref()).change_key(to.clone()).unwrap();
        copy_folder(&bench.data_dir().root, &new);
        // Each step: the files a crash leaves, and the key that opens them then. The marker
        // `user.converting` exists from the first step to the last. The converted copy is
        // `user.restoring` while it is written and `user.restored` once it is complete; from then
        // on the new key counts.
        let root = bench.data_dir().root;
        let reset = || {
            fs::remove_dir_all(&root).unwrap();
            copy_folder(&old, &root);
            fs::write(root.join("user.converting"), b"").unwrap();
        };
        let half: fn(&std::path::Path, &std::path::Path) = |root, new| {
            let bytes = fs::read(new.join("user.db")).unwrap();
            fs::write(root.join("user.restoring"), &bytes[..bytes.len() / 2]).unwrap();
        };
        let staged: fn(&std::path::Path, &std::path::Path) = |root, new| {
            fs::copy(new.join("user.db"), root.join("user.restored")).unwrap();
        };
        let swapped: fn(&std::path::Path, &std::path::Path) = |root, new| {
            fs::create_dir(root.join("replaced")).unwrap();
            fs::rename(root.join("user.db"), root.join("replaced/user.db")).unwrap();
            fs::copy(new.join("user.db"), root.join("user.db")).unwrap();
        };
        for (step, key) in [(half, &from), (staged, &to), (swapped, &to)] {
            reset();
            step(&root, &new);
            let store = bench.open_with(key.as_ref());
            assert_eq!(bench.state(&store), before);
            assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
            assert_eq!(store.verify_backup(&store.backups()[0]).unwrap().memories, 2);
            drop(store);
            assert_eq!(
                plain_files_in(&root).is_empty(),
                key.is_some(),
                "{:?}",
                plain_files_in(&root)
            );
            let left: Vec<_> = files_under(&root).into_iter().filter(|it| is_scratch(it)).collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

fn plain_files_in(root: &std::path::Path) -> Vec<String> {
    [files_containing(root, WORD), files_containing(root, HEADER)].concat()
}

#[test]
fn a_missing_database_needs_no_key_change() {
    let bench = TestBench::new();
    bench.open().change_key(Some(key("correct horse"))).unwrap();
    assert!(!bench.data_dir().root.exists());
}

#[test]
fn a_wrong_key_does_not_lose_the_log() {
    let bench = TestBench::new();
    let right = key("correct horse");
    let store = fill(&bench, Some(&right));
    let expected = bench.state(&store);
    let root = bench.dir.path().join("crashed");
    for wrong in [Some(key("battery staple")), None] {
        copy_folder(&bench.data_dir().root, &root);
        let home = || waylore_store::DataDir::new(&root).user_paths();
        let store = Store::user(home(), wrong, NOW);
        bench.block_on(store.memories().get(id(1))).unwrap_err();
        bench.block_on(store.backup(NOW)).unwrap_err();
        drop(store);
        assert_eq!(bench.state(&Store::user(home(), Some(right.clone()), NOW)), expected);
        fs::remove_dir_all(&root).unwrap();
    }
}

#[test]
fn a_key_also_opens_a_plain_database() {
    let bench = TestBench::new();
    let expected = bench.state(&fill(&bench, None));
    let store = bench.open_with(Some(&key("correct horse")));
    assert_eq!(bench.state(&store), expected);
    assert_eq!(bench.block_on(store.is_encrypted()).unwrap(), Some(false));
    bench.add(&store, 9, "still plain");
    assert_eq!(bench.state(&bench.open()).memories.len(), 3);
}
