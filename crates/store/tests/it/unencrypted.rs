//! A build without encryption refuses keys, and still opens plain databases.

use waylore_store::{ENCRYPTION_AVAILABLE, EncryptionKey, Error, Store};

use crate::kit::{NOW, TestBench, id};

#[test]
fn a_key_is_refused_and_never_ignored() {
    const { assert!(!ENCRYPTION_AVAILABLE) };
    let bench = TestBench::new();
    let key = EncryptionKey::new("correct horse").unwrap();
    let store = Store::user(bench.user_paths(), Some(key.clone()), NOW);
    let result = bench.block_on(store.backup(NOW));
    assert!(matches!(result, Err(Error::EncryptionUnavailable)), "{result:?}");
    drop(store);
    bench.add(&bench.open(), 1, "plain");
    let store = Store::user(bench.user_paths(), Some(key.clone()), NOW);
    assert!(bench.block_on(store.memories().get(id(1))).unwrap().is_some());
    assert!(matches!(store.change_key(Some(key)), Err(Error::EncryptionUnavailable)));
    assert!(
        bench.block_on(bench.open().memories().get(id(1))).unwrap().is_some(),
        "the database is unchanged"
    );
}
