//! Decay: the confidence of unused memories falls, and `maintain` forgets those that faded.
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
//! used m1         counts a use of the memory by an agent
//! maintain        forgets the memories that faded
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn confidence_halves_with_each_half_life() {
    check(
        r"
            teach --type gotcha the cache must be cleared
            list
            active-days 30
            list
            active-days 30
            list
            active-days 60
            list
            used m1
            list
        ",
        expect![[r#"
            > teach --type gotcha the cache must be cleared
            m1 new: gotcha "the cache must be cleared"
            > list
            m1 gotcha 0.90 "the cache must be cleared"
            > list
            m1 gotcha 0.64 "the cache must be cleared"
            > list
            m1 gotcha 0.45 "the cache must be cleared"
            > list
            m1 gotcha 0.23 "the cache must be cleared"
            > list
            m1 gotcha 0.90 "the cache must be cleared"
        "#]],
    );
}

#[test]
fn pinned_memories_decisions_and_requirements_do_not_fade() {
    check(
        r"
            teach --pin --type gotcha the cache must be cleared
            teach --type decision sqlite because it needs no server
            teach --type requirement answers take less than a second
            teach --type gotcha the queue must be drained
            active-days 200
            maintain
            list
        ",
        expect![[r#"
            > teach --pin --type gotcha the cache must be cleared
            m1 new: gotcha "the cache must be cleared" pinned
            > teach --type decision sqlite because it needs no server
            m2 new: decision "sqlite because it needs no server"
            > teach --type requirement answers take less than a second
            m3 new: requirement "answers take less than a second"
            > teach --type gotcha the queue must be drained
            m4 new: gotcha "the queue must be drained"
            > maintain
            faded: m4
            backed up
            backed up (user)
            > list
            m3 requirement 0.90 "answers take less than a second"
            m2 decision 0.90 "sqlite because it needs no server"
            m1 gotcha 0.90 "the cache must be cleared" pinned
        "#]],
    );
}

#[test]
fn a_memory_unused_for_three_half_lives_is_forgotten() {
    check(
        r"
            teach --type work_state half of the parser is written
            # Not yet three half-lives of seven days: nothing is printed.
            active-days 20
            maintain --dry
            active-days 2
            maintain --dry
            list
            maintain
            list
            list --all
        ",
        expect![[r#"
            > teach --type work_state half of the parser is written
            m1 new: work_state "half of the parser is written"
            > maintain --dry
            faded: m1
            > list
            m1 work_state 0.10 "half of the parser is written"
            > maintain
            faded: m1
            backed up
            backed up (user)
            > list
            nothing
            > list --all
            m1 work_state 0.10 "half of the parser is written" [deleted]
        "#]],
    );
}

#[test]
fn a_forgotten_memory_that_the_user_taught_is_never_removed() {
    check(
        r"
            # What a user teaches is verified.
            teach --type work_state half of the parser is written
            active-days 22
            maintain
            # Far more than the 30 days after which others are removed.
            active-days 60
            maintain
            list --all
            restore m1
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
            > maintain
            backed up
            backed up (user)
            > list --all
            m1 work_state 0.00 "half of the parser is written" [deleted]
            > restore m1
            m1 work_state "half of the parser is written"
            > list
            m1 work_state 0.90 "half of the parser is written"
        "#]],
    );
}

#[test]
fn an_unverified_memory_is_removed_after_thirty_days() {
    check(
        r"
            foreign the cache lives in redis
            import
            forget m1
            active-days 29
            maintain
            list --all
            active-days 2
            maintain --dry
            maintain
            list --all
            restore m1
            history m1
        ",
        expect![[r#"
            > import
            m1 added
            > forget m1
            m1 gotcha "the cache lives in redis" [deleted]
            > maintain
            backed up
            backed up (user)
            > list --all
            m1 gotcha 0.61 "the cache lives in redis" [deleted]
            > maintain --dry
            gone: m1
            > maintain
            gone: m1
            backed up
            backed up (user)
            > list --all
            nothing
            > restore m1
            error: no memory matches `m1`
            > history m1
            error: no memory matches `m1`
        "#]],
    );
}

#[test]
fn remembering_a_statement_again_restarts_its_decay() {
    check(
        r"
            teach --type gotcha the cache must be cleared
            teach the pool has 8 connections
            active-days 60
            teach --type gotcha the cache must be cleared
            list
        ",
        expect![[r#"
            > teach --type gotcha the cache must be cleared
            m1 new: gotcha "the cache must be cleared"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > teach --type gotcha the cache must be cleared
            m1 again: gotcha "the cache must be cleared"
            > list
            m2 module_insight 0.57 "the pool has 8 connections"
            m1 gotcha 0.95 "the cache must be cleared"
        "#]],
    );
}

#[test]
fn a_confirmation_restarts_the_decay() {
    check(
        r"
            teach --type work_state half of the parser is written
            used m1
            active-days 20
            flag m1 right
            active-days 5
            maintain
            list
        ",
        expect![[r#"
            > teach --type work_state half of the parser is written
            m1 new: work_state "half of the parser is written"
            > flag m1 right
            m1 work_state "half of the parser is written"
            > maintain
            backed up
            backed up (user)
            > list
            m1 work_state 0.61 "half of the parser is written"
        "#]],
    );
}
