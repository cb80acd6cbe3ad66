//! Clocks may stand still, run ahead or go back; memories do not suffer for it.

use expect_test::expect;

use crate::check;

#[test]
fn a_year_away_costs_a_month_at_most() {
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
            m1 new: work_state "half of the parser is written"
            m2 new: gotcha "the cache must be cleared"
            m2 gotcha 0.64 "the cache must be cleared"
            m1 work_state 0.05 "half of the parser is written"
            faded: m1
            backed up
            backed up (user)
            m3 new: module_insight "the pool has 8 connections"
            m3 module_insight 0.90 "the pool has 8 connections"
            m2 gotcha 0.64 "the cache must be cleared"
            backed up
            backed up (user)
            m3 module_insight 0.71 "the pool has 8 connections"
            m2 gotcha 0.45 "the cache must be cleared"
        "#]],
    );
}

#[test]
fn a_clock_that_went_back_makes_nothing_older() {
    check(
        r"
            teach --type gotcha the cache must be cleared
            days -400
            list
            teach the pool has 8 connections
            days 401
            teach builds run nightly
            list
            maintain
            list
        ",
        expect![[r#"
            m1 new: gotcha "the cache must be cleared"
            m1 gotcha 0.90 "the cache must be cleared"
            m2 new: module_insight "the pool has 8 connections"
            m3 new: module_insight "builds run nightly"
            m3 module_insight 0.90 "builds run nightly"
            m2 module_insight 0.71 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
            backed up
            backed up (user)
            m3 module_insight 0.90 "builds run nightly"
            m2 module_insight 0.71 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
        "#]],
    );
}

#[test]
fn a_clock_that_ran_ahead_costs_a_month_at_most() {
    check(
        r"
            teach --type gotcha the cache must be cleared
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
            m1 new: gotcha "the cache must be cleared"
            m2 new: module_insight "the pool has 8 connections"
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 gotcha 0.64 "the cache must be cleared"
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
            backed up
            backed up (user)
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 gotcha 0.90 "the cache must be cleared"
            undid remember
            m2 never was
        "#]],
    );
}

#[test]
fn upkeep_makes_a_backup_when_one_is_due() {
    check(
        r"
            teach retry limit is 3
            maintain
            maintain
            days 2
            maintain
            days -300
            maintain
            backups
        ",
        expect![[r#"
            m1 new: module_insight "retry limit is 3"
            backed up
            backed up (user)
            backed up
            backed up (user)
            backed up
            backed up (user)
            backup 1: 1 memories
            backup 2: 1 memories
            backup 3: 1 memories
        "#]],
    );
}
