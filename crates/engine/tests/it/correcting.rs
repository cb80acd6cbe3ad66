//! Corrections: a user's judgement of a memory (right, outdated, partly wrong, incorrect) and its
//! effect on memories that derive from it.
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
//! flag m1 JUDGEMENT [TEXT]   corrects: `right`, `outdated`, `partly`, `incorrect`
//! foreign TEXT               adds a record of unknown origin to the import file
//! foreign --rests-on m1      such a record that derives from m1
//! import                     reads the import file; its memories are tainted
//! import --vouched           the same, but trusts the records as they claim, for example pinned
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_confirmation_raises_confidence_and_ends_review() {
    check(
        r"
            foreign the cache lives in redis
            import
            list
            flag m1 right
            show m1
        ",
        expect![[r#"
            > import
            m1 added
            > list
            m1 gotcha 0.85 "the cache lives in redis" [tainted]
            > flag m1 right
            m1 gotcha "the cache lives in redis"
            > show m1
            m1 gotcha 0.95 "the cache lives in redis"
              v2 observer_inferred global confidence 0.95 by import:foreign.json verified
        "#]],
    );
}

#[test]
fn an_outdated_memory_is_deprecated() {
    check(
        r"
            teach retry limit is 3
            flag m1 outdated
            list
            list --all
            # A deprecated memory cannot be corrected before it is restored.
            flag m1 outdated
            flag m1 right
            restore m1
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > flag m1 outdated
            m1 module_insight "retry limit is 3" [deprecated] (outdated)
            > list
            nothing
            > list --all
            m1 module_insight 0.90 "retry limit is 3" [deprecated] (outdated)
            > flag m1 outdated
            error: m1 is deprecated already: outdated
              `waylore restore m1` brings it back
            > flag m1 right
            error: m1 is deprecated already: outdated
              `waylore restore m1` brings it back
            > restore m1
            m1 module_insight "retry limit is 3"
            > list
            m1 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn an_outdated_memory_with_a_text_is_superseded() {
    check(
        r"
            write src/a.rs
            teach --tag net --module api --file src/a.rs retry limit is 3
            flag m1 outdated retry limit is 5
            list --all
            show m2
        ",
        expect![[r#"
            > teach --tag net --module api --file src/a.rs retry limit is 3
            m1 new: module_insight "retry limit is 3" tags=net files=src/a.rs modules=api
            > flag m1 outdated retry limit is 5
            m1 module_insight "retry limit is 3" tags=net files=src/a.rs modules=api [deprecated] (outdated, superseded by m2)
              replaced by m2 module_insight "retry limit is 5" tags=net files=src/a.rs modules=api
            > list --all
            m2 module_insight 0.90 "retry limit is 5" tags=net files=src/a.rs modules=api
            m1 module_insight 0.90 "retry limit is 3" tags=net files=src/a.rs modules=api [deprecated] (outdated, superseded by m2)
            > show m2
            m2 module_insight 0.90 "retry limit is 5" tags=net files=src/a.rs modules=api
              v1 user_taught module confidence 0.90 by user verified
              supersedes m1
        "#]],
    );
}

#[test]
fn an_incorrect_memory_needs_a_replacement() {
    check(
        r"
            teach retry limit is 3
            flag m1 incorrect
            flag m1 incorrect retry limit is 3
            flag m1 incorrect there is no retry limit
            list --all
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > flag m1 incorrect
            error: the text is empty
            > flag m1 incorrect retry limit is 3
            error: that is what the memory says already
              say what is right instead
            > flag m1 incorrect there is no retry limit
            m1 module_insight "retry limit is 3" [deprecated] (incorrect, superseded by m2)
              replaced by m2 module_insight "there is no retry limit"
            > list --all
            m2 module_insight 0.90 "there is no retry limit"
            m1 module_insight 0.90 "retry limit is 3" [deprecated] (incorrect, superseded by m2)
        "#]],
    );
}

#[test]
fn a_partly_wrong_memory_gets_a_new_version() {
    check(
        r"
            teach retry limit is 3 in the client
            flag m1 partly retry limit is 3 in the server
            flag m1 partly retry limit is 3 in the server
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3 in the client
            m1 new: module_insight "retry limit is 3 in the client"
            > flag m1 partly retry limit is 3 in the server
            m1 module_insight "retry limit is 3 in the server"
            > flag m1 partly retry limit is 3 in the server
            error: that is what the memory says already
              say what is right instead
            > history m1
            remember by user: v1 "retry limit is 3 in the client"
            flag by user: v2 "retry limit is 3 in the server"
        "#]],
    );
}

#[test]
fn memories_derived_from_a_corrected_one_wait_for_review() {
    check(
        r"
            teach the cache lives in redis
            foreign --rests-on m1 flushing redis empties the cache
            import --vouched
            flag m1 outdated the cache lives in memcached
            list
            # Undo also ends the review.
            undo
            list
            flag m1 partly the cache lives in redis 7
            list
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > import --vouched
            m2 added
            > flag m1 outdated the cache lives in memcached
            m1 module_insight "the cache lives in redis" [deprecated] (outdated, superseded by m3)
              replaced by m3 module_insight "the cache lives in memcached"
              for review: m2
            > list
            m3 module_insight 0.90 "the cache lives in memcached"
            m2 gotcha 1.00 "flushing redis empties the cache" pinned [needs_review]
            > undo
            undid flag
            m2 gotcha "flushing redis empties the cache" pinned
            m3 never was
            m1 module_insight "the cache lives in redis"
            > list
            m2 gotcha 1.00 "flushing redis empties the cache" pinned
            m1 module_insight 0.90 "the cache lives in redis"
            > flag m1 partly the cache lives in redis 7
            m1 module_insight "the cache lives in redis 7"
              for review: m2
            > list
            m2 gotcha 1.00 "flushing redis empties the cache" pinned [needs_review]
            m1 module_insight 0.90 "the cache lives in redis 7"
        "#]],
    );
}

#[test]
fn memories_that_supersede_a_corrected_one_wait_for_review() {
    check(
        r"
            teach retry limit is 3
            teach retry limit is 5
            restore m1
            flag m1 incorrect the retry limit was never 3
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > restore m1
            m1 module_insight "retry limit is 3"
            > flag m1 incorrect the retry limit was never 3
            m1 module_insight "retry limit is 3" [deprecated] (incorrect, superseded by m3)
              replaced by m3 module_insight "the retry limit was never 3"
              for review: m2
            > list
            m3 module_insight 0.90 "the retry limit was never 3"
            m2 module_insight 0.90 "retry limit is 5" [needs_review]
        "#]],
    );
}

#[test]
fn a_correction_of_a_users_memory_holds_in_all_projects() {
    check(
        r"
            teach --user prefer tabs over spaces
            flag m1 outdated prefer spaces over tabs
            project other
            list
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > flag m1 outdated prefer spaces over tabs
            m1 preference "prefer tabs over spaces" [deprecated] (outdated, superseded by m2)
              replaced by m2 preference "prefer spaces over tabs"
            > list
            m2 preference 0.90 "prefer spaces over tabs" user
        "#]],
    );
}
