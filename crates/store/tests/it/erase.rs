//! Erased for good means no byte of it is left in any file; others are untouched.

use model::{Actor, Memory, MemoryId, ProjectId};
use waylore_store::{Action, Change, PlaceRow, Store};

use crate::kit::{Bench, NOW, State, full, hits, id, memory};

const CANARY: &str = "zebrafinch";
/// As values of a vector, and as the bytes they are stored as.
const PATTERN: [f32; 3] = [1_234.567_8, -9_876.543, 0.001_234_5];

/// Puts the canary wherever something can be kept: every field, versions, a forgotten state, vectors,
/// backups, and the files a restore set aside.
fn fill(bench: &Bench) -> Store {
    let store = bench.open();
    bench.insert(&store, full(1, CANARY));
    bench.insert(&store, memory(2, "the wren stays"));
    bench.insert(&store, full(3, "wren"));
    for n in 1..=3 {
        bench.edit(&store, id(n), |it| it.summary.push_str(", edited"));
        let values = if n == 1 { PATTERN.to_vec() } else { vec![0.5; 3] };
        bench.embed(&store, id(n), values, vec![1, 2]);
    }
    let backup = bench.wait(store.backup(NOW)).unwrap();
    bench.edit(&store, id(1), |it| it.states.deleted_at = Some(NOW));
    bench.edit(&store, id(1), |it| it.states.deleted_at = None);
    bench.wait(store.backup(NOW)).unwrap();
    store.restore(&backup, NOW).unwrap();
    let store = bench.open();
    bench.edit(&store, id(1), |it| it.states.deleted_at = Some(NOW));
    store
}

fn traces(bench: &Bench) -> Vec<String> {
    let pattern: Vec<u8> = PATTERN.iter().flat_map(|it| it.to_le_bytes()).collect();
    let mut res = hits(bench.dir.path(), CANARY.as_bytes());
    res.extend(hits(bench.dir.path(), &pattern));
    res
}

fn without(state: State, id: MemoryId) -> Vec<model::Memory> {
    state.memories.into_iter().filter(|it| it.id != id).collect()
}

#[test]
fn no_byte_of_what_was_erased_is_left() {
    let bench = Bench::new();
    let store = fill(&bench);
    let places = traces(&bench);
    for part in ["user.db", "backups", "replaced"] {
        assert!(places.iter().any(|it| it.contains(part)), "the canary never was in {part}");
    }
    let before = bench.state(&store);
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(traces(&bench), Vec::<String>::new(), "while the store is open");
    let id_bytes = id(1).0.as_bytes().to_vec();
    assert_eq!(hits(bench.dir.path(), &id_bytes), Vec::<String>::new(), "not even its id");
    assert_eq!(bench.state(&store).memories, without(before.clone(), id(1)));
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
    for backup in store.backups() {
        assert_eq!(store.verify_backup(&backup).unwrap().memories, 2);
    }
    drop(store);
    assert_eq!(traces(&bench), Vec::<String>::new(), "and after it was closed");
    let found = bench.wait(bench.open().search("\"wren\"".into(), crate::kit::everything()));
    assert_eq!(found.unwrap().len(), 2);
}

#[test]
fn the_proof_of_an_erasure_looks_into_every_copy() {
    let bench = Bench::new();
    let store = fill(&bench);
    let holds = |store: &Store, n| bench.wait(store.holds(vec![id(n)])).unwrap();
    assert!(holds(&store, 1) && holds(&store, 2) && !holds(&store, 99));
    bench.wait(store.remove(vec![id(2)])).unwrap();
    assert!(holds(&store, 2), "it is still in the backups");
    bench.wait(store.erase(vec![id(1), id(2)], NOW)).unwrap();
    assert!(!bench.wait(store.holds(vec![id(1), id(2)])).unwrap());
    assert!(holds(&store, 3));
    let erased = bench.wait(store.erased(vec![id(1), id(3), id(2)])).unwrap();
    assert_eq!(erased, vec![id(1), id(2)]);
}

#[test]
fn the_proof_sees_text_that_lost_its_memory() {
    let bench = Bench::new();
    let store = fill(&bench);
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    drop(store);
    let conn = rusqlite::Connection::open(bench.home().database()).unwrap();
    conn.execute_batch(
        "PRAGMA foreign_keys = OFF; INSERT INTO memory_text VALUES (99, 'zebrafinch', '', '')",
    )
    .unwrap();
    drop(conn);
    assert!(bench.wait(bench.open().holds(vec![id(1)])).unwrap());
}

#[test]
fn an_erasure_is_in_the_audit_trail_once_and_without_content() {
    let bench = Bench::new();
    let store = fill(&bench);
    let before = bench.wait(store.recent(1)).unwrap()[0].batch;
    bench.wait(store.erase(vec![id(1), id(2)], NOW)).unwrap();
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    let entries = bench.wait(store.recent(99)).unwrap();
    let erasures: Vec<_> = entries.iter().filter(|it| it.action == Action::Erase).collect();
    assert_eq!(erasures.len(), 1);
    assert!(erasures[0].batch > before);
    assert_eq!(erasures[0].detail.as_deref(), Some("2 erased"));
    assert!(bench.apply(&store, Action::Settings, vec![]).unwrap().batch > erasures[0].batch);
}

#[test]
fn what_a_restore_set_aside_is_cleaned_and_can_be_brought_back() {
    let bench = Bench::new();
    let store = fill(&bench);
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(store.dropped(), Vec::<std::path::PathBuf>::new());
    let now = bench.state(&store);
    let aside = store.replaced().remove(0);
    assert_eq!((aside.name.as_str(), aside.made), ("replaced/user.db", None));
    assert_eq!(store.verify_backup(&aside).unwrap().memories, 2);
    bench.add(&store, 9, "only in the database that is set aside next");
    store.restore(&aside, NOW).unwrap();
    let store = bench.open();
    assert_eq!(bench.state(&store).memories, now.memories);
    let aside = store.replaced().remove(0);
    assert_eq!(store.verify_backup(&aside).unwrap().memories, 3);
    store.restore(&aside, NOW).unwrap();
    let store = bench.open();
    assert!(bench.wait(store.get(id(9))).unwrap().is_some());
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

#[test]
fn a_database_set_aside_with_its_log_keeps_what_is_only_there() {
    let bench = Bench::new();
    let store = bench.open();
    bench.add(&store, 1, CANARY);
    let backup = bench.wait(store.backup(NOW)).unwrap();
    bench.add(&store, 2, "only in the log");
    // Somebody has the file open, so nobody merges the log.
    let other = bench.open();
    bench.state(&other);
    store.restore(&backup, NOW).unwrap();
    assert!(bench.data().root.join("replaced/user.db-wal").exists());
    let store = bench.open();
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(traces(&bench), Vec::<String>::new());
    let aside = store.replaced().remove(0);
    assert_eq!(store.verify_backup(&aside).unwrap().memories, 1);
    store.restore(&aside, NOW).unwrap();
    for store in [bench.open(), other] {
        let found = bench.wait(store.get(id(2))).unwrap().unwrap();
        assert_eq!(found.content, "only in the log");
    }
}

#[test]
fn everything_can_be_erased() {
    let bench = Bench::new();
    let store = fill(&bench);
    bench.wait(store.erase(vec![id(1), id(2), id(3), id(99)], NOW)).unwrap();
    assert_eq!(bench.state(&store).memories, vec![]);
    assert_eq!(hits(bench.dir.path(), b"wren"), Vec::<String>::new());
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}

#[test]
fn a_backup_that_cannot_be_cleaned_goes() {
    let bench = Bench::new();
    let store = fill(&bench);
    let broken = store.backups().remove(0);
    let mut bytes = std::fs::read(&broken.path).unwrap();
    bytes[..4_096].fill(0);
    std::fs::write(&broken.path, bytes).unwrap();
    let aside = bench.data().root.join("replaced/user.db");
    std::fs::write(&aside, CANARY).unwrap();
    bench.wait(store.erase(vec![id(1)], NOW)).unwrap();
    assert_eq!(store.backups().len(), 1);
    assert_eq!(traces(&bench), Vec::<String>::new());
    assert_eq!(store.dropped(), vec![broken.path, aside], "and it is told which");
    assert_eq!(store.replaced(), vec![]);
}

#[test]
fn a_secret_is_taken_out_and_the_memory_stays() {
    let bench = Bench::new();
    let store = fill(&bench);
    bench.edit(&store, id(2), |it| it.content = format!("the key {CANARY} opens it"));
    let setting = Change::Setting { key: "note".into(), value: Some(format!("see {CANARY}")) };
    let mut told = crate::kit::batch(Action::Settings, vec![setting]);
    told.detail = Some(format!("detail {CANARY}"));
    bench.wait(store.apply(told)).unwrap();
    let last = bench.apply(&store, Action::Settings, vec![]).unwrap().batch;
    let clean = |text: &str| text.contains(CANARY).then(|| text.replace(CANARY, "[REDACTED]"));
    assert_eq!(bench.wait(store.scrub(clean)).unwrap(), vec![id(1), id(2)]);
    assert_eq!(traces(&bench), Vec::<String>::new());
    let found = bench.wait(store.get(id(2))).unwrap().unwrap();
    assert_eq!(found.content, "the key [REDACTED] opens it");
    let found = bench.wait(store.get(id(1))).unwrap().unwrap();
    assert_eq!(found.modules, vec!["module[REDACTED]"]);
    assert!(found.payload.is_some() && found.work_unit.is_some());
    assert_eq!(found.relations.len(), 2);
    assert_eq!(bench.wait(store.versions(id(2))).unwrap().len(), 2);
    assert!(
        bench.wait(store.vectors(id(1), "tiny".into())).unwrap().is_empty(),
        "it was made of the secret"
    );
    assert!(!bench.wait(store.vectors(id(3), "tiny".into())).unwrap().is_empty());
    assert_eq!(bench.wait(store.settings()).unwrap()[0].1, "see [REDACTED]");
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
    assert!(bench.apply(&store, Action::Settings, vec![]).unwrap().batch > last + 1);
    drop(store);
    assert_eq!(traces(&bench), Vec::<String>::new());
}

#[test]
fn a_secret_is_taken_out_of_the_audit_trail_and_the_registry() {
    let bench = Bench::new();
    let store = bench.open();
    for n in 1..=2_u8 {
        let mut told = crate::kit::batch(Action::Settings, vec![]);
        // Places that differ only in what is taken out stay apart; of a key nothing is kept at all.
        told.key = Some(format!("key {CANARY}{n}"));
        told.actor = Actor::Agent(format!("{CANARY}{n}"));
        bench.wait(store.apply(told)).unwrap();
        let place = PlaceRow {
            project: ProjectId::new(NOW, [n; 10]),
            name: format!("name {CANARY}{n}"),
            root_commit: Some(format!("commit {CANARY}{n}")),
            remote: Some(format!("https://user:{CANARY}{n}@host/p")),
            key_dir: format!("/places/{CANARY}{n}"),
            dir_key: None,
            last_seen: NOW,
        };
        bench.wait(store.put_place(place)).unwrap();
    }
    bench.insert(&store, Memory { created_by: Actor::Runner(CANARY.into()), ..memory(5, "wren") });
    bench.wait(store.backup(NOW)).unwrap();
    let clean = |text: &str| {
        let cut = |it: &str| text.contains(it).then(|| text.replace(it, "-"));
        cut(&format!("{CANARY}1")).or_else(|| cut(&format!("{CANARY}2"))).or_else(|| cut(CANARY))
    };
    assert_eq!(bench.wait(store.scrub(clean)).unwrap(), vec![id(5)]);
    assert_eq!(traces(&bench), Vec::<String>::new());
    let places = bench.wait(store.places()).unwrap();
    assert_eq!(places.len(), 2);
    assert_eq!(places[0].remote.as_deref(), Some("https://user:-@host/p"));
    assert_eq!(
        (places[0].key_dir.as_str(), places[1].key_dir.as_str()),
        ("/places/-", "/places/- 2")
    );
    let actors: Vec<_> =
        bench.wait(store.recent(9)).unwrap().into_iter().map(|it| it.actor).collect();
    assert_eq!(actors.iter().filter(|it| **it == Actor::Agent("-".into())).count(), 2);
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
    let backup = store.backups().remove(0);
    assert_eq!(store.verify_backup(&backup).unwrap().memories, 1);
}

#[test]
fn a_secret_that_is_nowhere_changes_nothing() {
    let bench = Bench::new();
    let store = fill(&bench);
    let before = bench.state(&store);
    let backups = store.backups();
    assert_eq!(bench.wait(store.scrub(|_| None)).unwrap(), vec![]);
    assert_eq!((bench.state(&store), store.backups()), (before, backups));
}

#[test]
fn what_was_removed_long_after_it_was_forgotten_may_be_taught_again() {
    let bench = Bench::new();
    let store = fill(&bench);
    bench.wait(store.remove(vec![id(1), id(77)])).unwrap();
    assert_eq!(bench.state(&store).memories.len(), 2);
    bench.insert(&store, full(1, CANARY));
    assert_eq!(bench.wait(store.examine()).unwrap(), vec![]);
}
