//! Project boundaries: which project a folder belongs to, which memories are visible in it, and
//! which files are part of it.
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
//! project NAME                 changes to the folder of a project; the first is called `shop`
//! cd DIR                       changes to a folder of the project; `cd .` to its root
//! move FROM TO, copy FROM TO   act on project folders
//! write PATH                   creates a file
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn paths_are_relative_to_the_current_directory() {
    check(
        r"
            write Cargo.toml
            write src/net/a.rs
            cd src/net
            teach --file a.rs the client lives here
            teach --file ./../net/a.rs --file ../b.rs the server lives there
            list --file a.rs
            list --file ../b.rs
            list --file src/net/a.rs
            cd .
            list --file src/net/a.rs
        ",
        expect![[r#"
            > teach --file a.rs the client lives here
            m1 new: module_insight "the client lives here" files=src/net/a.rs
            > teach --file ./../net/a.rs --file ../b.rs the server lives there
            m2 new: module_insight "the server lives there" files=src/net/a.rs,src/b.rs
              absent: src/b.rs
            > list --file a.rs
            m2 module_insight 0.90 "the server lives there" files=src/net/a.rs,src/b.rs
            m1 module_insight 0.90 "the client lives here" files=src/net/a.rs
            > list --file ../b.rs
            m2 module_insight 0.90 "the server lives there" files=src/net/a.rs,src/b.rs
            > list --file src/net/a.rs
            nothing
            > list --file src/net/a.rs
            m2 module_insight 0.90 "the server lives there" files=src/net/a.rs,src/b.rs
            m1 module_insight 0.90 "the client lives here" files=src/net/a.rs
        "#]],
    );
}

#[test]
fn files_outside_the_project_are_refused() {
    check(
        r"
            teach --file ../other/a.rs it lives outside
            teach --file /etc/passwd it lives outside
            # Nothing was stored, so there is no m1, and the doctor finds no notebook to check.
            edit m1 --file ../x
            list
            doctor
        ",
        expect![[r#"
            > teach --file ../other/a.rs it lives outside
            error: `../other/a.rs` is outside the project `~/code/shop`
            > teach --file /etc/passwd it lives outside
            error: `/etc/passwd` is outside the project `~/code/shop`
            > edit m1 --file ../x
            error: `m1` is not the id of a memory
              an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them
            > list
            nothing
            > doctor
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
        "#]],
    );
}

#[test]
fn missing_files_are_reported_and_stored() {
    check(
        r"
            write src/a.rs
            teach --file src/a.rs --file src/gone.rs the client lives here
            list
        ",
        expect![[r#"
            > teach --file src/a.rs --file src/gone.rs the client lives here
            m1 new: module_insight "the client lives here" files=src/a.rs,src/gone.rs
              absent: src/gone.rs
            > list
            m1 module_insight 0.90 "the client lives here" files=src/a.rs,src/gone.rs
        "#]],
    );
}

#[test]
fn projects_do_not_see_one_another() {
    check(
        r"
            teach the cache lives in redis
            project other
            list
            find m1
            teach the cache lives in memcached
            list
            project shop
            list
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > list
            nothing
            > find m1
            error: no memory matches `m1`
            > teach the cache lives in memcached
            m2 new: module_insight "the cache lives in memcached"
            > list
            m2 module_insight 0.90 "the cache lives in memcached"
            > list
            m1 module_insight 0.90 "the cache lives in redis"
        "#]],
    );
}

#[test]
fn a_users_memory_is_visible_in_every_project() {
    check(
        r"
            teach --user prefer tabs over spaces
            teach the cache lives in redis
            project other
            list
            list --user
            edit m1 prefer tabs over spaces everywhere
            project shop
            list
        ",
        expect![[r#"
            > teach --user prefer tabs over spaces
            m1 new: preference "prefer tabs over spaces" user
            > teach the cache lives in redis
            m2 new: module_insight "the cache lives in redis"
            > list
            m1 preference 0.90 "prefer tabs over spaces" user
            > list --user
            m1 preference 0.90 "prefer tabs over spaces" user
            > edit m1 prefer tabs over spaces everywhere
            m1 preference "prefer tabs over spaces everywhere"
            > list
            m2 module_insight 0.90 "the cache lives in redis"
            m1 preference 0.90 "prefer tabs over spaces everywhere" user
        "#]],
    );
}

#[test]
fn a_moved_folder_is_recognised() {
    check(
        r"
            teach the cache lives in redis
            move shop store
            project store
            list
            teach the pool has 8 connections
            project store
            list
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > project store
            the directory was moved or renamed
            > list
            m1 module_insight 0.90 "the cache lives in redis"
            > teach the pool has 8 connections
            m2 new: module_insight "the pool has 8 connections"
            > list
            m2 module_insight 0.90 "the pool has 8 connections"
            m1 module_insight 0.90 "the cache lives in redis"
        "#]],
    );
}

#[test]
fn a_new_folder_at_the_old_path_of_a_moved_project_is_another_project() {
    check(
        r"
            teach the cache lives in redis
            move shop store
            project store
            list
            project shop
            list
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > project store
            the directory was moved or renamed
            > list
            m1 module_insight 0.90 "the cache lives in redis"
            > list
            nothing
        "#]],
    );
}

#[test]
fn a_subfolder_with_its_own_manifest_is_a_project() {
    check(
        r"
            write Cargo.toml
            teach the cache lives in redis
            cd src/deep
            list
            # A manifest in the subfolder makes it a project of its own.
            write Cargo.toml
            list
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > list
            m1 module_insight 0.90 "the cache lives in redis"
            > list
            nothing
        "#]],
    );
}

#[test]
fn settings_belong_to_a_project_and_are_checked() {
    check(
        r"
            set list.limit 7
            settings
            set list.limit many
            set lists.limit 7
            unset list.limit
            settings
            set memory.enabled false
            project other
            settings
        ",
        expect![[r#"
            > settings
            list.limit = 7
            > set list.limit many
            error: `list.limit` takes a whole number from 1 on, not `many`
              `waylore config` lists the settings
            > set lists.limit 7
            error: unknown setting `lists.limit` (did you mean `list.limit`?)
              `waylore config` lists the settings
            > settings
            nothing
            > settings
            nothing
        "#]],
    );
}

#[test]
fn reading_creates_no_notebook() {
    check(
        r"
            list
            search anything
            settings
            # Without a notebook, `maintain` and `backup` have nothing to do and print nothing.
            maintain
            doctor
            export
            backup
        ",
        expect![[r#"
            > list
            nothing
            > search anything
            nothing
            > settings
            nothing
            > doctor
            Warning code index: the code is not indexed: there is no module map, and notes are not checked against symbols
            > export
            0 memories, 0 with a past, 0 settings
        "#]],
    );
}

#[test]
fn a_copy_of_a_folder_that_moved_away_and_back_is_another_project() {
    check(
        r"
            git main
            teach the cache lives in redis
            # Away and back: the same project.
            move shop store
            project store
            list
            move store shop
            project shop
            list
            # The copy is a new project, and the original stays what it is.
            copy shop twin
            project twin
            list
            project shop
            list
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > project store
            the directory was moved or renamed
            > list
            m1 module_insight 0.90 "the cache lives in redis"
            > list
            m1 module_insight 0.90 "the cache lives in redis"
            > list
            nothing
            > list
            m1 module_insight 0.90 "the cache lives in redis"
        "#]],
    );
}

#[test]
fn no_text_is_stored_while_memory_is_disabled() {
    check(
        r"
            teach the cache lives in redis
            foreign the pool has 8 connections
            set memory.enabled false
            # Six commands that would store text, each refused.
            teach the deploy runs nightly
            teach --user prefer tabs over spaces
            edit m1 the cache lives in memcached
            flag m1 partly the cache lives in memcached
            flag m1 outdated the cache lives in memcached
            import
            # Judging and forgetting memories still works.
            flag m1 right
            flag m1 outdated
            forget m1
            undo
            unset memory.enabled
            teach the deploy runs nightly
        ",
        expect![[r#"
            > teach the cache lives in redis
            m1 new: module_insight "the cache lives in redis"
            > teach the deploy runs nightly
            error: memory is turned off in this project
              `waylore config set memory.enabled true --for-project` turns it on
            > teach --user prefer tabs over spaces
            error: memory is turned off in this project
              `waylore config set memory.enabled true --for-project` turns it on
            > edit m1 the cache lives in memcached
            error: memory is turned off in this project
              `waylore config set memory.enabled true --for-project` turns it on
            > flag m1 partly the cache lives in memcached
            error: memory is turned off in this project
              `waylore config set memory.enabled true --for-project` turns it on
            > flag m1 outdated the cache lives in memcached
            error: memory is turned off in this project
              `waylore config set memory.enabled true --for-project` turns it on
            > import
            error: memory is turned off in this project
              `waylore config set memory.enabled true --for-project` turns it on
            > flag m1 right
            m1 module_insight "the cache lives in redis"
            > flag m1 outdated
            m1 module_insight "the cache lives in redis" [deprecated] (outdated)
            > forget m1
            m1 module_insight "the cache lives in redis" [deleted] (outdated)
            > undo
            undid forget
            m1 module_insight "the cache lives in redis" [deprecated] (outdated)
            > teach the deploy runs nightly
            m2 new: module_insight "the deploy runs nightly"
        "#]],
    );
}
