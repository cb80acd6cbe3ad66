//! What sessions leave behind: written with memories in one go, replaced when learned again, erased
//! with what was made of it.

use model::{
    DropReason, MemoryId, Outcome, ProjectId, SessionId, SessionType, SignalKind, Source,
    Timestamp, ValidationBasis,
};
use waylore_store::{
    Action, Change, Lesson, Milestone, SessionRow, SightingRow, Store, StumbleRow, TouchedRow,
    TouchedWith,
};

use crate::kit::{Bench, NOW, hits, id, memory, path};

pub(crate) fn session(n: u8) -> SessionId {
    SessionId::new(NOW, [n; 10])
}

/// A session that saw one pattern and dropped another; every text in it holds `text`.
pub(crate) fn lesson(n: u8, text: &str, memory: Option<MemoryId>) -> Lesson {
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
    Lesson {
        session: SessionRow {
            id: session(n),
            parent: Some(session(99)),
            agent: "test".to_owned(),
            kind: SessionType::Build,
            outcome: Outcome::Success,
            validated: Some(ValidationBasis::Observed),
            task: format!("ask {text}"),
            started: Timestamp(5),
            ended: Timestamp(9),
            steps: 7,
            tokens: 1_000,
            retries: 1,
            external: Some(format!("https://{text}")),
            print: "p".to_owned(),
            planned: Some(5),
        },
        files: vec![
            TouchedRow { path: path("src/auth.rs"), reads: 2, edits: 1, first_step: 3 },
            TouchedRow {
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
        stumbles: vec![StumbleRow {
            at: Timestamp(6),
            head: format!("run {text}"),
            beginning: format!("{text} not found"),
        }],
    }
}

fn learn(bench: &Bench, store: &waylore_store::Store, lesson: Lesson) {
    bench.apply(store, Action::Promote, vec![Change::Learn(Box::new(lesson))]).unwrap();
}

#[test]
fn a_lesson_reads_back_and_learning_again_replaces_it() {
    let bench = Bench::new();
    let store = bench.open();
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(2, "wren", None));
    let wanted = lesson(1, "wren", None);
    assert_eq!(bench.wait(store.session(session(1))).unwrap(), Some(wanted.session));
    assert_eq!(bench.wait(store.sightings_in(session(1))).unwrap(), wanted.sightings);
    let mut files = bench.wait(store.session_files(session(1))).unwrap();
    files.reverse();
    assert_eq!(files, wanted.files);
    let of_pattern = vec![(SignalKind::ErrorRetry, "wren".to_owned())];
    assert_eq!(bench.wait(store.sightings_of(of_pattern)).unwrap().len(), 2);
    let (editors, all) =
        bench.wait(store.editors(vec![path("src/auth.rs"), path("src/b.rs")])).unwrap();
    assert_eq!((editors, all), (vec![2, 0], 2));
    let folders = ["src", "docs", "sr", ""].map(str::to_owned).to_vec();
    assert_eq!(bench.wait(store.editors_in(folders)).unwrap(), [2, 0, 0, 0]);
}

#[test]
fn files_are_touched_together_when_several_sessions_did_so_within_a_few_steps() {
    let bench = Bench::new();
    let store = bench.open();
    for (n, text) in [(1, "wren"), (2, "wren"), (3, "robin")] {
        let mut lesson = lesson(n, text, None);
        let far = TouchedRow { path: path("far.rs"), reads: 1, edits: 0, first_step: 9 };
        lesson.files.push(far);
        learn(&bench, &store, lesson);
    }
    let asked = vec!["src/auth.rs".to_owned(), "docs/robin.md".to_owned()];
    let found = bench.wait(store.touched_with(asked)).unwrap();
    // Robin is one session, and the file that is far was touched six steps later.
    assert_eq!(
        found[0],
        TouchedWith { n_sessions: 3, others: vec![("docs/wren.md".to_owned(), 2)] }
    );
    assert_eq!(found[1], TouchedWith { n_sessions: 1, others: Vec::new() });
}

#[test]
fn what_failed_is_known_by_its_moment_and_replaced_with_its_session() {
    let bench = Bench::new();
    let store = bench.open();
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(1, "wren", None));
    let stumbles =
        |from, until| bench.wait(store.stumbles(Timestamp(from), Timestamp(until))).unwrap().len();
    assert_eq!((stumbles(0, 10), stumbles(0, 6), stumbles(7, 10)), (1, 0, 0));
}

#[test]
fn only_what_people_took_away_was_rejected() {
    let bench = Bench::new();
    let store = bench.open();
    let take_away = |n: u32, action: Action| {
        let learned = model::Memory { source: Source::ObserverInferred, ..memory(n, "learned") };
        bench.insert(&store, learned);
        let mut gone = bench.wait(store.get(id(n))).unwrap().unwrap();
        gone.states.deleted_at = Some(NOW);
        bench.apply(&store, action, vec![Change::Replace(Box::new(gone))]).unwrap();
        bench.wait(store.judged()).unwrap()
    };
    assert_eq!(take_away(1, Action::Prune), (1, 0), "it faded");
    assert_eq!(take_away(2, Action::Forget), (2, 1));
    let mut back = bench.wait(store.get(id(2))).unwrap().unwrap();
    back.states.deleted_at = None;
    bench.apply(&store, Action::Restore, vec![Change::Replace(Box::new(back))]).unwrap();
    assert_eq!(bench.wait(store.judged()).unwrap(), (2, 0), "and came back");
}

#[test]
fn a_milestone_is_passed_once() {
    let bench = Bench::new();
    let store = bench.open();
    let milestone = |mark| Milestone { what: "src".to_owned(), mark };
    for mark in [5, 10, 5] {
        bench.apply(&store, Action::Promote, vec![Change::Pass(milestone(mark))]).unwrap();
    }
    assert_eq!(bench.wait(store.milestones()).unwrap(), [milestone(5), milestone(10)]);
}

#[test]
fn every_sighting_of_a_pattern_speaks_for_its_memory() {
    let bench = Bench::new();
    let store = bench.open();
    let memory = bench.add(&store, 1, "learned of the wren");
    learn(&bench, &store, lesson(1, "wren", None));
    learn(&bench, &store, lesson(2, "wren", Some(memory)));
    let evidence = bench.wait(store.sightings_for(memory)).unwrap();
    assert_eq!(evidence.iter().map(|it| it.session).collect::<Vec<_>>(), [session(1), session(2)]);
}

#[test]
fn an_erased_memory_takes_its_evidence_along() {
    let bench = Bench::new();
    let store = bench.open();
    let memory = bench.add(&store, 1, "learned of something");
    learn(&bench, &store, lesson(1, "nightjar", Some(memory)));
    bench.wait(store.backup(NOW)).unwrap();
    bench.wait(store.erase(vec![memory], NOW)).unwrap();
    assert!(bench.wait(store.sightings_for(memory)).unwrap().is_empty());
    let left = bench.wait(store.sightings_in(session(1))).unwrap();
    assert_eq!(left.len(), 1, "what was not made into it stays");
}

#[test]
fn a_text_that_is_scrubbed_is_nowhere_in_lessons() {
    let bench = Bench::new();
    let store = bench.open();
    learn(&bench, &store, lesson(1, "nightjar", None));
    bench.add(&store, 1, "nightjar");
    let clean = |it: &str| it.contains("nightjar").then(|| it.replace("nightjar", "[gone]"));
    bench.wait(store.scrub(clean)).unwrap();
    drop(store);
    assert!(hits(bench.dir.path(), b"nightjar").is_empty());
    let _ = id(1);
}

#[test]
fn a_journal_is_private_grows_by_lines_and_goes_with_its_project() {
    let bench = Bench::new();
    let project = ProjectId::new(NOW, [2; 10]);
    let store = Store::project(bench.data().project(project), None, NOW);
    store.journal(session(1), "{\"a\":1}\n", true).unwrap();
    let path = store.journals()[0].1.clone();
    // The process died in the middle of a line.
    std::fs::write(&path, "{\"a\":1}\n{\"b\"").unwrap();
    store.journal(session(1), "{\"nightjar\":2}\n", false).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"b\"\n{\"nightjar\":2}\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    bench.add(&store, 1, "something");
    let clean = |it: &str| it.contains("nightjar").then(|| it.replace("nightjar", "[gone]"));
    bench.wait(store.scrub(clean)).unwrap();
    assert!(hits(bench.dir.path(), b"nightjar").is_empty());
    drop(store);
    bench.data().remove_project(project).unwrap();
    assert!(!path.exists());
}

#[test]
fn what_spoke_for_one_memory_speaks_for_the_one_that_took_it_in() {
    let bench = Bench::new();
    let store = bench.open();
    let memories = [1, 2].map(|it| MemoryId::new(Timestamp(1), [it; 10]));
    learn(&bench, &store, lesson(1, "wren", Some(memories[0])));
    learn(&bench, &store, lesson(2, "robin", Some(memories[1])));
    let relink = Change::Relink { from: memories[0], to: memories[1] };
    bench.apply(&store, Action::Promote, vec![relink]).unwrap();
    let n = |it| bench.wait(store.sightings_for(it)).unwrap().len();
    assert_eq!((n(memories[0]), n(memories[1])), (0, 2));
}
