//! A scenario that runs every statement of the store, so that all of them are recorded. The word
//! `wren` is in every kind of text; the last step erases it.

use std::fs;

use model::{Actor, DAY_MS, HybridTimestamp, MemorySource, ProjectId, RelationKind, Timestamp};
use waylore_store::recorder::{self, StatementRecorder};
use waylore_store::{
    AuditAction, MemoryFilter, Milestone, ProjectLocation, Store, StoreChange, TermLookup,
    WriteBatch,
};

use crate::kit::{NOW, TestBench, batch, everything, full_memory, id, memory, path};
use crate::learning::lesson;

pub(crate) fn run_scenario(recorder: &StatementRecorder) {
    let bench = TestBench::new();
    let store = recorder::recorded_store(bench.user_paths(), NOW, recorder.clone());
    write_memories(&bench, &store);
    write_lessons(&bench, &store);
    read_memories(&bench, &store);
    read_history(&bench, &store);
    use_registry(&bench, &store);
    drop(store);
    let store = simulate_loss(&bench, recorder);
    maintain(&bench, &store);
    read_memories(&bench, &store);
}

fn write_memories(bench: &TestBench, store: &Store) {
    let mut keyed =
        batch(AuditAction::Remember, vec![StoreChange::Insert(Box::new(full_memory(1, "wren")))]);
    (keyed.key, keyed.detail) = (Some("wren".to_owned()), Some("from the wren".to_owned()));
    keyed.actor = Actor::Agent("wren".to_owned());
    bench.block_on(store.apply(keyed.clone())).unwrap();
    assert!(bench.block_on(store.apply(keyed)).unwrap().is_repeat);
    bench.add(store, 2, "the plain wren sings in verifyJwt");
    bench.add(store, 3, "erased later");
    bench.add(store, 4, "removed later");
    bench.edit(store, id(1), |it| it.summary.push_str(", edited"));
    bench.edit(store, id(2), |it| it.states.deleted_at = Some(NOW));
    bench.edit(store, id(2), |it| it.states.deleted_at = None);
    for n in 1..=3 {
        let values = vec![0.5, -0.25, 1e-7];
        bench.embed(store, id(n), values, vec![64, -32, 0]);
    }
    let set = |value: Option<&str>| StoreChange::Setting {
        key: "k".into(),
        value: value.map(str::to_owned),
    };
    bench
        .apply(store, AuditAction::Settings, vec![set(Some("a")), set(None), set(Some("the wren"))])
        .unwrap();
    bench
        .apply(
            store,
            AuditAction::Flag,
            vec![StoreChange::CountUse { id: id(2) }, StoreChange::CountAccess { id: id(2) }],
        )
        .unwrap();
    // The clock jumps far ahead and back again.
    for days in [400, 1, 2] {
        let now = NOW.plus_millis(days * DAY_MS);
        let after = HybridTimestamp(bench.block_on(store.history().hybrid_clock()).unwrap().0 + 7);
        bench
            .block_on(store.apply(WriteBatch {
                now,
                after_clock: after,
                ..batch(AuditAction::Settings, vec![])
            }))
            .unwrap();
    }
    let missing = bench.apply(
        store,
        AuditAction::Edit,
        vec![StoreChange::Replace(Box::new(memory(77, "no")))],
    );
    assert!(missing.is_err(), "a write that is rolled back is recorded, too");
}

fn read_memories(bench: &TestBench, store: &Store) {
    let all = everything;
    let filters = [
        all(),
        MemoryFilter { file: Some(path("src/auth.rs")), ..all() },
        MemoryFilter { tag: Some("tag".to_owned()), kind: Some("gotcha".to_owned()), ..all() },
        MemoryFilter { module: Some("auth".to_owned()), pinned: Some(false), ..all() },
        MemoryFilter { source: Some(MemorySource::UserTaught), limit: 2, offset: 1, ..all() },
    ];
    for filter in &filters {
        bench.block_on(store.memories().list(filter.clone())).unwrap();
        bench
            .block_on(store.memories().search("\"wren\" OR \"jwt\"".into(), filter.clone()))
            .unwrap();
    }
    for n in 1..=5 {
        bench.block_on(store.memories().get(id(n))).unwrap();
        bench.block_on(store.vectors().get(id(n), "tiny".into())).unwrap();
    }
    bench.block_on(store.memories().find_by_short_id("0000".into())).unwrap();
    bench.block_on(store.memories().list_related_to(id(4_000), RelationKind::DerivedFrom)).unwrap();
    bench.block_on(store.memories().count_by_status()).unwrap();
    bench.block_on(store.memories().quiet_periods()).unwrap();
    bench.block_on(store.settings()).unwrap();
    let delta = bench.block_on(store.memories().index_delta("tiny".into(), None)).unwrap().unwrap();
    bench.edit(store, id(2), |it| it.content.push_str(" again"));
    bench.embed(store, id(2), vec![0.5], vec![64]);
    bench.block_on(store.memories().index_delta("tiny".into(), Some(delta.position))).unwrap();
    for filter in filters {
        bench.block_on(store.memories().numbers_matching(filter)).unwrap();
    }
    let look = |it: &TermLookup<'_>| {
        it.count_matches("\"wren\"")?;
        Ok(it.find_matches("\"wren\"")?.iter().map(|it| it.0).collect::<Vec<_>>())
    };
    bench.block_on(store.memories().look_up_terms(look)).unwrap();
    bench.block_on(store.memories().get_by_numbers(vec![2, 1, 99])).unwrap();
    bench
        .block_on(store.memories().file_warnings(vec![path("src/auth.rs"), path("src/b.rs")], 4))
        .unwrap();
    bench.block_on(store.drop_other_models("small".into())).unwrap();
    bench.block_on(store.memories().is_erased(id(3))).unwrap();
    assert!(bench.block_on(store.check_database()).is_ok());
}

/// The session repeats the text of the memory, and the plain memory was made of it.
fn write_lessons(bench: &TestBench, store: &Store) {
    let lesson = lesson(1, "the wren", Some(id(2)));
    let (session, signal) = (lesson.session.id, lesson.sightings[0].signal);
    bench
        .apply(store, AuditAction::Promote, vec![StoreChange::PutLesson(Box::new(lesson.clone()))])
        .unwrap();
    bench
        .apply(store, AuditAction::Promote, vec![StoreChange::PutLesson(Box::new(lesson))])
        .unwrap();
    bench.block_on(store.learning().get_session(session)).unwrap().unwrap();
    bench.block_on(store.learning().list_sessions()).unwrap();
    bench
        .block_on(store.learning().sightings_of_patterns(vec![(signal, "the wren".to_owned())]))
        .unwrap();
    bench.block_on(store.learning().sightings_in_session(session)).unwrap();
    bench.block_on(store.learning().sightings_for_memory(id(2))).unwrap();
    bench.block_on(store.learning().count_editing_sessions(vec![path("src/auth.rs")])).unwrap();
    bench.block_on(store.learning().files_of_session(session)).unwrap();
    bench.block_on(store.learning().count_judged()).unwrap();
    bench.block_on(store.learning().files_by_task()).unwrap();
    bench.block_on(store.learning().files_edited_by_children(session)).unwrap();
    bench.block_on(store.learning().coupled_files()).unwrap();
    bench.block_on(store.learning().touched_files()).unwrap();
    bench.block_on(store.learning().co_accessed_files(vec!["src/auth.rs".to_owned()])).unwrap();
    bench.block_on(store.learning().count_editing_sessions_in(vec!["src".to_owned()])).unwrap();
    bench.block_on(store.learning().failed_calls(Timestamp(0), Timestamp(100))).unwrap();
    let milestone = Milestone { name: "the wren".to_owned(), count: 5 };
    bench.apply(store, AuditAction::Promote, vec![StoreChange::PassMilestone(milestone)]).unwrap();
    bench.block_on(store.learning().list_milestones()).unwrap();
    let relink = StoreChange::MoveEvidence { from: id(2), to: id(1) };
    bench.apply(store, AuditAction::Promote, vec![relink]).unwrap();
}

fn read_history(bench: &TestBench, store: &Store) {
    bench.block_on(store.history().list_versions(id(2))).unwrap();
    bench.block_on(store.history().audit_entries_of(id(2))).unwrap();
    bench.block_on(store.history().recent_entries(3)).unwrap();
    let last = bench.block_on(store.history().last_undoable_entry(Some(id(2)))).unwrap().unwrap();
    bench.block_on(store.history().last_undoable_entry(None)).unwrap();
    bench.block_on(store.history().list_all_versions()).unwrap();
    bench.block_on(store.history().undo_steps(last.batch)).unwrap();
    bench.apply(store, AuditAction::Undo, vec![StoreChange::MarkUndone(last.batch)]).unwrap();
}

fn use_registry(bench: &TestBench, store: &Store) {
    for (n, name) in [(1, "wren"), (1, "again"), (2, "two")] {
        let location = ProjectLocation {
            project: ProjectId::new(NOW, [n; 10]),
            name: name.to_owned(),
            root_commit: Some("the wren".to_owned()),
            remote: Some("ssh://wren".to_owned()),
            key_dir: format!("/wren/{name}"),
            dir_key: None,
            last_seen: NOW,
        };
        bench.block_on(store.put_location(location)).unwrap();
    }
    bench.block_on(store.registry().location_at("/wren/again".into())).unwrap();
    bench.block_on(store.unregister_project(ProjectId::new(NOW, [2; 10]))).unwrap();
    bench.block_on(store.registry().list_locations()).unwrap();
}

/// Opens the store again with a mark that is ahead of it, as after the loss of a log.
fn simulate_loss(bench: &TestBench, recorder: &StatementRecorder) -> Store {
    let other = TestBench::new();
    let ahead = other.open();
    for n in 0..60 {
        other.add(&ahead, n, "further on");
    }
    drop(ahead);
    fs::copy(other.data_dir().root.join("user.mark"), bench.data_dir().root.join("user.mark"))
        .unwrap();
    recorder::recorded_store(bench.user_paths(), NOW, recorder.clone())
}

fn maintain(bench: &TestBench, store: &Store) {
    bench.add(store, 5, "after the loss");
    bench.block_on(store.backup(NOW)).unwrap();
    bench.block_on(store.repair(NOW)).unwrap();
    bench.block_on(store.remove_forgotten(vec![id(4)])).unwrap();
    bench.block_on(store.erase(vec![id(3)], NOW)).unwrap();
    assert!(!bench.block_on(store.has_traces_of(vec![id(3)])).unwrap());
    let clean = |text: &str| text.contains("wren").then(|| text.replace("wren", "bird"));
    assert_eq!(bench.block_on(store.erase_text(clean)).unwrap(), vec![id(1), id(2)]);
}
