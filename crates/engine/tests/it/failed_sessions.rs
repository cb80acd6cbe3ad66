//! A session that cannot be learned is listed with its reason, and does not stop the others.
//!
//! The failure is made with ids: two sessions that end in the same millisecond, with random bytes
//! that are always the same, give their memories the same id, which the store refuses.

use model::EventEnvelope;
use waylore_engine::{DoctorMode, Error, LearnedSession, ModelSet, Project};

use crate::learning::{LearningFixture, START, parse_events_at};

/// A validated session whose agent states one fact about `file`.
fn session_about(file: &str, number: u8, start: i64) -> Vec<EventEnvelope> {
    let fact = format!(
        r#""event":"reasoning","text":"Actually, `{file}` rounds per line, never on the sum.""#
    );
    let edit =
        format!(r#""event":"tool_call","call_id":"a","tool":"edit","args":{{"paths":["{file}"]}}"#);
    let lines = [
        r#""event":"session_start","project_root":"/p","agent":"test","task":"round totals""#,
        edit.as_str(),
        r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#,
        fact.as_str(),
        r#""event":"tool_call","call_id":"b","tool":"shell","args":{"command":"cargo test"}"#,
        r#""event":"tool_result","call_id":"b","tool":"shell","ok":true,"excerpt":"ok""#,
        r#""event":"step_complete""#,
    ];
    parse_events_at(start, number, &lines)
}

/// Learns from the journal of a session.
fn learn(
    fixture: &LearningFixture,
    project: &mut Project,
    events: &[EventEnvelope],
) -> Result<Vec<LearnedSession>, Error> {
    fixture.runtime.block_on(project.learner().learn_from_journal(events[0].session))
}

/// The details of the doctor's checks of learning.
fn learning_checks(fixture: &LearningFixture, project: &Project) -> Vec<String> {
    let (checks, _) = fixture.run(project.maintenance().doctor(DoctorMode::Examine));
    checks.into_iter().filter(|it| it.name == "learning").map(|it| it.detail).collect()
}

#[test]
fn a_failed_session_is_listed_and_the_others_are_learned() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_configured_project(ModelSet::built_in(), || [7; 10]);
    let first = session_about("src/total.ts", 1, START);
    let colliding = session_about("src/tax.ts", 2, START);
    let later = session_about("src/discount.ts", 3, START + 60_000);
    for events in [&first, &colliding, &later] {
        fixture.record(&mut project, events);
    }

    assert_eq!(learn(&fixture, &mut project, &first).unwrap()[0].memories.len(), 1);
    let failure = learn(&fixture, &mut project, &colliding).unwrap_err();
    assert!(matches!(failure, Error::SessionFailed { .. }), "{failure}");
    assert_eq!(learn(&fixture, &mut project, &later).unwrap()[0].memories.len(), 1);

    // Listed once, however often it fails.
    learn(&fixture, &mut project, &colliding).unwrap_err();
    assert!(project.session_history().has_failed_before(colliding[0].session));
    assert!(!project.session_history().has_failed_before(later[0].session));
    let checks = learning_checks(&fixture, &project);
    assert!(checks.len() == 1 && checks[0].contains("could not be learned"), "{checks:?}");
    assert_eq!(fixture.run(project.maintenance().activity()).n_failed, 1);

    // Once the cause is gone, the session is learned and the entry disappears.
    let mut project = fixture.open_project();
    assert_eq!(learn(&fixture, &mut project, &colliding).unwrap()[0].memories.len(), 1);
    assert_eq!(learning_checks(&fixture, &project), Vec::<String>::new());
}
