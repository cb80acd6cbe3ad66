//! The hash covers every column, and a row reads back as it was written.

use model::{
    Actor, HybridTimestamp, MemoryFlags, MemoryScope, MemorySource, MemoryType, PerMille,
    SoftStates, Visibility,
};
use rusqlite::Connection;

use super::*;

fn memory() -> Memory {
    Memory {
        id: MemoryId::new(Timestamp(1_000), [1; 10]),
        project: None,
        kind: MemoryType::from_slug("gotcha").unwrap(),
        source: MemorySource::UserTaught,
        scope: MemoryScope::Global,
        visibility: Visibility::Personal,
        content: "content".to_owned(),
        summary: "summary".to_owned(),
        citation: "citation".to_owned(),
        confidence: PerMille::new(700),
        tags: vec!["tag".to_owned()],
        files: vec![],
        modules: vec![],
        anchors: vec![],
        work_unit: None,
        session: None,
        provenance: vec![],
        commit: None,
        branch: None,
        relations: vec![],
        half_life_days: None,
        flags: MemoryFlags::default(),
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: Timestamp(1_000),
        updated_at: Timestamp(2_000),
        version: 1,
        hlc: HybridTimestamp(3),
        counters: UsageCounters {
            access_count: 4,
            used_count: 5,
            last_accessed_at: Some(Timestamp(6)),
            last_used_at: None,
        },
    }
}

/// Reads values back as a row.
fn read(values: &[Value]) -> Result<Memory, DamagedRow> {
    let conn = Connection::open_in_memory().unwrap();
    let places: Vec<String> = (1..=values.len()).map(|it| format!("?{it}")).collect();
    let sql = format!("SELECT {}", places.join(", "));
    let params = rusqlite::params_from_iter(values);
    conn.query_row(&sql, params, |row| read_memory(row, 0)).unwrap()
}

#[test]
fn a_row_reads_back_as_the_memory_it_was() {
    assert_eq!(read(&to_values(&memory())), Ok(memory()));
}

#[test]
fn there_is_a_value_for_every_column() {
    let names: Vec<&str> = columns!().split(',').map(str::trim).collect();
    let set: Vec<String> =
        names.iter().enumerate().map(|(at, name)| format!("{name} = ?{}", at + 1)).collect();
    let spaced = assignments!().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(spaced, set.join(", "));
    assert_eq!(to_values(&memory()).len(), names.len());
    assert_eq!((names[HASHED_COLUMNS], names[FIRST_COUNT_COLUMN + 4]), ("hash", "counts_hash"));
}

#[test]
fn a_change_in_any_one_column_is_damage() {
    let whole = to_values(&memory());
    for (at, name) in columns!().split(',').enumerate() {
        for other in others(&whole[at]) {
            let mut changed = whole.clone();
            changed[at] = other;
            assert!(read(&changed).is_err(), "{} as {:?}", name.trim(), changed[at]);
        }
    }
}

/// Values that differ from `value` in one bit or in their type.
fn others(value: &Value) -> Vec<Value> {
    let near = match value {
        Value::Null => Value::Integer(0),
        Value::Integer(it) => Value::Integer(it ^ 1),
        Value::Real(it) => Value::Real(it + 1.0),
        Value::Text(it) => Value::Text(format!("{it} ")),
        Value::Blob(it) => Value::Blob(it.iter().map(|byte| byte ^ 1).collect()),
    };
    let far = match value {
        Value::Null => Value::Text(String::new()),
        Value::Text(it) => Value::Blob(it.as_bytes().to_vec()),
        _ => Value::Null,
    };
    vec![near, far]
}

#[test]
fn text_that_moves_from_one_column_to_the_next_is_damage() {
    let mut values = to_values(&memory());
    values[6] = Value::Text("contentsum".to_owned());
    values[7] = Value::Text("mary".to_owned());
    assert!(read(&values).is_err());
}

#[test]
fn counts_of_another_memory_are_damage() {
    let other = Memory { id: MemoryId::new(Timestamp(1_000), [2; 10]), ..memory() };
    let mut values = to_values(&memory());
    values[FIRST_COUNT_COLUMN..].clone_from_slice(&to_values(&other)[FIRST_COUNT_COLUMN..]);
    let damaged = read(&values).unwrap_err();
    assert_eq!(
        (damaged.id, damaged.what),
        (Some(memory().id), "its counts do not match their hash")
    );
}
