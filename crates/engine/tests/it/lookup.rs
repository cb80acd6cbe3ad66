//! Lookup: comparing, listing and searching memories across the project's and the user's notebook.
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
//! teach --user   stores into the user's notebook
//! search WORDS   prints the hits, each with the words by which it was found
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_statement_does_not_change_a_memory_of_the_other_notebook() {
    check(
        r"
            # A statement is compared with its own notebook only: a project may differ from its user.
            teach --user prefer tabs over spaces
            teach prefer spaces over tabs
            teach --user prefer tabs over spaces
            teach prefer tabs over spaces
            list
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach prefer spaces over tabs
            m2 new: preference "prefer spaces over tabs"
            > teach --user prefer tabs over spaces
            m1 again: preference "prefer tabs over spaces" user
            > teach prefer tabs over spaces
            m3 supersedes m2 (it was `spaces`, now it is `tabs`): preference "prefer tabs over spaces"
            > list
            m3 preference 0.90 "prefer tabs over spaces"
            m1 preference 0.95 "prefer tabs over spaces" user
        "#]],
    );
}

#[test]
fn a_forgotten_memory_is_new_when_taught_again() {
    check(
        r"
            teach retry limit is 3
            forget m1
            teach retry limit is 3
            list --all
        ",
        expect![[r#"
            > teach retry limit is 3
            m1 new: module_insight "retry limit is 3"
            > forget m1
            m1 module_insight "retry limit is 3" [deleted]
            > teach retry limit is 3
            m2 new: module_insight "retry limit is 3"
            > list --all
            m2 module_insight 0.90 "retry limit is 3"
            m1 module_insight 0.90 "retry limit is 3" [deleted]
        "#]],
    );
}

#[test]
fn a_hit_names_the_words_it_was_found_by() {
    check(
        r#"
            teach --tag net verifyJwt expects seconds
            teach the pool has 8 connections
            search how does verifyJwt work
            search jwt
            search pool seconds
            search net
            search "
            search nothing of the kind
        "#,
        expect![[r#"
            > teach --tag net verifyJwt expects seconds
            m1 new: module_insight "verifyJwt expects seconds" tags=net
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > search how does verifyJwt work
            m1 "verifyJwt expects seconds" by verifyjwt verify jwt
            > search jwt
            m1 "verifyJwt expects seconds" by jwt
            > search pool seconds
            m2 "the pool has 8 connections" by pool
            m1 "verifyJwt expects seconds" by seconds
            > search net
            m1 "verifyJwt expects seconds" by net
            > search "
            nothing
            > search nothing of the kind
            nothing
        "#]],
    );
}

#[test]
fn pages_cover_both_notebooks() {
    check(
        r"
            teach the first fact is alpha
            teach the second thing was beta
            teach --user i like gamma rays
            teach --user never drink delta water
            list --limit 3
            list --limit 3 --offset 3
            list --limit 1 --offset 1
            list --limit 2 --offset 9
            search --limit 1 --offset 1 alpha beta gamma
        ",
        expect![[r#"
            > teach the first fact is alpha
            m1 new: module_insight "the first fact is alpha"
            > teach the second thing was beta
            m2 new: module_insight "the second thing was beta"
            > teach --user i like gamma rays
            m3 new: preference "i like gamma rays" user
            > teach --user never drink delta water
            m4 new: preference "never drink delta water" user
            > list --limit 3
            m2 module_insight 0.90 "the second thing was beta"
            m1 module_insight 0.90 "the first fact is alpha"
            m4 preference 0.90 "never drink delta water" user
            > list --limit 3 --offset 3
            m3 preference 0.90 "i like gamma rays" user
            > list --limit 1 --offset 1
            m1 module_insight 0.90 "the first fact is alpha"
            > list --limit 2 --offset 9
            nothing
            > search --limit 1 --offset 1 alpha beta gamma
            m3 "i like gamma rays" by gamma
        "#]],
    );
}
