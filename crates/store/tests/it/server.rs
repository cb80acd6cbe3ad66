//! The same statements give the same results on the local file and on a libSQL server.
//!
//! `scenario` uses a local store while a recorder notes every statement with its parameters and its
//! result. `sqld` starts a server and `hrana` is a client of it, through which the test runs the
//! recorded statements again, in their order.

mod hrana;
mod scenario;
mod sqld;

use std::collections::BTreeSet;

use rusqlite::types::Value;
use waylore_store::recorder::{self, RecordedResult, RecordedStatement, StatementRecorder};

use hrana::Client;
use sqld::Sqld;

#[test]
fn every_statement_meant_for_a_server_gives_the_same_answer_there() {
    let recorder = StatementRecorder::default();
    scenario::run_scenario(&recorder);
    let lines = recorder.lines();
    assert_all_recorded(&lines);

    // An empty database with the same schema.
    let Some(server) = Sqld::start() else { return };
    let mut client = Client::new(server.address());
    for migration in recorder::list_migrations() {
        client.sequence(migration);
    }

    let mut n_compared = 0;
    for line in lines.iter().filter(|it| it.runs_on_server) {
        let (rows, changed) = client.execute(&line.sql, &line.params);
        match &line.result {
            // `BEGIN`, `COMMIT` and the like have no result.
            RecordedResult::Boundary => {}
            RecordedResult::Changed(expected) => assert_eq!(changed, *expected, "{}", line.name),
            RecordedResult::Rows(expected) => assert_same(line, expected, &rows),
        }
        n_compared += 1;
    }
    assert!(n_compared > 500, "a short recording proves little: {n_compared}");
}

/// A statement that was not run was not compared either.
fn assert_all_recorded(lines: &[RecordedStatement]) {
    let run: BTreeSet<&str> = lines.iter().map(|it| it.name).collect();
    let missing: Vec<&str> = recorder::list_statements()
        .iter()
        .filter(|it| it.runs_on_server && !run.contains(it.name))
        .map(|it| it.name)
        .collect();
    assert!(missing.is_empty(), "the scenario never runs {missing:?}");
}

/// Compares rows. Floating-point scores may differ by rounding.
fn assert_same(line: &RecordedStatement, expected: &[Vec<Value>], found: &[Vec<Value>]) {
    let is_same_row = |expected: &Vec<Value>, found: &Vec<Value>| {
        expected.len() == found.len()
            && expected.iter().zip(found).all(|(expected, found)| is_same_value(expected, found))
    };
    let is_same = expected.len() == found.len()
        && expected.iter().zip(found).all(|(expected, found)| is_same_row(expected, found));
    assert!(is_same, "{} {:?}\nlocal:  {expected:?}\nserver: {found:?}", line.name, line.params);
}

fn is_same_value(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Real(a), Value::Real(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        (a, b) => a == b,
    }
}
