//! A scenario that runs every statement of the store, so that all of them are recorded.
//!
//! The recorder notes each SQL statement with its parameters and its result; the test in
//! `server.rs` then replays them on a server and compares. So most results are not looked at here:
//! a call is in the scenario for the statements it runs, and each stage names the ones that need a
//! special situation. The word `wren` is in every kind of text; the last stage erases it.
//!
//! Memories by number: 1 has a value in every field, 2 is plain, 3 is erased, 4 is removed, 5 is
//! added after the loss.

use std::fs;

use model::{
    Actor, DAY_MS, HybridTimestamp, MemorySource, ProjectId, RelationKind, SignalKind, Timestamp,
};
use waylore_store::recorder::{self, StatementRecorder};
use waylore_store::{
    AuditAction, Error, InjectionFilter, MemoryFilter, Milestone, ProjectLocation, Store,
    StoreChange, TermLookup, WriteBatch,
};

use crate::injections;
use crate::kit::{MODEL, NOW, TestBench, batch, everything, full_memory, id, memory, path};
use crate::learning::lesson;

pub(crate) fn run_scenario(recorder: &StatementRecorder) {
    let bench = TestBench::new();
    let store = recorder::recorded_store(bench.user_paths(), NOW, recorder.clone());
    write_memories(&bench, &store);
    jump_clock(&bench, &store);
    fail_to_write(&bench, &store);
    write_and_read_lessons(&bench, &store);
    log_injections(&bench, &store);
    read_memories(&bench, &store);
    read_and_undo_history(&bench, &store);
    use_registry(&bench, &store);
    drop(store);

    let store = reopen_after_loss(&bench, recorder);
    maintain(&bench, &store);
    // Once more, now with erased memories and replaced texts.
    read_memories(&bench, &store);
}

/// Waits for one call of the store, which must succeed.
fn run<T>(bench: &TestBench, call: impl Future<Output = Result<T, Error>>) -> T {
    bench.block_on(call).unwrap()
}

/// Applies one change as a batch of its own.
fn apply_one(bench: &TestBench, store: &Store, action: AuditAction, change: StoreChange) {
    bench.apply(store, action, vec![change]).unwrap();
}

/// Every kind of change to memories, vectors, settings and usage counters.
fn write_memories(bench: &TestBench, store: &Store) {
    // A batch with an idempotency key: the second time it finds its key and changes nothing.
    let mut keyed =
        batch(AuditAction::Remember, vec![StoreChange::Insert(Box::new(full_memory(1, "wren")))]);
    keyed.key = Some("wren".to_owned());
    keyed.detail = Some("from the wren".to_owned());
    keyed.actor = Actor::Agent("wren".to_owned());
    run(bench, store.apply(keyed.clone()));
    assert!(run(bench, store.apply(keyed)).is_repeat);

    bench.add(store, 2, "the plain wren sings in verifyJwt");
    bench.add(store, 3, "erased later");
    bench.add(store, 4, "removed later");

    // An edit stores the earlier version. A deleted memory leaves the search index and returns.
    bench.edit(store, id(1), |it| it.summary.push_str(", edited"));
    bench.edit(store, id(2), |it| it.states.deleted_at = Some(NOW));
    bench.edit(store, id(2), |it| it.states.deleted_at = None);

    for n in 1..=3 {
        let (values, code) = (vec![0.5, -0.25, 1e-7], vec![64, -32, 0]);
        bench.embed(store, id(n), values, code);
    }

    // A setting is set, removed and set again.
    let set = |value: Option<&str>| StoreChange::Setting {
        key: "k".into(),
        value: value.map(str::to_owned),
    };
    let settings = vec![set(Some("a")), set(None), set(Some("the wren"))];
    bench.apply(store, AuditAction::Settings, settings).unwrap();

    let counts = vec![StoreChange::CountUse { id: id(2) }];
    bench.apply(store, AuditAction::Flag, counts).unwrap();
}

/// Notes that a session of the wren was given, and the judgement that it followed one.
fn log_injections(bench: &TestBench, store: &Store) {
    let rows = vec![injections::row(2, "the wren", 0, NOW)];
    run(bench, store.put_injections(rows, NOW));
    run(bench, store.judge_injections(injections::project(), "the wren".into(), vec![id(2)]));
    let filter = InjectionFilter { limit: 10, ..InjectionFilter::default() };
    assert_eq!(run(bench, store.injections().list(filter)).len(), 1);
    run(bench, store.injections().totals_by_tier(injections::project()));
}

/// Empty batches at other times. The store records long gaps between uses as quiet spans: 400 days
/// ahead adds one, and going back to day 1 deletes it again, since it has not passed yet.
fn jump_clock(bench: &TestBench, store: &Store) {
    for day in [400, 1, 2] {
        // As if another store were seven ticks ahead: the batch must come after its clock.
        let own_clock = run(bench, store.history().hybrid_clock());
        let after_clock = HybridTimestamp(own_clock.0 + 7);
        let now = NOW.plus_millis(day * DAY_MS);
        let empty = batch(AuditAction::Settings, vec![]);
        run(bench, store.apply(WriteBatch { now, after_clock, ..empty }));
    }
}

/// A new version of a memory that does not exist: the batch is rolled back, which is recorded, too.
fn fail_to_write(bench: &TestBench, store: &Store) {
    let missing = StoreChange::Replace(Box::new(memory(77, "no")));
    let result = bench.apply(store, AuditAction::Edit, vec![missing]);
    assert!(result.is_err(), "memory 77 does not exist");
}

/// What a session adds beside memories. Its texts repeat the wren, and its first sighting is
/// evidence for memory 2.
fn write_and_read_lessons(bench: &TestBench, store: &Store) {
    let lesson = lesson(1, "the wren", Some(id(2)));
    let (session, signal) = (lesson.session.id, lesson.sightings[0].signal);
    // The second time replaces the rows of the first.
    for _ in 0..2 {
        let put = StoreChange::PutLesson(Box::new(lesson.clone()));
        apply_one(bench, store, AuditAction::Promote, put);
    }

    let learning = store.learning();
    // Sessions and sightings.
    assert!(run(bench, learning.get_session(session)).is_some());
    run(bench, learning.list_sessions());
    run(bench, learning.sightings_of_patterns(vec![(signal, "the wren".to_owned())]));
    run(bench, learning.sightings_in_session(session));
    run(bench, learning.sightings_by_key_beginning(signal, "the".to_owned()));
    run(bench, learning.sightings_for_memory(id(2)));
    run(bench, learning.memories_with_signals(vec![SignalKind::CoAccess]));
    // Files that sessions touched.
    run(bench, learning.files_of_session(session));
    run(bench, learning.count_judged());
    run(bench, learning.files_by_task());
    run(bench, learning.files_edited_by_children(session));
    run(bench, learning.touched_files());
    run(bench, learning.co_accessed_files(vec!["src/auth.rs".to_owned()]));
    run(bench, learning.count_editing_sessions_in(vec!["src".to_owned()]));
    run(bench, learning.failed_calls(Timestamp(0), Timestamp(100)));

    let milestone = Milestone { name: "the wren".to_owned(), count: 5 };
    apply_one(bench, store, AuditAction::Promote, StoreChange::PassMilestone(milestone));
    run(bench, learning.list_milestones());

    let move_evidence = StoreChange::MoveEvidence { from: id(2), to: id(1) };
    apply_one(bench, store, AuditAction::Promote, move_evidence);
}

/// Every way to read memories and vectors. Some requests find nothing on purpose: an empty result
/// runs the statements that check for damage.
fn read_memories(bench: &TestBench, store: &Store) {
    let memories = store.memories();
    // Each filter leads to another statement: by file, by tag, by module, or none of them.
    let all = everything;
    let filters = [
        all(),
        MemoryFilter { file: Some(path("src/auth.rs")), ..all() },
        MemoryFilter { tag: Some("tag".to_owned()), kind: Some("gotcha".to_owned()), ..all() },
        MemoryFilter { module: Some("auth".to_owned()), pinned: Some(false), ..all() },
        MemoryFilter { source: Some(MemorySource::UserTaught), limit: 2, offset: 1, ..all() },
        MemoryFilter { kind: Some("gotcha".to_owned()), ..all() },
        MemoryFilter { pinned: Some(true), ..all() },
    ];
    for filter in &filters {
        run(bench, memories.list(filter.clone()));
        run(bench, memories.search("\"wren\" OR \"jwt\"".into(), filter.clone()));
    }

    // By id. Memory 5 does not exist yet at the first call, memories 3 and 4 no longer at the
    // second.
    for n in 1..=5 {
        run(bench, memories.get(id(n)));
        run(bench, store.vectors().get(id(n), MODEL.into()));
    }
    // All short ids begin with zeros. 4,000 is the memory that memory 1 is derived from.
    run(bench, memories.find_by_short_id("0000".into()));
    run(bench, memories.find_by_id_part("0000".into()));
    run(bench, memories.list_related_to(id(4_000), RelationKind::DerivedFrom));
    run(bench, memories.count_by_status());
    run(bench, memories.quiet_periods());
    run(bench, store.settings());

    // The whole index, a change, and then only what changed since.
    let full = run(bench, memories.index_delta(MODEL.into(), None)).unwrap();
    bench.edit(store, id(2), |it| it.content.push_str(" again"));
    bench.embed(store, id(2), vec![0.5], vec![64]);
    run(bench, store.put_index_snapshot(full.position.clone(), MODEL.into(), b"index".to_vec()));
    run(bench, memories.index_snapshot(MODEL.into()));
    run(bench, memories.index_delta(MODEL.into(), Some(full.position)));
    run(bench, memories.find_similar(vec!["\"wren\"".into()], vec![everything()]));
    run(bench, memories.list_files());
    run(bench, store.check_sample());

    // The parts of a ranked search.
    for filter in filters {
        run(bench, memories.numbers_matching(filter));
    }
    let look_up = |terms: &TermLookup<'_>| {
        terms.count_matches("\"wren\"")?;
        let matches = terms.find_matches("\"wren\"")?;
        Ok(matches.iter().map(|(number, _)| number).collect::<Vec<_>>())
    };
    run(bench, memories.look_up_terms(look_up));
    run(bench, memories.get_by_numbers(vec![2, 1, 99]));
    let files = vec![path("src/auth.rs"), path("src/b.rs")];
    run(bench, memories.file_warnings(files, 4));

    // Another model than `MODEL`: all vectors so far are dropped.
    run(bench, store.drop_other_models("small".into()));
    run(bench, memories.is_erased(id(3)));
    assert!(bench.block_on(store.check_database()).is_ok());
}

fn read_and_undo_history(bench: &TestBench, store: &Store) {
    let history = store.history();
    run(bench, history.list_versions(id(2)));
    run(bench, history.audit_entries_of(id(2)));
    run(bench, history.recent_entries(3));
    let last = run(bench, history.last_undoable_entry(Some(id(2)))).unwrap();
    run(bench, history.last_undoable_entry(None));
    run(bench, history.list_all_versions());
    run(bench, history.undo_steps(last.batch));
    apply_one(bench, store, AuditAction::Undo, StoreChange::MarkUndone(last.batch));
}

/// Registers project 1 in two folders and project 2 in one, then removes project 2.
fn use_registry(bench: &TestBench, store: &Store) {
    for (project, name) in [(1, "wren"), (1, "again"), (2, "two")] {
        let location = ProjectLocation {
            project: ProjectId::new(NOW, [project; 10]),
            name: name.to_owned(),
            root_commit: Some("the wren".to_owned()),
            remote: Some("ssh://wren".to_owned()),
            key_dir: format!("/wren/{name}"),
            dir_key: None,
            last_seen: NOW,
        };
        run(bench, store.put_location(location));
    }
    run(bench, store.registry().location_at("/wren/again".into()));
    run(bench, store.unregister_project(ProjectId::new(NOW, [2; 10])));
    run(bench, store.registry().list_locations());
}

/// Opens the store again as if its newest changes were lost.
///
/// `user.mark` holds the number of the last acknowledged change. A mark with a higher number than
/// the database means a loss, which the next opening records. The mark of another store with 60
/// changes is far enough ahead.
fn reopen_after_loss(bench: &TestBench, recorder: &StatementRecorder) -> Store {
    let other = TestBench::new();
    let ahead = other.open();
    for n in 0..60 {
        other.add(&ahead, n, "further on");
    }
    drop(ahead);

    let mark_ahead = other.data_dir().root.join("user.mark");
    fs::copy(mark_ahead, bench.data_dir().root.join("user.mark")).unwrap();
    recorder::recorded_store(bench.user_paths(), NOW, recorder.clone())
}

/// A write after the loss, a backup, a repair, and the three ways to delete for good.
fn maintain(bench: &TestBench, store: &Store) {
    // The writer is opened for this write and records the loss; the repair acknowledges it.
    bench.add(store, 5, "after the loss");
    run(bench, store.backup(NOW));
    run(bench, store.repair(NOW));

    // Removed: only from the database. Erased: from all copies, with a proof.
    run(bench, store.remove_forgotten(vec![id(4)]));
    run(bench, store.erase(vec![id(3)], NOW));
    assert!(!run(bench, store.has_traces_of(vec![id(3)])));

    // The word is replaced in every text, of lessons, settings and the registry as well; the
    // memories that held it are returned.
    let clean = |text: &str| text.contains("wren").then(|| text.replace("wren", "bird"));
    assert_eq!(run(bench, store.erase_text(clean)), vec![id(1), id(2)]);
}
