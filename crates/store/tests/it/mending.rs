//! Some damage can be mended in place: an index from its table, a row from a backup.

use rusqlite::{Connection, params};
use waylore_store::{Error, Filter, Finding, Store};

use crate::kit::{Bench, MODEL, NOW, everything, full, id, memory, path};

/// Changes the closed database behind the store's back.
fn tamper(bench: &Bench, sql: &str) {
    let conn = Connection::open(bench.home().database()).unwrap();
    conn.execute_batch(sql).unwrap();
}

fn with_backup(bench: &Bench) -> Store {
    let store = bench.open();
    for n in 1..=5 {
        bench.insert(&store, full(n, "wren"));
    }
    bench.wait(store.backup(NOW)).unwrap();
    store
}

#[test]
fn a_changed_row_is_withheld_and_brought_back_as_it_was() {
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
        let bench = Bench::new();
        let before = bench.state(&with_backup(&bench));
        tamper(&bench, &format!("UPDATE memories SET {column} WHERE n = 3"));
        let store = bench.open();
        assert_eq!(bench.wait(store.get(id(3))).unwrap(), None, "{column}");
        assert_eq!(bench.wait(store.list(everything())).unwrap().len(), 4, "{column}");
        assert!(matches!(store.findings()[0], Finding::Row(_)), "{column}");
        bench.wait(store.mend(NOW)).unwrap();
        drop(store);
        let store = bench.open();
        assert_eq!(bench.state(&store), before, "{column}");
        assert_eq!(bench.wait(store.examine()).unwrap(), vec![], "{column}");
    }
}

#[test]
fn a_damaged_row_without_a_backup_stays_withheld() {
    let bench = Bench::new();
    bench.add(&bench.open(), 1, "the only copy");
    tamper(&bench, "UPDATE memories SET content = 'forged'");
    let store = bench.open();
    bench.wait(store.mend(NOW)).unwrap();
    assert_eq!(bench.wait(store.get(id(1))).unwrap(), None);
    assert!(!bench.wait(store.examine()).unwrap().is_empty());
}

#[test]
fn damaged_counts_alone_cost_only_the_counts() {
    let bench = Bench::new();
    bench.add(&bench.open(), 1, "the only copy");
    tamper(&bench, "UPDATE memories SET used_count = 1000000");
    let store = bench.open();
    bench.wait(store.mend(NOW)).unwrap();
    let found = bench.wait(store.get(id(1))).unwrap().unwrap();
    assert_eq!((found.content.as_str(), found.counters.used_count), ("the only copy", 0));
}

#[test]
fn a_damaged_vector_is_named_and_the_others_are_read() {
    let bench = Bench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.add(&store, n, "a wren");
        bench.embed(&store, id(n), vec![1.0, 0.5], vec![64, 32]);
    }
    drop(store);
    tamper(&bench, "UPDATE embeddings SET vector = x'0000c07f0000003f' WHERE n = 2");
    let store = bench.open();
    let read = bench.wait(store.vectors_of([1, 2, 3, 4].map(id).into(), MODEL.to_owned())).unwrap();
    assert_eq!((read.of.len(), read.damaged), (2, vec![id(2)]));
    assert!(bench.wait(store.vectors(id(2), MODEL.to_owned())).is_err(), "asked for by name");
}

/// Changes the last byte of one key in one index, which fits a page.
fn hurt_key(bench: &Bench, index: &str, key: &[u8]) {
    let conn = Connection::open(bench.home().database()).unwrap();
    let from = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: i64 = conn.query_row(from, [index], |row| row.get(0)).unwrap();
    drop(conn);
    let mut bytes = std::fs::read(bench.home().database()).unwrap();
    let page = usize::try_from(root - 1).unwrap() * 4096;
    let found = bytes[page..page + 4096].windows(key.len()).position(|it| it == key);
    bytes[page + found.unwrap() + key.len() - 1] ^= 1;
    std::fs::write(bench.home().database(), bytes).unwrap();
}

#[test]
fn an_index_that_lost_a_memory_does_not_hide_it() {
    let bench = Bench::new();
    with_backup(&bench);
    hurt_key(&bench, "sqlite_autoindex_memories_1", id(3).0.as_bytes());

    let store = bench.open();
    let found = bench.wait(store.get(id(3))).unwrap().map(|it| it.id);
    assert_eq!(found, Some(id(3)));
    assert!(store.findings().iter().any(|it| matches!(it, Finding::Database(_))));
    bench.wait(store.mend(NOW)).unwrap();
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

/// More than the thorough check is made for without a reason.
fn grow(bench: &Bench) {
    let store = with_backup(bench);
    for n in 10..13 {
        bench.add(&store, n, &"robin ".repeat(600_000));
    }
    drop(store);
    assert!(std::fs::metadata(bench.home().database()).unwrap().len() > 8 << 20);
}

#[test]
fn a_damaged_key_hides_nothing_in_a_large_file_either() {
    let short = id(3).short();
    let keys = [("sqlite_autoindex_memories_1", id(3).0.as_bytes().to_vec())];
    let keys = keys.into_iter().chain([("memories_short", short.clone().into_bytes())]);
    for (index, key) in keys {
        let bench = Bench::new();
        grow(&bench);
        hurt_key(&bench, index, &key);
        let store = bench.open();
        let found = if index == "memories_short" {
            bench.wait(store.by_short(short.clone())).unwrap().pop()
        } else {
            bench.wait(store.get(id(3))).unwrap()
        };
        assert_eq!(found.map(|it| it.id), Some(id(3)), "{index}");
        let said = store.findings();
        assert!(said.iter().any(|it| matches!(it, Finding::Database(_))), "{index}: {said:?}");
    }
    let lists = [
        (
            "memory_files",
            "src/filewren.rs",
            Filter { file: Some(path("src/filewren.rs")), ..everything() },
        ),
        ("memory_tags", "tagwren", Filter { tag: Some("tagwren".into()), ..everything() }),
        (
            "memory_modules",
            "modulewren",
            Filter { module: Some("modulewren".into()), ..everything() },
        ),
    ];
    for (table, key, filter) in lists {
        let bench = Bench::new();
        grow(&bench);
        let store = bench.open();
        for n in 2..=5 {
            bench.edit(&store, id(n), |it| (it.files, it.tags, it.modules) = <_>::default());
        }
        assert_eq!(bench.wait(store.list(filter.clone())).unwrap().len(), 1, "{table}");
        drop(store);
        hurt_key(&bench, table, key.as_bytes());
        let store = bench.open();
        assert_eq!(bench.wait(store.list(filter)).unwrap().len(), 0, "{table}");
        let said = store.findings();
        assert!(said.iter().any(|it| matches!(it, Finding::Database(_))), "{table}: {said:?}");
    }
}

#[test]
fn an_empty_search_of_a_large_file_is_checked_by_numbers_only() {
    let bench = Bench::new();
    grow(&bench);
    let search = |word: &str| {
        let store = bench.open();
        assert_eq!(bench.wait(store.search(word.to_owned(), everything())).unwrap().len(), 0);
        store.findings()
    };
    // An index that is not made of what it says is seen by the thorough check only.
    tamper(
        &bench,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'memories (short)', 'memories (type)') WHERE name = 'memories_short'",
    );
    assert_eq!(search("nothing"), vec![]);
    assert!(!bench.wait(bench.open().examine()).unwrap().is_empty());
    tamper(&bench, "UPDATE meta SET value = value + 1 WHERE key = 'n_memories'");
    let findings = search("nothing");
    assert!(findings.iter().any(|it| matches!(it, Finding::Count { .. })), "{findings:?}");
    assert!(findings.iter().any(|it| matches!(it, Finding::Database(_))), "{findings:?}");
}

#[test]
fn a_broken_search_index_is_found_and_rebuilt() {
    let bench = Bench::new();
    with_backup(&bench);
    tamper(&bench, "INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')");
    let store = bench.open();
    let findings = bench.wait(store.examine()).unwrap();
    assert!(matches!(findings[..], [Finding::SearchIndex(_)]), "{findings:?}");
    bench.wait(store.mend(NOW)).unwrap();
    drop(store);
    // What was done behind the store's back also set the format of the index back, and connections
    // that were open then keep to that; see the first migration.
    let store = bench.open();
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
    assert_eq!(bench.wait(store.search("\"wren\"".into(), everything())).unwrap().len(), 5);
}

#[test]
fn rows_that_vanished_are_missed() {
    let bench = Bench::new();
    with_backup(&bench);
    tamper(&bench, "DELETE FROM memories WHERE n = 2");
    let store = bench.open();
    assert_eq!(bench.wait(store.get(id(2))).unwrap(), None);
    let missed = Finding::Count { table: "memories", saved: 5, found: 4 };
    assert!(store.findings().contains(&missed), "{:?}", store.findings());
    assert!(bench.wait(store.examine()).unwrap().contains(&missed));
}

#[test]
fn a_definition_that_was_altered_is_noticed() {
    let bench = Bench::new();
    with_backup(&bench);
    tamper(&bench, "DROP TRIGGER memory_text_removed");
    let store = bench.open();
    let findings = bench.wait(store.examine()).unwrap();
    assert!(matches!(&findings[..], [Finding::Database(it)] if it.contains("memory_text_removed")));
}

#[test]
fn a_damaged_version_does_not_take_the_memory_with_it() {
    let bench = Bench::new();
    let store = bench.open();
    let id = bench.add(&store, 1, "first");
    bench.edit(&store, id, |it| it.content = "second".to_owned());
    drop(store);
    tamper(&bench, "UPDATE memory_versions SET content = 'forged'");
    let store = bench.open();
    assert_eq!(bench.wait(store.get(id)).unwrap().unwrap().content, "second");
    assert_eq!(bench.wait(store.versions(id)).unwrap(), vec![]);
    assert!(matches!(store.findings()[..], [Finding::Version(_)]));
}

#[test]
fn a_vector_that_changed_its_length_is_refused() {
    let bench = Bench::new();
    let store = bench.open();
    bench.insert(&store, memory(1, "has a vector"));
    drop(store);
    let conn = Connection::open(bench.home().database()).unwrap();
    let owner = id(1).0.as_bytes().to_vec();
    conn.execute(
        "INSERT INTO embeddings (owner, model, part, grain, dims, vector, code) VALUES (?1, 'tiny', 0, 'part', 3, x'0000', x'')",
        params![owner],
    )
    .unwrap();
    drop(conn);
    let res = bench.wait(bench.open().vectors(id(1), "tiny".into()));
    assert!(matches!(res, Err(Error::Damaged { .. })), "{res:?}");
}

#[test]
fn a_sound_file_is_not_accused_while_it_changes() {
    let bench = Bench::new();
    let store = bench.open();
    for n in 0..60 {
        bench.insert(&store, full(n, "wren"));
        assert_eq!(bench.wait(store.examine()).unwrap(), vec![], "after insert {n}");
        bench.edit(&store, id(n), |it| it.content.push_str(", edited once"));
        assert_eq!(bench.wait(store.examine()).unwrap(), vec![], "after edit {n}");
        if n % 3 == 0 {
            bench.wait(store.erase(vec![id(n)], NOW)).unwrap();
            bench.wait(store.mend(NOW)).unwrap();
            assert_eq!(bench.wait(store.examine()).unwrap(), vec![], "after erase {n}");
            bench.insert(&store, memory(1_000 + n, "takes its place"));
        }
    }
}
