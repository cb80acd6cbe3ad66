//! Repeated import: an import skips memories that are stored already, and does not bring back those
//! that were forgotten or purged.
//!
//! Each test plays a script, one command per line, and compares the output. There each command is
//! repeated after `>`, unless it prints nothing:
//!
//! ```text
//! > teach retry limit is 3                     stores a statement
//! m1 new: module_insight "retry limit is 3"    `m1`, the first memory, is new; then its type and text
//! > list                                       prints the active memories, newest first
//! m1 module_insight 0.90 "retry limit is 3"    0.90 is its current confidence
//! ```
//!
//! After the text of a memory come `tags=`, `files=`, `user` if it is in the user's notebook, `pinned`,
//! and its status if it is not active: `[deleted]`. `main.rs` explains the other words of the output,
//! the header of the crate `testkit` all commands. This file also uses:
//!
//! ```text
//! export         writes the import file
//! foreign TEXT   adds a record of unknown origin to it
//! import         reads it
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_known_memory_is_not_imported_again() {
    check(
        r"
            teach retry limit is 3
            export
            import
            # The memory was edited since the export; the edit wins.
            edit m1 retry limit is 4
            import --vouched
            # The same text as a stored memory, and the same text twice.
            foreign --empty
            foreign retry limit is 4
            foreign the pool has 8 connections
            foreign the pool has 8 connections
            import
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > export
            1 memories, 0 with a past, 0 settings
            > import
            m1 known
            nothing written
            > edit m1 retry limit is 4
            m1 module_insight "retry limit is 4"
            > import --vouched
            m1 known
            nothing written
            > import
            m1 known
            m2 added
            m2 known
            > list
            m2 gotcha 0.85 "the pool has 8 connections" [tainted]
            m1 module_insight 0.90 "retry limit is 4"
        "#]],
    );
}

#[test]
fn a_forgotten_memory_is_not_imported_again() {
    check(
        r"
            teach retry limit is 3
            export
            forget m1
            import --vouched
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > export
            1 memories, 0 with a past, 0 settings
            > forget m1
            m1 module_insight "retry limit is 3" [deleted]
            > import --vouched
            m1 known
            nothing written
            > list
            nothing
        "#]],
    );
}

#[test]
fn an_erased_memory_is_not_imported_again() {
    check(
        r"
            teach retry limit is 3
            teach the pool has 8 connections
            export
            purge m1
            import --vouched
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > export
            2 memories, 0 with a past, 0 settings
            > purge m1
            purged m1, not found anywhere
            > import --vouched
            m1 erased
            m2 known
            nothing written
            > list
            m2 module_insight 0.90 "the pool has 8 connections"
        "#]],
    );
}

#[test]
fn the_same_memory_can_be_moved_to_the_users_notebook() {
    check(
        r"
            teach the cache lives in redis
            foreign --rests-on m1 flushing redis empties the cache
            import --vouched
            export
            # Ids must be unique, so the copies get new ones, and the relation follows.
            import --user --vouched
            list
            show m4
            find m1
            find m3
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > import --vouched
            m2 added
            > export
            2 memories, 0 with a past, 0 settings
            > import --user --vouched
            m3 added
            m4 added
            > list
            m2 gotcha 1.00 "flushing redis empties the cache" pinned
            m1 module_insight 0.90 "the cache lives in redis"
            m4 gotcha 1.00 "flushing redis empties the cache" user pinned
            m3 module_insight 0.90 "the cache lives in redis" user
            > show m4
            m4 gotcha 1.00 "flushing redis empties the cache" user pinned
              v1 user_taught global confidence 1.00 by user verified
              derived_from m3
            > find m1
            m1 module_insight "the cache lives in redis"
            > find m3
            m3 module_insight "the cache lives in redis"
        "#]],
    );
}
