//! Memories that do not apply everywhere: a project's memory is narrowed to modules and files, a
//! user's memory is excluded from one project.
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
//! flag m1 nothere   states that the memory does not apply here
//! teach --user      stores into the user's notebook
//! project NAME      switches to another project
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn a_project_memory_is_narrowed_to_modules_and_files() {
    check(
        r"
            write src/a.rs
            teach use tabs
            # It must apply somewhere.
            flag m1 nothere
            flag m1 nothere --module api --file src/a.rs
            list --module api
            list --module web
            list --file src/a.rs
            list --file src/b.rs
            search --module web tabs
            search --module api tabs
            show m1
        ",
        expect![[r#"
            > teach use tabs
            m1 new: preference "use tabs"
            > flag m1 nothere
            error: a project's memory can only be narrowed
              say where it does apply: --module NAME or --file PATH; if nowhere, flag it `incorrect`
            > flag m1 nothere --module api --file src/a.rs
            m1 preference "use tabs" files=src/a.rs modules=api
            > list --module api
            m1 preference 0.90 "use tabs" files=src/a.rs modules=api
            > list --module web
            nothing
            > list --file src/a.rs
            m1 preference 0.90 "use tabs" files=src/a.rs modules=api
            > list --file src/b.rs
            nothing
            > search --module web tabs
            nothing
            > search --module api tabs
            m1 "use tabs" by tabs
            > show m1
            m1 preference 0.90 "use tabs" files=src/a.rs modules=api
              v2 user_taught module confidence 0.90 by user verified
        "#]],
    );
}

#[test]
fn a_users_memory_is_excluded_from_one_project() {
    check(
        r"
            teach --user prefer tabs over spaces
            teach the cache lives in redis
            flag m1 nothere
            list
            list --all
            search tabs
            project other
            list
            search tabs
            project shop
            list
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach the cache lives in redis
            m2 new: module_insight "the cache lives in redis"
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > list
            m2 module_insight 0.90 "the cache lives in redis"
            > list --all
            m2 module_insight 0.90 "the cache lives in redis"
            > search tabs
            nothing
            > list
            m1 preference 0.90 "prefer tabs over spaces" user
            > search tabs
            m1 "prefer tabs over spaces" by tabs
            > list
            m2 module_insight 0.90 "the cache lives in redis"
        "#]],
    );
}

#[test]
fn a_project_without_memories_can_exclude_a_user_memory() {
    check(
        r"
            teach --user prefer tabs over spaces
            project empty
            flag m1 nothere
            list
            project shop
            list
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > list
            nothing
            > list
            m1 preference 0.90 "prefer tabs over spaces" user
        "#]],
    );
}

#[test]
fn restore_lifts_the_exclusion() {
    check(
        r"
            teach --user prefer tabs over spaces
            flag m1 nothere
            restore m1
            list
            # Nothing is left to restore.
            restore m1
            # Undo excludes it again, the next undo lifts the exclusion, the last one forgets the memory.
            undo
            list
            undo m1
            list
            undo
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > restore m1
            m1 preference "prefer tabs over spaces"
            > list
            m1 preference 0.90 "prefer tabs over spaces" user
            > restore m1
            error: m1 is not forgotten
              `waylore history` shows what it said before; `--version N` goes back to it
            > undo
            undid restore
            m1 preference "prefer tabs over spaces"
            > list
            nothing
            > undo m1
            undid flag
            m1 preference "prefer tabs over spaces"
            > list
            m1 preference 0.90 "prefer tabs over spaces" user
            > undo
            undid remember
            m1 never was
        "#]],
    );
}

#[test]
fn a_limit_does_not_count_excluded_memories() {
    check(
        r"
            teach --user prefer tabs over spaces
            teach --user the editor is vim
            flag m1 nothere
            flag m2 nothere
            teach --user commits are signed
            list --limit 1
            search --limit 1 the editor commits
            list --limit 5
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach --user the editor is vim
            m2 new: module_insight "the editor is vim" user
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > flag m2 nothere
            m2 module_insight "the editor is vim"
              kept out of this project
            > teach --user commits are signed
            m3 new: preference "commits are signed" user
            > list --limit 1
            m3 preference 0.90 "commits are signed" user
            > search --limit 1 the editor commits
            m3 "commits are signed" by commits
            > list --limit 5
            m3 preference 0.90 "commits are signed" user
        "#]],
    );
}

#[test]
fn a_second_exclusion_is_refused() {
    check(
        r"
            teach --user prefer tabs over spaces
            flag m1 nothere
            flag m1 nothere
            restore m1
            list
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > flag m1 nothere
            m1 preference "prefer tabs over spaces"
              kept out of this project
            > flag m1 nothere
            error: m1 is excluded from this project already
              `waylore restore m1` lifts the exclusion
            > restore m1
            m1 preference "prefer tabs over spaces"
            > list
            m1 preference 0.90 "prefer tabs over spaces" user
        "#]],
    );
}
