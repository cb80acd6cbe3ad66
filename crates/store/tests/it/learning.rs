//! Lessons of sessions: written with memories in one transaction, replaced when learned again,
//! erased with the memories made of them.
//!
//! A lesson is everything a session of an agent adds beside memories: the session itself, the files
//! it touched, its failed calls and its sightings. A sighting is one pattern in one session; it is
//! evidence for a memory, or was dropped with a reason. `lesson(n, text, memory)` is the lesson of
//! session `n`, with `text` in all its texts; `memory` is what its first sighting is evidence for.

use model::{
    DropReason, Event, EventEnvelope, MemoryId, MemorySource, ProjectId, SessionId, SessionOutcome,
    SessionType, SignalKind, Timestamp, UserMessage, ValidationBasis,
};
use waylore_store::{
    AuditAction, CoAccessedFiles, FailedCallRow, JournalDurability, MaskedEvent, Milestone,
    SessionLesson, SessionRow, SightingRow, Store, StoreChange, TouchedFileRow,
};

use crate::kit::{NOW, TestBench, files_containing, id, memory, path};

/// A message of the user, as a journal accepts it.
fn event(text: &str) -> MaskedEvent {
    let message = UserMessage { text: text.to_owned(), ..UserMessage::default() };
    let event = Event::UserMessage(message);
    MaskedEvent::new(EventEnvelope { id: "e".into(), session: session(1), at: NOW, event }).unwrap()
}

pub(crate) fn session(n: u8) -> SessionId {
    SessionId::new(NOW, [n; 10])
}

/// A session that saw one pattern and dropped another; every text in it contains `text`.
pub(crate) fn lesson(n: u8, text: &str, memory: Option<MemoryId>) -> SessionLesson {
    let sighting = |key: String, memory, dropped| SightingRow {
        session: session(n),
        signal: SignalKind::ErrorRetry,
        key,
        times: 2,
        tainted: false,
        evidence: format!("{{\"text\":\"{text}\"}}"),
        memory,
        dropped,
    };
    let dropped = Some((DropReason::Frequency, format!("{text} was seen once")));
    SessionLesson {
        session: SessionRow {
            id: session(n),
            parent: Some(session(99)),
            agent: "test".to_owned(),
            kind: SessionType::Build,
            outcome: SessionOutcome::Success,
            validation_basis: Some(ValidationBasis::Observed),
            task: format!("ask {text}"),
            started: Timestamp(5),
            ended: Timestamp(9),
            steps: 7,
            tokens: 1_000,
            retries: 1,
            external: Some(format!("https://{text}")),
            progress_key: "p".to_owned(),
            planned_steps: Some(5),
        },
        files: vec![
            TouchedFileRow { path: path("src/auth.rs"), reads: 2, edits: 1, first_step: 3 },
            TouchedFileRow {
                path: path(&format!("docs/{text}.md")),
                reads: 1,
                edits: 0,
                first_step: 1,
            },
        ],
        sightings: vec![
            sighting(text.to_owned(), memory, None),
            sighting(format!("other {text}"), None, dropped),
        ],
        failed_calls: vec![FailedCallRow {
            at: Timestamp(6),
            call: format!("run {text}"),
            output_start: format!("{text} not found"),
        }],
    }
}

/// Stores a lesson.
fn learn(bench: &TestBench, store: &waylore_store::Store, lesson: SessionLesson) {
    bench
        .apply(store, AuditAction::Promote, vec![StoreChange::PutLesson(Box::new(lesson))])
        .unwrap();
}

#[test]
fn a_lesson_reads_back_and_learning_again_replaces_it() {
    let bench = TestBench::new();
    let store = bench.open();
    // Session 1 twice.
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(2, "wren", None));

    // It reads back once.
    let expected = lesson(1, "wren", None);
    assert_eq!(
        bench.block_on(store.learning().get_session(session(1))).unwrap(),
        Some(expected.session)
    );
    assert_eq!(
        bench.block_on(store.learning().sightings_in_session(session(1))).unwrap(),
        expected.sightings
    );
    // Files come in the order of the first access; in the lesson it is the reverse.
    let mut files = bench.block_on(store.learning().files_of_session(session(1))).unwrap();
    files.reverse();
    assert_eq!(files, expected.files);
    // One sighting of the pattern in each of the two sessions.
    let of_pattern = vec![(SignalKind::ErrorRetry, "wren".to_owned())];
    assert_eq!(
        bench.block_on(store.learning().sightings_of_patterns(of_pattern)).unwrap().len(),
        2
    );

    // Both sessions edited `src/auth.rs`. Only whole names of folders count, and neither reads nor
    // files in subfolders do.
    let folders = ["src", "docs", "sr", ""].map(str::to_owned).to_vec();
    assert_eq!(
        bench.block_on(store.learning().count_editing_sessions_in(folders)).unwrap(),
        [2, 0, 0, 0]
    );
}

#[test]
fn files_are_co_accessed_if_several_sessions_touched_them_within_a_few_steps() {
    let bench = TestBench::new();
    let store = bench.open();
    for (n, text) in [(1, "wren"), (2, "wren"), (3, "robin")] {
        let mut lesson = lesson(n, text, None);
        let far = TouchedFileRow { path: path("far.rs"), reads: 1, edits: 0, first_step: 9 };
        lesson.files.push(far);
        learn(&bench, &store, lesson);
    }
    let asked = vec!["src/auth.rs".to_owned(), "docs/robin.md".to_owned()];
    let found = bench.block_on(store.learning().co_accessed_files(asked)).unwrap();
    // Two sessions touched `docs/wren.md` two steps before. `docs/robin.md` is left out, because
    // only one session touched it, and `far.rs`, because it came six steps later.
    assert_eq!(
        found[0],
        CoAccessedFiles { n_sessions: 3, others: vec![("docs/wren.md".to_owned(), 2)] }
    );
    assert_eq!(found[1], CoAccessedFiles { n_sessions: 1, others: Vec::new() });
}

#[test]
fn failed_calls_are_found_by_time_and_replaced_with_their_session() {
    let bench = TestBench::new();
    let store = bench.open();
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(1, "wren", None));
    let failed_calls = |from, until| {
        bench
            .block_on(store.learning().failed_calls(Timestamp(from), Timestamp(until)))
            .unwrap()
            .len()
    };
    assert_eq!((failed_calls(0, 10), failed_calls(0, 6), failed_calls(7, 10)), (1, 0, 0));
}

#[test]
fn only_memories_that_people_removed_count_as_rejected() {
    let bench = TestBench::new();
    let store = bench.open();
    // Deletes a learned memory by an action, and returns how many were learned and how many
    // rejected.
    let delete_by = |n: u32, action: AuditAction| {
        let learned =
            model::Memory { source: MemorySource::ObserverInferred, ..memory(n, "learned") };
        bench.insert(&store, learned);
        let mut gone = bench.block_on(store.memories().get(id(n))).unwrap().unwrap();
        gone.states.deleted_at = Some(NOW);
        bench.apply(&store, action, vec![StoreChange::Replace(Box::new(gone))]).unwrap();
        bench.block_on(store.learning().count_judged()).unwrap()
    };
    assert_eq!(delete_by(1, AuditAction::Prune), (1, 0), "it faded");
    assert_eq!(delete_by(2, AuditAction::Forget), (2, 1));
    let mut back = bench.block_on(store.memories().get(id(2))).unwrap().unwrap();
    back.states.deleted_at = None;
    bench.apply(&store, AuditAction::Restore, vec![StoreChange::Replace(Box::new(back))]).unwrap();
    assert_eq!(bench.block_on(store.learning().count_judged()).unwrap(), (2, 0), "and came back");
}

#[test]
fn a_milestone_is_passed_once() {
    let bench = TestBench::new();
    let store = bench.open();
    let milestone = |count| Milestone { name: "src".to_owned(), count };
    for count in [5, 10, 5] {
        bench
            .apply(&store, AuditAction::Promote, vec![StoreChange::PassMilestone(milestone(count))])
            .unwrap();
    }
    assert_eq!(
        bench.block_on(store.learning().list_milestones()).unwrap(),
        [milestone(5), milestone(10)]
    );
}

#[test]
fn every_sighting_of_a_pattern_is_evidence_for_its_memory() {
    let bench = TestBench::new();
    let store = bench.open();
    let memory = bench.add(&store, 1, "learned of the wren");
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(2, "wren", Some(memory)));
    let evidence = bench.block_on(store.learning().sightings_for_memory(memory)).unwrap();
    assert_eq!(evidence.iter().map(|it| it.session).collect::<Vec<_>>(), [session(1), session(2)]);
}

#[test]
fn an_erased_memory_takes_its_evidence_along() {
    let bench = TestBench::new();
    let store = bench.open();
    let memory = bench.add(&store, 1, "learned of something");
    learn(&bench, &store, lesson(1, "nightjar", Some(memory)));
    bench.block_on(store.backup(NOW)).unwrap();
    bench.block_on(store.erase(vec![memory], NOW)).unwrap();
    assert!(bench.block_on(store.learning().sightings_for_memory(memory)).unwrap().is_empty());
    let left = bench.block_on(store.learning().sightings_in_session(session(1))).unwrap();
    assert_eq!(left.len(), 1, "a sighting that became no memory stays");
}

#[test]
fn an_erased_text_is_nowhere_in_lessons() {
    let bench = TestBench::new();
    let store = bench.open();
    learn(&bench, &store, lesson(1, "nightjar", None));
    bench.add(&store, 1, "nightjar");
    let clean = |it: &str| it.contains("nightjar").then(|| it.replace("nightjar", "[gone]"));
    bench.block_on(store.erase_text(clean)).unwrap();
    drop(store);
    assert!(files_containing(bench.dir.path(), b"nightjar").is_empty());
}

#[test]
fn a_journal_is_private_grows_by_whole_lines_and_is_removed_with_its_project() {
    let bench = TestBench::new();
    let project = ProjectId::new(NOW, [2; 10]);
    let store = Store::project(bench.data_dir().project_paths(project), None, NOW);
    store.journal_writer().append(session(1), &[event("one")], JournalDurability::Synced).unwrap();
    let path = store.journals().list()[0].1.clone();
    // As if the process had died in the middle of a line.
    std::fs::write(&path, "{\"a\":1}\n{\"b\"").unwrap();
    let nightjar = event("nightjar");
    store
        .journal_writer()
        .append(session(1), std::slice::from_ref(&nightjar), JournalDurability::Buffered)
        .unwrap();
    let lines = format!("{{\"a\":1}}\n{{\"b\"\n{}\n", nightjar.to_line());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    bench.add(&store, 1, "something");
    let clean = |it: &str| it.contains("nightjar").then(|| it.replace("nightjar", "[gone]"));
    bench.block_on(store.erase_text(clean)).unwrap();
    assert!(files_containing(bench.dir.path(), b"nightjar").is_empty());
    drop(store);
    bench.data_dir().remove_project(project).unwrap();
    assert!(!path.exists());
}

#[test]
fn evidence_moves_to_the_memory_that_absorbed_another() {
    let bench = TestBench::new();
    let store = bench.open();
    let memories = [1, 2].map(|it| MemoryId::new(Timestamp(1), [it; 10]));
    learn(&bench, &store, lesson(1, "wren", Some(memories[0])));
    learn(&bench, &store, lesson(2, "robin", Some(memories[1])));
    let relink = StoreChange::MoveEvidence { from: memories[0], to: memories[1] };
    bench.apply(&store, AuditAction::Promote, vec![relink]).unwrap();
    let n_sightings = |it| bench.block_on(store.learning().sightings_for_memory(it)).unwrap().len();
    assert_eq!((n_sightings(memories[0]), n_sightings(memories[1])), (0, 2));
}
