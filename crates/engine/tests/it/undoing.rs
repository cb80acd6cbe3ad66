//! Undo: every change of a user can be undone as a whole; repeated undo goes further back.
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
//! undo           reverts the last change
//! undo m1        reverts the last change of m1
//! m1 never was   output: the undone change had created the memory
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn repeated_undo_goes_further_back() {
    check(
        r"
            teach retry limit is 3
            edit m1 retry limit is 4
            pin m1
            undo
            undo
            undo
            undo
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > edit m1 retry limit is 4
            m1 module_insight "retry limit is 4"
            > pin m1
            m1 module_insight "retry limit is 4" pinned
            > undo
            undid pin
            m1 module_insight "retry limit is 4"
            > undo
            undid edit
            m1 module_insight "retry limit is 3"
            > undo
            undid remember
            m1 never was
            > undo
            error: there is nothing to undo
            > history m1
            remember by user, undone: v1 "retry limit is 3"
            edit by user, undone: v2 "retry limit is 4"
            pin by user, undone: v3 "retry limit is 4" pinned
            undo by user: v4 "retry limit is 4"
            undo by user: v5 "retry limit is 3"
            undo by user: v6 "retry limit is 3" [deleted]
        "#]],
    );
}

#[test]
fn undo_of_a_supersession_restores_the_old_memory_and_forgets_the_new_one() {
    check(
        r"
            teach retry limit is 3
            teach retry limit is 5
            undo
            list --all
            search retry
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > undo
            undid supersede
            m1 module_insight "retry limit is 3"
            m2 never was
            > list --all
            m2 module_insight 0.90 "retry limit is 5" [deleted]
            m1 module_insight 0.90 "retry limit is 3"
            > search retry
            m1 "retry limit is 3" by retry
        "#]],
    );
}

#[test]
fn undo_of_a_merge_restores_the_old_text() {
    check(
        r"
            teach --tag net retry limit is 3
            teach --tag http retry limit is 3 because the upstream throttles
            undo
            show m1
        ",
        expect![[r#"
            > teach --tag net retry limit is 3
            m1 new: module_insight "retry limit is 3" tags=net
            > teach --tag http retry limit is 3 because the upstream throttles
            m1 merged, was "retry limit is 3": module_insight "retry limit is 3 because the upstream throttles" tags=net,http
            > undo
            undid merge
            m1 module_insight "retry limit is 3" tags=net
            > show m1
            m1 module_insight 0.90 "retry limit is 3" tags=net
              v3 user_taught global confidence 0.90 by user verified
        "#]],
    );
}

#[test]
fn forget_and_restore_can_be_undone_in_any_order() {
    check(
        r"
            teach retry limit is 3
            forget m1
            restore m1
            # Undoes the restoring, the forgetting and the remembering.
            undo
            list
            undo
            list
            undo
            list
            # A memory whose creation was undone can be restored.
            restore m1
            list
            undo
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > forget m1
            m1 module_insight "retry limit is 3" [deleted]
            > restore m1
            m1 module_insight "retry limit is 3"
            > undo
            undid restore
            m1 module_insight "retry limit is 3" [deleted]
            > list
            nothing
            > undo
            undid forget
            m1 module_insight "retry limit is 3"
            > list
            m1 module_insight 0.90 "retry limit is 3"
            > undo
            undid remember
            m1 never was
            > list
            nothing
            > restore m1
            m1 module_insight "retry limit is 3"
            > list
            m1 module_insight 0.90 "retry limit is 3"
            > undo
            undid restore
            m1 module_insight "retry limit is 3" [deleted]
            > list
            nothing
        "#]],
    );
}

#[test]
fn undo_of_one_memory_does_not_change_the_others() {
    check(
        r"
            teach the cache lives in redis
            teach the pool has 8 connections
            edit m1 the cache lives in memcached
            edit m2 the pool has 9 connections
            # Undoes the edit of m1, then its creation; m2 keeps its edit.
            undo m1
            list
            undo m1
            list
            # Nothing is left to undo.
            undo m1
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > edit m1 the cache lives in memcached
            m1 module_insight "the cache lives in memcached"
            > edit m2 the pool has 9 connections
            m2 module_insight "the pool has 9 connections"
            > undo m1
            undid edit
            m1 module_insight "the cache lives in redis"
            > list
            m2 module_insight 0.90 "the pool has 9 connections"
            m1 module_insight 0.90 "the cache lives in redis"
            > undo m1
            undid remember
            m1 never was
            > list
            m2 module_insight 0.90 "the pool has 9 connections"
            > undo m1
            error: there is nothing to undo
        "#]],
    );
}

#[test]
fn undo_is_refused_while_a_later_change_depends_on_it() {
    check(
        r"
            teach retry limit is 3
            teach retry limit is 5
            edit m2 --tag net
            # The supersession changed m1 and m2, and m2 was edited since.
            undo m1
            undo m2
            undo m1
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > edit m2 --tag net
            m2 module_insight "retry limit is 5" tags=net
            > undo m1
            error: m2 was changed again since
              undo that first: `waylore undo m2`
            > undo m2
            undid edit
            m2 module_insight "retry limit is 5"
            > undo m1
            undid supersede
            m1 module_insight "retry limit is 3"
            m2 never was
            > list
            m1 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn undo_of_a_correction_reverts_all_of_it() {
    check(
        r"
            teach the cache lives in redis
            flag m1 incorrect the cache lives in memcached
            undo
            list --all
            flag m1 partly the cache lives in redis 7
            undo
            flag m1 right
            undo
            show m1
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > flag m1 incorrect the cache lives in memcached
            m1 module_insight "the cache lives in redis" [deprecated] (incorrect, superseded by m2)
              replaced by m2 module_insight "the cache lives in memcached"
            > undo
            undid flag
            m2 never was
            m1 module_insight "the cache lives in redis"
            > list --all
            m2 module_insight 0.90 "the cache lives in memcached" [deleted]
            m1 module_insight 0.90 "the cache lives in redis"
            > flag m1 partly the cache lives in redis 7
            m1 module_insight "the cache lives in redis 7"
            > undo
            undid flag
            m1 module_insight "the cache lives in redis"
            > flag m1 right
            m1 module_insight "the cache lives in redis"
            > undo
            undid verify
            m1 module_insight "the cache lives in redis"
            > show m1
            m1 module_insight 0.90 "the cache lives in redis"
              v7 user_taught global confidence 0.90 by user verified
        "#]],
    );
}

#[test]
fn undo_of_an_import_forgets_all_of_it_and_it_can_be_imported_again() {
    check(
        r"
            foreign the cache lives in redis
            foreign the pool has 8 connections
            import
            undo
            list
            # The memories exist already, as forgotten; this import revives them.
            import --vouched
            list
            # Back to the state before it: forgotten.
            undo
            list
        ",
        expect![[r#"
            > import
            m1 added
            m2 added
            > undo
            undid import
            m2 never was
            m1 never was
            > list
            nothing
            > import --vouched
            m1 added
            m2 added
            > list
            m2 gotcha 1.00 "the pool has 8 connections" pinned
            m1 gotcha 1.00 "the cache lives in redis" pinned
            > undo
            undid import
            m2 gotcha "the pool has 8 connections" [deleted]
            m1 gotcha "the cache lives in redis" [deleted]
            > list
            nothing
        "#]],
    );
}

#[test]
fn undo_spans_both_notebooks_by_time() {
    check(
        r"
            teach --user prefer tabs over spaces
            teach the cache lives in redis
            teach --user commits are signed
            undo
            undo
            undo
            undo
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach the cache lives in redis
            m2 new: module_insight "the cache lives in redis"
            > teach --user commits are signed
            m3 new: preference "commits are signed" user
            > undo
            undid remember
            m3 never was
            > undo
            undid remember
            m2 never was
            > undo
            undid remember
            m1 never was
            > undo
            error: there is nothing to undo
        "#]],
    );
}
