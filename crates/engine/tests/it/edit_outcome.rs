//! Evidence from outside a session: its siblings agree with it, its edits are committed or reverted
//! later, later sessions use its memories or continue its work unit.
//!
//! *Siblings* are subagents of one parent session; two that show the same pattern are a *quorum*. A
//! *dead end* is work that was reverted. A *work unit* is a planned piece of work, such as a subtask
//! of a specification; several sessions may work on it. Sessions are written as JSON events without
//! the common fields, which `parse_events_at` adds.

use std::path::Path;
use std::process::Command;

use agents::{HookEvent, HookMessage};
use model::{SessionId, Timestamp};
use waylore_engine::Project;

use crate::learning::{LearningFixture, SESSION_ID_PREFIX, START, parse_events_at};

const MINUTE_MS: i64 = 60_000;
/// Number of the session that is the parent of the subagents. It has no journal of its own.
const PARENT: u8 = 90;
/// Number of another parent.
const OTHER_PARENT: u8 = 91;

/// An error, and the call that fixes it.
const FIXED_ERROR: &[&str] = &[
    r#""event":"tool_call","call_id":"x","tool":"shell","args":{"command":"git show --no-stat"}"#,
    r#""event":"tool_result","call_id":"x","tool":"shell","ok":false,"excerpt":"fatal: unrecognized argument: --no-stat""#,
    r#""event":"tool_call","call_id":"y","tool":"shell","args":{"command":"git show --stat"}"#,
    r#""event":"tool_result","call_id":"y","tool":"shell","ok":true,"excerpt":"ok""#,
];

fn session_id(session: u8) -> SessionId {
    format!("{SESSION_ID_PREFIX}{session:02}").parse().unwrap()
}

/// The events of a subagent that edited two files and passed its tests. `note`, if not empty, is a
/// note that it recorded; `more` are further events.
fn subagent_events(parent: u8, note: &str, more: &[&str]) -> Vec<String> {
    let parent = session_id(parent);
    let mut events = vec![format!(
        r#""event":"session_start","project_root":"/p","agent":"test","parent":"{parent}","task":"a part of it""#
    )];
    let two_edits_and_a_test = [
        r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/api.rs"]}"#,
        r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#,
        r#""event":"tool_call","call_id":"b","tool":"edit","args":{"paths":["web/wire.ts"]}"#,
        r#""event":"tool_result","call_id":"b","tool":"edit","ok":true"#,
        r#""event":"tool_call","call_id":"c","tool":"shell","args":{"command":"cargo test"}"#,
        r#""event":"tool_result","call_id":"c","tool":"shell","ok":true,"excerpt":"ok""#,
    ];
    events.extend(two_edits_and_a_test.map(str::to_owned));
    if !note.is_empty() {
        events.push(format!(r#""event":"record","type":"gotcha","content":"{note}""#));
    }
    events.extend(more.iter().map(|it| (*it).to_owned()));
    events.push(r#""event":"step_complete""#.to_owned());
    events
}

/// Journals a session that begins at [`START`].
fn record_session(fixture: &LearningFixture, project: &mut Project, session: u8, lines: &[String]) {
    record_session_at(fixture, project, START, session, lines);
}

fn record_session_at(
    fixture: &LearningFixture,
    project: &mut Project,
    start: i64,
    session: u8,
    lines: &[String],
) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    fixture.record(project, &parse_events_at(start, session, &lines));
}

#[test]
fn a_subagent_reads_the_notes_of_its_siblings_only() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    record_session(
        &fixture,
        &mut project,
        1,
        &subagent_events(PARENT, "`src/api.rs` is generated from the schema.", &[]),
    );
    record_session(&fixture, &mut project, 2, &subagent_events(PARENT, "", &[]));

    // A subagent of another parent.
    let stranger = subagent_events(OTHER_PARENT, "`web/wire.ts` is written by hand.", &[]);
    record_session(&fixture, &mut project, 3, &stranger);
    let notes = |session| {
        let notes = project.session_history().sibling_notes(session_id(session)).unwrap();
        notes.notes.into_iter().map(|it| it.note.content).collect::<Vec<_>>()
    };
    assert_eq!(notes(2), ["`src/api.rs` is generated from the schema."]);
    assert!(notes(1).is_empty() && notes(3).is_empty());
    assert!(project.session_history().sibling_notes(session_id(77)).is_err(), "an unknown session");
}

#[test]
fn two_subagents_are_a_quorum_and_count_as_one_session() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();

    // An error and its fix need two sessions, so one subagent is not enough. Two subagents of one parent
    // are a quorum. They also edited the same files, which is a conflict for each of the two files.
    record_session(&fixture, &mut project, 1, &subagent_events(PARENT, "", FIXED_ERROR));
    assert_eq!(fixture.learn_journals(&mut project).texts, Vec::<String>::new());
    record_session(&fixture, &mut project, 2, &subagent_events(PARENT, "", FIXED_ERROR));
    let mut texts = fixture.learn_journals(&mut project).texts;
    texts.sort();
    let errors = texts.iter().filter(|it| it.contains("which fails here")).count();
    let conflicts = texts.iter().filter(|it| it.contains("two subagents")).count();
    assert_eq!((errors, conflicts), (1, 2), "{texts:#?}");

    // Subagents of two parents are two sessions.
    let other = LearningFixture::new();
    let mut project = other.open_project();
    for session in 1..=2 {
        let parent = 80 + session;
        let lines = subagent_events(parent, "", FIXED_ERROR);
        record_session(&other, &mut project, session, &lines);
        let n_expected = usize::from(session == 2);
        assert_eq!(
            other.learn_journals(&mut project).texts.len(),
            n_expected,
            "after {session} sessions"
        );
    }
}

/// Runs git with `at` as the time of the commit.
pub(crate) fn git(root: &Path, at: i64, args: &[&str]) {
    let date = format!("@{} +0000", at / 1000);
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(root)
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A repository with one commit, made before the session begins. The project is opened half an hour
/// after the session.
fn repository() -> (LearningFixture, Project) {
    let fixture = LearningFixture::new();
    let root = fixture.root();
    std::fs::write(root.join("a.rs"), "fn a() {}\n").unwrap();
    git(&root, START - 60 * MINUTE_MS, &["init", "-q"]);
    git(&root, START - 60 * MINUTE_MS, &["add", "."]);
    git(&root, START - 60 * MINUTE_MS, &["commit", "-qm", "first"]);
    let mut project = fixture.open_project();
    project.set_now(Timestamp(START + 30 * MINUTE_MS));
    (fixture, project)
}

/// Journals more than twenty steps of work on one file that nothing validates: enough for a dead
/// end.
fn record_unvalidated_session(fixture: &LearningFixture, project: &mut Project) {
    let mut lines = vec![
        r#""event":"session_start","project_root":"/p","agent":"test","task":"Cache the parsed totals in a global map. Be quick.""#.to_owned(),
    ];
    for nth in 0..21 {
        let tool = if nth % 2 == 0 { "edit" } else { "read" };
        lines.push(format!(
            r#""event":"tool_call","call_id":"c{nth}","tool":"{tool}","args":{{"paths":["a.rs"]}}"#
        ));
        lines
            .push(format!(r#""event":"tool_result","call_id":"c{nth}","tool":"{tool}","ok":true"#));
    }
    lines.push(r#""event":"step_complete""#.to_owned());
    record_session(fixture, project, 1, &lines);
}

#[test]
fn discarded_edits_are_a_dead_end() {
    let (fixture, mut project) = repository();
    let root = fixture.root();
    record_unvalidated_session(&fixture, &mut project);

    // The edit of the session, not committed.
    std::fs::write(root.join("a.rs"), "fn a() { cache() }\n").unwrap();
    assert_eq!(
        fixture.learn_journals(&mut project).texts,
        Vec::<String>::new(),
        "the edits are still there"
    );

    // The file is back in its old state.
    std::fs::write(root.join("a.rs"), "fn a() {}\n").unwrap();
    assert_eq!(
        fixture.learn_journals(&mut project).texts,
        Vec::<String>::new(),
        "no later commit exists yet"
    );

    // A commit without the edit shows that the work went on without it.
    std::fs::write(root.join("b.rs"), "fn b() {}\n").unwrap();
    git(&root, START + 10 * MINUTE_MS, &["add", "."]);
    git(&root, START + 10 * MINUTE_MS, &["commit", "-qm", "another way"]);
    let dead_end = "An attempt at “Cache the parsed totals in a global map” was thrown away: its edits of `a.rs` were never committed, and the files are as they were. Ask what was wrong with it before you try the same.";
    assert_eq!(fixture.learn_journals(&mut project).texts, [dead_end]);
    assert_eq!(
        fixture.learn_journals(&mut project).texts,
        [dead_end],
        "learning again changes nothing"
    );
}

#[test]
fn reverted_edits_name_the_reverting_commit() {
    let (fixture, mut project) = repository();
    let root = fixture.root();
    record_unvalidated_session(&fixture, &mut project);
    std::fs::write(root.join("a.rs"), "fn a() { cache() }\n").unwrap();
    git(&root, START + 5 * MINUTE_MS, &["commit", "-qam", "cache"]);
    git(&root, START + 6 * MINUTE_MS, &["revert", "--no-edit", "HEAD"]);
    let texts = fixture.learn_journals(&mut project).texts;
    assert!(texts[0].contains("were taken back by “Revert \"cache\"”"), "{texts:?}");
}

#[test]
fn committed_edits_validate_their_session() {
    let (fixture, mut project) = repository();
    let root = fixture.root();
    record_unvalidated_session(&fixture, &mut project);
    std::fs::write(root.join("a.rs"), "fn a() { cache() }\n").unwrap();
    git(&root, START + 5 * MINUTE_MS, &["commit", "-qam", "cache"]);
    fixture.learn_journals(&mut project);
    let sessions = fixture.run(project.session_history().learned_sessions());
    assert_eq!(sessions[0].validation_basis, Some(model::ValidationBasis::Deferred));
    assert!(
        project.session_history().journal_transcripts().is_empty(),
        "nothing waits for validation"
    );
}

/// Six sessions touch `a.rs` and are shown a warning that names `b.rs`. Five of them then edit
/// `b.rs`; the last only opens it.
#[test]
fn a_memory_that_is_followed_often_gains_confidence() {
    let fixture = LearningFixture::new();
    let root = fixture.root();
    std::fs::write(root.join("a.rs"), "").unwrap();
    std::fs::write(root.join("b.rs"), "").unwrap();
    let mut project = fixture.open_project();
    let note = r#""event":"record","type":"gotcha","content":"`a.rs` takes its limits from `b.rs`.","files":["a.rs","b.rs"]"#;
    let lines: Vec<String> = subagent_events(PARENT, "", &[note]);
    record_session(&fixture, &mut project, 1, &lines);
    fixture.learn_journals(&mut project);
    let load_memory = |project: &Project| {
        let filter = waylore_engine::MemoryFilter::active(10);
        let all = fixture.run(project.retriever().list(&filter, None));
        all.into_iter().find(|it| it.memory.content.starts_with("`a.rs`")).unwrap().memory
    };
    let before = load_memory(&project);

    // Six sessions, one per day.
    for session in 10..16_u8 {
        let day = i64::from(session) * 24 * 60 * MINUTE_MS;
        project.set_now(Timestamp(START + day));
        // The hook reports that the session touches `a.rs`, and injects the warning.
        let event = HookEvent::FilesTouched { paths: vec!["a.rs".to_owned()] };
        let root = root.display().to_string();
        let mut message = HookMessage::from_program(format!("host-{session}"), root, event);
        message.host = Some("claude-code");
        let injected = fixture.run(project.injector().inject(&message)).into_text();
        assert!(injected.is_some_and(|it| it.contains("takes its limits")));
        // Then the session edits the other file; the last session only opens it.
        let tool = if session == 15 { "read" } else { "edit" };
        let lines = [
            format!(
                r#""event":"session_start","project_root":"/p","agent":"test","host_session":"host-{session}","task":"x""#
            ),
            r#""event":"tool_call","call_id":"a","tool":"read","args":{"paths":["a.rs"]}"#
                .to_owned(),
            r#""event":"tool_result","call_id":"a","tool":"read","ok":true"#.to_owned(),
            format!(
                r#""event":"tool_call","call_id":"b","tool":"{tool}","args":{{"paths":["b.rs"]}}"#
            ),
            format!(r#""event":"tool_result","call_id":"b","tool":"{tool}","ok":true"#),
        ];
        // Events are a millisecond apart. They begin two before the injection, so that the second
        // file is touched after it.
        record_session_at(&fixture, &mut project, START + day - 2, session, &lines);
        project.set_now(Timestamp(START + day + 60 * MINUTE_MS));
        fixture.learn_journals(&mut project);
    }

    // Five uses raise the confidence once, by 50 per mille.
    let after = load_memory(&project);
    assert_eq!(after.counters.used_count, 5, "the last session did not follow it");
    assert_eq!(after.confidence, before.confidence.saturating_add(50));
    fixture.learn_journals(&mut project);
    assert_eq!(load_memory(&project).counters.used_count, 5, "learning again counts nothing twice");
}

/// The events of a session on a work unit with five planned steps. It takes `steps` steps before
/// the events in `ends`.
fn work_unit_events(steps: usize, ends: &[&str]) -> Vec<String> {
    let mut lines = vec![
        r#""event":"session_start","project_root":"/p","agent":"test","task":"x","planned_steps":5,"work_unit":{"methodology":"native","hierarchy":["spec_042","subtask_3"],"label":"Spec 042 / Subtask 3"}"#.to_owned(),
        r#""event":"record","type":"decision","content":"Totals are kept in cents.""#.to_owned(),
        r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/total.rs"]}"#.to_owned(),
        r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#.to_owned(),
    ];

    // The edit above and the test in `ends` are two of the steps.
    for nth in 2..steps {
        lines.push(format!(
            r#""event":"tool_call","call_id":"r{nth}","tool":"read","args":{{"paths":["src/total.rs"]}}"#
        ));
        lines.push(format!(r#""event":"tool_result","call_id":"r{nth}","tool":"read","ok":true"#));
    }
    lines.extend(ends.iter().map(|it| (*it).to_owned()));
    lines
}

const TEST_CALL: &str =
    r#""event":"tool_call","call_id":"z","tool":"shell","args":{"command":"cargo test"}"#;
const TEST_PASSED: &str =
    r#""event":"tool_result","call_id":"z","tool":"shell","ok":true,"excerpt":"ok""#;
const TEST_FAILED: &str = r#""event":"tool_result","call_id":"z","tool":"shell","ok":false,"excerpt":"error: totals differ by a cent""#;
const SESSION_FAILED: &str = r#""event":"session_end","outcome":"failure""#;

/// The active memories of a type.
fn memories_of_kind(
    fixture: &LearningFixture,
    project: &Project,
    kind: &str,
) -> Vec<model::Memory> {
    let filter = waylore_engine::MemoryFilter {
        kind: Some(kind.to_owned()),
        ..waylore_engine::MemoryFilter::active(10)
    };
    let all = fixture.run(project.retriever().list(&filter, None));
    all.into_iter().map(|it| it.memory).collect()
}

#[test]
fn later_sessions_update_the_one_outcome_of_a_work_unit() {
    let fixture = LearningFixture::new();
    let folder = fixture.root().join("src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("total.rs"), "").unwrap();
    let mut project = fixture.open_project();

    // Learns a session and returns the one outcome of the unit.
    let learn = |project: &mut Project, session: u8, lines: Vec<String>| {
        let start = START + i64::from(session) * MINUTE_MS;
        record_session_at(&fixture, project, start, session, &lines);
        fixture.learn_journals(project);
        let [outcome] = &memories_of_kind(&fixture, project, "work_unit_outcome")[..] else {
            panic!("one outcome per unit")
        };
        outcome.clone()
    };
    let failed =
        learn(&mut project, 1, work_unit_events(3, &[TEST_CALL, TEST_FAILED, SESSION_FAILED]));
    assert_eq!(
        failed.content,
        "Spec 042 / Subtask 3 was tried and failed after changing `src/total.rs`. The last that failed: “error: totals differ by a cent”. Totals are kept in cents."
    );
    let done = learn(&mut project, 2, work_unit_events(3, &[TEST_CALL, TEST_PASSED]));
    assert_eq!(
        done.content,
        "Spec 042 / Subtask 3 is done: it changed `src/total.rs`. Totals are kept in cents."
    );
    assert_eq!((done.id, done.provenance.len()), (failed.id, 2));
    let Some(model::Payload::WorkUnitOutcome(payload)) = done.payload else { panic!() };
    assert!(payload.succeeded && payload.failure_reason.is_none());

    // The outcome reaches the next session.
    let request = waylore_engine::ContextRequest::new(model::Phase::Reflect);
    let injected = fixture.run(project.injector().start_context(&request));
    assert!(injected.text.contains("Subtask 3 is done"), "{}", injected.text);
}

#[test]
fn the_steps_of_planned_sessions_calibrate_the_stop_limit() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();

    // Learns a session with this number of steps (five were planned) and returns the calibration of the
    // module, in per mille, with its samples.
    let learn = |project: &mut Project, session: u8, steps: usize| {
        let lines = work_unit_events(steps, &[TEST_CALL, TEST_PASSED]);
        let start = START + i64::from(session) * MINUTE_MS;
        record_session_at(&fixture, project, start, session, &lines);
        fixture.learn_journals(project);
        let limit = fixture.run(project.retriever().stop_limit(10, "src"));
        (limit.calibration, limit.samples)
    };

    // Two sessions are too few; the third shows that work takes twice the planned steps.
    assert_eq!([1, 2].map(|it| learn(&mut project, it, 10)), [(1_000, 0); 2]);
    assert_eq!(learn(&mut project, 3, 10), (2_000, 3));
    assert_eq!(learn(&mut project, 4, 3), (1_650, 4));

    // After many shorter sessions, work takes the planned steps.
    let last = (5..10).map(|it| learn(&mut project, it, 3)).last();
    assert_eq!(last, Some((1_000, 0)));
    assert!(memories_of_kind(&fixture, &project, "task_calibration").is_empty());
}
