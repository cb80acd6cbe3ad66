//! Learned memories carry the branch, the commit and the work unit of their session, and are treated like
//! taught ones: they lose confidence when their file is rewritten, and stay on their branch until it is
//! merged. Each test learns a recorded note from a session in a real repository.

use std::path::Path;

use model::Phase;
use waylore_engine::{ContextRequest, MemoryFilter, NotebookScope, Project, RatedMemory};

use crate::edit_outcome::git;
use crate::learning::{LearningFixture, START, parse_events_at};

const MINUTE_MS: i64 = 60_000;

/// A repository with the file `a.rs`, committed an hour before the session.
fn repository() -> (LearningFixture, Project) {
    let fixture = LearningFixture::new();
    let root = fixture.root();
    write_lines(&root, "line");
    git(&root, START - 60 * MINUTE_MS, &["init", "-q"]);
    git(&root, START - 60 * MINUTE_MS, &["add", "."]);
    git(&root, START - 60 * MINUTE_MS, &["commit", "-qm", "first"]);
    let project = fixture.open_project();
    (fixture, project)
}

fn write_lines(root: &Path, line: &str) {
    std::fs::write(root.join("a.rs"), format!("// {line}\n").repeat(100)).unwrap();
}

/// Learns a session in which an agent recorded a note about `a.rs` and which was validated.
fn learn_note(fixture: &LearningFixture, project: &mut Project) {
    let unit = r#"{"methodology":"native","hierarchy":["spec_1"],"label":"Spec 1"}"#;
    let start = format!(
        r#""event":"session_start","project_root":"/gone","agent":"test","type":"build","work_unit":{unit}"#
    );
    let events = [
        start.as_str(),
        r#""event":"record","type":"gotcha","content":"The parser must not be given an empty buffer","files":["a.rs"]"#,
        r#""event":"validation","kind":"qa_passed","ok":true"#,
        r#""event":"session_end","outcome":"success""#,
    ];
    fixture.record(project, &parse_events_at(START, 1, &events));
    fixture.learn_journals(project);
}

/// The note with its current confidence.
fn note(fixture: &LearningFixture, project: &Project) -> RatedMemory {
    let filter = MemoryFilter { kind: Some("gotcha".to_owned()), ..MemoryFilter::active(10) };
    let mut listed = fixture.run(project.retriever().list(&filter, Some(NotebookScope::Project)));
    assert_eq!(listed.len(), 1);
    listed.remove(0)
}

/// Returns whether the context of a new session has the note.
fn is_told(fixture: &LearningFixture, project: &Project) -> bool {
    let request = ContextRequest::new(Phase::Implement);
    let context = fixture.run(project.injector().start_context(&request));
    context.text.contains("an empty buffer")
}

#[test]
fn a_learned_memory_carries_the_head_and_work_unit_of_its_session() {
    let (fixture, mut project) = repository();
    let root = fixture.root();
    git(&root, START - 30 * MINUTE_MS, &["checkout", "-qb", "topic"]);
    let commit = std::fs::read_to_string(root.join(".git/refs/heads/topic")).unwrap();
    // The branch has been left and has moved when the session is learned.
    git(&root, START + 30 * MINUTE_MS, &["commit", "-q", "--allow-empty", "-m", "later"]);
    git(&root, START + 31 * MINUTE_MS, &["checkout", "-q", "main"]);
    learn_note(&fixture, &mut project);
    let note = note(&fixture, &project).memory;
    assert_eq!(note.commit.as_deref(), Some(commit.trim()));
    assert_eq!(note.branch.as_deref(), Some("topic"));
    assert_eq!(note.work_unit.unwrap().label, "Spec 1");
}

#[test]
fn a_rewritten_file_lowers_the_confidence_of_a_learned_memory() {
    let (fixture, mut project) = repository();
    let root = fixture.root();
    learn_note(&fixture, &mut project);
    let mut before = note(&fixture, &project);
    let reasons = fixture.run(async { Ok(project.retriever().check_staleness(&mut before).await) });
    assert!(reasons.is_empty(), "{reasons:?}");

    write_lines(&root, "other");
    git(&root, START + 30 * MINUTE_MS, &["commit", "-qam", "rewrite"]);
    let mut after = note(&fixture, &project);
    let reasons = fixture.run(async { Ok(project.retriever().check_staleness(&mut after).await) });
    assert!(reasons.iter().any(|it| it.contains("100 % of `a.rs` changed")), "{reasons:?}");
    // As for a taught memory: half of it.
    assert_eq!(after.current_confidence.get(), before.current_confidence.get() / 2);
}

#[test]
fn a_learned_memory_of_an_unmerged_branch_is_told_after_the_merge() {
    let (fixture, mut project) = repository();
    let root = fixture.root();
    git(&root, START - 30 * MINUTE_MS, &["checkout", "-qb", "topic"]);
    git(&root, START - 29 * MINUTE_MS, &["commit", "-q", "--allow-empty", "-m", "work"]);
    learn_note(&fixture, &mut project);
    assert!(is_told(&fixture, &project), "on its own branch");
    git(&root, START + 30 * MINUTE_MS, &["checkout", "-q", "main"]);
    assert!(!is_told(&fixture, &project), "on the main branch before the merge");
    git(&root, START + 31 * MINUTE_MS, &["merge", "-q", "topic"]);
    assert!(is_told(&fixture, &project), "after the merge");
}
