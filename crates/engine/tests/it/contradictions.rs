//! Contradicting memories are both shown, with their scope and which one takes precedence.

use expect_test::expect;

use crate::check;

#[test]
fn the_users_newer_memory_takes_precedence_over_the_projects() {
    check(
        r"
            teach prefer spaces over tabs
            teach --user prefer tabs over spaces
            context should code be indented with tabs or spaces
        ",
        expect![[r#"
            m1 new: preference "prefer spaces over tabs"
            m2 new: preference "prefer tabs over spaces" user
            - [PREFERENCE] prefer tabs over spaces (personal; overrides m1) [m2]
            - [PREFERENCE] prefer spaces over tabs (project; overridden by m2) [m1]
        "#]],
    );
}

#[test]
fn an_older_memory_takes_no_precedence_and_neither_is_hidden() {
    check(
        r"
            teach --user prefer tabs over spaces
            days 3
            teach prefer spaces over tabs
            context should code be indented with tabs or spaces
        ",
        expect![[r#"
            m1 new: preference "prefer tabs over spaces" user
            m2 new: preference "prefer spaces over tabs"
            - [PREFERENCE] prefer spaces over tabs (project; contradicts m1) [m2]
            - [PREFERENCE] prefer tabs over spaces (personal; contradicts m2) [m1]
        "#]],
    );
}

#[test]
fn the_projects_memory_takes_precedence_over_the_teams() {
    check(
        r"
            smuggle --plain --type preference --for team prefer tabs over spaces
            days 1
            smuggle --plain --type preference --for project prefer spaces over tabs
            context should code be indented with tabs or spaces
        ",
        expect![[r#"
            m1 smuggled in
            m2 smuggled in
            - [PREFERENCE] prefer spaces over tabs (project; overrides m1) [m2]
            - [PREFERENCE] prefer tabs over spaces (team; overridden by m2) [m1]
        "#]],
    );
}
