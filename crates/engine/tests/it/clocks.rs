//! Clocks: a clock that jumps ahead or goes back harms no memory, and undo still follows the order
//! of the changes.
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
//! After the text of a memory come `tags=`, `files=`, `pinned`, and its status if it is not active:
//! `[deleted]`; in a list and for a new memory also `user` if it is in the user's notebook. `main.rs`
//! explains the other words of the output, the header of the crate `testkit` all commands. The confidence
//! halves in 7 days for `work_state`, in 60 for `gotcha`, in 90 for `module_insight`. This file also uses:
//!
//! ```text
//! days N         moves the clock without any use in between; N may be negative
//! undo           takes back the newest change of either notebook
//! m1 never was   output of an undo that took back the creation of m1
//! ```

use std::fs;
use std::path::Path;

use expect_test::expect;
use testkit::TestWorld;

use crate::check;

#[test]
fn a_year_without_use_ages_memories_by_a_month_at_most() {
    check(
        r"
            teach --type work_state half of the parser is written
            teach --type gotcha the cache must be cleared
            days 365
            list
            maintain
            teach the pool has 8 connections
            list
            days 365
            maintain
            list
        ",
        expect![[r#"
            > teach --type work_state half of the parser is written
            m1 new: work_state "half of the parser is written"
            > teach --type gotcha the cache must be cleared
            m2 new: gotcha "the cache must be cleared"
            > list
            m2 gotcha 0.64 "the cache must be cleared"
            m1 work_state 0.05 "half of the parser is written"
            > maintain
            faded: m1
            backed up
            backed up (user)
            > teach the pool has 8 connections
            m3 new: module_insight "the pool has 8 connections"
            > list
            m3 module_insight 0.90 "the pool has 8 connections"
            m2 gotcha 0.64 "the cache must be cleared"
            > maintain
            backed up
            backed up (user)
            > list
            m3 module_insight 0.71 "the pool has 8 connections"
            m2 gotcha 0.45 "the cache must be cleared"
        "#]],
    );
}

#[test]
fn a_clock_that_goes_back_ages_no_memory() {
    check(
        r"
            teach --type gotcha the cache must be cleared
            days -400
            list
            teach the pool has 8 connections
            # For m2 this is a span without use, which counts as 30 days at most.
            days 401
            teach builds run nightly
            list
            maintain
            list
        ",
        expect![[r#"
            > teach --type gotcha the cache must be cleared
            m1 new: gotcha "the cache must be cleared"
            > list
            m1 gotcha 0.90 "the cache must be cleared"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > teach builds run nightly
            m3 new: module_insight "builds run nightly"
            > list
            m3 module_insight 0.90 "builds run nightly"
            m2 module_insight 0.71 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
            > maintain
            backed up
            backed up (user)
            > list
            m3 module_insight 0.90 "builds run nightly"
            m2 module_insight 0.71 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
        "#]],
    );
}

#[test]
fn a_clock_that_runs_ahead_ages_memories_by_a_month_at_most() {
    check(
        r"
            teach --type gotcha the cache must be cleared
            # Thirty years ahead, and back.
            days 11000
            teach the pool has 8 connections
            list
            days -11000
            list
            maintain
            list
            undo
        ",
        expect![[r#"
            > teach --type gotcha the cache must be cleared
            m1 new: gotcha "the cache must be cleared"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > list
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 gotcha 0.64 "the cache must be cleared"
            > list
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
            > maintain
            backed up
            backed up (user)
            > list
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
            > undo
            undid remember
            m2 never was
        "#]],
    );
}

#[test]
fn maintenance_makes_a_backup_when_one_is_due() {
    check(
        r"
            teach retry limit is 3
            maintain
            # Not due yet: prints nothing.
            maintain
            days 2
            maintain
            # All backups are from the future now, so their age is unknown.
            days -300
            maintain
            backups
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > maintain
            backed up
            backed up (user)
            > maintain
            backed up
            backed up (user)
            > maintain
            backed up
            backed up (user)
            > backups
            backup 1: 1 memories
            backup 2: 1 memories
            backup 3: 1 memories
        "#]],
    );
}

#[test]
fn undo_finds_the_last_change_of_both_notebooks_whatever_the_clock() {
    check(
        r"
            teach the cache lives in redis
            days -10
            teach --user prefer tabs over spaces
            undo
            undo
            undo
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > teach --user prefer tabs over spaces
            m2 new: preference "prefer tabs over spaces" user
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
    check(
        r"
            teach --user prefer tabs over spaces
            days -400
            teach the cache lives in redis
            days -400
            edit m1 prefer spaces over tabs
            days 11000
            pin m2
            days -11000
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
            > edit m1 prefer spaces over tabs
            m1 preference "prefer spaces over tabs"
            > pin m2
            m2 module_insight "the cache lives in redis" pinned
            > undo
            undid pin
            m2 module_insight "the cache lives in redis"
            > undo
            undid edit
            m1 preference "prefer tabs over spaces"
            > undo
            undid remember
            m2 never was
            > undo
            undid remember
            m1 never was
        "#]],
    );
}

#[test]
fn undo_of_a_user_memory_finds_its_last_change_whatever_the_clock() {
    check(
        r"
            teach --user prefer tabs over spaces
            days -10
            flag m1 nothere
            undo m1
            flag m1 nothere
            days -10
            edit m1 prefer spaces over tabs
            undo m1
            undo m1
            undo m1
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > undo m1
            undid flag
            m1 preference "prefer tabs over spaces"
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > edit m1 prefer spaces over tabs
            m1 preference "prefer spaces over tabs"
            > undo m1
            undid edit
            m1 preference "prefer tabs over spaces"
            > undo m1
            undid flag
            m1 preference "prefer tabs over spaces"
            > undo m1
            undid remember
            m1 never was
        "#]],
    );
}

#[test]
fn undo_works_after_an_old_database_was_migrated() {
    let mut world = TestWorld::new(1);
    fs::create_dir_all(world.data_folder()).unwrap();

    // A database of version 2, which has no hybrid clock; its changes count as older than all
    // others. `m2` and `m3` are memories of this database, named when they are first printed, with the
    // filler words of that fixture in their fields. An undo first takes back the new changes, the newest
    // first, then those of the old database.
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/fixtures");
    fs::copy(fixtures.join("user-2.db"), world.data_folder().join("user.db")).unwrap();
    let output = world.run_script(
        r"
            days -10
            teach the cache lives in redis
            undo
            undo
            undo
            teach --user prefer tabs over spaces
            days -10
            teach the pool has 8 connections
            undo
            undo
            undo
        ",
    );
    expect![[r#"
        m1 new: module_insight "the cache lives in redis"
        undid remember
        m1 never was
        undid edit
        m2 gotcha "the forgotten one" tags=tag files=src/auth.rs modules=auth
        undid edit
        m3 error_pattern "content wren end" tags=tagwren,tag files=src/filewren.rs,src/auth.rs anchors=symbolwren modules=modulewren pinned [deprecated] (reason wren end)
        m4 new: preference "prefer tabs over spaces" user
        m5 new: module_insight "the pool has 8 connections"
        undid remember
        m5 never was
        undid remember
        m4 never was
        undid remember
        m2 never was
    "#]].assert_eq(&output);
}
