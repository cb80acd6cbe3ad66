//! Erasing leaves no byte of a memory in any file, and does not touch other memories.

use model::{Actor, Memory, MemoryId, ProjectId};
use waylore_store::{AuditAction, DamageFinding, ProjectLocation, Store, StoreChange};

use crate::kit::{NOW, StoreContents, TestBench, files_containing, full_memory, id, memory};

/// A word that is nowhere else.
const CANARY: &str = "zebrafinch";
/// The canary as the values of a vector, whose bytes are searched for, too.
const VECTOR_CANARY: [f32; 3] = [1_234.567_8, -9_876.543, 0.001_234_5];

/// Puts the canary everywhere: every field, versions, a forgotten memory, vectors, backups, and the
/// database that a restore replaced.
fn fill(bench: &TestBench) -> Store {
    let store = bench.open();
    bench.insert(&store, full_memory(1, CANARY));
    bench.insert(&store, memory(2, "the wren stays"));
    bench.insert(&store, full_memory(3, "wren"));
    for n in 1..=3 {
        bench.edit(&store, id(n), |it| it.summary.push_str(", edited"));
        let values = if n == 1 { VECTOR_CANARY.to_vec() } else { vec![0.5; 3] };
        bench.embed(&store, id(n), values, vec![1, 2]);
    }
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    bench.edit(&store, id(1), |it| it.states.deleted_at = Some(NOW));
    bench.edit(&store, id(1), |it| it.states.deleted_at = None);
    bench.block_on(store.backup(NOW)).unwrap();
    store.restore(&backup, NOW).unwrap();
    let store = bench.open();
    bench.edit(&store, id(1), |it| it.states.deleted_at = Some(NOW));
    store
}

/// Files that hold the canary in either form.
fn traces(bench: &TestBench) -> Vec<String> {
    let pattern: Vec<u8> = VECTOR_CANARY.iter().flat_map(|it| it.to_le_bytes()).collect();
    let mut result = files_containing(bench.dir.path(), CANARY.as_bytes());
    result.extend(files_containing(bench.dir.path(), &pattern));
    result
}

/// All memories but one.
fn without(state: StoreContents, id: MemoryId) -> Vec<model::Memory> {
    state.memories.into_iter().filter(|it| it.id != id).collect()
}

#[test]
fn no_byte_of_an_erased_memory_is_left() {
    let bench = TestBench::new();
    let store = fill(&bench);
    // Without this, the search below would prove nothing.
    let files = traces(&bench);
    for part in ["user.db", "backups", "replaced"] {
        assert!(files.iter().any(|it| it.contains(part)), "the canary never was in {part}");
    }
    let before = bench.state(&store);

    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(traces(&bench), Vec::<String>::new(), "while the store is open");
    let id_bytes = id(1).0.as_bytes().to_vec();
    assert_eq!(
        files_containing(bench.dir.path(), &id_bytes),
        Vec::<String>::new(),
        "not even its id"
    );

    // The other memories are as they were, in the database, the backups and the search index.
    assert_eq!(bench.state(&store).memories, without(before.clone(), id(1)));
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
    for backup in store.backups() {
        assert_eq!(store.verify_backup(&backup).unwrap().memories, 2);
    }
    drop(store);
    assert_eq!(traces(&bench), Vec::<String>::new(), "and after it was closed");
    let found =
        bench.block_on(bench.open().memories().search("\"wren\"".into(), crate::kit::everything()));
    assert_eq!(found.unwrap().len(), 2);
}

#[test]
fn the_proof_of_an_erasure_searches_every_copy() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let holds = |store: &Store, n| bench.block_on(store.has_traces_of(vec![id(n)])).unwrap();
    assert!(holds(&store, 1) && holds(&store, 2) && !holds(&store, 99));
    bench.block_on(store.remove_forgotten(vec![id(2)])).unwrap();
    assert!(holds(&store, 2), "it is still in the backups");
    bench.block_on(store.erase(vec![id(1), id(2)], NOW)).unwrap();
    assert!(!bench.block_on(store.has_traces_of(vec![id(1), id(2)])).unwrap());
    assert!(holds(&store, 3));
    let erased = bench.block_on(store.memories().filter_erased(vec![id(1), id(3), id(2)])).unwrap();
    assert_eq!(erased, vec![id(1), id(2)]);
}

#[test]
fn the_proof_finds_text_without_a_memory() {
    let bench = TestBench::new();
    let store = fill(&bench);
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    drop(store);
    let conn = rusqlite::Connection::open(bench.user_paths().database()).unwrap();
    conn.execute_batch(
        "PRAGMA foreign_keys = OFF; INSERT INTO memory_text VALUES (99, 'zebrafinch', '', '')",
    )
    .unwrap();
    drop(conn);
    assert!(bench.block_on(bench.open().has_traces_of(vec![id(1)])).unwrap());
}

#[test]
fn an_erasure_is_in_the_audit_trail_once_and_without_content() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let before = bench.block_on(store.history().recent_entries(1)).unwrap()[0].batch;
    bench.block_on(store.erase(vec![id(1), id(2)], NOW)).unwrap();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    let entries = bench.block_on(store.history().recent_entries(99)).unwrap();
    let erasures: Vec<_> = entries.iter().filter(|it| it.action == AuditAction::Erase).collect();
    assert_eq!(erasures.len(), 1);
    assert!(erasures[0].batch > before);
    assert_eq!(erasures[0].detail.as_deref(), Some("2 erased"));
    assert!(bench.apply(&store, AuditAction::Settings, vec![]).unwrap().batch > erasures[0].batch);
}

#[test]
fn a_replaced_database_is_cleaned_and_can_be_restored() {
    let bench = TestBench::new();
    let store = fill(&bench);
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(store.dropped_copies(), Vec::<std::path::PathBuf>::new());
    let now = bench.state(&store);

    // The database that the restore in `fill` replaced has lost memory 1, too.
    let replaced = store.replaced_database().remove(0);
    assert_eq!((replaced.name.as_str(), replaced.created_at), ("replaced/user.db", None));
    assert_eq!(store.verify_backup(&replaced).unwrap().memories, 2);

    // Restoring it replaces the current one, with memory 9.
    bench.add(&store, 9, "only in the database that is replaced next");
    store.restore(&replaced, NOW).unwrap();
    let store = bench.open();
    assert_eq!(bench.state(&store).memories, now.memories);

    // Restoring that one in turn brings memory 9 back.
    let replaced = store.replaced_database().remove(0);
    assert_eq!(store.verify_backup(&replaced).unwrap().memories, 3);
    store.restore(&replaced, NOW).unwrap();
    let store = bench.open();
    assert!(bench.block_on(store.memories().get(id(9))).unwrap().is_some());
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}

#[test]
fn a_replaced_database_keeps_the_changes_in_its_log() {
    let bench = TestBench::new();
    let store = bench.open();
    bench.add(&store, 1, CANARY);
    let backup = bench.block_on(store.backup(NOW)).unwrap();
    bench.add(&store, 2, "only in the log");
    // Another handle has the file open, so the log is not merged.
    let other = bench.open();
    bench.state(&other);
    store.restore(&backup, NOW).unwrap();
    assert!(bench.data_dir().root.join("replaced/user.db-wal").exists());
    let store = bench.open();
    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(traces(&bench), Vec::<String>::new());
    let replaced = store.replaced_database().remove(0);
    assert_eq!(store.verify_backup(&replaced).unwrap().memories, 1);
    store.restore(&replaced, NOW).unwrap();
    for store in [bench.open(), other] {
        let found = bench.block_on(store.memories().get(id(2))).unwrap().unwrap();
        assert_eq!(found.content, "only in the log");
    }
}

#[test]
fn everything_can_be_erased() {
    let bench = TestBench::new();
    let store = fill(&bench);
    bench.block_on(store.erase(vec![id(1), id(2), id(3), id(99)], NOW)).unwrap();
    assert_eq!(bench.state(&store).memories, vec![]);
    assert_eq!(files_containing(bench.dir.path(), b"wren"), Vec::<String>::new());
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}

#[test]
fn a_backup_that_cannot_be_cleaned_is_deleted() {
    let bench = TestBench::new();
    let store = fill(&bench);
    // Of the two backups, one loses its first page; the replaced database becomes a text file.
    let broken = store.backups().remove(0);
    let mut bytes = std::fs::read(&broken.path).unwrap();
    bytes[..4_096].fill(0);
    std::fs::write(&broken.path, bytes).unwrap();
    let replaced = bench.data_dir().root.join("replaced/user.db");
    std::fs::write(&replaced, CANARY).unwrap();

    bench.block_on(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(store.backups().len(), 1);
    assert_eq!(traces(&bench), Vec::<String>::new());
    assert_eq!(store.dropped_copies(), vec![broken.path, replaced], "and they are reported");
    assert_eq!(store.replaced_database(), vec![]);
}

#[test]
fn a_secret_is_erased_and_its_memory_stays() {
    let bench = TestBench::new();
    let store = fill(&bench);
    // Besides memory 1, also memory 2, a setting and the audit trail hold the secret.
    bench.edit(&store, id(2), |it| it.content = format!("the key {CANARY} opens it"));
    let setting = StoreChange::Setting { key: "note".into(), value: Some(format!("see {CANARY}")) };
    let mut write_batch = crate::kit::batch(AuditAction::Settings, vec![setting]);
    write_batch.detail = Some(format!("detail {CANARY}"));
    bench.block_on(store.apply(write_batch)).unwrap();
    let last = bench.apply(&store, AuditAction::Settings, vec![]).unwrap().batch;

    let clean = |text: &str| text.contains(CANARY).then(|| text.replace(CANARY, "[REDACTED]"));
    assert_eq!(bench.block_on(store.erase_text(clean)).unwrap(), vec![id(1), id(2)]);
    assert_eq!(traces(&bench), Vec::<String>::new());

    // The memories are there, without the secret.
    let found = bench.block_on(store.memories().get(id(2))).unwrap().unwrap();
    assert_eq!(found.content, "the key [REDACTED] opens it");
    let found = bench.block_on(store.memories().get(id(1))).unwrap().unwrap();
    assert_eq!(found.modules, vec!["module[REDACTED]"]);
    assert!(found.payload.is_some() && found.work_unit.is_some());
    assert_eq!(found.relations.len(), 2);
    assert_eq!(bench.block_on(store.history().list_versions(id(2))).unwrap().len(), 2);
    assert!(
        bench.block_on(store.vectors().get(id(1), "tiny".into())).unwrap().is_empty(),
        "the vector was computed from the secret"
    );
    assert!(!bench.block_on(store.vectors().get(id(3), "tiny".into())).unwrap().is_empty());
    let (_, setting) = &bench.block_on(store.settings()).unwrap()[0];
    assert_eq!(setting, "see [REDACTED]");
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
    // The erasure took at least one sequence number, as every change does.
    assert!(bench.apply(&store, AuditAction::Settings, vec![]).unwrap().batch > last + 1);
    drop(store);
    assert_eq!(traces(&bench), Vec::<String>::new());
}

#[test]
fn a_secret_is_erased_from_the_audit_trail_and_the_registry() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=2_u8 {
        let mut write_batch = crate::kit::batch(AuditAction::Settings, vec![]);
        // Locations that differ only in the erased text stay apart; nothing of an idempotency key
        // is stored.
        write_batch.key = Some(format!("key {CANARY}{n}"));
        write_batch.actor = Actor::Agent(format!("{CANARY}{n}"));
        bench.block_on(store.apply(write_batch)).unwrap();
        let location = ProjectLocation {
            project: ProjectId::new(NOW, [n; 10]),
            name: format!("name {CANARY}{n}"),
            root_commit: Some(format!("commit {CANARY}{n}")),
            remote: Some(format!("https://user:{CANARY}{n}@host/p")),
            key_dir: format!("/places/{CANARY}{n}"),
            dir_key: None,
            last_seen: NOW,
        };
        bench.block_on(store.put_location(location)).unwrap();
    }
    bench.insert(&store, Memory { created_by: Actor::Runner(CANARY.into()), ..memory(5, "wren") });
    bench.block_on(store.backup(NOW)).unwrap();

    // The cleaned texts of both runs of the loop are equal.
    let clean = |text: &str| {
        let cut = |it: &str| text.contains(it).then(|| text.replace(it, "-"));
        cut(&format!("{CANARY}1")).or_else(|| cut(&format!("{CANARY}2"))).or_else(|| cut(CANARY))
    };
    assert_eq!(bench.block_on(store.erase_text(clean)).unwrap(), vec![id(5)]);
    assert_eq!(traces(&bench), Vec::<String>::new());

    // Folders must be unique, so the second one gets a number.
    let locations = bench.block_on(store.registry().list_locations()).unwrap();
    assert_eq!(locations.len(), 2);
    assert_eq!(locations[0].remote.as_deref(), Some("https://user:-@host/p"));
    assert_eq!(
        (locations[0].key_dir.as_str(), locations[1].key_dir.as_str()),
        ("/places/-", "/places/- 2")
    );
    let actors: Vec<_> = bench
        .block_on(store.history().recent_entries(9))
        .unwrap()
        .into_iter()
        .map(|it| it.actor)
        .collect();
    assert_eq!(actors.iter().filter(|it| **it == Actor::Agent("-".into())).count(), 2);
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
    let backup = store.backups().remove(0);
    assert_eq!(store.verify_backup(&backup).unwrap().memories, 1);
}

#[test]
fn a_secret_is_erased_from_damaged_rows_and_they_stay_damaged() {
    let bench = TestBench::new();
    let store = bench.open();
    for n in 1..=3 {
        bench.insert(&store, full_memory(n, CANARY));
        bench.edit(&store, id(n), |it| it.summary.push_str(", edited"));
    }
    bench.insert(&store, full_memory(4, "wren"));
    drop(store);
    let conn = rusqlite::Connection::open(bench.user_paths().database()).unwrap();
    // Memory 1 and all versions still hold the secret. Memory 2 has it only in its lookups. In
    // memory 3 just the counts are damaged. Memory 4 is damaged, but never held it.
    conn.execute_batch(
        "PRAGMA secure_delete = ON;
         UPDATE memories SET confidence = 1 WHERE n IN (1, 4);
         UPDATE memory_versions SET confidence = 1;
         UPDATE memories SET content = '', summary = '', citation = '', tags = '[]', files = '[]',
             modules = '[]', anchors = '[]', work_unit = NULL, commit_id = NULL, branch = NULL,
             relations = '[]', deprecated_reason = NULL, payload = NULL WHERE n = 2;
         UPDATE memories SET used_count = 7 WHERE n = 3;",
    )
    .unwrap();
    drop(conn);
    let store = bench.open();
    let clean = |text: &str| text.contains(CANARY).then(|| text.replace(CANARY, "[REDACTED]"));
    assert_eq!(bench.block_on(store.erase_text(clean)).unwrap(), vec![id(1), id(2), id(3)]);
    assert_eq!(traces(&bench), Vec::<String>::new());
    // The damaged rows are still withheld; the one with damaged counts is whole again.
    assert_eq!(bench.state(&store).memories.iter().map(|it| it.id).collect::<Vec<_>>(), [id(3)]);
    let findings = bench.block_on(store.check_database()).unwrap();
    let n_damaged =
        |wanted: fn(&DamageFinding) -> bool| findings.iter().filter(|it| wanted(it)).count();
    assert_eq!(n_damaged(|it| matches!(it, DamageFinding::DamagedMemory(_))), 3);
    assert_eq!(n_damaged(|it| matches!(it, DamageFinding::DamagedVersion(_))), 3);
    assert_eq!(findings.len(), 6, "nothing else is damaged: {findings:?}");
    let has_wren = !files_containing(bench.dir.path(), b"content wren end").is_empty();
    assert!(has_wren, "a damaged row without the secret is left as it is");
}

#[test]
fn erasing_a_text_that_is_nowhere_changes_nothing() {
    let bench = TestBench::new();
    let store = fill(&bench);
    let before = bench.state(&store);
    let backups = store.backups();
    assert_eq!(bench.block_on(store.erase_text(|_| None)).unwrap(), vec![]);
    assert_eq!((bench.state(&store), store.backups()), (before, backups));
}

#[test]
fn a_removed_memory_may_be_taught_again() {
    let bench = TestBench::new();
    let store = fill(&bench);
    bench.block_on(store.remove_forgotten(vec![id(1), id(77)])).unwrap();
    assert_eq!(bench.state(&store).memories.len(), 2);
    bench.insert(&store, full_memory(1, CANARY));
    assert_eq!(bench.block_on(store.check_database()).unwrap(), vec![]);
}
