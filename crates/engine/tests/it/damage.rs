//! Damage: a damaged memory is withheld and reported, maintenance does not touch a damaged
//! notebook, and backups repair or replace it.
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
//! damage m1          changes the stored text behind the engine's back
//! ! memory m1 …      output: a warning after the output of a command
//! active-days 30     lets 30 days pass in which the project is used, so that memories age
//! restore-backup 1   restores the newest backup
//! (user)             output: marks the user's notebook
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_damaged_memory_is_withheld_and_reported() {
    check(
        r"
            teach the launch code is hidden under the mat
            teach the pool has 8 connections
            damage m1
            list
            search pool
            search launch
            find m1
            edit m1 it was never hidden
            doctor
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > list
            m2 module_insight 0.90 "the pool has 8 connections"
            ! memory m1 is damaged and withheld: its content does not match its hash
            > search pool
            1 memory has no vector yet and is found by its words alone
            m2 "the pool has 8 connections" by pool
            ! memory m1 is damaged and withheld: its content does not match its hash
            > search launch
            1 memory has no vector yet and is found by its words alone
            ! memory m1 is damaged and withheld: its content does not match its hash
            > find m1
            error: no memory matches `m1`
            ! memory m1 is damaged and withheld: its content does not match its hash
            > edit m1 it was never hidden
            error: no memory matches `m1`
            ! memory m1 is damaged and withheld: its content does not match its hash
            > doctor
            Bad project notebook: memory m1 is damaged and withheld: its content does not match its hash (and 1 more)
            Warning project backups: there are none
            Warning user backups: there are none
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
            ! memory m1 is damaged and withheld: its content does not match its hash
        "#]],
    );
}

/// Maintenance reports `m1` as faded, but `list` shows it afterwards: it was not forgotten. Only the
/// intact notebook of the user is backed up.
#[test]
fn maintenance_does_not_change_a_damaged_notebook() {
    check(
        r"
            teach --type work_state half of the parser is written
            teach the launch code is hidden under the mat
            damage m2
            active-days 30
            maintain
            list
        ",
        expect![[r#"
            > teach --type work_state half of the parser is written
            m1 new: work_state "half of the parser is written"
            > teach the launch code is hidden under the mat
            m2 new: module_insight "the launch code is hidden under the mat"
            > maintain
            faded: m1
            found: memory m2 is damaged and withheld: its content does not match its hash
            found: the search index disagrees with the memories: `~/data/desk/projects/01a1dc81-da60-715c-8289-ec2d0a9167ec/memory.db` is damaged: database disk image is malformed
            backed up (user)
            ! memory m2 is damaged and withheld: its content does not match its hash
            > list
            m1 work_state 0.05 "half of the parser is written"
            ! memory m2 is damaged and withheld: its content does not match its hash
        "#]],
    );
}

#[test]
fn a_backup_repairs_damage() {
    check(
        r"
            teach the launch code is hidden under the mat
            backup
            damage m1
            list
            doctor --fix
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > backup
            backed up
            backed up (user)
            > list
            nothing
            ! memory m1 is damaged and withheld: its content does not match its hash
            > doctor --fix
            brought back 1 damaged memory from a backup, exactly as saved
            rebuilt the search index from the memories
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
            > list
            m1 module_insight 0.90 "the launch code is hidden under the mat"
        "#]],
    );
}

#[test]
fn a_restored_backup_lacks_later_memories() {
    check(
        r"
            teach the cache lives in redis
            backup
            teach the pool has 8 connections
            backups
            restore-backup 1
            list
            # The last change that the backup holds is undone: `m1` was remembered.
            undo
            list
            restore-backup nonsense
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > backup
            backed up
            backed up (user)
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > backups
            backup 1: 1 memories
            > restore-backup 1
            restored 1 memories
            > list
            m1 module_insight 0.90 "the cache lives in redis"
            > undo
            undid remember
            m1 never was
            > list
            nothing
            > restore-backup nonsense
            error: no backup is called `nonsense`
              `waylore restore-backup` lists them
        "#]],
    );
}

/// Of four backups the first is gone. `m4` is in the user's notebook, so the newest backup of the
/// project holds three memories and that of the user one.
#[test]
fn the_last_three_backups_are_kept() {
    check(
        r"
            teach the cache lives in redis
            backup
            teach the pool has 8 connections
            backup
            teach builds run nightly
            backup
            teach --user prefer tabs over spaces
            backup
            backups
            backups --user
            restore-backup 2 --user
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > backup
            backed up
            backed up (user)
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > backup
            backed up
            backed up (user)
            > teach builds run nightly
            m3 new: module_insight "builds run nightly"
            > backup
            backed up
            backed up (user)
            > teach --user prefer tabs over spaces
            m4 new: preference "prefer tabs over spaces" user
            > backup
            backed up
            backed up (user)
            > backups
            backup 1: 3 memories
            backup 2: 3 memories
            backup 3: 2 memories
            > backups --user
            backup 1: 1 memories
            backup 2: 0 memories
            backup 3: 0 memories
            > restore-backup 2 --user
            restored 0 memories
        "#]],
    );
}
