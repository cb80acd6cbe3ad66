//! Some damage can be repaired in place: an index from its table, a row from a backup.

use rusqlite::{Connection, params};
use waylore_store::{DamageFinding, Error, MemoryFilter, Store};

use crate::kit::{MODEL, NOW, TestBench, everything, full_memory, id, memory, path};

/// Changes the closed database without the store.
fn tamper(bench: &TestBench, sql: &str) {
    let conn = Connection::open(bench.user_paths().database()).unwrap();
    conn.execute_batch(sql).unwrap();
}

/// A store of five memories that are all in a backup.
fn with_backup(bench: &TestBench) -> Store {
    let store = bench.open();
    for n in 1..=5 {
        bench.insert(&store, full_memory(n, "wren"));
    }
    bench.block_on(store.backup(NOW)).unwrap();
    store
}

#[test]
fn a_changed_row_is_withheld_and_restored_as_it_was() {
    // Content, flags, counts, and the hashes themselves.
    let columns = [
        "content = 'forged'",
        "confidence = 1000",
        "hash = zeroblob(32)",
        "used_count = 7",
        "last_used_at = 1",
        "version = 9",
        "tainted = 1 - tainted",
        "counts_hash = zeroblob(32)",
    ];
    for column in columns {
        let bench = TestBench::new();
        let before = bench.state(&with_backup(&bench));
        tamper(&bench, &format!("UPDATE memories SET {column} WHERE n = 3"));
        let store = bench.open();
        assert_eq!(bench.block_on(store.memories().get(id(3))).unwrap(), None, "{column}");
        assert_eq!(
            bench.block_on(store.memories().list(everything())).unwrap().len(),
            4,
            "{column}"
        );
        assert!(matches!(store.findings()[0], DamageFinding::DamagedMemory(_)), "{column}");
        bench.block_on(store.repair(NOW)).unwrap();
        drop(store);
        let store = bench.open();
        assert_eq!(bench.state(&store), before, "{column}");
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![], "{column}");
    }
}

#[test]
fn a_damaged_row_without_a_backup_stays_withheld() {
    let bench = TestBench::new();
    bench.add(&bench.open(), 1, "the only copy");
    tamper(&bench, "UPDATE memories SET content = 'forged'");
    let store = bench.open();
    bench.block_on(store.repair(NOW)).unwrap();
    assert_eq!(bench.block_on(store.memories().get(id(1))).unwrap(), None);
    assert!(!bench.block_on(store.check_database()).unwrap().is_empty());
}

#[test]
fn damaged_counts_alone_cost_only_the_counts() {
    let bench = TestBench::new();
    bench.add(&bench.open(), 1, "the only copy");
    tamper(&bench, "UPDATE memories SET used_count = 1000000");
    let store = bench.open();
    bench.block_on(store.repair(NOW)).unwrap();
    let found = bench.block_on(store.memories().get(id(1))).unwrap().unwrap();
    assert_eq!((found.content.as_str(), found.counters.used_count), ("the only copy", 0));
}

#[test]
fn a_damaged_vector_is_named_and_the_others_are_read() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.add(&store, n, "a wren");
        bench.embed(&store, id(n), vec![1.0, 0.5], vec![64, 32]);
    }
    drop(store);
    // The first of the two floats becomes NaN (little-endian 0x7fc00000).
    tamper(&bench, "UPDATE embeddings SET vector = x'0000c07f0000003f' WHERE n = 2");
    let store = bench.open();
    let read = bench
        .block_on(store.vectors().get_many([1, 2, 3, 4].map(id).into(), MODEL.to_owned()))
        .unwrap();
    assert_eq!((read.parts.len(), read.damaged), (2, vec![id(2)]));
    assert!(
        bench.block_on(store.vectors().get(id(2), MODEL.to_owned())).is_err(),
        "a request for this memory alone fails"
    );
}

/// The index that `SQLite` makes for the unique column `id` of `memories`.
const ID_INDEX: &str = "sqlite_autoindex_memories_1";
/// Page size of the database.
const PAGE_BYTES: usize = 4096;

/// Changes the last byte of one key in an index that fits one page.
fn damage_index_key(bench: &TestBench, index: &str, key: &[u8]) {
    let conn = Connection::open(bench.user_paths().database()).unwrap();
    let from = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: i64 = conn.query_row(from, [index], |row| row.get(0)).unwrap();
    drop(conn);
    let mut bytes = std::fs::read(bench.user_paths().database()).unwrap();
    let page = usize::try_from(root - 1).unwrap() * PAGE_BYTES;
    let found = bytes[page..page + PAGE_BYTES].windows(key.len()).position(|it| it == key);
    bytes[page + found.unwrap() + key.len() - 1] ^= 1;
    std::fs::write(bench.user_paths().database(), bytes).unwrap();
}

#[test]
fn an_index_that_lost_a_memory_does_not_hide_it() {
    let bench = TestBench::new();
    with_backup(&bench);
    damage_index_key(&bench, ID_INDEX, id(3).0.as_bytes());

    let store = bench.open();
    let found = bench.block_on(store.memories().get(id(3))).unwrap().map(|it| it.id);
    assert_eq!(found, Some(id(3)));
    assert!(store.findings().iter().any(|it| matches!(it, DamageFinding::DatabaseReport(_))));
    bench.block_on(store.repair(NOW)).unwrap();
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}

/// Grows the file beyond 8 MiB: smaller ones are fully checked on every empty result.
fn grow(bench: &TestBench) {
    let store = with_backup(bench);
    for n in 10..13 {
        bench.add(&store, n, &"robin ".repeat(600_000));
    }
    drop(store);
    assert!(std::fs::metadata(bench.user_paths().database()).unwrap().len() > 8 << 20);
}

#[test]
fn a_damaged_key_hides_nothing_in_a_large_file_either() {
    // A memory requested by id is found by reading all rows.
    let short = id(3).short();
    let keys =
        [(ID_INDEX, id(3).0.as_bytes().to_vec()), ("memories_short", short.clone().into_bytes())];
    for (index, key) in keys {
        let bench = TestBench::new();
        grow(&bench);
        damage_index_key(&bench, index, &key);
        let store = bench.open();
        let found = if index == "memories_short" {
            bench.block_on(store.memories().find_by_short_id(short.clone())).unwrap().pop()
        } else {
            bench.block_on(store.memories().get(id(3))).unwrap()
        };
        assert_eq!(found.map(|it| it.id), Some(id(3)), "{index}");
        let findings = store.findings();
        assert!(
            findings.iter().any(|it| matches!(it, DamageFinding::DatabaseReport(_))),
            "{index}: {findings:?}"
        );
    }
    // A list has no other index to read from: it stays empty, but the damage is reported.
    let lists = [
        (
            "memory_files",
            "src/filewren.rs",
            MemoryFilter { file: Some(path("src/filewren.rs")), ..everything() },
        ),
        ("memory_tags", "tagwren", MemoryFilter { tag: Some("tagwren".into()), ..everything() }),
        (
            "memory_modules",
            "modulewren",
            MemoryFilter { module: Some("modulewren".into()), ..everything() },
        ),
    ];
    for (table, key, filter) in lists {
        let bench = TestBench::new();
        grow(&bench);
        let store = bench.open();
        for n in 2..=5 {
            bench.edit(&store, id(n), |it| (it.files, it.tags, it.modules) = <_>::default());
        }
        assert_eq!(
            bench.block_on(store.memories().list(filter.clone())).unwrap().len(),
            1,
            "{table}"
        );
        drop(store);
        damage_index_key(&bench, table, key.as_bytes());
        let store = bench.open();
        assert_eq!(bench.block_on(store.memories().list(filter)).unwrap().len(), 0, "{table}");
        let findings = store.findings();
        assert!(
            findings.iter().any(|it| matches!(it, DamageFinding::DatabaseReport(_))),
            "{table}: {findings:?}"
        );
    }
}

#[test]
fn an_empty_search_of_a_large_file_only_compares_row_counts() {
    let bench = TestBench::new();
    grow(&bench);
    let search = |word: &str| {
        let store = bench.open();
        assert_eq!(
            bench.block_on(store.memories().search(word.to_owned(), everything())).unwrap().len(),
            0
        );
        store.findings()
    };
    // Only the full check notices an index whose definition does not match its content.
    tamper(
        &bench,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'memories (short)', 'memories (type)') WHERE name = 'memories_short'",
    );
    assert_eq!(search("nothing"), vec![]);
    // With a wrong count, the search runs the full check, too.
    assert!(!bench.block_on(bench.open().check_database()).unwrap().is_empty());
    tamper(&bench, "UPDATE meta SET value = value + 1 WHERE key = 'n_memories'");
    let findings = search("nothing");
    assert!(
        findings.iter().any(|it| matches!(it, DamageFinding::MissingRows { .. })),
        "{findings:?}"
    );
    assert!(
        findings.iter().any(|it| matches!(it, DamageFinding::DatabaseReport(_))),
        "{findings:?}"
    );
}

#[test]
fn a_broken_search_index_is_found_and_rebuilt() {
    let bench = TestBench::new();
    with_backup(&bench);
    tamper(&bench, "INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')");
    let store = bench.open();
    let findings = bench.block_on(store.check_database()).unwrap();
    assert!(matches!(findings[..], [DamageFinding::SearchIndex(_)]), "{findings:?}");
    bench.block_on(store.repair(NOW)).unwrap();
    drop(store);
    // The change without the store also reset the format of the index, and connections that were
    // open then keep to that; see the first migration.
    let store = bench.open();
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
    assert_eq!(
        bench.block_on(store.memories().search("\"wren\"".into(), everything())).unwrap().len(),
        5
    );
}

#[test]
fn missing_rows_are_reported() {
    let bench = TestBench::new();
    with_backup(&bench);
    tamper(&bench, "DELETE FROM memories WHERE n = 2");
    let store = bench.open();
    assert_eq!(bench.block_on(store.memories().get(id(2))).unwrap(), None);
    let missed = DamageFinding::MissingRows { table: "memories", saved: 5, found: 4 };
    assert!(store.findings().contains(&missed), "{:?}", store.findings());
    assert!(bench.block_on(store.check_database()).unwrap().contains(&missed));
}

#[test]
fn a_definition_that_was_altered_is_noticed() {
    let bench = TestBench::new();
    with_backup(&bench);
    tamper(&bench, "DROP TRIGGER memory_text_removed");
    let store = bench.open();
    let findings = bench.block_on(store.check_database()).unwrap();
    assert!(
        matches!(&findings[..], [DamageFinding::DatabaseReport(it)] if it.contains("memory_text_removed"))
    );
}

#[test]
fn a_damaged_version_does_not_take_the_memory_with_it() {
    let bench = TestBench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "first");
    bench.edit(&store, id, |it| it.content = "second".to_owned());
    drop(store);
    tamper(&bench, "UPDATE memory_versions SET content = 'forged'");
    let store = bench.open();
    assert_eq!(bench.block_on(store.memories().get(id)).unwrap().unwrap().content, "second");
    assert_eq!(bench.block_on(store.history().list_versions(id)).unwrap(), vec![]);
    assert!(matches!(store.findings()[..], [DamageFinding::DamagedVersion(_)]));
}

#[test]
fn a_vector_that_changed_its_length_is_refused() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.insert(&store, memory(1, "has a vector"));
    drop(store);
    let conn = Connection::open(bench.user_paths().database()).unwrap();
    let owner = id(1).0.as_bytes().to_vec();
    conn.execute(
        "INSERT INTO embeddings (owner, model, part, grain, dims, vector, code) VALUES (?1, 'tiny', 0, 'part', 3, x'0000', x'')",
        params![owner],
    )
    .unwrap();
    drop(conn);
    let result = bench.block_on(bench.open().vectors().get(id(1), "tiny".into()));
    assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
}

#[test]
fn an_undamaged_file_is_not_reported_while_it_changes() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 0..60 {
        bench.insert(&store, full_memory(n, "wren"));
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![], "after insert {n}");
        bench.edit(&store, id(n), |it| it.content.push_str(", edited once"));
        assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![], "after edit {n}");
        if n % 3 == 0 {
            bench.block_on(store.erase(vec![id(n)], NOW)).unwrap();
            bench.block_on(store.repair(NOW)).unwrap();
            assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![], "after erase {n}");
            bench.insert(&store, memory(1_000 + n, "takes its place"));
        }
    }
}
