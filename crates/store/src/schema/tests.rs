//! Migrations: a newer program opens the files of an older one, and a failed migration changes
//! nothing.

use model::{MemoryId, ProjectId, Timestamp};

use super::*;
use crate::connection::{FileAccess, open_file, open_writer};
use crate::{DataDir, erase, restore, text_erasure};

const NOW: Timestamp = Timestamp(1_794_700_800_000);

/// The schema of the first version.
static FIRST: DatabaseSchema = DatabaseSchema { migrations: &[MEMORY_1] };
/// A possible next version whose last migration fails: `STRICT` tables need a type for each column.
static NEXT_INVALID: DatabaseSchema = DatabaseSchema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        PLAIN_NAMES_6,
        INJECTIONS_7,
        PINNED_8,
        "CREATE TABLE later (a) STRICT",
    ],
};
/// A possible next version.
static NEXT_VALID: DatabaseSchema = DatabaseSchema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        PLAIN_NAMES_6,
        INJECTIONS_7,
        PINNED_8,
        "CREATE TABLE later (a INTEGER) STRICT",
    ],
};
/// A possible next version whose last migration fails after it has changed something.
static NEXT_FAILS_LATE: DatabaseSchema = DatabaseSchema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        PLAIN_NAMES_6,
        INJECTIONS_7,
        PINNED_8,
        "CREATE TABLE later (a INTEGER) STRICT; DELETE FROM meta; INSERT INTO nowhere VALUES (1)",
    ],
};

/// A project's database in a temporary data folder.
fn state(dir: &tempfile::TempDir, schema: &'static DatabaseSchema) -> DatabaseState {
    let paths = DataDir::new(dir.path()).project_paths(ProjectId::new(NOW, [1; 10]));
    paths.create_folders().unwrap();
    DatabaseState::new(paths, schema, None, NOW)
}

/// A database as an older program made it. `open_writer` cannot: it runs today's statements.
fn create_old(state: &DatabaseState) -> Db {
    let path = state.paths.database();
    crate::os::private_file(&path).unwrap();
    let db = open_file(&path, None, FileAccess::ReadWrite).unwrap();
    run_migrations(&db, state.schema).unwrap();
    db
}

#[test]
fn a_migration_that_fails_half_way_leaves_everything_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    drop(open_writer(&state(&dir, &MEMORY)).unwrap());
    for broken in [&NEXT_FAILS_LATE, &NEXT_INVALID] {
        assert!(open_writer(&state(&dir, broken)).is_err());
        let db = open_writer(&state(&dir, &MEMORY)).unwrap();
        assert_eq!(read_version(&db, &MEMORY).unwrap(), MEMORY.version());
        assert_eq!(find_altered_definitions(&db, &MEMORY).unwrap(), Vec::<String>::new());
        assert_eq!(db.query_pragma("SELECT count(*) FROM meta").unwrap(), "5");
    }
    let db = open_writer(&state(&dir, &NEXT_VALID)).unwrap();
    assert_eq!(read_version(&db, &NEXT_VALID).unwrap(), NEXT_VALID.version());
}

#[test]
fn the_backup_before_a_migration_is_good_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    drop(open_writer(&state(&dir, &MEMORY)).unwrap());
    let next = state(&dir, &NEXT_VALID);
    let db = open_writer(&next).unwrap();
    // More ordinary backups than are kept.
    for _ in 0..5 {
        crate::change_clock::advance_seq(&db).unwrap();
        backup::make_backup(&next, &db, NOW).unwrap();
    }
    let backups = backup::list_backups(&next.paths);
    let names: Vec<&str> = backups.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), backup::MAX_BACKUPS + 1);
    assert_eq!(names.last(), Some(&"schema-8.db"), "{names:?}");
    let old = &backups[backup::MAX_BACKUPS].path;
    backup::verify_backup(&next, old).unwrap();
    // The older program can restore it, and so can the newer one, which migrates it again.
    backup::verify_backup(&state(&dir, &MEMORY), old).unwrap();
    drop(db);
    restore::stage_backup(&next, old, NOW).unwrap();
    restore::finish_restore(&next.paths).unwrap();
    let db = open_writer(&next).unwrap();
    assert_eq!(read_version(&db, &NEXT_VALID).unwrap(), NEXT_VALID.version());
    assert_eq!(find_altered_definitions(&db, &NEXT_VALID).unwrap(), Vec::<String>::new());
}

#[test]
fn erasing_reaches_the_backup_before_a_migration() {
    let dir = tempfile::tempdir().unwrap();
    let id = MemoryId::new(NOW, [7; 10]);
    let db = open_writer(&state(&dir, &MEMORY)).unwrap();
    db.execute_batch(&format!(
        "INSERT INTO embeddings (owner, model, part, grain, dims, vector, code) VALUES (x'{}', 'tiny', 0, 'part', 1, x'00', x'01')",
        id.0.simple()
    ))
    .unwrap();
    drop(db);
    let next = state(&dir, &NEXT_VALID);
    let db = open_writer(&next).unwrap();
    erase::record_intent(&next.paths, &[id]).unwrap();
    erase::erase_ledgered(&next, &db, NOW).unwrap();
    let old = backup::list_backups(&next.paths).remove(0).path;
    backup::verify_backup(&next, &old).unwrap();
    let bytes = std::fs::read(old).unwrap();
    assert!(!bytes.windows(16).any(|it| it == id.0.as_bytes()));
}

#[test]
fn old_audit_entries_get_clock_readings_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let db = create_old(&state(&dir, &FIRST));
    // Number and time: equal times, a clock that was set back, and the extremes.
    let entries = [(1, 5_000), (4, 5_000), (5, 10), (9, i64::MAX), (10, i64::MIN), (12, 7_000)];
    for (batch, at) in entries {
        let row = format!("({batch}, {at}, 'user', 'edit')");
        db.execute_batch(&format!("INSERT INTO audit (batch, at, actor, action) VALUES {row}"))
            .unwrap();
    }
    run_migrations(&db, &MEMORY).unwrap();
    // The upper 48 bits of a reading are milliseconds, the lower 16 a counter. Times beyond the
    // limit of the migration are cut to it.
    let far = 140_000_000_000_000 << 16;
    let first = 5_000 << 16;
    let expected = [first, first + 3, first + 4, far, far + 1, far + 3];
    for ((batch, _), hlc) in entries.iter().zip(expected) {
        let found =
            db.query_pragma(&format!("SELECT hlc FROM audit WHERE batch = {batch}")).unwrap();
        assert_eq!(found, hlc.to_string(), "of {batch}");
    }
    assert_eq!(
        crate::change_clock::read_clock(&db).unwrap().0,
        far + 3,
        "later changes get later readings"
    );
}

/// The schema before the plain names of version 6.
static FIFTH: DatabaseSchema =
    DatabaseSchema { migrations: &[MEMORY_1, AUDIT_CLOCK_2, RECALL_3, LEARN_4, EXPERIENCE_5] };

/// Fills the tables that version 6 renames, under their names of version 5.
fn fill_fifth(db: &Db) {
    db.execute_batch(
        "INSERT INTO sessions (id, agent, type, outcome, validated, task, started, ended, steps, tokens, \
         retries, print, planned) VALUES (x'00112233445566778899aabbccddeeff', 'codex', 'terminal', 'success', \
         'tests_passed', 'a task', 1, 2, 3, 4, 5, 'f00d', 9);
         INSERT INTO stumbles (session, at, head, beginning) VALUES (x'00', 7, 'cargo nightjar', 'error: nightjar');
         INSERT INTO milestones (what, mark, at) VALUES ('module nightjar', 10, 8);
         INSERT INTO losses (from_seq, to_seq, noticed_at, noted_at) VALUES (1, 2, 3, 4);
         UPDATE meta SET value = 2 WHERE key = 'seq';",
    )
    .unwrap();
}

/// The first value of the first row.
fn read_value(db: &Db, sql: &str) -> String {
    db.query_pragma(sql).unwrap()
}

#[test]
fn renamed_tables_and_columns_keep_their_data() {
    let dir = tempfile::tempdir().unwrap();
    fill_fifth(&create_old(&state(&dir, &FIFTH)));
    let db = open_writer(&state(&dir, &MEMORY)).unwrap();
    assert_eq!(find_altered_definitions(&db, &MEMORY).unwrap(), Vec::<String>::new());
    assert_eq!(
        read_value(&db, "SELECT fingerprint || planned_steps || validation_basis FROM sessions"),
        "f00d9tests_passed"
    );
    assert_eq!(
        read_value(&db, "SELECT at || call || output_start FROM failed_calls"),
        "7cargo nightjarerror: nightjar"
    );
    assert_eq!(read_value(&db, "SELECT name || count FROM milestones"), "module nightjar10");
    assert_eq!(read_value(&db, "SELECT acknowledged_at FROM losses"), "4");
}

#[test]
fn erasing_a_text_reaches_the_backup_with_the_old_names() {
    let dir = tempfile::tempdir().unwrap();
    fill_fifth(&create_old(&state(&dir, &FIFTH)));
    let state = state(&dir, &MEMORY);
    let db = open_writer(&state).unwrap();
    let old = backup::list_backups(&state.paths).remove(0);
    assert_eq!(old.name, "schema-5.db");
    let holds_text = || {
        let bytes = std::fs::read(&old.path).unwrap();
        bytes.windows(8).any(|it| it == b"nightjar")
    };
    assert!(holds_text());
    let clean = |text: &str| text.contains("nightjar").then(|| text.replace("nightjar", "…"));
    text_erasure::erase_text(&state, &db, &clean).unwrap();
    assert!(!holds_text());
    backup::verify_backup(&state, &old.path).unwrap();
    assert_eq!(read_value(&db, "SELECT call FROM failed_calls"), "cargo …");
}

#[test]
fn the_lists_of_migrations_only_grow() {
    assert_eq!(
        MEMORY.migrations,
        [
            MEMORY_1,
            AUDIT_CLOCK_2,
            RECALL_3,
            LEARN_4,
            EXPERIENCE_5,
            PLAIN_NAMES_6,
            INJECTIONS_7,
            PINNED_8
        ]
    );
    assert_eq!(
        USER.migrations,
        [
            MEMORY_1,
            REGISTRY_1,
            AUDIT_CLOCK_2,
            RECALL_3,
            LEARN_4,
            EXPERIENCE_5,
            PLAIN_NAMES_6,
            INJECTIONS_7,
            PINNED_8
        ]
    );
}
