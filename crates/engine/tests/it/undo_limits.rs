//! Limits of undo: it works for thirty active days, and skips batches whose memories were purged.
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
//! active-days N   lets N days with sessions pass
//! days N          lets N days without use pass
//! undo            takes back the last change
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn undo_is_refused_after_thirty_active_days() {
    check(
        r"
            teach the cache lives in redis
            teach the pool has 8 connections
            active-days 29
            edit m2 the pool has 9 connections
            active-days 2
            undo m1
            undo
            undo
            history m1
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > edit m2 the pool has 9 connections
            m2 module_insight "the pool has 9 connections"
            > undo m1
            error: the last change (remember, 2026-11-15) is more than 30 days old
              `waylore history` shows older versions; `waylore restore --version N` goes back to one
            > undo
            undid edit
            m2 module_insight "the pool has 8 connections"
            > undo
            error: the last change (remember, 2026-11-15) is more than 30 days old
              `waylore history` shows older versions; `waylore restore --version N` goes back to one
            > history m1
            remember by user: v1 "the cache lives in redis"
        "#]],
    );
}

#[test]
fn a_year_of_absence_is_not_thirty_active_days() {
    check(
        r"
            teach retry limit is 3
            active-days 10
            forget m1
            # A year without use counts as 30 days at most.
            days 365
            list --all
            undo
            list
            # With the second year, the `teach` is 10 + 30 + 30 days old.
            days 365
            undo
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > forget m1
            m1 module_insight "retry limit is 3" [deleted]
            > list --all
            m1 module_insight 0.71 "retry limit is 3" [deleted]
            > undo
            undid forget
            m1 module_insight "retry limit is 3"
            > list
            m1 module_insight 0.66 "retry limit is 3"
            > undo
            error: the last change (remember, 2026-11-15) is more than 30 days old
              `waylore history` shows older versions; `waylore restore --version N` goes back to one
        "#]],
    );
}

#[test]
fn undo_of_automatic_forgetting_lasts() {
    check(
        r"
            teach --type work_state half of the parser is written
            active-days 22
            maintain
            list
            # The last change of a user was the `teach`; it cannot be undone before the forgetting is.
            undo
            undo m1
            maintain
            list
        ",
        expect![[r#"
            > teach --type work_state half of the parser is written
            m1 new: work_state "half of the parser is written"
            > maintain
            faded: m1
            backed up
            backed up (user)
            > list
            nothing
            > undo
            error: m1 was changed again since
              undo that first: `waylore undo m1`
            > undo m1
            undid prune
            m1 work_state "half of the parser is written"
            > list
            m1 work_state 0.90 "half of the parser is written"
        "#]],
    );
}

#[test]
fn undo_after_a_purge_reverts_the_change_before_it() {
    check(
        r"
            teach the cache lives in redis
            teach the pool has 8 connections
            purge m2
            undo
            undo
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > purge m2
            purged m2, not found anywhere
            > undo
            undid remember
            m1 never was
            > undo
            error: there is nothing to undo
        "#]],
    );
}

#[test]
fn a_supersession_can_be_undone_after_the_new_memory_was_purged() {
    check(
        r"
            teach retry limit is 3
            teach retry limit is 5
            purge m2
            show m1
            undo
            list --all
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > purge m2
            purged m2, not found anywhere
            > show m1
            m1 module_insight 0.90 "retry limit is 3" [deprecated] (superseded by m2)
              v2 user_taught global confidence 0.90 by user verified
            > undo
            undid supersede
            m1 module_insight "retry limit is 3"
            > list --all
            m1 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn the_exclusion_of_a_purged_memory_is_skipped_by_undo() {
    check(
        r"
            teach --user prefer tabs over spaces
            teach the cache lives in redis
            flag m1 nothere
            purge m1
            settings
            undo
            undo
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach the cache lives in redis
            m2 new: module_insight "the cache lives in redis"
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > purge m1
            purged m1, not found anywhere
            > settings
            nothing
            > undo
            undid remember
            m2 never was
            > undo
            error: there is nothing to undo
        "#]],
    );
}

#[test]
fn undo_without_a_change_is_an_error() {
    check(
        r"
            undo
            undo m1
        ",
        expect![[r#"
            > undo
            error: there is nothing to undo
            > undo m1
            error: `m1` is not the id of a memory
              an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them
        "#]],
    );
}
