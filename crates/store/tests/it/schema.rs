//! Every past schema opens; a newer one, or a file of another program, is left unchanged.

use std::fs;
use std::path::PathBuf;

use model::ProjectId;
use rusqlite::Connection;
use waylore_store::{AuditAction, Error, ProjectLocation, Store, StoreChange};

use crate::kit::{NOW, StoreContents, TestBench, everything, full_memory, id, memory};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Fills a store with the contents of the fixtures: memories, versions, a forgotten one, a vector,
/// settings, a location.
fn fill(bench: &TestBench, store: &Store, with_locations: bool) {
    bench.insert(store, full_memory(1, "wren"));
    bench.insert(store, memory(2, "the plain one"));
    bench.insert(store, memory(3, "the forgotten one"));
    bench.edit(store, id(1), |it| it.summary = "the second version".into());
    bench.edit(store, id(3), |it| it.states.deleted_at = Some(NOW));
    bench.embed(store, id(2), vec![0.5, -0.25], vec![64, -32]);
    let setting = StoreChange::Setting { key: "observe".into(), value: Some("off".into()) };
    bench.apply(store, AuditAction::Settings, vec![setting]).unwrap();
    bench.apply(store, AuditAction::Flag, vec![StoreChange::CountUse { id: id(2) }]).unwrap();
    if with_locations {
        let location = ProjectLocation {
            project: ProjectId::new(NOW, [1; 10]),
            name: "waylore".to_owned(),
            root_commit: Some("abc".to_owned()),
            remote: None,
            key_dir: "/somewhere".to_owned(),
            dir_key: Some("1:2".to_owned()),
            last_seen: NOW,
        };
        bench.block_on(store.put_location(location)).unwrap();
    }
}

/// A store of a project.
fn open_project(bench: &TestBench) -> Store {
    Store::project(bench.data_dir().project_paths(ProjectId::new(NOW, [2; 10])), None, NOW)
}

type Open = fn(&TestBench) -> Store;

/// A fixture for every schema that was ever in use. A new schema adds a line; none is removed. The
/// number in the name is the schema version; the user's database has one migration more than that of
/// a project.
const FIXTURES: &[(&str, Open)] = &[
    ("memory-1.db", open_project),
    ("user-2.db", TestBench::open),
    ("memory-2.db", open_project),
    ("user-3.db", TestBench::open),
    ("memory-3.db", open_project),
    ("user-4.db", TestBench::open),
    ("memory-4.db", open_project),
    ("user-5.db", TestBench::open),
    ("memory-5.db", open_project),
    ("user-6.db", TestBench::open),
    ("memory-6.db", open_project),
    ("user-7.db", TestBench::open),
    ("memory-7.db", open_project),
    ("user-8.db", TestBench::open),
    ("memory-8.db", open_project),
    ("user-9.db", TestBench::open),
];

/// The contents of a fixture, from a store that was filled just now.
fn expected(open: Open) -> StoreContents {
    let bench = TestBench::new();
    let store = open(&bench);
    fill(&bench, &store, store.path().ends_with("user.db"));
    bench.state(&store)
}

/// Writes the missing fixture of a new schema if `UPDATE_EXPECT` is set, as for `expect-test`.
fn write_missing(name: &str, open: Open) {
    #[expect(clippy::disallowed_methods, reason = "`expect-test` reads the same variable")]
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    if is_update && !fixture(name).exists() {
        let bench = TestBench::new();
        let store = open(&bench);
        fill(&bench, &store, store.path().ends_with("user.db"));
        let backup = bench.block_on(store.backup(NOW)).unwrap();
        fs::copy(backup.path, fixture(name)).unwrap();
    }
}

#[test]
fn every_past_schema_opens_and_reads_as_it_was_written() {
    for (name, open) in FIXTURES {
        write_missing(name, *open);
        let bench = TestBench::new();
        let store = open(&bench);
        fs::create_dir_all(&store.paths().dir).unwrap();
        fs::copy(fixture(name), store.path()).unwrap();
        assert_eq!(bench.state(&store), expected(*open), "{name}");
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![], "{name}");
        bench.add(&store, 9, "and goes on");
        assert_eq!(bench.block_on(store.memories().list(everything())).unwrap().len(), 4, "{name}");
    }
}

/// Opens a database that was changed without the store, for reading and for writing.
fn errors_after_change(change: &str) -> [Error; 2] {
    let bench = TestBench::new();
    bench.add(&bench.open(), 1, "something");
    Connection::open(bench.user_paths().database()).unwrap().execute_batch(change).unwrap();
    let before = fs::read(bench.user_paths().database()).unwrap();
    let store = bench.open();
    let result = [
        bench.block_on(store.memories().get(id(1))).unwrap_err(),
        bench.apply(&store, AuditAction::Settings, vec![]).unwrap_err(),
    ];
    drop(store);
    assert_eq!(fs::read(bench.user_paths().database()).unwrap(), before, "the file is unchanged");
    result
}

#[test]
fn a_newer_schema_is_refused() {
    for error in errors_after_change("PRAGMA user_version = 99") {
        assert!(matches!(error, Error::NewerSchema { found: 99, .. }), "{error:?}");
        assert!(error.to_string().contains("newer version"), "{error}");
    }
}

#[test]
fn a_file_of_another_program_is_refused() {
    for change in
        ["PRAGMA application_id = 7", "PRAGMA user_version = 0", "PRAGMA user_version = -1"]
    {
        for error in errors_after_change(change) {
            assert!(matches!(error, Error::Damaged { .. }), "{change}: {error:?}");
        }
    }
    let bench = TestBench::new();
    fs::create_dir_all(bench.data_dir().root).unwrap();
    let conn = Connection::open(bench.user_paths().database()).unwrap();
    conn.execute_batch("CREATE TABLE other_program (a)").unwrap();
    drop(conn);
    let before = fs::read(bench.user_paths().database()).unwrap();
    let result = bench.block_on(bench.open().memories().list(everything()));
    assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
    assert_eq!(fs::read(bench.user_paths().database()).unwrap(), before);
}
