//! Editing: edit and pin memories, abbreviated ids, and the history of a memory.
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
//! edit m1 [--tag T] [TEXT]   changes a memory; `--tag -` removes all tags
//! pin m1, unpin m1           both are `pin` in a history; after `unpin` without `pinned`
//! history m1                 prints all versions of a memory
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn an_edit_creates_a_version() {
    check(
        r"
            write src/a.rs
            teach retry limit is 3
            edit m1 retry limit is 4
            edit m1 --tag net --tag http --file src/a.rs --module api
            edit m1 --tag - --file -
            edit m1 --type decision --confidence 500
            show m1
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > edit m1 retry limit is 4
            m1 module_insight "retry limit is 4"
            > edit m1 --tag net --tag http --file src/a.rs --module api
            m1 module_insight "retry limit is 4" tags=net,http files=src/a.rs modules=api
            > edit m1 --tag - --file -
            m1 module_insight "retry limit is 4" modules=api
            > edit m1 --type decision --confidence 500
            m1 decision "retry limit is 4" modules=api
            > show m1
            m1 decision 0.50 "retry limit is 4" modules=api
              v5 user_taught module confidence 0.50 by user verified
            > history m1
            remember by user: v1 "retry limit is 3"
            edit by user: v2 "retry limit is 4"
            edit by user: v3 "retry limit is 4" tags=net,http files=src/a.rs modules=api
            edit by user: v4 "retry limit is 4" modules=api
            edit by user: v5 "retry limit is 4" modules=api
        "#]],
    );
}

#[test]
fn an_edit_that_changes_nothing_is_refused() {
    check(
        r"
            teach --tag net retry limit is 3
            edit m1 retry limit is 3
            edit m1 --tag net
            # An unknown type has an error of its own.
            edit m1 --type nonsense
            edit m1
        ",
        expect![[r#"
            > teach --tag net retry limit is 3
            m1 new: module_insight "retry limit is 3" tags=net
            > edit m1 retry limit is 3
            error: that changes nothing
              say what to change: --text, --type, --tag, --file …
            > edit m1 --tag net
            error: that changes nothing
              say what to change: --text, --type, --tag, --file …
            > edit m1 --type nonsense
            error: unknown type `nonsense` (one of: gotcha, decision, preference, pattern, requirement, error_pattern, module_insight, prefetch_pattern, work_state, causal_dependency, task_calibration, e2e_observation, dead_end, work_unit_outcome, workflow_recipe, context_cost)
            > edit m1
            error: that changes nothing
              say what to change: --text, --type, --tag, --file …
        "#]],
    );
}

#[test]
fn pinning_twice_changes_nothing() {
    check(
        r"
            teach retry limit is 3
            pin m1
            pin m1
            unpin m1
            unpin m1
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > pin m1
            m1 module_insight "retry limit is 3" pinned
            > pin m1
            nothing to change
            > unpin m1
            m1 module_insight "retry limit is 3"
            > unpin m1
            nothing to change
            > history m1
            remember by user: v1 "retry limit is 3"
            pin by user: v2 "retry limit is 3" pinned
            pin by user: v3 "retry limit is 3"
        "#]],
    );
}

#[test]
fn an_id_can_be_abbreviated() {
    check(
        r"
            teach retry limit is 3
            find m1
            # No hexadecimal number, then ids that do not exist, then too short an id.
            find zz
            find 12345678
            find #00000000
            edit 1 xyz
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > find m1
            m1 module_insight "retry limit is 3"
            > find zz
            error: `zz` is not the id of a memory
              an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them
            > find 12345678
            error: no memory matches `12345678`
            > find #00000000
            error: no memory matches `#00000000`
            > edit 1 xyz
            error: `1` is not the id of a memory
              an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them
        "#]],
    );
}

#[test]
fn the_history_of_a_memory_is_complete() {
    // After the restore, the same statement is merged into m1, and a contradicting one supersedes it.
    check(
        r"
            teach retry limit is 3
            edit m1 retry limit is 4
            pin m1
            flag m1 right
            forget m1
            restore m1
            teach retry limit is 4
            teach retry limit is 9
            history m1
            history m2
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > edit m1 retry limit is 4
            m1 module_insight "retry limit is 4"
            > pin m1
            m1 module_insight "retry limit is 4" pinned
            > flag m1 right
            m1 module_insight "retry limit is 4" pinned
            > forget m1
            m1 module_insight "retry limit is 4" pinned [deleted]
            > restore m1
            m1 module_insight "retry limit is 4" pinned
            > teach retry limit is 4
            m1 again: module_insight "retry limit is 4" pinned
            > teach retry limit is 9
            m2 supersedes m1 (the number was `4`, now it is `9`): module_insight "retry limit is 9" pinned
            > history m1
            remember by user: v1 "retry limit is 3"
            edit by user: v2 "retry limit is 4"
            pin by user: v3 "retry limit is 4" pinned
            verify by user: v4 "retry limit is 4" pinned
            forget by user: v5 "retry limit is 4" pinned [deleted]
            restore by user: v6 "retry limit is 4" pinned
            merge by user: v7 "retry limit is 4" pinned
            supersede by user: v8 "retry limit is 4" pinned [deprecated] (superseded by m2)
            > history m2
            supersede by user: v1 "retry limit is 9" pinned
        "#]],
    );
}

#[test]
fn an_ambiguous_abbreviation_is_reported_over_both_notebooks() {
    // `foreign` adds a record to the import file. `--empty` clears it after the first import, so that
    // each notebook gets one record. `--vouched` imports a record as it claims to be: pinned.
    check(
        r"
            # `--short` sets the short id of a record.
            foreign --short abcd1111 the cache lives in redis
            import --vouched
            foreign --empty
            foreign --short abcd2222 the pool has 8 connections
            import --vouched --user
            find abcd
            find abcd1
            find #ABCD2222
            forget abcd
            list
        ",
        expect![[r#"
            > import --vouched
            m1 added
            > import --vouched --user
            m2 added
            > find abcd
            error: `abcd` matches 2 memories: m1, m2
            > find abcd1
            m1 gotcha "the cache lives in redis" pinned
            > find #ABCD2222
            m2 gotcha "the pool has 8 connections" pinned
            > forget abcd
            error: `abcd` matches 2 memories: m1, m2
            > list
            m1 gotcha 1.00 "the cache lives in redis" pinned
            m2 gotcha 1.00 "the pool has 8 connections" user pinned
        "#]],
    );
}
