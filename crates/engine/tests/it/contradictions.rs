//! Contradictions between notebooks: a context shows both memories, with their scope and which one
//! takes precedence.
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
//! --for team         sets the visibility of a memory
//! insert-unchecked   stores a memory as given, without comparing it with others
//! --plain            leaves that memory unpinned
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_newer_user_memory_takes_precedence_over_the_project() {
    check(
        r"
            teach prefer spaces over tabs
            teach --user prefer tabs over spaces
            context should code be indented with tabs or spaces
        ",
        expect![[r#"
            > teach prefer spaces over tabs
            m1 new: preference "prefer spaces over tabs"
            > teach --user prefer tabs over spaces
            m2 new: preference "prefer tabs over spaces" user
            > context should code be indented with tabs or spaces
            - [PREFERENCE] prefer tabs over spaces (personal; overrides m1) [m2]
            - [PREFERENCE] prefer spaces over tabs (project; overridden by m2) [m1]
        "#]],
    );
}

#[test]
fn an_older_user_memory_takes_no_precedence_and_both_are_shown() {
    check(
        r"
            teach --user prefer tabs over spaces
            days 3
            teach prefer spaces over tabs
            context should code be indented with tabs or spaces
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach prefer spaces over tabs
            m2 new: preference "prefer spaces over tabs"
            > context should code be indented with tabs or spaces
            - [PREFERENCE] prefer spaces over tabs (project; contradicts m1) [m2]
            - [PREFERENCE] prefer tabs over spaces (personal; contradicts m2) [m1]
        "#]],
    );
}

#[test]
fn a_newer_project_memory_takes_precedence_over_the_team() {
    check(
        r"
            insert-unchecked --plain --type preference --for team prefer tabs over spaces
            days 1
            insert-unchecked --plain --type preference --for project prefer spaces over tabs
            context should code be indented with tabs or spaces
        ",
        expect![[r#"
            > insert-unchecked --plain --type preference --for team prefer tabs over spaces
            m1 inserted unchecked
            > insert-unchecked --plain --type preference --for project prefer spaces over tabs
            m2 inserted unchecked
            > context should code be indented with tabs or spaces
            - [PREFERENCE] prefer spaces over tabs (project; overrides m1) [m2]
            - [PREFERENCE] prefer tabs over spaces (team; overridden by m2) [m1]
        "#]],
    );
}
