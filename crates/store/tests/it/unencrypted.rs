//! A build that cannot encrypt says so, and still opens what is plain.

use waylore_store::{ENCRYPTION_AVAILABLE, Error, Key, Store};

use crate::kit::{Bench, NOW, id};

#[test]
fn a_key_is_refused_and_never_ignored() {
    const { assert!(!ENCRYPTION_AVAILABLE) };
    let bench = Bench::new();
    let key = Key::new("correct horse").unwrap();
    let store = Store::user(bench.home(), Some(key.clone()), NOW);
    let res = bench.wait(store.backup(NOW));
    assert!(matches!(res, Err(Error::NoEncryption)), "{res:?}");
    drop(store);
    bench.add(&bench.open(), 1, "plain");
    let store = Store::user(bench.home(), Some(key.clone()), NOW);
    assert!(bench.wait(store.get(id(1))).unwrap().is_some());
    assert!(matches!(store.convert(Some(key)), Err(Error::NoEncryption)));
    assert!(bench.wait(bench.open().get(id(1))).unwrap().is_some(), "and nothing was touched");
}
