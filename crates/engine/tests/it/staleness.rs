//! Confidence of memories whose files changed, were renamed or deleted.

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
            about --explain a.rs b.rs
            write a.rs line\n --times 110
            write b.rs other\n --times 100
            commit
            about --explain a.rs b.rs
        ",
        expect![[r#"
            m1 new: gotcha "the first file has a trap" files=a.rs
            m2 new: gotcha "the second file has a trap" files=b.rs
            b.rs:
            - [GOTCHA] the second file has a trap [m2]
            a.rs:
            - [GOTCHA] the first file has a trap [m1]
              m2 worth 0.90: 
              m1 worth 0.90: 
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
fn a_memory_of_a_rewritten_file_that_decayed_is_not_shown() {
    check(
        r"
            write a.rs line\n --times 100
            git main
            commit
            teach --type gotcha --file a.rs the first file has a trap
            live 15
            about --explain a.rs
            write a.rs other\n --times 100
            commit
            about --explain a.rs
            about --explain --without trust a.rs
        ",
        expect![[r#"
            m1 new: gotcha "the first file has a trap" files=a.rs
            a.rs:
            - [GOTCHA] the first file has a trap [m1]
              m1 worth 0.76: 
              without m1: its confidence is too low
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
            search may the parser be given an empty buffer
        ",
        expect![[r#"
            m1 new: gotcha "the parser must not be given an empty buffer" files=a.rs
              without m1: the files it names are gone
              without m1: the files it names are gone
            nothing
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
            m1 new: gotcha "the parser must not be given an empty buffer" files=a.rs
            lib/b.rs:
            - [GOTCHA] the parser must not be given an empty buffer [m1]
              m1 worth 0.90: `a.rs` is now `lib/b.rs`
            lib/b.rs:
            - [GOTCHA] the parser must not be given an empty buffer [m1]
              m1 worth 0.90: `a.rs` is now `lib/b.rs`
        "#]],
    );
}

#[test]
fn a_much_newer_file_is_a_reason_for_doubt() {
    check(
        r"
            write a.rs line\n
            teach --type decision --file a.rs the parser is written by hand
            aged a.rs 29
            about --explain a.rs
            aged a.rs 45
            about --explain a.rs
        ",
        expect![[r#"
            m1 new: decision "the parser is written by hand" files=a.rs
            a.rs:
            - [DECISION] the parser is written by hand [m1]
              m1 worth 0.90: 
            a.rs:
            - [DECISION] the parser is written by hand [m1]
              m1 worth 0.90: `a.rs` is 45 days newer: worth a review
        "#]],
    );
}

#[test]
fn the_file_time_of_a_fresh_checkout_does_not_count() {
    check(
        r"
            write a.rs line\n
            git main
            commit
            teach --type decision --file a.rs the parser is written by hand
            aged a.rs 45
            about --explain a.rs
        ",
        expect![[r#"
            m1 new: decision "the parser is written by hand" files=a.rs
            a.rs:
            - [DECISION] the parser is written by hand [m1]
              m1 worth 0.90: 
        "#]],
    );
}
