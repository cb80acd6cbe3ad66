//! Purge: erases memories, secrets, projects or everything, and proves it by a search of every byte
//! in the data folder.
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
//! purge m1             erases a memory and prints the proof:
//! not found anywhere   output, after a search of every byte in the data folder
//! not there inside     output, after a query of the database alone
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_purged_memory_leaves_no_trace() {
    check(
        r"
            teach the launch code is hidden under the mat
            edit m1 the launch code is hidden under the stone
            backup
            forget m1
            teach the pool has 8 connections
            purge m1
            list --all
            search launch code
            backups
            find m1
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > edit m1 the launch code is hidden under the stone
            m1 module_insight "the launch code is hidden under the stone"
            > backup
            backed up
            backed up (user)
            > forget m1
            m1 module_insight "the launch code is hidden under the stone" [deleted]
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > purge m1
            purged m1, not found anywhere
            > list --all
            m2 module_insight 0.90 "the pool has 8 connections"
            > search launch code
            nothing
            > backups
            backup 1: 0 memories
            > find m1
            error: no memory matches `m1`
        "#]],
    );
}

#[test]
fn memories_of_both_notebooks_are_purged_at_once() {
    check(
        r"
            teach --user my own launch code is under the mat
            teach the launch code of the shop is under the stone
            purge m1 m2
            list --all
        ",
        expect![[r#"
            > teach --user my own launch code is under the mat
            m1 new: module_insight "my own launch code is under the mat" user
            > teach the launch code of the shop is under the stone
            m2 new: module_insight "the launch code of the shop is under the stone"
            > purge m1 m2
            purged m2 m1, not found anywhere
            > list --all
            nothing
        "#]],
    );
}

#[test]
fn a_text_that_another_memory_contains_is_no_trace() {
    // The bytes stay in the database as part of m2, so a byte search would find them. Only the database
    // is queried.
    check(
        r"
            teach the launch code is hidden under the mat
            teach --new by the way the launch code is hidden under the mat
            purge m1
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > teach --new by the way the launch code is hidden under the mat
            m2 new: module_insight "by the way the launch code is hidden under the mat"
            > purge m1
            purged m1, no bytes to look for, not there inside
            > list
            m2 module_insight 0.90 "by the way the launch code is hidden under the mat"
        "#]],
    );
}

#[test]
fn a_text_that_another_project_contains_is_no_trace() {
    // The byte search leaves out the folders of other projects, so here it is the proof.
    check(
        r"
            teach the launch code is hidden under the mat
            project other
            teach the launch code is hidden under the mat
            purge m2
            project shop
            list
            purge project
            project other
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > teach the launch code is hidden under the mat
            m2 new: module_insight "the launch code is hidden under the mat"
            > purge m2
            purged m2, not found anywhere
            > list
            m1 module_insight 0.90 "the launch code is hidden under the mat"
            > purge project
            purged m1, not found anywhere
            > list
            nothing
        "#]],
    );
}

#[test]
fn a_short_text_is_not_searched_for_in_the_files() {
    check(
        r"
            # Four bytes occur anywhere by coincidence.
            teach name
            purge m1
        ",
        expect![[r#"
            > teach name
            m1 new: preference "name"
            > purge m1
            purged m1, no bytes to look for, not there inside
        "#]],
    );
}

#[test]
fn a_project_can_be_purged() {
    check(
        r"
            teach the launch code is hidden under the mat
            teach --user prefer tabs over spaces
            backup
            purge project
            list
            doctor
            # Nothing is left to purge.
            purge project
            teach the pool has 8 connections
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > teach --user prefer tabs over spaces
            m2 new: preference "prefer tabs over spaces" user
            > backup
            backed up
            backed up (user)
            > purge project
            purged m1, not found anywhere
            > list
            m2 preference 0.90 "prefer tabs over spaces" user
            > doctor
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
            > purge project
            error: nothing is stored for this project
            > teach the pool has 8 connections
            m3 new: module_insight "the pool has 8 connections"
            > list
            m3 module_insight 0.90 "the pool has 8 connections"
            m2 preference 0.90 "prefer tabs over spaces" user
        "#]],
    );
}

#[test]
fn everything_can_be_purged() {
    check(
        r"
            teach the launch code is hidden under the mat
            teach --user prefer tabs over spaces
            purge everything
            list
            teach retry limit is 3
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > teach --user prefer tabs over spaces
            m2 new: preference "prefer tabs over spaces" user
            > purge everything
            purged m2 m1, not found anywhere
            > list
            nothing
            > teach retry limit is 3
            m3 new: module_insight "retry limit is 3"
            > list
            m3 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn a_purged_text_can_be_remembered_again() {
    check(
        r"
            teach the launch code is hidden under the mat
            purge m1
            teach the launch code is hidden under the mat
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > purge m1
            purged m1, not found anywhere
            > teach the launch code is hidden under the mat
            m2 new: module_insight "the launch code is hidden under the mat"
            > list
            m2 module_insight 0.90 "the launch code is hidden under the mat"
        "#]],
    );
}

#[test]
fn a_restored_backup_does_not_revive_a_purged_memory() {
    check(
        r"
            teach the launch code is hidden under the mat
            teach the pool has 8 connections
            backup
            purge m1
            restore-backup 1
            list --all
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > backup
            backed up
            backed up (user)
            > purge m1
            purged m1, not found anywhere
            > restore-backup 1
            restored 1 memories
            > list --all
            m2 module_insight 0.90 "the pool has 8 connections"
        "#]],
    );
}

#[test]
fn an_unknown_id_stops_the_purge() {
    check(
        r"
            teach the launch code is hidden under the mat
            purge m1 deadbeef
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > purge m1 deadbeef
            error: no memory matches `deadbeef`
            > list
            m1 module_insight 0.90 "the launch code is hidden under the mat"
        "#]],
    );
}

#[test]
fn a_foreign_file_in_the_data_folder_is_not_removed() {
    check(
        r"
            teach the launch code is hidden under the mat
            stray-file notes.txt
            stray-file --user mine.txt
            purge project
            exists notes.txt
            exists mine.txt
            teach the pool has 8 connections
            purge everything
            exists notes.txt
            exists mine.txt
            list
        ",
        expect![[r#"
            > teach the launch code is hidden under the mat
            m1 new: module_insight "the launch code is hidden under the mat"
            > purge project
            purged m1, not found anywhere
            > exists notes.txt
            there
            > exists mine.txt
            there
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > purge everything
            purged m2, not found anywhere
            > exists notes.txt
            there
            > exists mine.txt
            there
            > list
            nothing
        "#]],
    );
}

#[test]
fn a_secret_is_purged_from_every_project() {
    check(
        r"
            teach the door code is swordfish-seven
            teach --user my own door code is swordfish-seven
            project other
            teach the other door code is swordfish-seven
            # Called in a project that does not contain it.
            project third
            purge secret swordfish-seven
            project shop
            list
            project other
            list
        ",
        expect![[r#"
            > teach the door code is swordfish-seven
            m1 new: module_insight "the door code is swordfish-seven"
            > teach --user my own door code is swordfish-seven
            m2 new: module_insight "my own door code is swordfish-seven" user
            > teach the other door code is swordfish-seven
            m3 new: module_insight "the other door code is swordfish-seven"
            > purge secret swordfish-seven
            purged m2 m1 m3, not found anywhere
            > list
            m1 module_insight 0.90 "the door code is [REDACTED: purged]"
            m2 module_insight 0.90 "my own door code is [REDACTED: purged]" user
            > list
            m3 module_insight 0.90 "the other door code is [REDACTED: purged]"
            m2 module_insight 0.90 "my own door code is [REDACTED: purged]" user
        "#]],
    );
}

#[test]
fn stored_secrets_are_found_and_purged_in_every_text_of_every_project() {
    check(
        r"
            # Memories stored before the rules knew these secrets.
            insert-unchecked --tag {token} the deploy runs nightly
            insert-unchecked --content the-cache --into branch {key}
            insert-unchecked --content the-pool --into anchor {token}
            insert-unchecked --user the deploy uses {token}
            doctor
            project other
            purge secrets
            project shop
            list --all
            show m2
            doctor
        ",
        expect![[r#"
            > insert-unchecked --tag {token} the deploy runs nightly
            m1 inserted unchecked
            > insert-unchecked --content the-cache --into branch {key}
            m2 inserted unchecked
            > insert-unchecked --content the-pool --into anchor {token}
            m3 inserted unchecked
            > insert-unchecked --user the deploy uses {token}
            m4 inserted unchecked
            > doctor
            Warning project backups: there are none
            Bad project secrets: what looks like a secret is stored in m1, m2, m3
            Warning user backups: there are none
            Bad user secrets: what looks like a secret is stored in m4
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
            > purge secrets
            purged m4 m1 m2 m3, not found anywhere
            > list --all
            m3 gotcha 1.00 "the-pool" anchors=[REDACTED: github-token] pinned
            m2 gotcha 1.00 "the-cache" pinned
            m1 gotcha 1.00 "the deploy runs nightly" tags=[REDACTED: github-token] pinned
            m4 gotcha 1.00 "the deploy uses [REDACTED: github-token]" user pinned
            > show m2
            m2 gotcha 1.00 "the-cache" pinned
              v1 user_taught global confidence 1.00 by user verified on [REDACTED: aws-access-key-id]
            > doctor
            Warning project backups: there are none
            Warning user backups: there are none
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
        "#]],
    );
}
