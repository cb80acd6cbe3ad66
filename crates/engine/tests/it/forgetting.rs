//! Forgetting and restoring: a forgotten memory is hidden until it is restored, and earlier
//! versions can be restored too.
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
//! forget m1, restore m1   hides a memory, and brings it back
//! restore m1 1            restores its version 1
//! list --all              also lists forgotten memories
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_forgotten_memory_is_hidden_until_it_is_restored() {
    check(
        r"
            teach retry limit is 3
            forget m1
            list
            search retry
            list --all
            # A second time is an error.
            forget m1
            restore m1
            restore m1
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > forget m1
            m1 module_insight "retry limit is 3" [deleted]
            > list
            nothing
            > search retry
            nothing
            > list --all
            m1 module_insight 0.90 "retry limit is 3" [deleted]
            > forget m1
            error: m1 is forgotten already
              `waylore restore m1` brings it back, `waylore purge m1` removes it for good
            > restore m1
            m1 module_insight "retry limit is 3"
            > restore m1
            error: m1 is not forgotten
              `waylore history` shows what it said before; `--version N` goes back to it
            > list
            m1 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn a_forgotten_memory_cannot_be_changed() {
    check(
        r"
            teach retry limit is 3
            forget m1
            edit m1 retry limit is 4
            pin m1
            flag m1 right
            flag m1 outdated
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > forget m1
            m1 module_insight "retry limit is 3" [deleted]
            > edit m1 retry limit is 4
            error: m1 is forgotten
              `waylore restore m1` brings it back
            > pin m1
            error: m1 is forgotten
              `waylore restore m1` brings it back
            > flag m1 right
            error: m1 is forgotten
              `waylore restore m1` brings it back
            > flag m1 outdated
            error: m1 is forgotten
              `waylore restore m1` brings it back
            > history m1
            remember by user: v1 "retry limit is 3"
            forget by user: v2 "retry limit is 3" [deleted]
        "#]],
    );
}

#[test]
fn several_memories_are_forgotten_in_one_batch() {
    check(
        r"
            teach the pool has 8 connections
            teach the cache lives in redis
            forget m1 m2 m1
            list
            # One undo restores both.
            undo
            list
            # One unknown id, and nothing is forgotten.
            forget m1 nonsense
            list
        ",
        expect![[r#"
            > teach the pool has 8 connections
            m1 new: module_insight "the pool has 8 connections"
            > teach the cache lives in redis
            m2 new: module_insight "the cache lives in redis"
            > forget m1 m2 m1
            m1 module_insight "the pool has 8 connections" [deleted]
            m2 module_insight "the cache lives in redis" [deleted]
            > list
            nothing
            > undo
            undid forget
            m2 module_insight "the cache lives in redis"
            m1 module_insight "the pool has 8 connections"
            > list
            m2 module_insight 0.90 "the cache lives in redis"
            m1 module_insight 0.90 "the pool has 8 connections"
            > forget m1 nonsense
            error: `nonsense` is not the id of a memory
              an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them
            > list
            m2 module_insight 0.90 "the cache lives in redis"
            m1 module_insight 0.90 "the pool has 8 connections"
        "#]],
    );
}

#[test]
fn an_older_version_can_be_restored() {
    check(
        r"
            teach retry limit is 3
            edit m1 --tag net retry limit is 4
            restore m1 1
            # Version 7 never existed; version 3 is the current one.
            restore m1 7
            restore m1 3
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > edit m1 --tag net retry limit is 4
            m1 module_insight "retry limit is 4" tags=net
            > restore m1 1
            m1 module_insight "retry limit is 3"
            > restore m1 7
            error: m1 has no version 7
              `waylore history m1` lists them
            > restore m1 3
            error: m1 has no version 3
              `waylore history m1` lists them
            > history m1
            remember by user: v1 "retry limit is 3"
            edit by user: v2 "retry limit is 4" tags=net
            restore by user: v3 "retry limit is 3"
        "#]],
    );
}

#[test]
fn restoring_an_older_version_does_not_restore_trust() {
    check(
        r"
            # An imported memory is tainted until the user confirms it.
            foreign the cache lives in memcached
            import
            edit m1 the cache lives in redis
            flag m1 right
            show m1
            restore m1 1
            show m1
        ",
        expect![[r#"
            > import
            m1 added
            > edit m1 the cache lives in redis
            m1 gotcha "the cache lives in redis" [tainted]
            > flag m1 right
            m1 gotcha "the cache lives in redis"
            > show m1
            m1 gotcha 0.95 "the cache lives in redis"
              v3 observer_inferred global confidence 0.95 by import:foreign.json verified
            > restore m1 1
            m1 gotcha "the cache lives in memcached" [tainted]
            > show m1
            m1 gotcha 0.85 "the cache lives in memcached" [tainted]
              v4 observer_inferred global confidence 0.85 by import:foreign.json needs_review
        "#]],
    );
}
