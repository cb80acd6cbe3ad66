//! What a later program does with the files of this one.

use model::{MemoryId, ProjectId, Timestamp};

use super::*;
use crate::connection::open_writer;
use crate::{DataDir, erase, restore};

const NOW: Timestamp = Timestamp(1_794_700_800_000);

/// The first program there was.
static FIRST: Schema = Schema { migrations: &[MEMORY_1] };
/// The next program, and one whose last step fails half-way.
static NEXT: Schema = Schema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        "CREATE TABLE later (a) STRICT",
    ],
};
static NEXT_RIGHT: Schema = Schema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        "CREATE TABLE later (a INTEGER) STRICT",
    ],
};
static BROKEN: Schema = Schema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        "CREATE TABLE later (a INTEGER) STRICT; DELETE FROM meta; INSERT INTO nowhere VALUES (1)",
    ],
};

fn site(dir: &tempfile::TempDir, schema: &'static Schema) -> Site {
    let home = DataDir::new(dir.path()).project(ProjectId::new(NOW, [1; 10]));
    home.prepare().unwrap();
    Site::new(home, schema, None, NOW)
}

#[test]
fn a_migration_that_fails_half_way_leaves_everything_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    drop(open_writer(&site(&dir, &MEMORY)).unwrap());
    for broken in [&BROKEN, &NEXT] {
        assert!(open_writer(&site(&dir, broken)).is_err());
        let db = open_writer(&site(&dir, &MEMORY)).unwrap();
        assert_eq!(version(&db, &MEMORY).unwrap(), MEMORY.version());
        assert_eq!(altered(&db, &MEMORY).unwrap(), Vec::<String>::new());
        assert_eq!(db.pragma("SELECT count(*) FROM meta").unwrap(), "5");
    }
    let db = open_writer(&site(&dir, &NEXT_RIGHT)).unwrap();
    assert_eq!(version(&db, &NEXT_RIGHT).unwrap(), NEXT_RIGHT.version());
}

#[test]
fn the_backup_before_a_migration_is_good_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    drop(open_writer(&site(&dir, &MEMORY)).unwrap());
    let next = site(&dir, &NEXT_RIGHT);
    let db = open_writer(&next).unwrap();
    for _ in 0..5 {
        crate::stamp::take_number(&db).unwrap();
        backup::make(&next, &db, NOW).unwrap();
    }
    let kept = backup::list(&next.home);
    let names: Vec<&str> = kept.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), backup::KEPT + 1);
    assert_eq!(names.last(), Some(&"schema-5.db"), "{names:?}");
    let old = &kept[backup::KEPT].path;
    backup::verify(&next, old).unwrap();
    // The older program can go back to it, and so can the newer, which migrates it again.
    backup::verify(&site(&dir, &MEMORY), old).unwrap();
    drop(db);
    restore::stage(&next, old, NOW).unwrap();
    restore::finish(&next.home).unwrap();
    let db = open_writer(&next).unwrap();
    assert_eq!(version(&db, &NEXT_RIGHT).unwrap(), NEXT_RIGHT.version());
    assert_eq!(altered(&db, &NEXT_RIGHT).unwrap(), Vec::<String>::new());
}

#[test]
fn erasing_reaches_the_backup_before_a_migration() {
    let dir = tempfile::tempdir().unwrap();
    let id = MemoryId::new(NOW, [7; 10]);
    let db = open_writer(&site(&dir, &MEMORY)).unwrap();
    db.batch(&format!(
        "INSERT INTO embeddings (owner, model, part, grain, dims, vector, code) VALUES (x'{}', 'tiny', 0, 'part', 1, x'00', x'01')",
        id.0.simple()
    ))
    .unwrap();
    drop(db);
    let next = site(&dir, &NEXT_RIGHT);
    let db = open_writer(&next).unwrap();
    erase::intend(&next.home, &[id]).unwrap();
    erase::carry_out(&next, &db, NOW).unwrap();
    let old = backup::list(&next.home).remove(0).path;
    backup::verify(&next, &old).unwrap();
    let bytes = std::fs::read(old).unwrap();
    assert!(!bytes.windows(16).any(|it| it == id.0.as_bytes()));
}

#[test]
fn old_transactions_get_readings_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let db = open_writer(&site(&dir, &FIRST)).unwrap();
    let told = [(1, 5_000), (4, 5_000), (5, 10), (9, i64::MAX), (10, i64::MIN), (12, 7_000)];
    for (batch, at) in told {
        let row = format!("({batch}, {at}, 'user', 'edit')");
        db.batch(&format!("INSERT INTO audit (batch, at, actor, action) VALUES {row}")).unwrap();
    }
    upgrade(&db, &MEMORY).unwrap();
    let far = 140_000_000_000_000 << 16;
    let first = 5_000 << 16;
    let expected = [first, first + 3, first + 4, far, far + 1, far + 3];
    for ((batch, _), hlc) in told.iter().zip(expected) {
        let found = db.pragma(&format!("SELECT hlc FROM audit WHERE batch = {batch}")).unwrap();
        assert_eq!(found, hlc.to_string(), "of {batch}");
    }
    assert_eq!(
        crate::stamp::clock(&db).unwrap().0,
        far + 3,
        "what comes is later than all of them"
    );
}

#[test]
fn the_lists_of_migrations_only_grow() {
    assert_eq!(MEMORY.migrations, [MEMORY_1, AUDIT_CLOCK_2, RECALL_3, LEARN_4, EXPERIENCE_5]);
    assert_eq!(
        USER.migrations,
        [MEMORY_1, REGISTRY_1, AUDIT_CLOCK_2, RECALL_3, LEARN_4, EXPERIENCE_5]
    );
}
