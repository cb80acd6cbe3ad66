//! Export and import: an export is complete and contains no secret; an import trusts a file no more
//! than any other text.
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
//! export             writes the import file
//! foreign TEXT       adds a record of unknown origin to it
//! import             reads it
//! machine NAME       switches to another data folder
//! insert-unchecked   stores a memory without the checks of the engine
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn an_export_is_complete() {
    check(
        r"
            teach retry limit is 3
            # Both get a second version: m1 is superseded, m2 is forgotten.
            teach retry limit is 5
            forget m2
            teach --user prefer tabs over spaces
            set list.limit 7
            export
            export --user
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > teach retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5"
            > forget m2
            m2 module_insight "retry limit is 5" [deleted]
            > teach --user prefer tabs over spaces
            m3 new: preference "prefer tabs over spaces" user
            > export
            2 memories, 2 with a past, 1 settings
            > export --user
            1 memories, 0 with a past, 0 settings
        "#]],
    );
}

#[test]
fn a_vouched_import_restores_the_whole_export_on_another_machine() {
    check(
        r"
            write src/a.rs
            teach --tag net --file src/a.rs --module api retry limit is 3
            teach --pin retry limit is 5
            teach the pool has 8 connections
            forget m3
            export
            machine laptop
            import --vouched
            list --all
            show m2
        ",
        expect![[r#"
            > teach --tag net --file src/a.rs --module api retry limit is 3
            m1 new: module_insight "retry limit is 3" tags=net files=src/a.rs modules=api
            > teach --pin retry limit is 5
            m2 supersedes m1 (the number was `3`, now it is `5`): module_insight "retry limit is 5" tags=net files=src/a.rs modules=api pinned
            > teach the pool has 8 connections
            m3 new: module_insight "the pool has 8 connections"
            > forget m3
            m3 module_insight "the pool has 8 connections" [deleted]
            > export
            3 memories, 2 with a past, 0 settings
            > import --vouched
            m1 added
            m2 added
            m3 added
            > list --all
            m3 module_insight 0.90 "the pool has 8 connections" [deleted]
            m2 module_insight 0.90 "retry limit is 5" tags=net files=src/a.rs modules=api pinned
            m1 module_insight 0.90 "retry limit is 3" tags=net files=src/a.rs modules=api [deprecated] (superseded by m2)
            > show m2
            m2 module_insight 0.90 "retry limit is 5" tags=net files=src/a.rs modules=api pinned
              v1 user_taught module confidence 0.90 by user verified
              supersedes m1 auto
        "#]],
    );
}

#[test]
fn an_unvouched_import_is_tainted_and_unpinned() {
    check(
        r"
            teach --pin retry limit is 3
            export
            machine laptop
            import
            show m1
            # The user confirms it.
            flag m1 right
            show m1
        ",
        expect![[r#"
            > teach --pin retry limit is 3
            m1 new: module_insight "retry limit is 3" pinned
            > export
            1 memories, 0 with a past, 0 settings
            > import
            m1 added
            > show m1
            m1 module_insight 0.85 "retry limit is 3" [tainted]
              v1 observer_inferred global confidence 0.85 by import:foreign.json needs_review
            > flag m1 right
            m1 module_insight "retry limit is 3"
            > show m1
            m1 module_insight 0.95 "retry limit is 3"
              v2 observer_inferred global confidence 0.95 by import:foreign.json verified
        "#]],
    );
}

#[test]
fn a_dry_run_imports_nothing_and_registers_no_project() {
    check(
        r"
            foreign the cache lives in redis
            import --dry
            # The doctor would complain about missing backups if the project were registered.
            doctor
            list
            import
            list
        ",
        expect![[r#"
            > import --dry
            m1 added
            nothing written
            > doctor
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
            > list
            nothing
            > import
            m1 added
            > list
            m1 gotcha 0.85 "the cache lives in redis" [tainted]
        "#]],
    );
}

#[test]
fn one_invalid_record_stops_the_import() {
    check(
        r"
            foreign the cache lives in redis
            foreign --bad unknown type
            foreign the token is {token}
            import
            list
            # Unless the invalid ones are to be skipped.
            import --skip
            list
        ",
        expect![[r#"
            > import
            m1 added
            record 2: unknown type
            record 3: holds what looks like a secret: github-token (content, line 1)
            nothing written
            > list
            nothing
            > import --skip
            m1 added
            record 2: unknown type
            record 3: holds what looks like a secret: github-token (content, line 1)
            > list
            m1 gotcha 0.85 "the cache lives in redis" [tainted]
        "#]],
    );
}

#[test]
fn an_import_can_redact_secrets() {
    check(
        r"
            foreign the token is {token}
            import
            import --redact
            list
        ",
        expect![[r#"
            > import
            record 1: holds what looks like a secret: github-token (content, line 1)
            nothing written
            > import --redact
            m1 added
            > list
            m1 gotcha 0.85 "the token is [REDACTED: github-token]" [tainted]
        "#]],
    );
}

#[test]
fn a_relation_to_a_missing_memory_is_kept_and_shown_as_gone() {
    check(
        r"
            # `--rests-on m1` adds the relation `derived_from m1`.
            teach the cache lives in redis
            foreign --rests-on m1 flushing redis empties the cache
            import --vouched
            show m2
            purge m1
            show m2
            export
            machine laptop
            import --vouched
            show m2
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > import --vouched
            m2 added
            > show m2
            m2 gotcha 1.00 "flushing redis empties the cache" pinned
              v1 user_taught global confidence 1.00 by user verified
              derived_from m1
            > purge m1
            purged m1, not found anywhere
            > show m2
            m2 gotcha 1.00 "flushing redis empties the cache" pinned
              v1 user_taught global confidence 1.00 by user verified
              derived_from m1 (gone)
            > export
            1 memories, 0 with a past, 0 settings
            > import --vouched
            m2 added
            > show m2
            m2 gotcha 1.00 "flushing redis empties the cache" pinned
              v1 user_taught global confidence 1.00 by user verified
              derived_from m1 (gone)
        "#]],
    );
}

#[test]
fn an_import_brings_no_history() {
    check(
        r"
            teach retry limit is 3
            edit m1 retry limit is 4
            export
            machine laptop
            import --vouched
            history m1
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > edit m1 retry limit is 4
            m1 module_insight "retry limit is 4"
            > export
            1 memories, 1 with a past, 0 settings
            > import --vouched
            m1 added
            > history m1
            import by import:foreign.json: v1 "retry limit is 4"
        "#]],
    );
}

#[test]
fn an_old_export_is_not_faded_on_arrival() {
    check(
        r"
            teach --type work_state the parser is half done
            export
            # More than three half-lives of seven days.
            active-days 30
            machine laptop
            import --vouched
            list
            maintain
            list
        ",
        expect![[r#"
            > teach --type work_state the parser is half done
            m1 new: work_state "the parser is half done"
            > export
            1 memories, 0 with a past, 0 settings
            > import --vouched
            m1 added
            > list
            m1 work_state 0.90 "the parser is half done"
            > maintain
            backed up
            backed up (user)
            > list
            m1 work_state 0.90 "the parser is half done"
        "#]],
    );
}

#[test]
fn an_export_contains_no_secret() {
    check(
        r"
            insert-unchecked the deploy uses {token}
            insert-unchecked --content the-cache --into branch {key}
            insert-unchecked --content the-queue --into author {key}
            teach the pool has 8 connections
            export
            machine laptop
            import --vouched
            list
            show m2
            show m3
        ",
        expect![[r#"
            > insert-unchecked the deploy uses {token}
            m1 inserted unchecked
            > insert-unchecked --content the-cache --into branch {key}
            m2 inserted unchecked
            > insert-unchecked --content the-queue --into author {key}
            m3 inserted unchecked
            > teach the pool has 8 connections
            m4 new: module_insight "the pool has 8 connections"
            > export
            4 memories, 0 with a past, 0 settings
            m1 masked
            m2 masked
            m3 masked
            > import --vouched
            m1 added
            m2 added
            m3 added
            m4 added
            > list
            m4 module_insight 0.90 "the pool has 8 connections"
            m3 gotcha 1.00 "the-queue" pinned
            m2 gotcha 1.00 "the-cache" pinned
            m1 gotcha 1.00 "the deploy uses [REDACTED: github-token]" pinned
            > show m2
            m2 gotcha 1.00 "the-cache" pinned
              v1 user_taught global confidence 1.00 by user verified on [REDACTED: aws-access-key-id]
            > show m3
            m3 gotcha 1.00 "the-queue" pinned
              v1 user_taught global confidence 1.00 by agent:[REDACTED: aws-access-key-id] verified
        "#]],
    );
}
