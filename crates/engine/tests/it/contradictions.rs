//! Contradictions between notebooks: a context shows both memories, with their scope and which one
//! takes precedence.
//!
//! A script has one command per line: `teach TEXT` stores a statement, `list` prints the active
//! memories. `m1` is the first memory that was created. A memory is printed as
//! `m1 gotcha 0.90 "text" tags=net files=a.rs user pinned [deleted]`: type, current confidence (in
//! lists), text, labels, `user` if it is in the user's notebook, pin and status. The rest of the
//! notation is in `main.rs`.
//!
//! `--for team` sets the visibility of a memory; `insert-unchecked` stores it as given, without
//! comparing it with others, and `--plain` leaves it unpinned.

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
