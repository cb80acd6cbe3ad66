//! Staleness: the confidence of a memory falls when its files change, follows renamed files, and a
//! memory of deleted files is not injected.
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
//! write FILE TEXT --times N     writes the text N times into a file
//! git BRANCH, commit            makes a repository, and commits all files
//! newer FILE DAYS               makes the file that much newer than the memory
//! file-context FILE             prints the block for a file
//! --explain                     prints after it each memory with `worth`, its confidence, and reasons
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn confidence_falls_with_the_change_of_the_file() {
    check(
        r"
            write a.rs line\n --times 100
            write b.rs line\n --times 100
            git main
            commit
            teach --type gotcha --file a.rs the first file has a trap
            teach --type gotcha --file b.rs the second file has a trap
            file-context --explain a.rs b.rs
            # A tenth of the first file is new, all of the second.
            write a.rs line\n --times 110
            write b.rs other\n --times 100
            commit
            file-context --explain a.rs b.rs
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs the first file has a trap
            m1 new: gotcha "the first file has a trap" files=a.rs
            > teach --type gotcha --file b.rs the second file has a trap
            m2 new: gotcha "the second file has a trap" files=b.rs
            > file-context --explain a.rs b.rs
            b.rs:
            - [GOTCHA] the second file has a trap [m2]
            a.rs:
            - [GOTCHA] the first file has a trap [m1]
              m2 worth 0.90: 
              m1 worth 0.90: 
            > file-context --explain a.rs b.rs
            a.rs:
            - [GOTCHA] the first file has a trap [m1]
            b.rs:
            - [GOTCHA] the second file has a trap (the code it is about has changed since: check) [m2]
              m1 worth 0.86: 9 % of `a.rs` changed since
              m2 worth 0.45: 100 % of `b.rs` changed since
        "#]],
    );
}

#[test]
fn a_decayed_memory_of_a_rewritten_file_is_not_shown() {
    check(
        r"
            write a.rs line\n --times 100
            git main
            commit
            teach --type gotcha --file a.rs the first file has a trap
            active-days 15
            file-context --explain a.rs
            write a.rs other\n --times 100
            commit
            file-context --explain a.rs
            # Without the trust stage, the change does not lower the confidence.
            file-context --explain --without trust a.rs
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs the first file has a trap
            m1 new: gotcha "the first file has a trap" files=a.rs
            > file-context --explain a.rs
            a.rs:
            - [GOTCHA] the first file has a trap [m1]
              m1 worth 0.76: 
            > file-context --explain a.rs
              without m1: its confidence is too low
            > file-context --explain --without trust a.rs
            a.rs:
            - [GOTCHA] the first file has a trap (the code it is about has changed since: check) [m1]
              m1 worth 0.76: 100 % of `a.rs` changed since
        "#]],
    );
}

#[test]
fn a_memory_of_deleted_files_is_not_injected() {
    check(
        r"
            write a.rs
            teach --type gotcha --file a.rs the parser must not be given an empty buffer
            delete a.rs
            context --explain --phase implement
            context --explain --phase implement may the parser be given an empty buffer
            touch a.rs
            # A search still finds it.
            search may the parser be given an empty buffer
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs the parser must not be given an empty buffer
            m1 new: gotcha "the parser must not be given an empty buffer" files=a.rs
            > context --explain --phase implement
              without m1: the files it names are gone
            > context --explain --phase implement may the parser be given an empty buffer
              without m1: the files it names are gone
            > touch a.rs
            nothing
            > search may the parser be given an empty buffer
            m1 "the parser must not be given an empty buffer" by parser given empty buffer
        "#]],
    );
}

#[test]
fn a_renamed_file_is_followed() {
    check(
        r"
            write a.rs line\n --times 20
            git main
            commit
            teach --type gotcha --file a.rs the parser must not be given an empty buffer
            delete a.rs
            write lib/b.rs line\n --times 20
            commit
            context --explain --phase implement
            context --explain --phase implement may the parser be given an empty buffer
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs the parser must not be given an empty buffer
            m1 new: gotcha "the parser must not be given an empty buffer" files=a.rs
            > context --explain --phase implement
            lib/b.rs:
            - [GOTCHA] the parser must not be given an empty buffer [m1]
              m1 worth 0.90: `a.rs` is now `lib/b.rs`
            > context --explain --phase implement may the parser be given an empty buffer
            lib/b.rs:
            - [GOTCHA] the parser must not be given an empty buffer [m1]
              m1 worth 0.90: `a.rs` is now `lib/b.rs`
        "#]],
    );
}

#[test]
fn a_file_that_is_much_newer_than_the_memory_is_mentioned() {
    check(
        r"
            # Without git only the time of the file can be compared.
            write a.rs line\n
            teach --type decision --file a.rs the parser is written by hand
            newer a.rs 29
            file-context --explain a.rs
            newer a.rs 45
            file-context --explain a.rs
        ",
        expect![[r#"
            > teach --type decision --file a.rs the parser is written by hand
            m1 new: decision "the parser is written by hand" files=a.rs
            > file-context --explain a.rs
            a.rs:
            - [DECISION] the parser is written by hand [m1]
              m1 worth 0.90: 
            > file-context --explain a.rs
            a.rs:
            - [DECISION] the parser is written by hand [m1]
              m1 worth 0.90: `a.rs` is 45 days newer: worth a review
        "#]],
    );
}

#[test]
fn in_a_repository_the_time_of_a_file_does_not_count() {
    check(
        r"
            # A fresh checkout gives every file a new time.
            write a.rs line\n
            git main
            commit
            teach --type decision --file a.rs the parser is written by hand
            newer a.rs 45
            file-context --explain a.rs
        ",
        expect![[r#"
            > teach --type decision --file a.rs the parser is written by hand
            m1 new: decision "the parser is written by hand" files=a.rs
            > file-context --explain a.rs
            a.rs:
            - [DECISION] the parser is written by hand [m1]
              m1 worth 0.90: 
        "#]],
    );
}
