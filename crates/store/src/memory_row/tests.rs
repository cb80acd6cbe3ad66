//! A row reads back as the memory that was written, and a change of any single value is detected by
//! one of its two hashes.

use model::{
    Actor, HybridTimestamp, MemoryFlags, MemoryScope, MemorySource, MemoryType, PerMille,
    SoftStates, Visibility,
};
use rusqlite::Connection;

use super::*;

/// A memory with a value in most columns.
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

/// Reads a memory from the values of a row, without a table.
fn read_values(values: &[Value]) -> Result<Memory, DamagedRow> {
    let conn = Connection::open_in_memory().unwrap();
    let placeholders: Vec<String> = (1..=values.len()).map(|it| format!("?{it}")).collect();
    let sql = format!("SELECT {}", placeholders.join(", "));
    let params = rusqlite::params_from_iter(values);
    conn.query_row(&sql, params, |row| read_memory(row, 0)).unwrap()
}

#[test]
fn a_row_reads_back_as_the_memory_it_was() {
    assert_eq!(read_values(&to_values(&memory())), Ok(memory()));
}

#[test]
fn there_is_a_value_and_a_placeholder_for_every_column() {
    let names: Vec<&str> = columns!().split(", ").collect();
    let placeholders: Vec<&str> = placeholders!().split(", ").collect();
    let assignments: Vec<&str> = assignments!().split(", ").collect();
    assert_eq!(placeholders, vec!["?"; names.len()]);
    assert_eq!(assignments, names.iter().map(|it| format!("{it} = ?")).collect::<Vec<_>>());
    assert_eq!(to_values(&memory()).len(), names.len());
    // The two hashes stand where reading looks for them.
    assert_eq!(names[MemoryColumn::Hash as usize], "hash");
    assert_eq!(names[MemoryColumn::CountsHash as usize], "counts_hash");
}

#[test]
fn a_change_in_any_one_column_is_damage() {
    let whole = to_values(&memory());
    for (column, name) in columns!().split(", ").enumerate() {
        for other in different_values(&whole[column]) {
            let mut changed = whole.clone();
            changed[column] = other;
            assert!(read_values(&changed).is_err(), "{name} as {:?}", changed[column]);
        }
    }
}

/// Two values that differ from `value`: one slightly, one in its type.
fn different_values(value: &Value) -> Vec<Value> {
    let changed = match value {
        Value::Null => Value::Integer(0),
        Value::Integer(it) => Value::Integer(it ^ 1),
        Value::Real(it) => Value::Real(it + 1.0),
        Value::Text(it) => Value::Text(format!("{it} ")),
        Value::Blob(it) => Value::Blob(it.iter().map(|byte| byte ^ 1).collect()),
    };
    let other_type = match value {
        Value::Null => Value::Text(String::new()),
        Value::Text(it) => Value::Blob(it.as_bytes().to_vec()),
        _ => Value::Null,
    };
    vec![changed, other_type]
}

#[test]
fn text_that_moves_from_one_column_to_the_next_is_damage() {
    let mut values = to_values(&memory());
    values[MemoryColumn::Content as usize] = Value::Text("contentsum".to_owned());
    values[MemoryColumn::Summary as usize] = Value::Text("mary".to_owned());
    assert!(read_values(&values).is_err());
}

#[test]
fn counts_of_another_memory_are_damage() {
    let other = Memory { id: MemoryId::new(Timestamp(1_000), [2; 10]), ..memory() };
    let mut values = to_values(&memory());
    let first_count = MemoryColumn::AccessCount as usize;
    values[first_count..].clone_from_slice(&to_values(&other)[first_count..]);
    let damaged = read_values(&values).unwrap_err();
    assert_eq!(
        (damaged.id, damaged.what),
        (Some(memory().id), "its counts do not match their hash")
    );
}
