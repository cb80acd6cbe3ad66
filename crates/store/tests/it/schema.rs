//! Every schema that ever was opens; one that is newer, or somebody else's, is left alone.

use std::fs;
use std::path::PathBuf;

use model::ProjectId;
use rusqlite::Connection;
use waylore_store::{Action, Change, Error, PlaceRow, Store};

use crate::kit::{Bench, NOW, State, everything, full, id, memory};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// What the fixtures hold: memories, versions, a forgotten one, a vector, settings, a place.
fn compose(bench: &Bench, store: &Store, with_places: bool) {
    bench.insert(store, full(1, "wren"));
    bench.insert(store, memory(2, "the plain one"));
    bench.insert(store, memory(3, "the forgotten one"));
    bench.edit(store, id(1), |it| it.summary = "the second version".into());
    bench.edit(store, id(3), |it| it.states.deleted_at = Some(NOW));
    bench.embed(store, id(2), vec![0.5, -0.25], vec![64, -32]);
    let setting = Change::Setting { key: "observe".into(), value: Some("off".into()) };
    bench.apply(store, Action::Settings, vec![setting]).unwrap();
    bench.apply(store, Action::Flag, vec![Change::Count { id: id(2), used: true }]).unwrap();
    if with_places {
        let place = PlaceRow {
            project: ProjectId::new(NOW, [1; 10]),
            name: "waylore".to_owned(),
            root_commit: Some("abc".to_owned()),
            remote: None,
            key_dir: "/somewhere".to_owned(),
            dir_key: Some("1:2".to_owned()),
            last_seen: NOW,
        };
        bench.wait(store.put_place(place)).unwrap();
    }
}

fn project(bench: &Bench) -> Store {
    Store::project(bench.data().project(ProjectId::new(NOW, [2; 10])), None, NOW)
}

type Open = fn(&Bench) -> Store;

/// A fixture for every schema that was ever in use. A new schema adds a line; none is taken away.
const FIXTURES: &[(&str, Open)] = &[
    ("memory-1.db", project),
    ("user-2.db", Bench::open),
    ("memory-2.db", project),
    ("user-3.db", Bench::open),
    ("memory-3.db", project),
    ("user-4.db", Bench::open),
    ("memory-4.db", project),
    ("user-5.db", Bench::open),
    ("memory-5.db", project),
    ("user-6.db", Bench::open),
];

fn expected(open: Open) -> State {
    let bench = Bench::new();
    let store = open(&bench);
    compose(&bench, &store, store.path().ends_with("user.db"));
    bench.state(&store)
}

/// Writes the fixture of a new schema, once, when asked to as one asks `expect-test`.
fn write_missing(name: &str, open: Open) {
    #[expect(clippy::disallowed_methods, reason = "how `expect-test` is asked to update, too")]
    let asked = std::env::var_os("UPDATE_EXPECT").is_some();
    if asked && !fixture(name).exists() {
        let bench = Bench::new();
        let store = open(&bench);
        compose(&bench, &store, store.path().ends_with("user.db"));
        let backup = bench.wait(store.backup(NOW)).unwrap();
        fs::copy(backup.path, fixture(name)).unwrap();
    }
}

#[test]
fn every_past_schema_opens_and_reads_as_it_was_written() {
    for (name, open) in FIXTURES {
        write_missing(name, *open);
        let bench = Bench::new();
        let store = open(&bench);
        fs::create_dir_all(&store.home().dir).unwrap();
        fs::copy(fixture(name), store.path()).unwrap();
        assert_eq!(bench.state(&store), expected(*open), "{name}");
        assert_eq!(bench.wait(store.examine()).unwrap(), vec![], "{name}");
        bench.add(&store, 9, "and goes on");
        assert_eq!(bench.wait(store.list(everything())).unwrap().len(), 4, "{name}");
    }
}

/// Opens a database that was changed behind the store's back, for reading and for writing.
fn refused(change: &str) -> [Error; 2] {
    let bench = Bench::new();
    bench.add(&bench.open(), 1, "something");
    Connection::open(bench.home().database()).unwrap().execute_batch(change).unwrap();
    let before = fs::read(bench.home().database()).unwrap();
    let store = bench.open();
    let res = [
        bench.wait(store.get(id(1))).unwrap_err(),
        bench.apply(&store, Action::Settings, vec![]).unwrap_err(),
    ];
    drop(store);
    assert_eq!(fs::read(bench.home().database()).unwrap(), before, "and left as it was");
    res
}

#[test]
fn a_newer_schema_is_refused_politely() {
    for error in refused("PRAGMA user_version = 99") {
        assert!(matches!(error, Error::TooNew { found: 99, .. }), "{error:?}");
        assert!(error.to_string().contains("newer version"), "{error}");
    }
}

#[test]
fn a_file_that_is_not_ours_is_refused() {
    for change in
        ["PRAGMA application_id = 7", "PRAGMA user_version = 0", "PRAGMA user_version = -1"]
    {
        for error in refused(change) {
            assert!(matches!(error, Error::Damaged { .. }), "{change}: {error:?}");
        }
    }
    let bench = Bench::new();
    fs::create_dir_all(bench.data().root).unwrap();
    let conn = Connection::open(bench.home().database()).unwrap();
    conn.execute_batch("CREATE TABLE somebody (elses)").unwrap();
    drop(conn);
    let before = fs::read(bench.home().database()).unwrap();
    let res = bench.wait(bench.open().list(everything()));
    assert!(matches!(res, Err(Error::Damaged { .. })), "{res:?}");
    assert_eq!(fs::read(bench.home().database()).unwrap(), before);
}
