//! Remembering: a user's statement becomes a new memory, merges into one that states the same, or
//! supersedes one that it contradicts.
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
//! m1 new             the output of `teach`: a new memory,
//! m1 again           merged into m1, which keeps its text,
//! m1 merged          merged into m1, which gets the new text (`was` shows the old one),
//! m2 supersedes m1   or a new memory in the place of one that it contradicts
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_first_statement_is_new() {
    check(
        r"
            teach the scheduler retries failed jobs
            list
            show m1
        ",
        expect![[r#"
            > teach the scheduler retries failed jobs
            m1 new: module_insight "the scheduler retries failed jobs"
            > list
            m1 module_insight 0.90 "the scheduler retries failed jobs"
            > show m1
            m1 module_insight 0.90 "the scheduler retries failed jobs"
              v1 user_taught global confidence 0.90 by user verified
        "#]],
    );
}

#[test]
fn a_repeated_statement_raises_confidence_and_is_not_duplicated() {
    check(
        r"
            teach the scheduler retries failed jobs
            teach The scheduler retries failed jobs.
            teach the scheduler retries failed jobs
            teach the scheduler retries failed jobs
            show m1
            list
        ",
        expect![[r#"
            > teach the scheduler retries failed jobs
            m1 new: module_insight "the scheduler retries failed jobs"
            > teach The scheduler retries failed jobs.
            m1 merged, was "the scheduler retries failed jobs": module_insight "The scheduler retries failed jobs."
            > teach the scheduler retries failed jobs
            m1 again: module_insight "The scheduler retries failed jobs."
            > teach the scheduler retries failed jobs
            m1 again: module_insight "The scheduler retries failed jobs."
            > show m1
            m1 module_insight 0.95 "The scheduler retries failed jobs."
              v4 user_taught global confidence 0.95 by user verified
            > list
            m1 module_insight 0.95 "The scheduler retries failed jobs."
        "#]],
    );
}

#[test]
fn a_merge_keeps_the_longer_text_and_all_labels() {
    check(
        r"
            write src/a.rs
            teach --tag net --file src/a.rs the retry limit is 3
            teach --tag http --tag net the retry limit is 3 because the upstream throttles
            teach --module api the retry limit is 3
            list
        ",
        expect![[r#"
            > teach --tag net --file src/a.rs the retry limit is 3
            m1 new: module_insight "the retry limit is 3" tags=net files=src/a.rs
            > teach --tag http --tag net the retry limit is 3 because the upstream throttles
            m1 merged, was "the retry limit is 3": module_insight "the retry limit is 3 because the upstream throttles" tags=net,http files=src/a.rs
            > teach --module api the retry limit is 3
            m1 again: module_insight "the retry limit is 3 because the upstream throttles" tags=net,http files=src/a.rs modules=api
            > list
            m1 module_insight 0.95 "the retry limit is 3 because the upstream throttles" tags=net,http files=src/a.rs modules=api
        "#]],
    );
}

#[test]
fn a_different_number_supersedes_the_old_memory() {
    check(
        r"
            teach retry limit is 3
            teach --tag net retry limit is 5
            list
            list --all
            show m2
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach --tag net retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5" tags=net
            > list
            m2 module_insight 0.90 "retry limit is 5" tags=net
            > list --all
            m2 module_insight 0.90 "retry limit is 5" tags=net
            m1 module_insight 0.90 "retry limit is 3" [deprecated] (superseded by m2)
            > show m2
            m2 module_insight 0.90 "retry limit is 5" tags=net
              v1 user_taught global confidence 0.90 by user verified
              supersedes m1 auto
        "#]],
    );
}

#[test]
fn a_negation_supersedes_the_old_memory() {
    check(
        r"
            teach the worker uses threads
            teach the worker does not use threads
            list
        ",
        expect![[r#"
            > teach the worker uses threads
            m1 new: module_insight "the worker uses threads"
            > teach the worker does not use threads
            m2 supersedes m1 (one says it is so, the other says it is not): preference "the worker does not use threads"
            > list
            m2 preference 0.90 "the worker does not use threads"
        "#]],
    );
}

#[test]
fn another_subject_is_a_memory_of_its_own() {
    check(
        r"
            teach the retry limit in dev is 3
            teach the retry limit in prod is 5
            list
        ",
        expect![[r#"
            > teach the retry limit in dev is 3
            m1 new: module_insight "the retry limit in dev is 3"
            > teach the retry limit in prod is 5
            m2 new: module_insight "the retry limit in prod is 5"
            > list
            m2 module_insight 0.90 "the retry limit in prod is 5"
            m1 module_insight 0.90 "the retry limit in dev is 3"
        "#]],
    );
}

#[test]
fn the_option_new_keeps_both_memories() {
    check(
        r"
            teach retry limit is 3
            teach --new retry limit is 5
            teach --new retry limit is 5
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach --new retry limit is 5
            m2 new: module_insight "retry limit is 5"
            > teach --new retry limit is 5
            m3 new: module_insight "retry limit is 5"
            > list
            m3 module_insight 0.90 "retry limit is 5"
            m2 module_insight 0.90 "retry limit is 5"
            m1 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn a_chain_of_contradictions_leaves_one_active_memory() {
    check(
        r"
            teach retry limit is 3
            teach retry limit is 5
            teach retry limit is 7
            list
            list --all
            teach retry limit is 3
            list
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > teach retry limit is 7
            m3 supersedes m2 (the number was `5`, now it is `7`): module_insight "retry limit is 7"
            > list
            m3 module_insight 0.90 "retry limit is 7"
            > list --all
            m3 module_insight 0.90 "retry limit is 7"
            m2 module_insight 0.90 "retry limit is 5" [deprecated] (superseded by m3)
            m1 module_insight 0.90 "retry limit is 3" [deprecated] (superseded by m2)
            > teach retry limit is 3
            m4 supersedes m3 (the number was `7`, now it is `3`): module_insight "retry limit is 3"
            > list
            m4 module_insight 0.90 "retry limit is 3"
        "#]],
    );
}

#[test]
fn the_type_is_suggested_and_a_given_one_is_honoured() {
    check(
        r"
            teach we decided to use sqlite because it needs no server
            teach --type gotcha the cache must be cleared before a release
            teach --type gotchas the cache is warm
        ",
        expect![[r#"
            > teach we decided to use sqlite because it needs no server
            m1 new: decision "we decided to use sqlite because it needs no server"
            > teach --type gotcha the cache must be cleared before a release
            m2 new: gotcha "the cache must be cleared before a release"
            > teach --type gotchas the cache is warm
            error: unknown type `gotchas` (did you mean `gotcha`?)
        "#]],
    );
}

#[test]
fn a_given_type_changes_that_of_the_merged_memory() {
    check(
        r"
            teach the cache is cleared on release
            teach the cache is cleared on release
            teach --type decision the cache is cleared on release
            show m1
        ",
        expect![[r#"
            > teach the cache is cleared on release
            m1 new: module_insight "the cache is cleared on release"
            > teach the cache is cleared on release
            m1 again: module_insight "the cache is cleared on release"
            > teach --type decision the cache is cleared on release
            m1 again: decision "the cache is cleared on release"
            > show m1
            m1 decision 0.95 "the cache is cleared on release"
              v3 user_taught global confidence 0.95 by user verified
        "#]],
    );
}

#[test]
fn a_dry_run_stores_nothing() {
    check(
        r"
            teach --dry retry limit is 3
            teach retry limit is 3
            teach --dry retry limit is 3
            teach --dry retry limit is 5
            list
            history m1
        ",
        expect![[r#"
            > teach --dry retry limit is 3
            would be new: module_insight "retry limit is 3"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach --dry retry limit is 3
            m1 again: module_insight "retry limit is 3"
            > teach --dry retry limit is 5
            would be supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > list
            m1 module_insight 0.90 "retry limit is 3"
            > history m1
            remember by user: v1 "retry limit is 3"
        "#]],
    );
}

#[test]
fn an_idempotency_key_stores_once() {
    check(
        r"
            teach --key k1 retry limit is 3
            teach --key k1 retry limit is 3
            # Not even another text is stored under a used key.
            teach --key k1 something else entirely
            list
            history m1
        ",
        expect![[r#"
            > teach --key k1 retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach --key k1 retry limit is 3
            m1 known by its key: module_insight "retry limit is 3"
            > teach --key k1 something else entirely
            m1 known by its key: module_insight "retry limit is 3"
            > list
            m1 module_insight 0.90 "retry limit is 3"
            > history m1
            remember by user: v1 "retry limit is 3"
        "#]],
    );
}

#[test]
fn a_pinned_memory_stays_pinned_when_repeated() {
    check(
        r"
            teach --pin retry limit is 3
            teach retry limit is 3
            teach --pin the pool size is 8
            list
        ",
        expect![[r#"
            > teach --pin retry limit is 3
            m1 new: module_insight "retry limit is 3" pinned
            > teach retry limit is 3
            m1 again: module_insight "retry limit is 3" pinned
            > teach --pin the pool size is 8
            m2 new: module_insight "the pool size is 8" pinned
            > list
            m2 module_insight 0.90 "the pool size is 8" pinned
            m1 module_insight 0.95 "retry limit is 3" pinned
        "#]],
    );
}

#[test]
fn empty_and_oversized_texts_are_refused() {
    check(
        r"
            teach
            teach \n \n
            # One byte more than the limit.
            teach long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long
        ",
        expect![[r#"
            > teach
            error: the text is empty
            > teach \n \n
            error: the text is empty
            > teach long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long
            error: the text has 2049 bytes, the limit is 2048; split it into several memories
        "#]],
    );
}

#[test]
fn a_repeated_key_returns_the_memory_as_it_is_now() {
    check(
        r"
            teach --key k1 the cache lives in redis
            undo
            teach --key k1 the cache lives in redis
            # After a purge there is no memory to return.
            purge m1
            teach --key k1 the cache lives in redis
            list --all
        ",
        expect![[r#"
            > teach --key k1 the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > undo
            undid remember
            m1 never was
            > teach --key k1 the cache lives in redis
            m1 known by its key: module_insight "the cache lives in redis" [deleted]
            > purge m1
            purged m1, not found anywhere
            > teach --key k1 the cache lives in redis
            error: the memory stored under this key was erased
              to store the text again, give another key
            > list --all
            nothing
        "#]],
    );
}

#[test]
fn a_successor_inherits_labels_and_the_pin() {
    check(
        r"
            teach --pin --tag net --file src/a.rs --module api retry limit is 3
            teach --tag ops retry limit is 5
            show m2
            flag m2 incorrect retry limit is 8
            show m3
        ",
        expect![[r#"
            > teach --pin --tag net --file src/a.rs --module api retry limit is 3
            m1 new: module_insight "retry limit is 3" tags=net files=src/a.rs modules=api pinned
              absent: src/a.rs
            > teach --tag ops retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5" tags=net,ops files=src/a.rs modules=api pinned
            > show m2
            m2 module_insight 0.90 "retry limit is 5" tags=net,ops files=src/a.rs modules=api pinned
              v1 user_taught module confidence 0.90 by user verified
              supersedes m1 auto
            > flag m2 incorrect retry limit is 8
            m2 module_insight "retry limit is 5" tags=net,ops files=src/a.rs modules=api pinned [deprecated] (incorrect, superseded by m3)
              replaced by m3 module_insight "retry limit is 8" tags=net,ops files=src/a.rs modules=api pinned
            > show m3
            m3 module_insight 0.90 "retry limit is 8" tags=net,ops files=src/a.rs modules=api pinned
              v1 user_taught module confidence 0.90 by user verified
              supersedes m2
        "#]],
    );
}
